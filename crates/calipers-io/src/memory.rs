//! How much memory there is, and what inputs may ask for.
//!
//! Whatever size comes from a file is asked for before it is taken: what a header declares, what text grows to. An
//! input that does not fit is an error with both numbers and the option that allows more. A unit asks for all of its
//! parts together; units that are measured at one time wait until there is room for one more.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

use calipers_core::{Error, Result};

/// What inputs may ask for; 0 where nobody said it.
static ALLOWED: AtomicU64 = AtomicU64::new(0);
/// What the units at work have asked for, and who waits for them.
static HELD: Mutex<u64> = Mutex::new(0);
static RETURNED: Condvar = Condvar::new();

thread_local! {
    /// What the unit of this thread has asked for; nothing outside a unit.
    static OWN: Cell<Option<u64>> = const { Cell::new(None) };
    /// Whether other units wait for what this thread reads.
    static AWAITED: Cell<bool> = const { Cell::new(false) };
}

/// What is assumed where the system does not say.
const ASSUMED: u64 = 8 << 30;
/// Where a container keeps its limit, and where Linux says how much there is.
const LIMIT: &str = "/sys/fs/cgroup/memory.max";
const TOTAL: &str = "/proc/meminfo";

/// Half of the machine's memory, or of what a container may take, in bytes.
pub fn half_of_memory() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let total = total(&read(TOTAL)).unwrap_or(ASSUMED);
    let limit = read(LIMIT).trim().parse().unwrap_or(u64::MAX);
    total.min(limit) / 2
}

/// Says what the inputs at work at one moment may ask for together; half of the memory without a number.
pub fn allow(bytes: Option<u64>) {
    ALLOWED.store(bytes.unwrap_or(0), Ordering::Relaxed);
}

/// A number of bytes as people write it: digits, with K, M, G or T for powers of 1024, and `B` or `iB` behind.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let powers = [("", 0), ("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let unit = text[digits.len()..].to_ascii_uppercase();
    let of = |letter: &str| match unit.strip_prefix(letter) {
        Some(rest) => rest.is_empty() || rest == "B" || (!letter.is_empty() && rest == "IB"),
        None => false,
    };
    let (_, shift) = powers.into_iter().rev().find(|(letter, _)| of(letter))?;
    let number: u64 =
        Some(digits).filter(|digits| digits.bytes().all(|c| c.is_ascii_digit()))?.parse().ok()?;
    number.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

/// What the inputs at work at one moment may ask for together.
pub fn allowed() -> u64 {
    // Asked for every unit: the system is asked once.
    static HALF: OnceLock<u64> = OnceLock::new();
    match ALLOWED.load(Ordering::Relaxed) {
        0 => *HALF.get_or_init(half_of_memory),
        said => said,
    }
}

/// The work on one unit: what it asks for is given back when this goes.
pub struct Unit(());

impl Unit {
    /// Begins the work on a unit on this thread.
    pub fn begin() -> Self {
        OWN.set(Some(0));
        Self(())
    }
}

impl Drop for Unit {
    fn drop(&mut self) {
        let own = OWN.take().unwrap_or(0);
        if own > 0 {
            let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            *held = held.saturating_sub(own);
            drop(held);
            RETURNED.notify_all();
        }
    }
}

/// Reads what several units share, which they wait for: whoever waits for them in turn would wait for ever.
pub fn for_all<T>(read: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            AWAITED.set(self.0);
        }
    }
    let _before = Before(AWAITED.replace(true));
    read()
}

/// Asks for so many bytes for `what`. Fails where they, with what the unit has already, are more than is allowed at
/// all; waits where other units have them now.
pub fn ask(what: &str, bytes: u64) -> Result<()> {
    let (allowed, own) = (allowed(), OWN.get());
    let needed = own.unwrap_or(0).saturating_add(bytes);
    if needed > allowed {
        return Err(Error::value(format!("{what} would take more memory than is allowed"))
            .found(format!("{needed} bytes needed"))
            .allowed(format!("{allowed} bytes"))
            .advice("allow more with --memory SIZE, or check whether the file is what it should be"));
    }
    // What is small is not worth a lock, and a sum of small parts is no bomb.
    if own.is_none() || bytes < SMALL {
        return Ok(());
    }
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    // A unit that has something never waits, nor who reads for several: the others may wait for it.
    while own == Some(0) && !AWAITED.get() && *held > 0 && held.saturating_add(bytes) > allowed {
        held = RETURNED.wait(held).unwrap_or_else(PoisonError::into_inner);
    }
    *held = held.saturating_add(bytes);
    OWN.set(Some(needed));
    Ok(())
}

/// The fewest bytes that count.
const SMALL: u64 = 1 << 20;

/// Adds to a list whose length a file decides, asking for its room before it grows.
pub(crate) fn push<T>(what: &str, list: &mut Vec<T>, item: T) -> Result<()> {
    if list.len() == list.capacity() {
        let more = (list.capacity().max(4) * size_of::<T>()) as u64;
        ask(what, more)?;
        list.try_reserve(list.capacity().max(4)).map_err(|_| Error::io("not enough memory").found(what))?;
    }
    list.push(item);
    Ok(())
}

/// The line `MemTotal:  8052564 kB`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_may_ask_for_what_is_allowed_and_gives_it_back() {
        let most = half_of_memory();
        let said = ask("the array", most + 1).unwrap_err().to_string();
        for word in ["the array", &(most + 1).to_string(), &most.to_string(), "--memory"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        for _ in 0..3 {
            let _unit = Unit::begin();
            ask("half", most / 2).unwrap();
            assert!(ask("the rest", most / 2 + 2).is_err());
        }
    }

    #[test]
    fn sizes_are_written_with_powers_of_1024() {
        for (text, bytes) in
            [("1024", 1 << 10), ("256M", 256 << 20), ("2GiB", 2 << 30), ("3kb", 3 << 10), ("7B", 7)]
        {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "0", "M", "1.5G", "-1", "1X", "5iB", "99999999T", "1 G", "1GG"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn the_total_is_read_from_its_line() {
        assert_eq!(total("MemFree: 3 kB\nMemTotal:    8052564 kB\n"), Some(8_052_564 * 1024));
        assert_eq!(total("MemTotal: many\n"), None);
        assert!(half_of_memory() > 0);
    }
}
