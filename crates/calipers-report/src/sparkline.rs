//! A series as a line of small bars.

use calipers_core::Value;

use crate::leaf::{Leaf, leaf};

/// The most bars a sparkline has; a longer series is shown at evenly spaced positions.
const MOST: usize = 12;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Bars between the smallest and the largest value, a dot where there is none. `None` when an
/// entry holds other values.
pub(crate) fn sparkline(values: &[Value]) -> Option<String> {
    let numbers = values.iter().map(number).collect::<Option<Vec<_>>>()?;
    let shown = numbers.len().min(MOST);
    let picked = (0..shown).map(|i| numbers[i * (numbers.len() - 1) / (shown - 1).max(1)]);
    let defined = numbers.iter().copied().flatten();
    let (low, high) = defined.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
    Some(picked.map(|number| number.map_or('·', |x| bar(x, low, high))).collect())
}

/// The bar of a value between the bounds; halfway up when they coincide.
pub(crate) fn bar(x: f64, low: f64, high: f64) -> char {
    // Halved, so that the difference of two large numbers stays finite.
    let span = high / 2.0 - low / 2.0;
    let share = if span > 0.0 { (x / 2.0 - low / 2.0) / span } else { 0.5 };
    BARS[((share * 8.0) as usize).min(7)]
}

fn number(value: &Value) -> Option<Option<f64>> {
    Some(match leaf(value)? {
        Leaf::Number(x) => Some(x),
        Leaf::Count(n) => Some(n as f64),
        Leaf::Undefined(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(numbers: &[f64]) -> String {
        sparkline(&numbers.iter().copied().map(Value::Number).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn bars_span_the_values_and_gaps_are_dots() {
        assert_eq!(line(&[0.0, 0.5, 1.0]), "▁▅█");
        assert_eq!(line(&[3.0, 3.0]), "▅▅");
        assert_eq!(line(&[]), "");
        assert_eq!(sparkline(&[Value::Count(1), Value::undefined("")]).as_deref(), Some("▅·"));
        assert_eq!(sparkline(&[Value::Series(vec![])]), None);
    }

    #[test]
    fn a_long_series_keeps_its_ends() {
        let rising: Vec<f64> = (0..1000).map(f64::from).collect();
        let shown = line(&rising);
        assert_eq!(shown.chars().count(), MOST);
        assert!(shown.starts_with('▁') && shown.ends_with('█'), "{shown}");
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_line(numbers in proptest::collection::vec(any::<f64>(), 0..40)) {
            prop_assert_eq!(line(&numbers).chars().count(), numbers.len().min(MOST));
        }
    }
}
