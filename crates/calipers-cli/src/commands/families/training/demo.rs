//! What the demo shows of the family.

use std::path::Path;

use calipers::inputs::Inputs;
use calipers::metrics::training::{Preset, Training};
use calipers::sources::training::assign::{Assignment, FoldBy};
use calipers::sources::training::options::Options;
use calipers::{Error, Result, demo, run, sources};

use super::view;
use crate::commands::demo::{Shown, first_numbers};
use crate::emit;

/// Logs of three configurations, five folds each.
pub(in crate::commands) fn demo(folder: &Path, seed: u64, work: &run::Work<'_>) -> Result<Shown> {
    const KEY: &str = demo::training::KEY;
    demo::training::write(folder, seed)?;
    let metric = Training { metric: KEY.into(), label: KEY.into(), ..Training::new(Preset::Strict) };
    let options = Options {
        assignment: Assignment {
            group_by: "folder".parse().map_err(Error::usage)?,
            fold_by: FoldBy::Auto,
            runs: None,
        },
        sketches: true,
        ..Options::over(vec![folder.to_owned()], vec![metric])
    };
    let measured = sources::training::measure(&options, Inputs::default(), work)?;
    let mut shown = Shown { text: view::curves(&measured, emit::style()), ..Shown::default() };
    for rows in measured.accumulators {
        shown.text += &format!("\n{}", first_numbers(&rows));
        shown.ledgers.push((None, Box::new(rows)));
    }
    let command = format!("training {} --metric {KEY} --group-by folder", folder.display());
    shown.next.push(format!("{command} --sweep 0.85,0.9,0.95"));
    Ok(shown)
}
