//! The only threads: jobs in, one accumulator out, the same for any number of workers.
//!
//! ```text
//! chosen   the units of a run: by name, by shard    measure  units -> rows, what fails left out
//! shard    which shard a name is in                 resume   rows kept in a folder, to go on from
//! ```

mod chosen;
mod measure;
pub(crate) mod resume;
mod shard;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use calipers_core::{Error, ErrorKind, Result, Workers, stop};

pub use self::chosen::{Chosen, Named};
pub use self::measure::measure_all;
pub use self::shard::Shard;

/// How long the caller's thread waits for the others before it asks again whether the work is wanted.
const PATIENCE: Duration = Duration::from_millis(50);

/// Receives the progress of the work; the command line draws a bar from it.
pub trait Progress: Sync {
    /// The work begins, with this many units.
    fn start(&self, total: u64);
    /// One more unit is measured.
    fn advance(&self);
    /// The work is over, well or badly.
    fn finish(&self);
    /// A notice for the person who watches, in one line.
    fn note(&self, _line: &str) {}
}

/// No progress is shown.
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _total: u64) {}
    fn advance(&self) {}
    fn finish(&self) {}
}

/// Which units a run measures, on how many threads, what it does with those that fail, and who is told
/// how far it has come.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// The part; all units without.
    pub shard: Option<Shard>,
    /// The names of the units; all that are found without.
    pub units: Option<&'a BTreeSet<String>>,
    /// Whether units that cannot be measured are left out.
    pub keep_going: bool,
    /// The folder that keeps what is measured, and that a later run goes on from.
    pub resume: Option<&'a Path>,
    /// How many workers there are.
    pub threads: usize,
    /// Receives the progress of the work.
    pub progress: &'a dyn Progress,
}

impl Work<'_> {
    /// All units on this many threads, without a progress bar.
    pub fn quiet(threads: usize) -> Self {
        Self { shard: None, units: None, threads, progress: &Silent, keep_going: false, resume: None }
    }
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
    let (parts, failure) = parts_of(jobs, threads, progress, |at| at, new, work);
    failure.map_or(Ok(parts), Err)
}

/// What `work` gives for each job, in the order of the jobs.
pub(crate) fn in_order<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let parts = in_parts(jobs, threads, &Silent, Vec::new, |at, job, part| {
        part.push((at, work(job)?));
        Ok(())
    })?;
    let mut done: Vec<(usize, T)> = parts.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, done)| done).collect())
}

/// The parts of [`in_parts`], also of a run that failed. Of jobs that fail the one of the lowest rank
/// decides.
fn parts_of<J: Sync, T: Send>(
    jobs: &[J],
    threads: usize,
    progress: &dyn Progress,
    rank: impl Fn(usize) -> usize + Sync,
    new: impl Fn() -> T + Sync,
    work: impl Fn(usize, &J, &mut T) -> Result<()> + Sync,
) -> (Vec<T>, Option<Error>) {
    progress.start(jobs.len() as u64);
    let next = AtomicUsize::new(0);
    // The rank and error of the first failing job known so far; jobs after it need not run.
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let locked = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    // Only the caller's thread can find out that the work is no longer wanted; the others ask what it found.
    let unwanted = Arc::new(AtomicBool::new(false));
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
            let Some(job) = jobs.get(at) else { break };
            if locked().as_ref().is_some_and(|(first, _)| *first < rank(at)) {
                continue;
            }
            if let Err(error) = work(at, job, &mut mine) {
                let mut failed = locked();
                if failed.as_ref().is_none_or(|(first, _)| rank(at) < *first) {
                    *failed = Some((rank(at), error));
                }
            }
            progress.advance();
        }
        mine
    };
    let workers = threads.clamp(1, jobs.len().max(1));
    let others = Others { caller: thread::current(), at_work: AtomicUsize::new(workers - 1) };
    let other = || {
        let _leaves = Leaves(&others);
        let asked = Arc::clone(&unwanted);
        stop::watched(move || asked.load(Ordering::Relaxed), worker)
    };
    let parts: Vec<Option<T>> = thread::scope(|scope| {
        let handles: Vec<_> = (1..workers).map(|_| scope.spawn(other)).collect();
        let mine = Some(worker());
        while others.at_work.load(Ordering::Acquire) > 0 {
            if stop::asked() {
                unwanted.store(true, Ordering::Relaxed);
            }
            thread::park_timeout(PATIENCE);
        }
        handles.into_iter().map(|handle| handle.join().ok().flatten()).chain([mine]).collect()
    });
    progress.finish();
    let failure = if unwanted.load(Ordering::Relaxed) {
        Some(stop::interrupted())
    } else if let Some((_, error)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error)
    } else {
        let stopped = || Error::new(ErrorKind::Io, "a worker stopped before its work was done");
        parts.iter().any(Option::is_none).then(stopped)
    };
    (parts.into_iter().flatten().collect(), failure)
}

/// The workers on other threads, and the thread that waits for them.
struct Others {
    caller: Thread,
    at_work: AtomicUsize,
}

/// Says that a worker is done, also after a panic.
struct Leaves<'a>(&'a Others);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Release);
        self.0.caller.unpark();
    }
}

/// A number of threads for passes over rows; the caller's is one of them.
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
        thread::scope(|scope| {
            (1..self.count().min(jobs)).for_each(|_| _ = scope.spawn(worker));
            worker();
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                    thread::sleep(Duration::from_millis(1));
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
    fn a_job_on_another_thread_is_told_too_while_the_caller_waits() {
        let told = AtomicUsize::new(0);
        let caller = thread::current().id();
        let began = std::time::Instant::now();
        let work = || {
            in_parts(
                &[(); 2],
                2,
                &Silent,
                || (),
                |_, (), ()| {
                    // Two jobs on two threads, unless one thread takes both: then there is nothing to see.
                    while thread::current().id() != caller && !stop::asked() {
                        thread::sleep(Duration::from_millis(1));
                    }
                    told.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                },
            )
        };
        let question = move || began.elapsed() > Duration::from_millis(30);
        stop::watched(question, || drop(work()));
        assert!(began.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn every_job_is_done_once_by_any_number_of_threads() {
        for (threads, jobs) in [(0, 3), (1, 4), (2, 0), (3, 100), (8, 5)] {
            let done: Vec<AtomicUsize> = (0..jobs).map(|_| AtomicUsize::new(0)).collect();
            Threads(threads).each(jobs, &|at| _ = done[at].fetch_add(1, Ordering::Relaxed));
            assert!(done.into_iter().all(|times| times.into_inner() == 1), "{threads} {jobs}");
        }
    }
}
