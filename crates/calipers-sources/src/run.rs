//! The only threads: jobs in, one accumulator out, the same for any number of workers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use calipers_core::{Accumulator, Error, ErrorKind, Protocol, Reading, Result, Workers, stop};

use crate::inputs::Inputs;

/// Told how far the work has come; the command line draws a bar from it.
pub trait Progress: Sync {
    /// The work begins, with this many units.
    fn start(&self, total: u64);
    /// One more unit is measured.
    fn advance(&self);
    /// The work is over, well or badly.
    fn finish(&self);
}

/// No progress is shown.
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _total: u64) {}
    fn advance(&self) {}
    fn finish(&self) {}
}

/// Which part of the units a run measures, on how many threads, and who is told how far it has come.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The part; all units without.
    pub shard: Option<Shard>,
    /// How many workers there are.
    pub threads: usize,
    /// Told how far the work has come.
    pub progress: &'a dyn Progress,
}

impl Work<'_> {
    /// All units on so many threads, without a progress bar.
    pub fn quiet(threads: usize) -> Self {
        Self { shard: None, threads, progress: &Silent }
    }

    /// The units of this part.
    pub fn part<'u, U>(&self, units: &'u [U]) -> &'u [U] {
        self.shard.map_or(units, |shard| &units[shard.range(units.len())])
    }

    /// Writes down in each accumulator which files were read, how, and which shard this was.
    pub fn record<P: Protocol>(
        &self,
        accumulators: &mut [Accumulator<P>],
        inputs: Inputs,
        reading: Option<Reading>,
    ) -> Result<()> {
        let inputs = inputs.into_files()?;
        for Accumulator { provenance, .. } in accumulators {
            provenance.inputs.clone_from(&inputs);
            provenance.readings.extend(reading.clone());
            if let Some(shard) = self.shard {
                provenance.shards.entry(shard.of).or_default().insert(shard.index);
            }
        }
        Ok(())
    }
}

/// Measures every job into one accumulator, each worker into one of its own first. When jobs fail, the
/// error is that of the first failing job, whichever worker met it first.
pub fn measure_all<P: Protocol, J: Sync>(
    protocol: &P,
    jobs: &[J],
    work: &Work<'_>,
    measure: impl Fn(&J, &mut Accumulator<P>) -> Result<()> + Sync,
) -> Result<Accumulator<P>> {
    let new = || Accumulator::new(protocol.clone());
    let parts = in_parts(jobs, work.threads, work.progress, new, |_, job, part| measure(job, part))?;
    let mut whole: Option<Accumulator<P>> = None;
    for part in parts {
        // The first part takes in the others: nothing is moved that need not be.
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.merge(part)?,
        }
    }
    Ok(whole.unwrap_or_else(new))
}

/// Does every job with `threads` workers, each into a part of its own, and gives the parts. Which
/// jobs share a part is left to chance. When jobs fail, the error is that of the first failing
/// job, whoever met it first. The caller's thread is one of the workers: between jobs it asks for all
/// of them whether the work is still wanted.
pub fn in_parts<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    progress: &dyn Progress,
    new: impl Fn() -> T + Sync,
    work: impl Fn(usize, &J, &mut T) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    progress.start(jobs.len() as u64);
    let next = AtomicUsize::new(0);
    // The position and error of the first failing job known so far; jobs after it need not run.
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let first_failure = |failed: &Mutex<Option<(usize, Error)>>| {
        failed.lock().map_or(usize::MAX, |failed| failed.as_ref().map_or(usize::MAX, |(at, _)| *at))
    };
    let unwanted = AtomicBool::new(false);
    let worker = || {
        let mut mine = new();
        loop {
            if stop::asked() {
                unwanted.store(true, Ordering::Relaxed);
            }
            if unwanted.load(Ordering::Relaxed) {
                break;
            }
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at).filter(|_| at < first_failure(&failed)) else { break };
            if let Err(error) = work(at, job, &mut mine)
                && let Ok(mut failed) = failed.lock()
                && failed.as_ref().is_none_or(|(earlier, _)| at < *earlier)
            {
                *failed = Some((at, error));
            }
            progress.advance();
        }
        mine
    };
    let workers = threads.clamp(1, jobs.len().max(1));
    let parts: Vec<Option<T>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (1..workers).map(|_| scope.spawn(worker)).collect();
        let mine = Some(worker());
        handles.into_iter().map(|handle| handle.join().ok()).chain([mine]).collect()
    });
    progress.finish();
    if unwanted.into_inner() {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
    }
    if let Ok(Some((_, error))) = failed.into_inner() {
        return Err(error);
    }
    let stopped = || Error::new(ErrorKind::Io, "a worker stopped before its work was done");
    parts.into_iter().map(|part| part.ok_or_else(stopped)).collect()
}

/// So many threads for passes over rows; the caller's is one of them.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

impl Workers for Threads {
    fn count(&self) -> usize {
        self.0.max(1)
    }

    fn each(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let worker = || {
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < jobs) {
                job(at);
            }
        };
        std::thread::scope(|scope| {
            (1..self.count().min(jobs)).for_each(|_| _ = scope.spawn(worker));
            worker();
        });
    }
}

/// Which part of the units a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which shard, from 1.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

impl Shard {
    /// The positions of this shard's units among all `count` of them: neighbours stay together, so
    /// that a shard opens few packs.
    pub fn range(self, count: usize) -> std::ops::Range<usize> {
        let cut = |part: u32| (count as u128 * u128::from(part) / u128::from(self.of)) as usize;
        cut(self.index - 1)..cut(self.index)
    }

    /// Whether this shard takes a unit that is one of several in its file, by the positions of the
    /// file and of the unit in it: units are dealt out in turn, so that none has to know how many
    /// there will be.
    pub fn takes(self, (file, unit): (usize, usize)) -> bool {
        (file + unit) as u64 % u64::from(self.of) + 1 == u64::from(self.index)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, of)) if index >= 1 && index <= of => Ok(Self { index, of }),
            _ => Err("a shard is written I/N with 1 <= I <= N".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_every_unit_once() {
        for (count, of) in [(0, 3), (1, 4), (10, 3), (500, 64)] {
            let all: Vec<usize> = (1..=of).flat_map(|index| Shard { index, of }.range(count)).collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn units_of_one_file_are_dealt_out_in_turn() {
        let takers = |place| (1..=3).filter(move |index| Shard { index: *index, of: 3 }.takes(place));
        let all: Vec<u32> = (0..5).flat_map(|unit| takers((1, unit))).collect();
        assert_eq!(all, [2, 3, 1, 2, 3]);
    }

    #[test]
    fn work_that_is_no_longer_wanted_ends_for_all_workers() {
        for threads in [1, 3] {
            let jobs: Vec<u32> = (0..100_000).collect();
            let done = AtomicUsize::new(0);
            let asked = std::cell::Cell::new(0);
            let question = move || {
                asked.set(asked.get() + 1);
                asked.get() > 2
            };
            let work = || {
                in_parts(&jobs, threads, &Silent, Vec::new, |_, job, part: &mut Vec<u32>| {
                    done.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    part.push(*job);
                    Ok(())
                })
            };
            let kept =
                stop::watched(question, || assert_eq!(work().unwrap_err().kind(), ErrorKind::Interrupted));
            assert!(kept.is_none() && done.into_inner() < jobs.len(), "{threads}");
        }
    }

    #[test]
    fn every_job_is_done_once_by_any_number_of_threads() {
        for (threads, jobs) in [(0, 3), (1, 4), (2, 0), (3, 100), (8, 5)] {
            let done: Vec<AtomicUsize> = (0..jobs).map(|_| AtomicUsize::new(0)).collect();
            Threads(threads).each(jobs, &|at| _ = done[at].fetch_add(1, Ordering::Relaxed));
            assert!(done.into_iter().all(|times| times.into_inner() == 1), "{threads} {jobs}");
        }
    }

    #[test]
    fn a_shard_outside_its_split_is_refused() {
        for text in ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
