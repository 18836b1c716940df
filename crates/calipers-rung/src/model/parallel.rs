//! Work on blocks of rows, shared among threads without changing a bit: every row is written by one
//! thread alone, and nothing is added up across rows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use calipers_core::stop;

/// How many units of work, each about a nanosecond, a thread must be worth.
const WORTH_A_THREAD: usize = 200_000;

/// How many threads to use for an amount of work.
fn useful(threads: usize, work: usize) -> usize {
    threads.min(work / WORTH_A_THREAD + 1).max(1)
}

/// Calls `task` for every item, on as many threads as the work is worth; idle threads take the next item. Leaves
/// early when the work is no longer wanted, which the calling thread alone can tell.
pub(crate) fn each<T: Send>(
    threads: usize,
    work: usize,
    mut items: impl Iterator<Item = T> + Send,
    task: impl Fn(T) + Sync,
) {
    let threads = useful(threads, work);
    if threads == 1 {
        while let Some(item) = items.next().filter(|_| !stop::asked()) {
            task(item);
        }
        return;
    }
    let (queue, left) = (Mutex::new(items), AtomicBool::new(false));
    // A task that panicked ends the scope with its panic; the lock need not care.
    let next = || queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| {
                while let Some(item) = next().filter(|_| !left.load(Ordering::Relaxed)) {
                    task(item)
                }
            });
        }
        while let Some(item) = next() {
            if stop::asked() {
                left.store(true, Ordering::Relaxed);
                return;
            }
            task(item);
        }
    });
}

/// How many rows to hand out together: small enough to share fairly, large enough to be worth asking for.
pub(crate) fn block(threads: usize, rows: usize) -> usize {
    rows.div_ceil(threads.max(1) * 8).clamp(1, 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once_for_any_number_of_threads() {
        for threads in [0, 1, 2, 3, 64] {
            let mut out = vec![0; 1000];
            let size = block(threads, out.len());
            each(threads, usize::MAX, out.chunks_mut(size).enumerate(), |(k, rows)| {
                for (offset, row) in rows.iter_mut().enumerate() {
                    *row += k * size + offset;
                }
            });
            assert!(out.iter().enumerate().all(|(k, &value)| k == value), "{threads}");
        }
    }

    #[test]
    fn work_that_is_no_longer_wanted_leaves_early() {
        for threads in [1, 2] {
            let done = std::sync::atomic::AtomicUsize::new(0);
            let count = || {
                each(threads, usize::MAX, 0..1_000_000, |_| {
                    done.fetch_add(1, Ordering::Relaxed);
                });
            };
            assert_eq!(stop::watched(|| true, count), None);
            assert!(done.into_inner() < 1_000_000, "{threads}");
        }
    }

    #[test]
    fn little_work_starts_no_threads() {
        assert_eq!((useful(8, 10), useful(8, 3 * WORTH_A_THREAD), useful(0, usize::MAX)), (1, 4, 1));
    }
}
