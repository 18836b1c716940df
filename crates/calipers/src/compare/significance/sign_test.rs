//! The exact sign test: are wins and losses those of a fair coin?

/// The two-sided p-value of so many wins and losses; ties are left out. 1 without either.
///
/// Twice the probability that a fair coin falls at most min(wins, losses) times on one side, at
/// most 1. Nothing but multiplications and divisions: the same bits on every machine.
pub fn p_value(wins: u64, losses: u64) -> f64 {
    let (fewer, tosses) = (wins.min(losses), wins + losses);
    if wins == losses {
        return 1.0;
    }
    // C(tosses, fewer) / 2^tosses, the halves taken in wherever the product allows, so that it
    // neither overflows nor underflows before it must.
    let (mut last, mut halves) = (1.0f64, tosses);
    for k in 1..=fewer {
        last *= (tosses - fewer + k) as f64 / k as f64;
        while last > 1.0 && halves > 0 {
            last *= 0.5;
            halves -= 1;
        }
    }
    // The terms below the last one relative to it.
    let (mut ratio, mut sum) = (1.0f64, 1.0f64);
    for k in (1..=fewer).rev() {
        ratio *= k as f64 / (tosses - k + 1) as f64;
        sum += ratio;
    }
    let mut tail = 2.0 * last * sum;
    while halves > 0 && tail > 0.0 {
        tail *= 0.5;
        halves -= 1;
    }
    // A probability that is too small for a number is still not 0.
    tail.clamp(f64::MIN_POSITIVE, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The obvious version: rows of Pascal's triangle.
    fn by_pascal(wins: u64, losses: u64) -> f64 {
        let tosses = wins + losses;
        let mut row = vec![1u128];
        for _ in 0..tosses {
            let inner = row.windows(2).map(|pair| pair[0] + pair[1]);
            row = std::iter::once(1).chain(inner).chain([1]).collect();
        }
        let tail: u128 = row[..=wins.min(losses) as usize].iter().sum();
        (2.0 * tail as f64 / 2f64.powi(tosses as i32)).min(1.0)
    }

    #[test]
    fn small_counts_have_the_shares_of_pascals_triangle() {
        for wins in 0..40 {
            for losses in 0..40 {
                let (fast, slow) = (p_value(wins, losses), by_pascal(wins, losses));
                assert!((fast - slow).abs() <= 1e-14 * slow, "{wins} {losses}: {fast} {slow}");
            }
        }
        assert_eq!(p_value(0, 5).to_bits(), 0.0625f64.to_bits());
    }

    #[test]
    fn large_counts_neither_overflow_nor_vanish() {
        assert!(p_value(0, 100_000) > 0.0);
        let near = p_value(5100, 4900);
        // The normal approximation with continuity correction gives 0.0466.
        assert!((near - 0.0466).abs() < 5e-4, "{near}");
        assert!(p_value(1_000_000, 1_000_001) <= 1.0 && p_value(1_000_000, 1_000_001) > 0.99);
    }
}
