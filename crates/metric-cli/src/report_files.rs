//! The inputs that a report names: sizes, hashes, and the number of examples scored.

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use metric_report::{Fact, counted};
use metric_run::{Data, Fingerprint, Hashed, HashedFiles, Source};

use crate::error::Failure;

/// The explanation of the hash of several files.
const LIST: &str = "The list of several files is what sha256sum prints of them: a line of the SHA-256, two spaces and the name for each file, in ascending order of the names as bytes. Names are relative to the folder of the files. Hidden files and pictures of a folder are left out.";

/// The most inputs of a role that are named one by one.
const MOST_NAMED: usize = 20;

/// One input: a file, a folder, a pattern, standard input, or files that are too many to be named.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// The name of the option, such as `references`.
    role: String,
    paths: Vec<PathBuf>,
}

impl Given {
    /// The inputs that an option names.
    pub(crate) fn of_role(role: &str, paths: Vec<PathBuf>) -> Vec<Self> {
        let given = |paths: Vec<PathBuf>| Self {
            role: role.to_owned(),
            paths,
        };
        match paths.len() {
            ..=MOST_NAMED => paths.into_iter().map(|path| given(vec![path])).collect(),
            _ => vec![given(paths)],
        }
    }

    /// The path, unless there are several files.
    fn path(&self) -> Option<&Path> {
        match self.paths.as_slice() {
            [path] => Some(path),
            _ => None,
        }
    }

    /// The name to show.
    fn name(&self, has_full_paths: bool) -> String {
        match self.path() {
            Some(path) if path == Path::new("-") => "standard input".to_owned(),
            Some(path) => shown_path(&path.to_string_lossy(), has_full_paths),
            None => counted(self.paths.len() as u64, "path"),
        }
    }

    /// The size and the hash.
    fn hashed(&self) -> Found {
        let found = match self.path() {
            Some(path) if path == Path::new("-") => {
                return Found::Nothing("read from standard input");
            }
            Some(path) if path.is_file() => std::fs::File::open(path)
                .and_then(Hashed::of)
                .ok()
                .map(Found::One),
            // A pipe can be read once, and the metric reads it.
            Some(path) if path.exists() && !path.is_dir() => None,
            _ => HashedFiles::of(&self.paths).ok().map(Found::Several),
        };
        found.unwrap_or(Found::Nothing("not hashed"))
    }
}

/// The hash of an input.
enum Found {
    One(Hashed),
    Several(HashedFiles),
    /// None, with the reason.
    Nothing(&'static str),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(Hashed { bytes, sha256 }) => write!(f, "{bytes} bytes, SHA-256 {sha256}"),
            Self::Several(hashed) => {
                let files = counted(hashed.files, "file");
                let (bytes, sha256) = (hashed.bytes, &hashed.sha256);
                write!(f, "{files}, {bytes} bytes, SHA-256 of their list {sha256}")
            }
            Self::Nothing(reason) => f.write_str(reason),
        }
    }
}

/// The hashes of inputs, which are computed while the metric reads them.
pub(crate) struct Hashes {
    inputs: Vec<Given>,
    /// By input.
    while_read: Vec<Option<Fingerprint>>,
    /// Those of the other inputs.
    at_once: JoinHandle<Vec<Found>>,
}

impl Hashes {
    /// Starts to hash the inputs that `data` does not read as a whole.
    pub(crate) fn new(inputs: Vec<Given>, data: Option<&mut Data>) -> Self {
        let mut sources: Vec<(&str, &mut Source)> = match data {
            Some(Data::Sources {
                references,
                predictions,
            }) => vec![("references", references), ("predictions", predictions)],
            Some(Data::Pairs(pairs)) => vec![("pairs", pairs)],
            _ => Vec::new(),
        };
        let mut while_read = Vec::new();
        for input in &inputs {
            let source = sources.iter_mut().find(|(role, _)| *role == input.role);
            while_read.push(source.and_then(|(_, source)| source.fingerprint()));
        }
        let others = inputs.iter().zip(&while_read);
        let others = others.filter(|(_, fingerprint)| fingerprint.is_none());
        let others: Vec<Given> = others.map(|(input, _)| input.clone()).collect();
        Self {
            at_once: std::thread::spawn(move || others.iter().map(Given::hashed).collect()),
            while_read,
            inputs,
        }
    }

    /// A fact about each input. `examples` is the number of examples scored of the input of a role at a position.
    pub(crate) fn finish(
        self,
        has_full_paths: bool,
        examples: impl Fn(&str, usize) -> Option<u64>,
    ) -> Result<Vec<(String, Fact)>, Failure> {
        let failed = |_| Failure::Internal("a thread that hashes files has failed".to_owned());
        let mut at_once = self.at_once.join().map_err(failed)?.into_iter();
        let mut facts: Vec<(String, Fact)> = Vec::new();
        let (mut position, mut has_list) = (0, false);
        for (index, input) in self.inputs.iter().enumerate() {
            let while_read = self.while_read[index].as_ref();
            let found = match while_read {
                None => at_once.next(),
                Some(fingerprint) => fingerprint.hashed().map(Found::One),
            };
            let found = found.unwrap_or_else(|| input.hashed());
            has_list |= matches!(found, Found::Several(_));
            let is_next = index > 0 && self.inputs[index - 1].role == input.role;
            position = if is_next { position + 1 } else { 0 };
            let scored = examples(&input.role, position);
            let scored = scored.map_or_else(String::new, |examples| {
                format!("; {} scored", counted(examples, "example"))
            });
            let name = input.name(has_full_paths);
            facts.push((
                capitalized(&input.role),
                Fact::Text(format!("{name}: {found}{scored}")),
            ));
        }
        if has_list {
            facts.push(("Lists".to_owned(), Fact::Words(LIST.to_owned())));
        }
        Ok(facts)
    }
}

/// A word with a capital letter, as the names of the other facts have it.
fn capitalized(word: &str) -> String {
    let mut word = word.to_owned();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

/// A path, or the name at its end.
pub(crate) fn shown_path(path: &str, is_full: bool) -> String {
    let name = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path);
    if is_full || name.is_empty() {
        path.to_owned()
    } else {
        name.to_owned()
    }
}
