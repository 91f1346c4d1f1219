//! The SHA-256 of several files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::RunError;
use crate::formats::extension;
use crate::source::paths::{expanded, is_hidden};
use crate::source::{Hashed, cannot_open, cannot_read, hexadecimal};

/// The number and the size of several files, and one hash of all of them.
///
/// The hash is that of a list as `sha256sum` prints it: a line of the hash, two spaces and the name for each file, in
/// ascending order of the names as bytes. Whoever has the files can check it with the usual tools:
///
/// ```text
/// cd labels && sha256sum *.txt | sha256sum
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HashedFiles {
    /// The number of files.
    pub files: u64,
    /// The number of bytes of all files.
    pub bytes: u64,
    /// The SHA-256 of the list in hexadecimal digits.
    pub sha256: String,
}

impl HashedFiles {
    /// Hashes the files that paths and patterns name, as [`Source::paths`](crate::Source::paths) takes them.
    ///
    /// The files of a folder are those at any depth, without hidden ones and without pictures, which no metric reads.
    /// Names are relative to the folder, or to the innermost folder that has all of the files.
    ///
    /// ```
    /// use metric_run::HashedFiles;
    ///
    /// let folder = tempfile::tempdir()?;
    /// for name in ["a.txt", "b.txt"] {
    ///     std::fs::write(folder.path().join(name), "abc\n")?;
    /// }
    /// let hashed = HashedFiles::of(&[folder.path()])?;
    /// assert_eq!((hashed.files, hashed.bytes), (2, 8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a pattern matches nothing, or if a file cannot be read.
    pub fn of<P: AsRef<Path>>(paths: &[P]) -> Result<Self, RunError> {
        let (root, paths) = match paths {
            [folder] if folder.as_ref().is_dir() => {
                (folder.as_ref().to_owned(), files_below(folder.as_ref())?)
            }
            paths => {
                let files = expanded(paths)?;
                (common_folder(&files), files)
            }
        };
        let mut lines = Vec::new();
        let (mut files, mut bytes) = (0, 0);
        for path in paths {
            let hashed = File::open(&path)
                .map_err(|error| cannot_open(&path, &error))
                .and_then(|file| {
                    let name = path.display().to_string();
                    Hashed::of(file).map_err(|error| cannot_read(&name, &error))
                })?;
            files += 1;
            bytes += hashed.bytes;
            let name = path.strip_prefix(&root).unwrap_or(&path);
            lines.push((name_bytes(name), hashed.sha256));
        }
        lines.sort_unstable();
        let mut list = Sha256::new();
        for (name, sha256) in lines {
            list.update(line(&name, &sha256));
        }
        Ok(Self {
            files,
            bytes,
            sha256: hexadecimal(&list.finalize()),
        })
    }
}

/// The name of a file as bytes, with slashes between folders.
fn name_bytes(name: &Path) -> Vec<u8> {
    let parts = name.iter().map(|part| part.as_encoded_bytes());
    parts.collect::<Vec<_>>().join(&b'/')
}

/// A line as `sha256sum` prints it: characters of the name that would end it are escaped, and the line is marked.
fn line(name: &[u8], sha256: &str) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in name {
        match byte {
            b'\\' => escaped.extend(b"\\\\"),
            b'\n' => escaped.extend(b"\\n"),
            b'\r' => escaped.extend(b"\\r"),
            byte => escaped.push(*byte),
        }
    }
    let mark: &[u8] = if escaped == name { b"" } else { b"\\" };
    [mark, sha256.as_bytes(), b"  ", &escaped, b"\n"].concat()
}

/// The innermost folder that all of these files are in.
fn common_folder(files: &[PathBuf]) -> PathBuf {
    let mut files = files.iter().filter_map(|file| file.parent());
    let mut common = files.next().unwrap_or(Path::new("")).to_owned();
    for folder in files {
        while !folder.starts_with(&common) && common.pop() {}
    }
    common
}

/// The files of a folder at any depth, without hidden ones and pictures.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>, RunError> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    // A link may lead back to a folder above.
    let mut seen = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let failed = |error: io::Error| cannot_open(&folder, &error);
        if !seen.insert(fs::canonicalize(&folder).map_err(failed)?) {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if is_hidden(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() && !is_picture(&path) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// The endings of names of pictures.
const PICTURES: [&str; 8] = ["bmp", "gif", "jpeg", "jpg", "png", "tif", "tiff", "webp"];

fn is_picture(path: &Path) -> bool {
    extension(path).is_some_and(|extension| PICTURES.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SHA-256 of lists that GNU `sha256sum` printed, by `sha256sum`.
    #[test]
    fn the_hash_is_that_of_the_list_of_sha256sum() {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
            path
        };
        let hash = |paths: &[PathBuf]| HashedFiles::of(paths).expect("a hash");
        let whole = [folder.path().to_owned()];
        assert_eq!(
            hash(&whole).sha256,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let a = put("a.txt", "abc\n");
        let b = put("b/c.txt", "");
        put(".hidden", "x");
        put(".cache/d.txt", "x");
        put("b/e.JPG", "x");
        let expected = HashedFiles {
            files: 2,
            bytes: 4,
            sha256: "532a6b557880d578ac29625441c4cbfb670b68a138d1dd8cdd72468f59e9d3b6".to_owned(),
        };
        assert_eq!(hash(&whole), expected);
        // The order in which they are named does not matter.
        assert_eq!(hash(&[b.clone(), a]), expected);
        assert_eq!(hash(&[folder.path().join("**/*.txt")]), expected);
        // Of files in one folder the names are those there.
        assert_eq!(
            hash(&[b]).sha256,
            "76c51eea7773fde118a558b7efcbac9d23fbc645ffba75521f637fdcb280a421"
        );
        if cfg!(unix) {
            let names = ["x\ny", "x\\y"];
            let odd = names.map(|name| put(&format!("odd/{name}"), "abc\n"));
            assert_eq!(
                hash(&odd).sha256,
                "a799817f6d67a977347286d0fafb21d426200185d1cd44d7718af8ed83764ff2"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_back_are_followed_once() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.txt"), "abc\n").expect("a file");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("a link");
        let hashed = HashedFiles::of(&[folder.path()]).expect("a hash");
        assert_eq!((hashed.files, hashed.bytes), (1, 4));
    }

    #[test]
    fn files_that_are_not_there_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = HashedFiles::of(&[folder.path().join("*.txt")]).unwrap_err();
        assert!(error.to_string().contains("matches no file"), "{error}");
    }
}
