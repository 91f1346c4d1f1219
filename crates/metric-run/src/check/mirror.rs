//! A copy of a folder made of links, in which a check changes the files that have problems.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The number of folders above the given one in the copy: a reader may look for names of classes there.
const ABOVE: usize = 2;

/// A folder that looks like the given one. Its files are links, except those that were changed.
pub(super) struct Mirror {
    /// The folder that holds the copy; dropped, it is removed.
    _holder: TempDir,
    /// The copy of the given folder.
    pub(super) path: PathBuf,
    /// The name of the folder as it was given.
    given: String,
    /// The topmost folder of the copy, and the one that it is a copy of.
    top: [PathBuf; 2],
}

impl Mirror {
    pub(super) fn new(given: &Path) -> io::Result<Self> {
        let original = std::fs::canonicalize(given)?;
        let holder = tempfile::tempdir()?;
        let above = original.ancestors().nth(ABOVE);
        let top = above.or_else(|| original.ancestors().last());
        let top = top.unwrap_or(&original).to_owned();
        let copy_of_top = holder.path().join("top");
        link_entries(&top, &copy_of_top)?;
        let inner = original.strip_prefix(&top).unwrap_or(Path::new(""));
        let mirror = Self {
            path: copy_of_top.join(inner),
            given: given.to_string_lossy().into_owned(),
            top: [copy_of_top, top],
            _holder: holder,
        };
        mirror.open(&mirror.path)?;
        Ok(mirror)
    }

    /// Makes real folders of the links on the way to a folder of the copy.
    fn open(&self, folder: &Path) -> io::Result<()> {
        let inner = folder
            .strip_prefix(&self.top[0])
            .map_err(io::Error::other)?;
        let mut path = self.top[0].clone();
        for name in inner {
            path.push(name);
            if path.is_symlink() {
                let target = std::fs::canonicalize(&path)?;
                std::fs::remove_file(&path)?;
                link_entries(&target, &path)?;
            }
        }
        Ok(())
    }

    /// Writes another text into a file of the copy.
    pub(super) fn replace(&self, file: &Path, text: &str) -> io::Result<()> {
        self.open(file.parent().unwrap_or(&self.path))?;
        std::fs::remove_file(file)?;
        std::fs::write(file, text)
    }

    /// Leaves a file out of the copy.
    pub(super) fn remove(&self, file: &Path) -> io::Result<()> {
        self.open(file.parent().unwrap_or(&self.path))?;
        std::fs::remove_file(file)
    }

    /// A text that names files of the copy, with the names that they have in the given folder.
    pub(super) fn with_given_names(&self, text: &str) -> String {
        let [copy, top] = self.top.each_ref().map(|path| path.to_string_lossy());
        let path = self.path.to_string_lossy();
        text.replace(&*path, &self.given).replace(&*copy, &top)
    }
}

/// Makes a folder of links to what another one holds.
fn link_entries(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        link(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

/// Elsewhere links to files and to folders differ, and may need rights.
#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_hides_the_given_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let labels = folder.path().join("data/labels/train");
        std::fs::create_dir_all(&labels).expect("folders");
        std::fs::write(folder.path().join("data/data.yaml"), "names").expect("a file");
        std::fs::write(labels.join("a.txt"), "one").expect("a file");
        std::fs::write(labels.join("b.txt"), "two").expect("a file");

        let mirror = Mirror::new(&labels).expect("a copy");
        let read = |name: &str| std::fs::read_to_string(mirror.path.join(name)).expect("a text");
        mirror
            .replace(&mirror.path.join("a.txt"), "")
            .expect("a change");
        assert_eq!([read("a.txt"), read("b.txt")], ["", "two"]);
        assert_eq!(read("../../data.yaml"), "names");
        let given = std::fs::read_to_string(labels.join("a.txt")).expect("a text");
        assert_eq!(given, "one");

        let named = mirror.path.join("a.txt").to_string_lossy().into_owned();
        let named = mirror.with_given_names(&named);
        assert_eq!(named, labels.join("a.txt").to_string_lossy());
    }
}
