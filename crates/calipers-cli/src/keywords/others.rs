//! Commands that do not measure units into a report, with keyword arguments.

use std::path::Path;

use calipers::run::Progress;
use calipers::sources::segmentation::fit::Fitted;
use calipers::{Error, Report, output};

use super::{Given, Options, Refused, read, refused};
use crate::commands::Command;
use crate::commands::families::Family;
use crate::commands::families::segmentation::SegmentationCommand;

/// What was fitted, and the configuration with it.
pub struct Fit {
    /// Weights, temperatures and the surprise before and after.
    pub fitted: Fitted,
    /// The text that the command writes.
    pub toml: String,
}

pub(super) fn none() -> Refused {
    Refused::Failed(Error::usage("no such command"))
}

/// The failure, with the argument where it is about that file.
pub(super) fn in_path(name: &str, path: &str, error: Error) -> Error {
    refused::naming(error, &[], &vec![(name.to_owned(), Given::Text(path.to_owned()))])
}

/// Fits the heads of a configuration; the text is written where `output` says.
pub fn fit(config: &str, mut options: Options, progress: &dyn Progress) -> Result<Fit, Refused> {
    let written = options.iter().find(|(name, _)| name == "output").map(|(_, given)| given.to_string());
    match &written {
        Some(path) => output::check(Path::new(path))?,
        // Beside the configuration its paths stay as they are.
        None => {
            let beside = Path::new(config).with_file_name("fitted.toml").display().to_string();
            options.push(("output".to_owned(), Given::Text(beside)));
        }
    }
    let command = read(&["segmentation", "fit"], &[config.to_owned()], &options, &[])?;
    let Command::Family(Family::Segmentation(args)) = command else { return Err(none()) };
    let Some(SegmentationCommand::Fit(fit)) = args.command else { return Err(none()) };
    let (fitted, toml) = fit.fitted(progress).map_err(|error| in_path("config", config, error))?;
    if let Some(path) = &written {
        output::write(Path::new(path), toml.as_bytes())?;
    }
    Ok(Fit { fitted, toml })
}

/// Measures again what a report or state names: what differs, line by line.
pub fn verify(file: &str, options: &Options) -> Result<Vec<String>, Refused> {
    let Command::Verify(verify) = read(&["verify"], &[file.to_owned()], options, &[])? else {
        return Err(none());
    };
    let mut lines = Vec::new();
    let checked = verify.checked().map_err(|error| in_path("path", file, error))?;
    for (what, places) in checked.differences {
        if places.is_empty() {
            lines.push(what);
        } else {
            lines.extend(places.iter().map(|place| format!("{what}: {place}")));
        }
    }
    Ok(lines)
}

/// Makes a data set of every family and scores it.
pub fn demo(options: &Options, progress: &dyn Progress) -> Result<Vec<Report>, Refused> {
    let Command::Demo(demo) = read(&["demo"], &[], options, &[])? else { return Err(none()) };
    Ok(demo.made(progress)?.0)
}

/// Serves the reports of a folder while that is wanted; `tell` is called with the address first.
pub fn serve(
    folder: &str,
    options: &Options,
    tell: impl FnOnce(&str),
    wanted: impl Fn() -> bool,
) -> Result<(), Refused> {
    let Command::Serve(serve) = read(&["serve"], &[folder.to_owned()], options, &[])? else {
        return Err(none());
    };
    let server = serve.server().map_err(|error| in_path("folder", folder, error))?;
    tell(&server.address());
    Ok(server.run_while(wanted)?)
}
