//! Histories read and measured, against the usual way to read them in Python.

use std::path::{Path, PathBuf};

use calipers::inputs::Inputs;
use calipers::io::file::InputFile;
use calipers::io::history::{Wanted, chunks, delimited};
use calipers::metrics::training::{Preset, Training};
use calipers::run::Work;
use calipers::sources::training::options::Options;
use calipers::sources::training::{Measured, measure};

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};
use crate::harness::peer::Peer;

/// A format: the peer's job, the file below the data folder, the peer and the goal.
const FORMATS: [(&str, &str, &str, Goal); 4] = [
    ("csv", CSV, PANDAS, Goal::None),
    ("json", "rows.json", "json.load", Goal::AtLeast(4.0)),
    ("tensorboard", "events", "EventAccumulator", Goal::AtLeast(30.0)),
    ("wandb", "run.wandb", "the SDK's own reader", Goal::AtLeast(20.0)),
];
const CSV: &str = "wide.csv";
/// How much of the table is read at a time, as in the program.
const CHUNK: usize = 1 << 20;
const PANDAS: &str = "pandas with usecols";

/// The two columns of a wide table, as the peer reads them; then every format from the file to the
/// report, hashed and measured, while the peer only reads. One thread.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut peer = Peer::start("training.py", folder.path())?;
    let table = folder.path().join(CSV);
    let wanted =
        Wanted { numbers: ["epoch", "val_F1"].map(String::from).to_vec(), texts: Vec::new(), config: false };
    let read = || -> Outcome<usize> {
        let file = InputFile::open(&table)?;
        let mut chunks = delimited::chunks(&file, &wanted, &delimited::Options::default(), CHUNK)?;
        Ok(chunks::whole(&mut *chunks)?.map_or(0, |table| table.rows))
    };
    if read()? == 0 {
        return Err(format!("{CSV} holds no rows").into());
    }
    let (ours, theirs) = by_turns(5, || Ok(seconds_per_call(read)), || peer.seconds("csv"))?;
    report(Line {
        job: format!("two columns of {CSV} read; {PANDAS}"),
        ours: duration(ours),
        against: duration(theirs),
        ratio: theirs / ours,
        goal: Goal::AtLeast(1.5),
    });
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
            goal,
        });
    }
    Ok(())
}

fn measured(options: &Options) -> calipers::Result<Measured> {
    measure(options, Inputs::default(), &Work::quiet(1))
}

fn options(path: &Path) -> Options {
    let metric = "val_F1".to_owned();
    let training = Training { label: metric.clone(), metric, ..Training::new(Preset::Strict) };
    Options::over(vec![PathBuf::from(path)], vec![training])
}
