//! Work that is no longer wanted.
//!
//! Kernels ask between blocks and leave early; what they then hold means nothing. Whoever watches
//! drops it, so that the numeric path itself cannot fail. Where nobody watches the answer is no.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::error::{Error, ErrorKind, Result};

/// Whether the whole program ends: then nothing is wanted any more, on no thread.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Says that the program ends. What kernels hold from now on means nothing and must not be written.
pub fn end() {
    ENDING.store(true, Ordering::SeqCst);
}

/// Whether the program ends.
#[inline]
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

/// How much is being kept.
static KEEPING: AtomicUsize = AtomicUsize::new(0);

/// Something that would be lost where the program ended at once: what is finished and not yet on the disk.
/// It is counted as long as this lives.
#[derive(Debug)]
pub struct Keeping(());

impl Keeping {
    /// Counts one more.
    pub fn begin() -> Self {
        KEEPING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Keeping {
    fn drop(&mut self) {
        KEEPING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether something would be lost now.
pub fn is_keeping() -> bool {
    KEEPING.load(Ordering::SeqCst) > 0
}

thread_local! {
    /// Whether the question is worth asking: cheap to look at, for kernels that nobody watches.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

#[derive(Clone)]
struct Watch {
    question: Rc<dyn Fn() -> bool>,
    stopped: Rc<Cell<bool>>,
}

/// Does work on this thread; whenever it asks, `question` says whether it is no longer wanted. `None`
/// when the work was told so.
pub fn watched<T>(question: impl Fn() -> bool + 'static, work: impl FnOnce() -> T) -> Option<T> {
    let stopped = Rc::new(Cell::new(false));
    let watch = Watch { question: Rc::new(question), stopped: Rc::clone(&stopped) };
    let outer = WATCH.with(|current| current.replace(Some(watch)));
    let restore = Restore { outer, was_watched: WATCHED.replace(true) };
    let done = work();
    drop(restore);
    (!stopped.get()).then_some(done)
}

/// What was there before, also after a panic.
struct Restore {
    outer: Option<Watch>,
    was_watched: bool,
}

impl Drop for Restore {
    fn drop(&mut self) {
        WATCH.with(|current| *current.borrow_mut() = self.outer.take());
        WATCHED.set(self.was_watched);
    }
}

/// Whether the work of this thread is no longer wanted. Once yes, always yes.
#[inline]
pub fn asked() -> bool {
    is_ending() || (WATCHED.get() && ask())
}

/// Fails when the work of this thread is no longer wanted.
#[inline]
pub fn wanted() -> Result<()> {
    if asked() { Err(interrupted()) } else { Ok(()) }
}

/// The error of work that was stopped, for whoever asked for it.
pub fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

/// Asks in every so many turns of a loop whose turns are short.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    every: u32,
    done: u32,
}

impl Turns {
    /// Asks in the first turn and in every so many after it.
    pub const fn every(turns: u32) -> Self {
        Self { every: turns, done: 0 }
    }

    /// Whether this turn asked, and the work is no longer wanted.
    #[inline]
    pub fn asked(&mut self) -> bool {
        let asks = self.done == 0;
        self.done = if self.done + 1 < self.every { self.done + 1 } else { 0 };
        asks && asked()
    }
}

#[cold]
fn ask() -> bool {
    // The question may do anything: no borrow is held while it runs.
    let Some(watch) = WATCH.with(|current| current.borrow().clone()) else { return false };
    if !watch.stopped.get() && (watch.question)() {
        watch.stopped.set(true);
    }
    watch.stopped.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_counted_as_long_as_it_lives() {
        let (one, two) = (Keeping::begin(), Keeping::begin());
        drop(one);
        assert!(is_keeping());
        drop(two);
        assert!(!is_keeping());
    }

    #[test]
    fn nobody_stops_what_nobody_watches() {
        assert!(!asked());
        assert_eq!(watched(|| false, asked), Some(false));
    }

    #[test]
    fn once_told_to_stop_work_stays_stopped_and_is_dropped() {
        let turns = Rc::new(Cell::new(0));
        let seen = Rc::clone(&turns);
        let question = move || {
            seen.set(seen.get() + 1);
            seen.get() == 3
        };
        let blocks = Cell::new(0);
        let work = || {
            while !asked() {
                blocks.set(blocks.get() + 1);
            }
            assert!(asked());
        };
        assert_eq!(watched(question, work), None);
        assert_eq!((blocks.get(), turns.get()), (2, 3));
        assert!(!asked());
    }

    #[test]
    fn short_turns_ask_rarely() {
        let asked = Rc::new(Cell::new(0));
        let count = Rc::clone(&asked);
        let question = move || {
            count.set(count.get() + 1);
            false
        };
        let turn = |turns: &mut Turns| turns.asked();
        watched(question, || {
            let mut turns = Turns::every(10);
            assert!(!(0..25).any(|_| turn(&mut turns)));
        });
        assert_eq!(asked.get(), 3);
    }

    #[test]
    fn work_within_work_has_a_question_of_its_own() {
        let outer = watched(
            || true,
            || {
                assert_eq!(watched(|| false, asked), Some(false));
                7
            },
        );
        assert_eq!(outer, Some(7), "nobody asked the outer question");
    }
}
