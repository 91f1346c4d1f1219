//! The files that the program writes in addition to its result. Each gets its name only when it is
//! complete, none overwrites an input, and no two are the same.

use std::fmt::Display;
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::Failure;
use crate::unfinished::Unfinished;

/// A file that gets its name only when it is complete.
pub(crate) struct OutputFile {
    name: PathBuf,
    writer: Target,
}

enum Target {
    /// Becomes the file at the end.
    Temporary(BufWriter<Unfinished<NamedTempFile>>),
    /// A pipe or a device, which cannot be replaced.
    Stream(BufWriter<File>),
    /// The stream that carries the result as well.
    StandardOutput(BufWriter<File>),
}

impl OutputFile {
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| cannot_create(path, &error);
        // A link is written through.
        let real = follow(path);
        let writer = if is_stream(&real) {
            match open_stream(&real) {
                Some(stream) => stream,
                None => {
                    let file = File::options().write(true).open(&real);
                    file.map(|file| Target::Stream(BufWriter::new(file)))
                }
            }
        } else {
            let folder = match real.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            // No file can have a name such as `x/`.
            let bytes = real.as_os_str().as_encoded_bytes();
            let is_name = real
                .file_name()
                .is_some_and(|name| bytes.ends_with(name.as_encoded_bytes()));
            if real.is_dir() || !is_name {
                let problem = "the name is that of a folder";
                Err(io::Error::new(ErrorKind::IsADirectory, problem))
            } else if !folder.is_dir() {
                let problem = format!("there is no folder {}", folder.display());
                Err(io::Error::new(ErrorKind::NotFound, problem))
            } else {
                let file = temporary(folder, fs::metadata(&real).ok());
                file.map(|file| Target::Temporary(BufWriter::new(file)))
            }
        };
        Ok(Self {
            writer: writer.map_err(failed)?,
            name: real,
        })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let result = match &mut self.writer {
            Target::Temporary(file) => file.write_all(bytes),
            Target::Stream(file) => file.write_all(bytes),
            Target::StandardOutput(file) => unless_closed(file.write_all(bytes)),
        };
        result.map_err(|error| Failure::write(&self.name.display().to_string(), &error))
    }

    pub(crate) fn persist(self) -> Result<(), Failure> {
        let result = match self.writer {
            Target::Temporary(file) => file
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .and_then(|file| file.persist(&self.name)),
            Target::Stream(mut file) => file.flush(),
            Target::StandardOutput(mut file) => unless_closed(file.flush()),
        };
        result.map_err(|error| Failure::write(&self.name.display().to_string(), &error))
    }
}

/// Writes a file in place of what has its name, be it a link.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let written = || {
        let mut file = temporary(path.parent().unwrap_or(path), None)?;
        file.write_all(text.as_bytes())?;
        file.persist(path)
    };
    written().map_err(|error| Failure::write(&path.display().to_string(), &error))
}

/// A folder that is filled all at once: its files wait in a folder of their own.
pub(crate) struct OutputFolder {
    folder: PathBuf,
    waiting: Unfinished<TempDir>,
}

impl OutputFolder {
    /// Creates the folder, unless it exists.
    pub(crate) fn create(folder: PathBuf) -> Result<Self, Failure> {
        create_folder(&folder)?;
        let waiting = Unfinished::create(|| partial().tempdir_in(&folder));
        let waiting = waiting.map_err(|error| cannot_create(&folder, &error))?;
        Ok(Self { folder, waiting })
    }

    /// Writes a file, which waits for the others.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.waiting.path().join(name);
        let failed = |error| Failure::write(&self.folder.join(name).display().to_string(), &error);
        fs::write(path, text).map_err(failed)
    }

    /// Moves all files into the folder, in place of what has their names, be it links; none if one of the
    /// names is that of a folder.
    pub(crate) fn persist(self) -> Result<(), Failure> {
        let listed = || -> io::Result<Vec<_>> {
            let files = fs::read_dir(self.waiting.path())?;
            files.map(|file| Ok(file?.file_name())).collect()
        };
        let failed = |path: &Path, error| Failure::write(&path.display().to_string(), &error);
        let mut names = listed().map_err(|error| failed(&self.folder, error))?;
        names.sort();
        let is_folder = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_dir());
        if let Some(taken) = names
            .iter()
            .map(|name| self.folder.join(name))
            .find(is_folder)
        {
            return Err(cannot_create(&taken, &"the name is that of a folder"));
        }
        for name in names {
            let path = self.folder.join(&name);
            fs::rename(self.waiting.path().join(&name), &path)
                .map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }
}

/// Creates a folder, unless it exists, and checks that files can be created in it.
pub(crate) fn create_folder(folder: &Path) -> Result<(), Failure> {
    if folder.is_file() {
        return Err(cannot_create(folder, &"it is a file"));
    }
    fs::create_dir_all(folder)
        .and_then(|()| temporary(folder, None))
        .map(drop)
        .map_err(|error| cannot_create(folder, &error))
}

fn cannot_create(path: &Path, problem: &dyn Display) -> Failure {
    Failure::Usage(format!("{}: cannot create: {problem}", path.display()))
}

/// The outcome of a write to standard output, where a closed reader is not a failure: whoever
/// closes the output wants no more of it. A file that was asked for by name has to be written.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Refuses outputs, each an option and its path, over what is read, over each other, and where the
/// result goes.
pub(crate) fn refuse(outputs: &[(&str, &Path)], inputs: &[&Path]) -> Result<(), Failure> {
    let inputs: Vec<(&Path, PathBuf)> = inputs
        .iter()
        .map(|&path| {
            if path == Path::new("-") {
                // A file that the shell opened.
                Path::new("/dev/stdin")
            } else {
                path
            }
        })
        .filter(|path| path.is_file() || path.is_dir())
        .filter_map(|path| Some((path, fs::canonicalize(path).ok()?)))
        .collect();
    let mut others = vec![
        ("standard output".to_owned(), Path::new("/dev/stdout")),
        ("standard error".to_owned(), Path::new("/dev/stderr")),
    ];
    for &(option, path) in outputs {
        let output = format!("--{option} {}", path.display());
        let problem = if path == Path::new("-") {
            "standard output carries the result: expected a path".to_owned()
        } else if let Some((input, _)) = inputs.iter().find(|(_, real)| leads_into(path, real)) {
            if input.is_dir() {
                format!(
                    "is in {}, which is also read: expected another folder",
                    input.display()
                )
            } else {
                "is also read: expected another file".to_owned()
            }
        } else if let Some((other, _)) = others.iter().find(|(_, other)| are_one(path, other)) {
            format!("is also where {other} goes: expected another path")
        } else {
            others.push((output, path));
            continue;
        };
        return Err(Failure::Usage(format!("{output}: {problem}")));
    }
    Ok(())
}

/// Whether a path is that of the input, or leads through a folder that is: a link in an input folder is read in that
/// folder, wherever it leads to.
fn leads_into(path: &Path, input: &Path) -> bool {
    for folder in path.ancestors() {
        if resolve(folder).starts_with(input) {
            return true;
        }
        // Leaves the folder before it.
        if folder.ends_with("..") {
            break;
        }
    }
    false
}

/// Whether what is written to one path is lost when the other is written. Streams can be shared.
fn are_one(one: &Path, other: &Path) -> bool {
    let streams = is_stream(&follow(one)) && is_stream(&follow(other));
    !streams && resolve(one) == resolve(other)
}

/// The path without links, whether it exists or not.
fn resolve(path: &Path) -> PathBuf {
    let path = if path == Path::new("") {
        Path::new(".")
    } else {
        path
    };
    let real = follow(path);
    if let Ok(real) = fs::canonicalize(&real) {
        return real;
    }
    let (parent, last) = (real.parent(), real.components().next_back());
    match (parent, last) {
        (Some(parent), Some(Component::Normal(name))) => resolve(parent).join(name),
        (Some(parent), Some(Component::ParentDir)) => {
            let mut folder = resolve(parent);
            folder.pop();
            folder
        }
        _ => real,
    }
}

/// The path that a symbolic link leads to in the end, as far as links can be read.
fn follow(path: &Path) -> PathBuf {
    let mut real = path.to_owned();
    // The kernel gives up on longer chains too.
    for _ in 0..40 {
        if names_open_file(&real) {
            break;
        }
        match fs::read_link(&real) {
            Ok(target) => real = real.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => break,
        }
    }
    real
}

/// Whether what a path leads to is written as it comes: a pipe or a device cannot be replaced by
/// another file.
fn is_stream(real: &Path) -> bool {
    let is_other = |metadata: Metadata| !metadata.is_file() && !metadata.is_dir();
    names_open_file(real) || fs::metadata(real).is_ok_and(is_other)
}

/// Whether a path names what a process has open, be it a plain file that the shell opened.
fn names_open_file(path: &Path) -> bool {
    ["/dev/fd", "/dev/stdout", "/dev/stderr", "/proc"]
        .iter()
        .any(|name| path.starts_with(name))
}

/// The program's own stream of that name. Opened once more it would begin at the start of a plain
/// file, over what else the stream has written there.
#[cfg(unix)]
fn open_stream(path: &Path) -> Option<io::Result<Target>> {
    use std::os::fd::{AsFd, OwnedFd};

    let writer = |descriptor: OwnedFd| BufWriter::new(File::from(descriptor));
    match path.to_str()? {
        "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1" => {
            let stream = io::stdout().as_fd().try_clone_to_owned();
            Some(stream.map(|stream| Target::StandardOutput(writer(stream))))
        }
        "/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2" => {
            let stream = io::stderr().as_fd().try_clone_to_owned();
            Some(stream.map(|stream| Target::Stream(writer(stream))))
        }
        _ => None,
    }
}

#[cfg(not(unix))]
fn open_stream(_path: &Path) -> Option<io::Result<Target>> {
    None
}

/// A file that gets its name when it is whole, in place of one that is `existing` or as a new one.
fn temporary(folder: &Path, existing: Option<Metadata>) -> io::Result<Unfinished<NamedTempFile>> {
    let mut builder = partial();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: less what the umask takes.
        let fresh = fs::Permissions::from_mode(0o666);
        builder.permissions(existing.map_or(fresh, |metadata| metadata.permissions()));
    }
    #[cfg(not(unix))]
    let _ = existing;
    Unfinished::create(|| builder.tempfile_in(folder))
}

/// An incomplete file has a hidden name.
fn partial() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".metric-").suffix(".partial");
    builder
}
