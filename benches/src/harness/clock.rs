//! Times that other work on the machine hardly moves: CPU time of this process, the best of several.

use rustix::time::{ClockId, clock_gettime};

/// CPU seconds this process has used so far.
pub(crate) fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// CPU seconds of one call, averaged over enough calls to be measurable.
pub(crate) fn seconds_per_call<T>(mut call: impl FnMut() -> T) -> f64 {
    const ENOUGH: f64 = 0.02;
    let start = cpu_seconds();
    let mut calls = 0u32;
    loop {
        std::hint::black_box(call());
        calls += 1;
        let used = cpu_seconds() - start;
        if used >= ENOUGH {
            return used / f64::from(calls);
        }
    }
}

/// The smaller time of each of two jobs measured by turns.
pub(crate) fn by_turns<E>(
    rounds: usize,
    mut ours: impl FnMut() -> Result<f64, E>,
    mut theirs: impl FnMut() -> Result<f64, E>,
) -> Result<(f64, f64), E> {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        best.0 = best.0.min(ours()?);
        best.1 = best.1.min(theirs()?);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_each_side_is_kept() {
        let mut ours = [3.0, 1.0, 2.0].into_iter();
        let mut theirs = [5.0, 7.0, 4.0].into_iter();
        let best = by_turns(3, || ours.next().ok_or(()), || theirs.next().ok_or(()));
        assert_eq!(best, Ok((1.0, 4.0)));
    }

    #[test]
    fn a_longer_call_takes_longer() {
        let spin = |turns: u64| (0..turns).fold(1u64, |x, i| std::hint::black_box(x.wrapping_mul(i | 1)));
        let short = seconds_per_call(|| spin(1_000));
        let long = seconds_per_call(|| spin(1_000_000));
        assert!(long > 10.0 * short, "{short} {long}");
    }
}
