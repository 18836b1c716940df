//! The inputs that a report or state names, read again the way they were read.
//!
//! ```text
//! report.inputs  role, below --recorded--> the paths that were given
//!        reading, protocol   --<family>--> the options of the run
//!        bytes, blake3       ------------> nothing else is read, and nothing that has changed
//! ```

mod recorded;
pub mod verdict;

use std::path::{Path, PathBuf};

use calipers_core::input_files::ROLE;
use calipers_core::protocol::from_json;
use calipers_core::{Error, Input, InputFiles, Ledger, Protocol, Report, Result};
use calipers_io::file::{InputFile, ReadAt};
use calipers_sources::inputs::Inputs;
use calipers_sources::run::{Silent, in_parts};
use calipers_sources::stdin;
use serde_json::{Map, Value as Json};

pub(crate) use self::recorded::Recorded;
pub(crate) use self::verdict::like;
use crate::registry::{self, Family};

/// How much of a file is hashed at a time.
const BLOCK: usize = 1 << 20;

/// Recorded inputs with the protocols and the reading they were measured under.
#[derive(Clone, Debug)]
pub struct Replay {
    /// One, or those that were measured together.
    protocols: Vec<Map<String, Json>>,
    reading: Map<String, Json>,
    inputs: InputFiles,
    /// The folder with the photos behind label maps, for pictures.
    photos: Option<PathBuf>,
}

/// Whether what rows do not hold can be looked at.
pub enum Evidence {
    /// Every input is there with the bytes it had.
    Available(Replay),
    /// It is not; why.
    Missing(String),
}

impl Evidence {
    /// The evidence behind a report, if its inputs are still what they were.
    pub fn of(report: &Report) -> Self {
        let replay = match Replay::new(&report.protocol, &report.reading, &report.inputs) {
            Err(error) => return Self::Missing(error.what().to_owned()),
            Ok(replay) => replay,
        };
        match replay.changed().as_slice() {
            [] => Self::Available(replay),
            [first] => Self::Missing(first.clone()),
            [first, more @ ..] => Self::Missing(format!("{first}, and {} more like it", more.len())),
        }
    }
}

impl Replay {
    /// Refuses what says too little to be read again: inputs of nothing, standard input, several
    /// readings at once.
    pub fn new(protocol: &Map<String, Json>, reading: &Json, inputs: &InputFiles) -> Result<Self> {
        Self::together(&[protocol], reading, inputs)
    }

    /// The same for protocols that were measured together from one reading of the inputs.
    pub fn together(protocols: &[&Map<String, Json>], reading: &Json, inputs: &InputFiles) -> Result<Self> {
        if inputs.is_empty() {
            return Err(Error::value("the report names no inputs")
                .advice("what was measured from arrays in memory cannot be read again"));
        }
        if inputs.get(stdin::SHOWN).is_some() {
            return Err(Error::value("standard input cannot be read again")
                .in_file(stdin::SHOWN)
                .advice("save it to a file and measure that"));
        }
        if let Some((path, _)) = inputs.iter().find(|(_, input)| !input.notes.contains_key(ROLE)) {
            return Err(Error::value("the report does not say what an input was read as")
                .in_file(path)
                .advice("measure again with this version"));
        }
        inputs.iter().try_for_each(|(path, input)| recorded::check(path, input))?;
        let reading = match reading {
            Json::Object(reading) => reading.clone(),
            Json::Null => Map::new(),
            _ => {
                return Err(Error::value("states of several readings were merged")
                    .at("reading")
                    .advice("verify the report of each of them"));
            }
        };
        let protocols = protocols.iter().map(|protocol| (*protocol).clone()).collect();
        Ok(Self { protocols, reading, inputs: inputs.clone(), photos: None })
    }

    /// The same with photos of the units, which pictures show below what was predicted.
    pub fn with_photos(self, folder: PathBuf) -> Self {
        Self { photos: Some(folder), ..self }
    }

    pub(crate) fn photos(&self) -> Option<&Path> {
        self.photos.as_deref()
    }

    /// A sentence for every input that is gone or has other bytes.
    pub fn changed(&self) -> Vec<String> {
        let changed = |(path, input): (&str, &Input)| {
            // What a server gives is compared when it is asked again.
            if path.contains("://") {
                return None;
            }
            let now = match hash(path) {
                Ok(now) => now,
                Err(error) => return Some(format!("{path} cannot be read: {}", error.what())),
            };
            let was = (input.bytes, input.blake3);
            (now != was).then(|| {
                format!(
                    "{path} has changed: {} bytes, blake3 {}, was {} bytes, {}",
                    now.0, now.1, was.0, was.1
                )
            })
        };
        let files: Vec<(&str, &Input)> = self.inputs.iter().collect();
        let parts = in_parts(&files, cores(), &Silent, Vec::new, |at, file, part| {
            part.extend(changed(*file).map(|said| (at, said)));
            Ok(())
        });
        let mut said: Vec<(usize, String)> = parts.unwrap_or_default().into_iter().flatten().collect();
        said.sort_unstable();
        said.into_iter().map(|(_, said)| said).collect()
    }

    /// Measures the recorded inputs again, under the first protocol.
    pub fn measure(&self, threads: usize) -> Result<Box<dyn Ledger>> {
        let mut ledgers = self.measure_all(threads)?;
        if ledgers.is_empty() {
            return Err(Error::value("there is no protocol to measure under"));
        }
        Ok(ledgers.swap_remove(0))
    }

    /// Measures the recorded inputs again, under every protocol.
    pub fn measure_all(&self, threads: usize) -> Result<Vec<Box<dyn Ledger>>> {
        (self.family()?.measure_again)(self, threads)
    }

    /// The family.
    pub fn family(&self) -> Result<&'static Family> {
        let name = self.protocols.first().and_then(|protocol| protocol.get("name")).and_then(Json::as_str);
        name.and_then(registry::find).ok_or_else(|| {
            Error::value("a report of an unknown family").at("protocol.name").found(name.unwrap_or("nothing"))
        })
    }

    pub(crate) fn recorded(&self) -> Recorded<'_> {
        Recorded { inputs: &self.inputs, reading: &self.reading }
    }

    /// A record of files that lets through what was read before, as it was.
    pub(crate) fn again(&self) -> Inputs {
        Inputs::again(self.inputs.clone())
    }

    /// Every protocol, typed.
    pub(crate) fn parameters<P: Protocol>(&self) -> Result<Vec<P>> {
        let typed = |protocol: &Map<String, Json>| {
            let mut parameters = protocol.clone();
            parameters.shift_remove("name");
            from_json(Json::Object(parameters))
        };
        self.protocols.iter().map(typed).collect()
    }

    /// The only protocol, typed.
    pub(crate) fn parameter<P: Protocol>(&self) -> Result<P> {
        let mut all = self.parameters()?;
        match (all.pop(), all.len()) {
            (Some(only), 0) => Ok(only),
            _ => Err(Error::value("protocols of this family are measured one by one")),
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Length and hash of a file.
fn hash(path: &str) -> Result<(u64, calipers_core::Digest)> {
    let file = InputFile::open(Path::new(path))?;
    let mut hasher = blake3::Hasher::new();
    let mut block = vec![0; BLOCK.min(file.size() as usize)];
    let mut at = 0;
    while at < file.size() {
        let length = block.len().min((file.size() - at) as usize);
        let read = file.read_exact_at(&mut block[..length], at);
        read.map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
        hasher.update(&block[..length]);
        at += length as u64;
    }
    file.unchanged()?;
    Ok((file.size(), hasher.finalize().into()))
}
