//! What `calipers training` does beside measuring, with keyword arguments: it lists keys, reads curves,
//! gathers the JSON of a study and makes its tables.

use std::path::Path;

use calipers::core::Warning;
use calipers::run::Progress;
use calipers::sources::training::points::read::Read;
use calipers::{Error, output};

use super::{Given, Options, Refused, read, refused};
use crate::commands::Command;
use crate::commands::families::Family;
use crate::commands::families::training::tables;
pub use crate::commands::families::training::tables::Tabled;
use crate::commands::families::training::{TrainingArgs, TrainingCommand};

fn arguments(inputs: &[String], options: &Options) -> Result<TrainingArgs, Refused> {
    match read(&["training"], inputs, options, &[])? {
        Command::Family(Family::Training(args)) => Ok(*args),
        _ => Err(none()),
    }
}

fn none() -> Refused {
    Refused::Failed(Error::usage("no such command"))
}

/// What histories hold, as the JSON of `--keys`.
pub fn keys(inputs: &[String], options: &Options, progress: &dyn Progress) -> Result<String, Refused> {
    let listing = arguments(inputs, options)?.listing(progress);
    let listing = listing.map_err(|error| refused::naming(error, inputs, options))?;
    Ok(listing.to_json().to_string())
}

/// The runs of one metric, and what looks wrong about them.
pub fn runs(
    inputs: &[String],
    options: &Options,
    progress: &dyn Progress,
) -> Result<(Vec<Read>, Vec<Warning>), Refused> {
    let measured = arguments(inputs, options)?.read(progress);
    let measured = measured.map_err(|error| refused::naming(error, inputs, options))?;
    let warnings = measured.accumulators.iter().flat_map(|runs| runs.finish().warnings).collect();
    Ok((measured.read, warnings))
}

/// The per-run JSON of a study, and what looks wrong about it; it is written where `output` says.
pub fn extract(
    inputs: &[String],
    mut options: Options,
    progress: &dyn Progress,
) -> Result<(String, Vec<Warning>), Refused> {
    let written = options.iter().find(|(name, _)| name == "output").map(|(_, given)| given.to_string());
    match &written {
        Some(path) => output::check(Path::new(path))?,
        // The command always writes a file; this one never does.
        None => options.push(("output".to_owned(), Given::Text("artefacts.json".to_owned()))),
    }
    let command = read(&["training", "extract"], inputs, &options, &[])?;
    let Command::Family(Family::Training(args)) = command else { return Err(none()) };
    let Some(TrainingCommand::Extract(args)) = args.command else { return Err(none()) };
    let extracted = args.extracted(progress).map_err(|error| refused::naming(error, inputs, &options))?;
    let text = extracted.to_text();
    if let Some(path) = &written {
        output::write(Path::new(path), text.as_bytes())?;
    }
    Ok((text, extracted.doubts))
}

/// The three tables of a study, and what looks wrong about them; `json` is the per-run JSON where it is no
/// file.
pub fn tables(
    inputs: &[String],
    options: &Options,
    json: Option<String>,
    progress: &dyn Progress,
) -> Result<([Tabled; 3], Vec<Warning>), Refused> {
    let tabled = arguments(inputs, options)?.tabled(json, progress);
    Ok(tabled.map_err(|error| refused::naming(error, inputs, options))?)
}

/// Writes the nine files of tables: of each the CSV, the Markdown and the LaTeX.
pub fn write_tables(prefix: &str, texts: [&[String; 3]; 3]) -> Result<(), Refused> {
    let prefix = Path::new(prefix);
    tables::check(prefix)?;
    Ok(tables::write_texts(texts, prefix)?)
}
