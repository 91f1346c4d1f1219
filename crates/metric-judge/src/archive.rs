//! Zip archives that may lie: sizes are counted, and paths are compared and never followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use flate2::read::DeflateDecoder;
use rawzip::{
    CompressionMethod, FileReader, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive,
    ZipArchiveEntryWayfinder,
};

use crate::refused::{
    MOST_ENTRIES, OF_SYSTEMS, SubmissionError, missing, refuse_cases, too_many_entries,
};

/// The most that compressed data may grow. Deflate reaches 1032, but data that say something do not.
const MOST_RATIO: u64 = 500;
/// The size in bytes below which the ratio does not matter.
const SMALL_BYTES: u64 = 16 << 20;

/// The bytes of the longest path that is looked at.
const MOST_NAME: usize = 1024;

/// The file type in a Unix mode (`S_IFMT`), and those of plain files and folders; 0 is a writer that has no modes.
const FILE_TYPE: u32 = 0o170_000;
const PLAIN_TYPES: [u32; 3] = [0, 0o100_000, 0o040_000];

/// An archive whose list of entries was read.
#[derive(Debug)]
pub(crate) struct Archive {
    zip: ZipArchive<FileReader>,
    /// Entries whose paths lie inside the archive, by path without the single folder at the top.
    entries: BTreeMap<String, Vec<Entry>>,
    /// The number of entries with other paths.
    outside: usize,
}

#[derive(Debug)]
struct Entry {
    is_folder: bool,
    /// Whether it is a plain file or a folder.
    is_plain: bool,
    method: CompressionMethod,
    bytes: u64,
    compressed: u64,
    /// The position of its record in the list of entries.
    listed_at: u64,
    wayfinder: ZipArchiveEntryWayfinder,
}

/// The starts of other archives that people submit, each with its name. That of tar is not at the start of the file.
const OTHER_ARCHIVES: [(&[u8], &str); 5] = [
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x1f\x8b", "a gzip file, such as .tar.gz"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file, such as .tar.zst"),
    (b"\xfd7zXZ\0", "an xz file, such as .tar.xz"),
];

/// Refuses a file that starts like an archive of another kind.
fn refuse_other_archive(file: &mut File) -> Result<(), SubmissionError> {
    let mut start = [0; 8];
    let read = file.read(&mut start).and_then(|length| {
        file.rewind()?;
        Ok(length)
    });
    let length = read.map_err(invalid)?;
    let start = start.get(..length).unwrap_or_default();
    let mut others = OTHER_ARCHIVES.iter();
    match others.find(|(magic, _)| start.starts_with(magic)) {
        Some((_, name)) => Err(SubmissionError::Invalid(format!(
            "the submission is {name}: expected a folder or a zip archive"
        ))),
        None => Ok(()),
    }
}

fn invalid(problem: impl std::fmt::Display) -> SubmissionError {
    SubmissionError::Invalid(format!(
        "the submission is neither a folder nor a valid zip archive: {problem}"
    ))
}

impl Archive {
    pub(crate) fn open(mut file: File, names: &[&str]) -> Result<Self, SubmissionError> {
        refuse_other_archive(&mut file)?;
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = ZipArchive::from_file(file, &mut buffer).map_err(invalid)?;
        let mut entries: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        let mut outside = 0;
        let mut listed = zip.entries(&mut buffer);
        let mut count = 0;
        while let Some(header) = listed.next_entry().map_err(invalid)? {
            count += 1;
            if count > MOST_ENTRIES {
                return Err(too_many_entries());
            }
            let path = String::from_utf8_lossy(header.file_path().as_bytes()).into_owned();
            let path = with_slashes(&path);
            if path.is_empty() {
                // The folder of the archive itself.
                continue;
            }
            let Some(path) = inner(&path) else {
                outside += 1;
                continue;
            };
            let entry = Entry {
                is_folder: header.is_dir() || header.file_path().as_bytes().ends_with(b"\\"),
                is_plain: PLAIN_TYPES.contains(&(header.mode().value() & FILE_TYPE)),
                method: header.compression_method(),
                bytes: header.uncompressed_size_hint(),
                compressed: header.compressed_size_hint(),
                listed_at: header.central_directory_offset(),
                wayfinder: header.wayfinder(),
            };
            entries.entry(path.to_owned()).or_default().push(entry);
        }
        let entries = looked_through(entries, names);
        Ok(Self {
            zip,
            entries,
            outside,
        })
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        match self.outside {
            0 => Vec::new(),
            1 => vec!["1 path of the archive leads outside of it and is not read".to_owned()],
            count => vec![format!(
                "{count} paths of the archive lead outside of it and are not read"
            )],
        }
    }

    /// Writes a file, or all files of a folder, below a folder.
    pub(crate) fn extract(
        &self,
        name: &str,
        most: u64,
        folder: &Path,
    ) -> Result<(), SubmissionError> {
        let chosen = self.chosen(name)?;
        let stated = chosen.iter().map(|(_, entry)| entry.bytes);
        let stated = stated.fold(0, u64::saturating_add);
        if stated > most {
            return Err(SubmissionError::too_large(most));
        }
        let mut left = most;
        for (path, entry) in chosen {
            let target = folder.join(path);
            let parent = if entry.is_folder {
                Some(target.as_path())
            } else {
                target.parent()
            };
            let parent = parent.unwrap_or(folder);
            fs::create_dir_all(parent)
                .map_err(|error| SubmissionError::unwritten(path, parent, &error))?;
            if !entry.is_folder {
                self.write(path, entry, &target, &mut left, most)?;
            }
        }
        Ok(())
    }

    /// The entries of a file or of a folder, if they are plain and each is there once.
    fn chosen(&self, name: &str) -> Result<Vec<(&str, &Entry)>, SubmissionError> {
        let below = format!("{name}/");
        let lower = [name.to_lowercase(), below.to_lowercase()];
        let is_similar = |path: &str| {
            let path = path.to_lowercase();
            path == lower[0] || path.starts_with(&lower[1])
        };
        // As much of a path as the name has.
        let head = |path: &str| {
            let parts = path.split('/').take(name.split('/').count());
            parts.collect::<Vec<_>>().join("/")
        };
        let similar = self.entries.keys().filter(|path| is_similar(path));
        let similar: BTreeSet<String> = similar.map(|path| head(path)).collect();
        refuse_cases(name, &similar)?;
        let is_chosen = |path: &str| path == name || path.starts_with(&below);
        let mut chosen = Vec::new();
        let mut lowered: BTreeMap<String, &str> = BTreeMap::new();
        for (path, entries) in self.entries.iter().filter(|(path, _)| is_chosen(path)) {
            let [entry] = entries.as_slice() else {
                let count = entries.len();
                let problem = format!("{path}: {count} entries of the archive have this name");
                return Err(SubmissionError::Invalid(format!("{problem}: expected one")));
            };
            if !entry.is_plain {
                let problem = format!("{path}: a link or a device: expected a file");
                return Err(SubmissionError::Invalid(problem));
            }
            if let Some(other) = lowered.insert(path.to_lowercase(), path) {
                let problem = format!("{other} and {path} differ in case only");
                return Err(SubmissionError::Invalid(format!(
                    "{problem}: expected one of them"
                )));
            }
            chosen.push((path.as_str(), entry));
        }
        let is_file = |(path, entry): &(&str, &Entry)| *path == name && !entry.is_folder;
        match chosen.len() {
            0 => Err(SubmissionError::Missing(self.missing(name))),
            2.. if chosen.iter().any(is_file) => Err(SubmissionError::Invalid(format!(
                "{name}: both a file and a folder: expected one of them"
            ))),
            _ => Ok(chosen),
        }
    }

    /// That the archive has no file of a name, and the path at which it has one that may be meant.
    fn missing(&self, name: &str) -> String {
        let is_own = |path: &&String| !OF_SYSTEMS.iter().any(|other| path.starts_with(other));
        let (deeper, compressed) = (format!("/{name}"), format!("{name}.gz"));
        let is_meant = |path: &&String| path.ends_with(&deeper) || **path == compressed;
        let meant = self.entries.keys().filter(is_own).find(is_meant);
        match meant {
            Some(meant) => format!("{}, which has {meant}", missing(name)),
            None => missing(name),
        }
    }

    /// Whether an entry is encrypted: by its flags (bit 0 in section 4.4.4 of APPNOTE.TXT), or by its method.
    fn is_encrypted(&self, entry: &Entry) -> bool {
        const FLAGS: u64 = 8;
        let mut flags = [0; 2];
        let position = entry.listed_at.saturating_add(FLAGS);
        let read = self.zip.get_ref().read_exact_at(&mut flags, position);
        entry.method == CompressionMethod::Aes || read.is_ok() && flags[0] & 1 == 1
    }

    /// Writes one file, of at most as many bytes as are left.
    fn write(
        &self,
        name: &str,
        entry: &Entry,
        target: &Path,
        left: &mut u64,
        most: u64,
    ) -> Result<(), SubmissionError> {
        let damaged = |error: &dyn std::fmt::Display| {
            SubmissionError::Invalid(format!("{name}: damaged in the archive: {error}"))
        };
        if self.is_encrypted(entry) {
            let problem = "encrypted in the archive: expected an archive without a password";
            return Err(SubmissionError::Invalid(format!("{name}: {problem}")));
        }
        let found = self
            .zip
            .get_entry(entry.wayfinder)
            .map_err(|error| damaged(&error))?;
        let data: Box<dyn Read + '_> = match entry.method {
            CompressionMethod::Store => Box::new(found.reader()),
            CompressionMethod::Deflate => Box::new(DeflateDecoder::new(found.reader())),
            other => {
                let problem = format!("{name}: compressed by {other:?}: expected deflate, or none");
                return Err(SubmissionError::Invalid(problem));
            }
        };
        let mut data = found.verifying_reader(data);
        let failed = |error: io::Error| SubmissionError::unwritten(name, target, &error);
        let mut file = File::create_new(target).map_err(failed)?;
        let mut buffer = vec![0; 1 << 16];
        let mut written = 0;
        loop {
            let read = data.read(&mut buffer).map_err(|error| damaged(&error))?;
            if read == 0 {
                return file.flush().map_err(failed);
            }
            written += read as u64;
            *left = left
                .checked_sub(read as u64)
                .ok_or_else(|| SubmissionError::too_large(most))?;
            if written > SMALL_BYTES && written / MOST_RATIO > entry.compressed {
                let problem = format!("exceeded {MOST_RATIO} times the compressed bytes of {name}");
                return Err(SubmissionError::Limit(problem));
            }
            file.write_all(&buffer[..read]).map_err(failed)?;
        }
    }
}

/// The path of an entry with `/` between its parts, and without `./` at its start. Some programs of Windows write `\`, and
/// some others write a `.` for the folder that they were given.
fn with_slashes(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut rest = path.as_str();
    while let Some(inside) = rest.strip_prefix("./") {
        rest = inside;
    }
    rest.to_owned()
}

/// The path of an entry without the slash of a folder, if it stays inside the archive and is the same on all systems.
fn inner(path: &str) -> Option<&str> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let is_inner = |part: &str| !part.is_empty() && part != "." && part != "..";
    // Longer names than any system has.
    let is_short = path.len() <= MOST_NAME;
    let is_plain = is_short && !path.contains([':', '\0', '\u{fffd}']);
    (is_plain && path.split('/').all(is_inner)).then_some(path)
}

/// Entries with their paths in the single folder at the top, if there is one and no name is next to it.
fn looked_through(
    entries: BTreeMap<String, Vec<Entry>>,
    names: &[&str],
) -> BTreeMap<String, Vec<Entry>> {
    let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let is_own = |path: &&String| !OF_SYSTEMS.contains(&top(path).as_str());
    let tops: BTreeSet<String> = entries
        .keys()
        .filter(is_own)
        .map(|path| top(path))
        .collect();
    let folder = match tops.first() {
        Some(folder) if tops.len() == 1 => format!("{folder}/"),
        _ => return entries,
    };
    let is_named = names.iter().any(|name| format!("{}/", top(name)) == folder);
    let is_file = |(path, entries): (&String, &Vec<Entry>)| {
        format!("{path}/") == folder && entries.iter().any(|entry| !entry.is_folder)
    };
    if is_named || entries.iter().any(is_file) {
        return entries;
    }
    let inside = entries.into_iter().filter_map(|(path, entries)| {
        let path = path.strip_prefix(&folder)?.to_owned();
        Some((path, entries))
    });
    inside.collect()
}
