//! Units into one accumulator, on several threads, kept in a folder while they are measured.

use calipers_core::fault::caught;
use calipers_core::{Accumulator, ErrorKind, Protocol, Reading, Result, UnitId, stop};
use calipers_io::memory;

use super::chosen::{Chosen, Named};
use super::resume::{Keeper, Kept};
use super::{Work, parts_of};
use crate::inputs::Inputs;

/// What a worker has measured. Where rows are kept, they are handed over unit by unit.
struct Worker<P: Protocol> {
    rows: Accumulator<P>,
    left_out: Vec<(UnitId, String)>,
}

/// Measures the chosen units into one accumulator. A unit that fails ends the run, or is left out where
/// that is wanted; of several the first by name decides, whichever worker met it first. `reserve` is
/// called for every unit that will be measured, before the first is.
pub fn measure_all<P, U>(
    protocol: &P,
    chosen: &Chosen<'_, U>,
    work: &Work<'_>,
    (inputs, reading): (&Inputs, Option<&Reading>),
    reserve: impl Fn(&U),
    measure: impl Fn(&U, &Inputs, &mut Accumulator<P>) -> Result<()> + Sync,
) -> Result<Accumulator<P>>
where
    P: Protocol + Sync + Send,
    P::Row: Send,
    U: Named + Sync,
{
    let kept = match work.resume {
        None => None,
        Some(folder) => Some(Kept::open(folder, protocol, chosen, inputs, reading, work.progress)?),
    };
    let is_kept = |unit: &&&U| kept.as_ref().is_some_and(|kept| kept.has(unit.name()));
    let units: Vec<&U> = chosen.units.iter().filter(|unit| !is_kept(unit)).copied().collect();
    units.iter().for_each(|unit| reserve(unit));
    let ranks = ranks(&units);
    let run = |keeper: Option<&Keeper<'_, Accumulator<P>>>| {
        let new = || Worker { rows: Accumulator::new(protocol.clone()), left_out: Vec::new() };
        parts_of(
            &units,
            inputs.workers(work.threads),
            work.progress,
            |at| ranks[at],
            new,
            |_, unit, worker| {
                let _unit = memory::Unit::begin();
                let read = inputs.aside();
                let done = caught(|| measure(unit, &read, &mut worker.rows)).map_err(|error| {
                    let is_fault = error.kind() == ErrorKind::Internal;
                    if is_fault { error.at(format!("unit {}", unit.name())) } else { error }
                });
                // A kernel that was told to stop leaves a row that means nothing.
                stop::wanted()?;
                match (done, keeper) {
                    (Ok(()), Some(keeper)) => {
                        let put = |kept: &mut Accumulator<P>| worker.rows.move_to(kept);
                        keeper.add(unit.name(), read.read_files(), put)?;
                        inputs.adopt(read);
                    }
                    (Ok(()), None) => inputs.adopt(read),
                    (Err(error), _) if work.keep_going && error.kind() != ErrorKind::Interrupted => {
                        if keeper.is_some() {
                            // Nothing of it goes to the disk with the next unit.
                            worker.rows.retain(|_| false);
                        }
                        worker.left_out.push((unit.name().into(), error.in_one_line()));
                    }
                    (Err(error), _) => return Err(error),
                }
                Ok(())
            },
        )
    };
    let ((workers, failure), mut whole) = match kept {
        None => (run(None), Accumulator::new(protocol.clone())),
        Some(kept) => kept.while_running(|keeper| run(Some(keeper)))?,
    };
    if let Some(error) = failure {
        return Err(error);
    }
    for worker in workers {
        // The first takes in the others: nothing is moved that need not be.
        if whole.is_empty() {
            let before = std::mem::replace(&mut whole, worker.rows);
            whole.merge(before)?;
        } else {
            whole.merge(worker.rows)?;
        }
        whole.provenance.left_out.extend(worker.left_out);
    }
    Ok(whole)
}

/// The place of each unit in byte order of the names.
fn ranks<U: Named>(units: &[&U]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by_key(|at| units[*at].name());
    let mut ranks = vec![0; units.len()];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Shard, Silent};
    use calipers_core::Error;
    use calipers_metrics::training::{Curve, Sample, Training};
    use std::collections::BTreeSet;
    use std::path::Path;

    struct Run(String);

    impl Named for Run {
        fn name(&self) -> &str {
            &self.0
        }
    }

    fn runs(names: &[&str]) -> Vec<Run> {
        names.iter().map(|name| Run((*name).to_owned())).collect()
    }

    /// Measures runs of which those called `bad..` cannot be read and those called `panic..` panic.
    fn measured(work: &Work<'_>, runs: &[Run]) -> Result<Accumulator<Training>> {
        let inputs = Inputs::default();
        let chosen = work.choose(runs, &inputs, &[])?;
        let protocol = Training::default();
        let mut measured = measure_all(
            &protocol,
            &chosen,
            work,
            (&inputs, None),
            |_| {},
            |run, _, rows| {
                assert!(!run.0.starts_with("panic"), "a fault in {}", run.0);
                if run.0.starts_with("bad") {
                    return Err(Error::format("damaged").in_file(&run.0));
                }
                rows.update(run.name(), Curve::new("all", run.name(), &Sample::series(&[0.5, 0.95])))
            },
        )?;
        chosen.record(std::slice::from_mut(&mut measured), inputs, None)?;
        Ok(measured)
    }

    #[test]
    fn the_first_failure_by_name_ends_the_run_whatever_the_order_and_the_threads() {
        let runs = runs(&["z", "bad-2", "c", "bad-1", "a", "bad-3"]);
        for threads in [1, 2, 8] {
            let error = measured(&Work::quiet(threads), &runs).unwrap_err();
            assert_eq!(error.file(), Some("bad-1"), "{threads}");
        }
    }

    #[test]
    fn units_that_fail_or_panic_are_left_out_with_their_reasons() {
        let runs = runs(&["a", "bad", "panic", "z"]);
        for threads in [1, 3] {
            let work = Work { keep_going: true, ..Work::quiet(threads) };
            let report = measured(&work, &runs).unwrap().finish();
            assert_eq!(report.units, 2);
            let [bad, panic] = <[_; 2]>::try_from(report.left_out).unwrap();
            assert_eq!(bad, ("bad".to_owned(), "damaged; in bad".to_owned()));
            assert_eq!(panic.0, "panic");
            assert!(panic.1.contains("internal error") && panic.1.contains("a fault in panic"), "{panic:?}");
        }
        let error = measured(&Work::quiet(2), &self::runs(&["a", "panic"])).unwrap_err();
        assert!(error.kind() == ErrorKind::Internal && error.to_string().contains("unit panic"), "{error}");
    }

    #[test]
    fn a_run_of_which_everything_is_left_out_fails_but_a_shard_does_not() {
        let runs = runs(&["bad"]);
        let work = Work { keep_going: true, ..Work::quiet(1) };
        let error = measured(&work, &runs).unwrap_err().to_string();
        assert!(error.contains("every unit was left out") && error.contains("damaged"), "{error}");
        let shards =
            (1..=2).map(|index| measured(&Work { shard: Some(Shard { index, of: 2 }), ..work }, &runs));
        let mut both: Vec<_> = shards.collect::<Result<_>>().unwrap();
        let mut whole = both.remove(0);
        whole.merge(both.remove(0)).unwrap();
        assert_eq!(whole.finish().left_out.len(), 1);
        assert!(whole.provenance.listings.are_whole());
    }

    #[test]
    fn a_measured_row_stands_above_a_left_out_entry() {
        let work = Work { keep_going: true, ..Work::quiet(1) };
        let mut left_out = measured(&work, &runs(&["a", "bad"])).unwrap();
        let mut later = Accumulator::new(Training::default());
        later.update("bad", Curve::new("all", "bad", &Sample::series(&[0.5]))).unwrap();
        left_out.merge(later).unwrap();
        assert_eq!((left_out.len(), left_out.finish().left_out.len()), (2, 0));
    }

    #[test]
    fn units_by_name_are_a_listing_of_their_own_and_an_unknown_name_is_refused() {
        let runs = runs(&["a", "b", "c"]);
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let (two, four) = (names(&["a", "c"]), names(&["a", "d"]));
        let some = measured(&Work { units: Some(&two), ..Work::quiet(1) }, &runs).unwrap();
        assert_eq!(some, measured(&Work::quiet(1), &self::runs(&["a", "c"])).unwrap());
        let error = measured(&Work { units: Some(&four), ..Work::quiet(1) }, &runs).unwrap_err().to_string();
        assert!(error.contains("--units") && error.contains("found: d"), "{error}");
    }

    fn resumed(folder: &Path, runs: &[Run], threads: usize) -> Result<Accumulator<Training>> {
        let work = Work { resume: Some(folder), progress: &Silent, ..Work::quiet(threads) };
        measured(&work, runs)
    }

    #[test]
    fn what_was_measured_before_a_failure_stays_and_is_not_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("parts");
        let whole = runs(&["a", "b", "c"]);
        assert!(resumed(&folder, &runs(&["a", "b", "bad"]), 1).is_err());
        // A run that cannot be measured stands for one that need not be.
        let expected = measured(&Work::quiet(1), &whole).unwrap();
        for threads in [1, 2] {
            assert_eq!(resumed(&folder, &whole, threads).unwrap(), expected);
        }
        assert_eq!(
            resumed(&folder, &runs(&["a", "c"]), 2).unwrap(),
            measured(&Work::quiet(1), &runs(&["a", "c"])).unwrap()
        );
    }
}
