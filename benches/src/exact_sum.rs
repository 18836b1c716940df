//! The cost of exactness: an exact sum against a plain loop over the same terms.

use calipers_core::{ExactSum, SplitMix64};

use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};

const TERMS: usize = 10_000_000;

/// Unit-interval terms, mixed signs, and exponents over the whole range.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let mut random = SplitMix64::new(1);
    let kinds: [(&str, Goal, Vec<f64>); 3] = [
        ("in [0, 1)", Goal::AtMost(1.15), (0..TERMS).map(|_| random.unit()).collect()),
        ("of both signs", Goal::AtMost(1.15), (0..TERMS).map(|_| bell(&mut random)).collect()),
        ("of any size", Goal::None, (0..TERMS).map(|_| any_size(&mut random)).collect()),
    ];
    for (kind, goal, terms) in kinds {
        let exact = || {
            let mut sum = ExactSum::new();
            sum.add_slice(&terms);
            sum.value()
        };
        let plain = || terms.iter().fold(0.0, |sum, term| sum + term);
        let (ours, theirs) =
            by_turns(7, || -> Outcome<f64> { Ok(seconds_per_call(exact)) }, || Ok(seconds_per_call(plain)))?;
        let per_term = |seconds: f64| duration(seconds / TERMS as f64);
        report(Line {
            job: format!("exact sum of 10⁷ terms {kind}, per term; plain loop"),
            ours: per_term(ours),
            against: per_term(theirs),
            ratio: ours / theirs,
            goal,
        });
    }
    Ok(())
}

/// Roughly normal: the sum of twelve uniform draws, centred.
fn bell(random: &mut SplitMix64) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Any finite number, all exponents alike.
fn any_size(random: &mut SplitMix64) -> f64 {
    loop {
        let x = f64::from_bits(random.next_u64());
        if x.is_finite() {
            return x;
        }
    }
}
