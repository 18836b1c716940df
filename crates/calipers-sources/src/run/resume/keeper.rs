//! What is finished, written as parts by a thread of its own while the rest is measured.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use calipers_core::{Error, Result, stop};

use crate::inputs::ReadFile;

/// How many units a part has at most, and how long it stays open after its first.
const UNITS: usize = 1000;
const OPEN_FOR: Duration = Duration::from_secs(5);
/// How soon a part is closed when the program is told to end.
const TICK: Duration = Duration::from_millis(100);

/// Finished units with the files that were read for each, and what came of them.
pub(crate) struct Batch<C> {
    pub(crate) content: C,
    pub(crate) units: Vec<(String, Vec<ReadFile>)>,
}

impl<C> Batch<C> {
    fn new(content: C) -> Self {
        Self { content, units: Vec::new() }
    }
}

/// Takes finished units from workers. A worker keeps none to itself: whatever the next unit costs, what is
/// finished is written in time.
pub(crate) struct Keeper<'e, C> {
    open: Mutex<Open<C>>,
    /// Told when there is a full part, or nothing more comes.
    changed: Condvar,
    empty: &'e (dyn Fn() -> C + Sync),
}

struct Open<C> {
    batch: Batch<C>,
    /// When the first unit of the open part was finished.
    since: Instant,
    full: Vec<Batch<C>>,
    /// Whether nothing more comes.
    over: bool,
    /// Whether nobody writes any more.
    failed: bool,
}

impl<'e, C: Send> Keeper<'e, C> {
    /// A keeper whose parts begin as `empty` makes them.
    pub(crate) fn new(empty: &'e (dyn Fn() -> C + Sync)) -> Self {
        let (batch, since) = (Batch::new(empty()), Instant::now());
        let open = Open { batch, since, full: Vec::new(), over: false, failed: false };
        Self { open: Mutex::new(open), changed: Condvar::new(), empty }
    }

    /// Adds a finished unit; `put` puts what came of it into the open part.
    pub(crate) fn add(
        &self,
        name: &str,
        files: Vec<ReadFile>,
        put: impl FnOnce(&mut C) -> Result<()>,
    ) -> Result<()> {
        let mut open = locked(&self.open);
        if open.failed {
            // Whoever writes says why.
            return Err(Error::io("what is measured cannot be kept"));
        }
        put(&mut open.batch.content)?;
        if open.batch.units.is_empty() {
            open.since = Instant::now();
        }
        open.batch.units.push((name.to_owned(), files));
        if open.batch.units.len() >= UNITS {
            let full = self.closed(&mut open);
            open.full.push(full);
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Runs `run`; meanwhile `write` writes every part when it is full, or old enough, or the program ends.
    /// A failure to write is that of the run.
    pub(crate) fn while_running<T>(
        &self,
        write: impl FnMut(Batch<C>) -> Result<()> + Send,
        run: impl FnOnce() -> T,
    ) -> Result<T> {
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| self.write_parts(write));
            let over = Over(self);
            let done = run();
            drop(over);
            let stopped = |_| Error::io("a worker stopped while storing what was measured");
            writing.join().map_err(stopped)??;
            Ok(done)
        })
    }

    fn write_parts(&self, mut write: impl FnMut(Batch<C>) -> Result<()>) -> Result<()> {
        loop {
            let (due, over) = self.due();
            if let Err(error) = due.into_iter().try_for_each(&mut write) {
                locked(&self.open).failed = true;
                return Err(error);
            }
            if over {
                return Ok(());
            }
        }
    }

    /// Waits for parts that are to be written; says too whether nothing more comes.
    fn due(&self) -> (Vec<Batch<C>>, bool) {
        let mut open = locked(&self.open);
        loop {
            let over = open.over;
            let mut due = std::mem::take(&mut open.full);
            let closes = over || stop::is_ending() || open.since.elapsed() >= OPEN_FOR;
            if closes && !open.batch.units.is_empty() {
                due.push(self.closed(&mut open));
            }
            if over || !due.is_empty() {
                return (due, over);
            }
            open = self.changed.wait_timeout(open, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The open part, in whose place is an empty one.
    fn closed(&self, open: &mut Open<C>) -> Batch<C> {
        std::mem::replace(&mut open.batch, Batch::new((self.empty)()))
    }
}

/// Says that nothing more comes when the run is over, also by a panic.
struct Over<'k, 'e, C: Send>(&'k Keeper<'e, C>);

impl<C: Send> Drop for Over<'_, '_, C> {
    fn drop(&mut self) {
        locked(&self.0.open).over = true;
        self.0.changed.notify_one();
    }
}

/// What a worker that stopped half-way has left is whole: a unit is added in one step.
fn locked<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts = Vec<Vec<u32>>;

    fn parts(count: u32, pause: Duration) -> Parts {
        let keeper = Keeper::new(&Vec::new);
        let mut parts = Parts::new();
        let write = |batch: Batch<Vec<u32>>| {
            assert_eq!(batch.content.len(), batch.units.len());
            parts.push(batch.content);
            Ok(())
        };
        let run = || {
            for unit in 0..count {
                let put = |content: &mut Vec<u32>| {
                    content.push(unit);
                    Ok(())
                };
                keeper.add("unit", Vec::new(), put).unwrap();
            }
            std::thread::sleep(pause);
        };
        keeper.while_running(write, run).unwrap();
        parts
    }

    #[test]
    fn a_part_has_at_most_a_thousand_units_and_the_last_one_is_written_too() {
        let sizes = |count| parts(count, Duration::ZERO).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(0), [0; 0]);
        assert_eq!(sizes(2500), [1000, 1000, 500]);
        assert_eq!(parts(2500, Duration::ZERO).concat(), (0..2500).collect::<Vec<_>>());
    }

    #[test]
    fn a_finished_unit_does_not_wait_for_a_slow_one() {
        let keeper = Keeper::new(&Vec::new);
        let written = Mutex::new(None);
        let began = Instant::now();
        let write = |_: Batch<Vec<u32>>| {
            *locked(&written) = Some(began.elapsed());
            Ok(())
        };
        let run = || {
            keeper.add("fast", Vec::new(), |_| Ok(())).unwrap();
            std::thread::sleep(OPEN_FOR + Duration::from_secs(1));
            *locked(&written)
        };
        let written = keeper.while_running(write, run).unwrap().unwrap();
        assert!(written >= OPEN_FOR && written < OPEN_FOR + Duration::from_secs(1), "{written:?}");
    }

    #[test]
    fn what_cannot_be_written_fails_the_run_and_its_workers() {
        let keeper = Keeper::new(&|| ());
        let run = || loop {
            if let Err(error) = keeper.add("unit", Vec::new(), |()| Ok(())) {
                break error.to_string();
            }
        };
        let failed = keeper.while_running(|_| Err(Error::io("the disk is full")), run);
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
    }
}
