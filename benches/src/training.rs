//! Histories read and measured, against the usual way to read them in Python.

use std::path::{Path, PathBuf};

use calipers::inputs::Inputs;
use calipers::io::history::delimited;
use calipers::metrics::training::protocol::{Preset, Training};
use calipers::run::Silent;
use calipers::sources::training::assign::{Assignment, FoldBy, GroupBy};
use calipers::sources::training::options::Options;
use calipers::sources::training::{Measured, measure};

use crate::Outcome;
use crate::clock::{by_turns, seconds_per_call};
use crate::line::{Goal, Line, duration};
use crate::peer::Peer;

/// A format: the peer's job, the file below the data folder, the peer and the goal.
const FORMATS: [(&str, &str, &str, f64); 4] = [
    ("csv", "wide.csv", "pandas with usecols", 1.5),
    ("json", "rows.json", "json.load", 4.0),
    ("tensorboard", "events", "EventAccumulator", 30.0),
    ("wandb", "run.wandb", "the SDK's own reader", 20.0),
];

/// Every format from the file to the report, one thread; the peer only reads.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut peer = Peer::start("training.py", folder.path())?;
    for (job, file, library, goal) in FORMATS {
        let options = options(&folder.path().join(file));
        let mut read = || measured(&options);
        let units: usize = read()?.accumulators.iter().map(|metric| metric.rows().len()).sum();
        if units != 1 {
            return Err(format!("{file} gave {units} runs").into());
        }
        let (ours, theirs) = by_turns(5, || Ok(seconds_per_call(&mut read)), || peer.seconds(job))?;
        report(Line {
            job: format!("history from {file}, read and measured; {library} reads"),
            ours: duration(ours),
            against: duration(theirs),
            ratio: theirs / ours,
            goal: Goal::AtLeast(goal),
        });
    }
    Ok(())
}

fn measured(options: &Options) -> calipers::Result<Measured> {
    measure(options, Inputs::default(), None, 1, &Silent)
}

fn options(path: &Path) -> Options {
    let metric = "val_F1".to_owned();
    Options {
        inputs: vec![PathBuf::from(path)],
        metrics: vec![Training { label: metric.clone(), metric, ..Training::new(Preset::Strict) }],
        assignment: Assignment { group_by: GroupBy::None, fold_by: FoldBy::Auto, runs: None },
        x: None,
        run_column: None,
        delimited: delimited::Options::default(),
        format: None,
        skip_missing: false,
        endings: false,
        sketches: false,
    }
}
