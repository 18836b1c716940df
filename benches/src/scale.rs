//! A million units in a thousand shards: states, their merging, the report and the page, and ten million
//! units that are joined on the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use calipers::states;
use calipers_core::input_files::{BELOW, ROLE};
use calipers_core::{Accumulator, Digest, Input, InputFiles, Ledger, Listing, Protocol, SplitMix64};

use crate::Outcome;
use crate::harness::line::{Goal, Line, duration};
use crate::harness::program::{Run, calipers};
use crate::units::{Add, Visitor, every_family};

const MILLION: usize = 1_000_000;
const SHARDS: u32 = 1_000;
/// How many rows are measured; the units share them.
const ROWS: usize = 1_000;
/// The family whose units these are: the one with the smallest is the hardest on what each unit costs.
const FAMILY: &str = "independent_set";

/// Every line of the bench.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    every_family(&mut Scale { report, run: million })
}

/// Ten million units in a hundred shards; asks for about ten gigabytes of the temporary folder.
pub(crate) fn run_ten_million(report: &mut dyn FnMut(Line)) -> Outcome {
    every_family(&mut Scale { report, run: ten_million })
}

/// Writes so many units of a family, in so many shards, into a folder.
type WriteShards<'w> = dyn Fn(&Path, usize, u32) -> Outcome<Vec<PathBuf>> + 'w;

struct Scale<'r> {
    report: &'r mut dyn FnMut(Line),
    run: fn(&mut dyn FnMut(Line), &WriteShards<'_>) -> Outcome,
}

impl Visitor for Scale<'_> {
    fn family<P>(&mut self, name: &str, protocol: &P, _: &str, add: Add<P>) -> Outcome
    where
        P: Protocol + Send + Sync,
        P::Row: Send + Sync,
    {
        if name != FAMILY {
            return Ok(());
        }
        (self.run)(self.report, &|folder, units, shards| written(folder, (protocol, add), units, shards))
    }
}

fn name(unit: usize) -> String {
    format!("unit_{unit:08}")
}

/// States of shards, with a file for each unit.
fn written<P: Protocol>(
    folder: &Path,
    (protocol, add): (&P, Add<P>),
    units: usize,
    shards: u32,
) -> Outcome<Vec<PathBuf>> {
    let mut random = SplitMix64::new(0);
    let mut measured = Accumulator::new(protocol.clone());
    (0..ROWS).try_for_each(|row| add(&mut measured, &name(row), &mut random))?;
    let rows: Vec<P::Row> = measured.rows().iter().cloned().collect();
    let names: Vec<String> = (0..units).map(name).collect();
    let listing = Listing::of(names.iter().map(String::as_str));
    let notes = [(ROLE, "input"), (BELOW, "data")].map(|(key, text)| (key.to_owned(), text.to_owned()));
    let notes = Arc::new(notes.into());
    let state = |shard: u32| -> Outcome<PathBuf> {
        let mut part = Accumulator::new(protocol.clone());
        let mut files = Vec::new();
        // Merging does not ask why a unit is in a shard.
        for unit in (shard as usize - 1..units).step_by(shards as usize) {
            part.insert(names[unit].as_str(), rows[unit % rows.len()].clone())?;
            let blake3 = Digest::of(&unit.to_le_bytes());
            files.push((
                format!("data/{}.npz", names[unit]).into(),
                Input { bytes: 900, blake3, notes: Arc::clone(&notes) },
            ));
        }
        part.provenance.inputs = InputFiles::new(files)?;
        part.provenance.listings.insert(Some(listing), shard, shards);
        let path = folder.join(format!("{shard}.state"));
        let ledger: Box<dyn Ledger> = Box::new(part);
        states::write(&path, &[ledger])?;
        Ok(path)
    };
    (1..=shards).map(state).collect()
}

fn million(report: &mut dyn FnMut(Line), write: &WriteShards<'_>) -> Outcome {
    let folder = tempfile::tempdir()?;
    let paths = write(folder.path(), MILLION, SHARDS)?;
    let start = Instant::now();
    for path in &paths {
        states::read(path)?;
    }
    let reading = start.elapsed().as_secs_f64();
    let merge = merged(folder.path(), &paths, "all.state", &["--quiet"])?;
    let memory = |run: &Run| run.peak as f64 / (1u64 << 20) as f64;
    let mut line = |job: &str, run: &Run, most: f64| {
        report(Line {
            job: format!("{job}, {:.0} MB; goal in seconds", memory(run)),
            ours: duration(run.seconds),
            against: duration(most),
            ratio: run.seconds / most,
            goal: Goal::AtMost(1.0),
        });
    };
    line("1,000 shards of 1,000,000 units merged", &merge, 10.0);
    let show = calipers(&["show", "all.state", "--json", "all.json", "--quiet"], folder.path())?;
    line("the report of 1,000,000 units", &show, 10.0);
    let page = calipers(&["show", "all.state", "--html", "all.html", "--quiet"], folder.path())?;
    line("the page of 1,000,000 units", &page, 60.0);
    report(Line {
        job: "merging 1,000 shards, times reading them".into(),
        ours: duration(merge.seconds),
        against: duration(reading),
        ratio: merge.seconds / reading,
        goal: Goal::AtMost(1.2),
    });
    let half = tempfile::tempdir()?;
    let fewer = write(half.path(), MILLION, SHARDS / 2)?;
    let of_half = merged(half.path(), &fewer, "all.state", &["--quiet"])?;
    report(Line {
        job: "twice the shards over the same units, times longer".into(),
        ours: duration(merge.seconds),
        against: duration(of_half.seconds),
        ratio: merge.seconds / of_half.seconds,
        goal: Goal::AtMost(1.25),
    });
    Ok(())
}

fn ten_million(report: &mut dyn FnMut(Line), write: &WriteShards<'_>) -> Outcome {
    let folder = tempfile::tempdir()?;
    let paths = write(folder.path(), 10 * MILLION, 100)?;
    let run = merged(folder.path(), &paths, "all.state", &[])?;
    let peak = run.peak as f64 / 1e9;
    report(Line {
        job: format!("100 shards of 10,000,000 units joined on the disk in {}, GB", duration(run.seconds)),
        ours: format!("{peak:.2} GB"),
        against: "1 GB".into(),
        ratio: peak,
        goal: Goal::AtMost(1.0),
    });
    Ok(())
}

fn merged(folder: &Path, paths: &[PathBuf], target: &str, how: &[&str]) -> Outcome<Run> {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let mut words = vec!["merge"];
    words.extend(names.iter().map(String::as_str));
    words.extend(["-o", target]);
    words.extend(how);
    calipers(&words, folder)
}
