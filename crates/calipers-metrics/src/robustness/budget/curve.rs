//! Every scalar by condition.

use crate::robustness::metrics::*;
use calipers_core::exact::rational::spread;

use crate::robustness::difference::flips;
use crate::robustness::{accuracy, bias, difference};

/// The numbers of every condition in the curve, in order.
static SCALARS: [(Line, Scalar); 14] = [
    (bias::BIAS_TOTAL, bias::TOTAL),
    (bias::BIAS_MEAN, bias::MEAN),
    (bias::BIAS_RELATIVE, bias::RELATIVE),
    (difference::MEAN_DIFF, difference::ALL),
    (difference::ADDED_MEAN_DIFF, difference::ADDED),
    (difference::KEPT_MEAN_DIFF, difference::KEPT),
    (difference::DIFF_RATIO, difference::RATIO),
    (accuracy::CLEAN_ACCURACY, accuracy::CLEAN),
    (accuracy::ROBUST_ACCURACY, accuracy::ROBUST),
    (accuracy::ACCURACY_DROP, accuracy::DROP),
    (accuracy::ATTACK_SUCCESS_RATE, accuracy::SUCCESS),
    (flips::FLIPS_ADDED, flips::ADDED),
    (flips::FLIPS_REMOVED, flips::REMOVED),
    (flips::BUDGET_USED, flips::USED),
];

/// How many of them are biases.
const BIASES: usize = 2;

/// The scalars with columns of their own, so that one set of sums holds them all.
fn scalars() -> impl Iterator<Item = (&'static str, Scalar)> {
    SCALARS.iter().enumerate().map(|(place, (line, scalar))| (line.id, scalar.at(place)))
}

fn add_scalars(protocol: &Robustness, row: &Row, terms: &mut Terms<'_>) {
    scalars().for_each(|(_, scalar)| scalar.add(protocol, row, terms));
}

/// The first few lines, from the repetitions of a condition alone.
fn means(protocol: &Robustness, sums: &Sums<'_, Row>, first: usize) -> Vec<(String, Value)> {
    scalars().take(first).map(|(id, scalar)| (id.into(), scalar.printed(protocol, sums))).collect()
}

fn deviation(protocol: &Robustness, sums: &Sums<'_, Row>, scalar: Scalar) -> Value {
    let degrees = sums.count().checked_sub(protocol.ddof).filter(|&degrees| degrees > 0);
    let Some(degrees) = degrees else {
        return Value::undefined(if sums.count() == 1 { "one repetition" } else { "too few repetitions" });
    };
    let values = sums.rows().iter().map(|row| scalar.of(protocol, row)).collect::<Result<Vec<_>, Reason>>();
    values.map_or_else(Value::Undefined, |values| Value::finite(spread(&values, degrees).root()))
}

fn by_name(groups: &[Sums<'_, Row>], entries: impl Fn(&Sums<'_, Row>) -> Vec<(String, Value)>) -> Value {
    Value::PerLabel(groups.iter().map(|sums| (name(sums), Value::PerLabel(entries(sums)))).collect())
}

/// What is read from the repetitions of every condition.
macro_rules! curve {
    ($read:expr) => {
        curve!(add_scalars, $read)
    };
    ($terms:expr, $read:expr) => {
        Number::Grouped { order: by_condition, terms: $terms, read: $read }
    };
}

pub(in crate::robustness) const BIAS_CURVE: Line = Line {
    id: "bias_curve",
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    measures: "The bias at every condition: Figure 6.",
    formula: "{condition: {bias_total, bias_mean}}, means over repetitions.",
    undefined: "\"node subset is empty\".",
    differs: "Budget 0 gives 0 and stays in the curve.",
    reference: "Estimation Bias Measurement, compute_bias_curve",
    example: (
        "curve",
        r#"{"0.1": {"bias_total": 1.0, "bias_mean": 0.25}, "0.2": {"bias_total": 2.0, "bias_mean": 0.5}, "0.4": {"bias_total": 7.0, "bias_mean": 1.75}}"#,
    ),
    number: curve!(|protocol, groups| by_name(groups, |sums| means(protocol, sums, BIASES))),
    ..DOCUMENTED
};

/// Every scalar at every condition.
pub const CURVE: Line = Line {
    id: "curve",
    group: "curve",
    range: ANY,
    measures: "Every scalar at every condition.",
    formula: "{condition: {n, bias_total, ..., budget_used}}, means over the n repetitions.",
    undefined: "\"no attacked edges given\"; \"attacked graph has no edges\"; \"clean and attacked edges are \
                both needed\"; \"attack added no edge\"; \"no clean edge was kept\"; \"kept edges have no \
                difference\"; \"node subset is empty\"; \"clean features are all zero\"; \"no labels \
                given\"; \"no test nodes given\"; \"test set is empty\"; \"features are not class scores\"; \
                \"no test node was correct on the clean graph\"; \"clean graph has no edges\".",
    example: (
        "repetitions",
        r#"{"0.2": {"n": 2, "bias_total": 3.0, "bias_mean": 1.5, "bias_relative": 0.375, "mean_diff": null, "added_mean_diff": null, "kept_mean_diff": null, "diff_ratio": null, "clean_accuracy": 1.0, "robust_accuracy": 0.75, "accuracy_drop": 0.25, "attack_success_rate": 0.25, "flips_added": null, "flips_removed": null, "budget_used": null}}"#,
    ),
    interval: IntervalRule::Without(&["n"]),
    number: curve!(|protocol, groups| by_name(groups, |sums| {
        let count = [("n".into(), Value::Count(sums.count().into()))];
        count.into_iter().chain(means(protocol, sums, SCALARS.len())).collect()
    })),
    ..BEYOND
};

/// How much repetitions scatter at every condition.
pub const CURVE_STD: Line = Line {
    id: "curve_std",
    group: "curve",
    range: NON_NEGATIVE,
    measures: "How much repetitions scatter at every condition.",
    formula: "sqrt(sum (v - mean)^2 / (n - ddof)) over repetitions, within one unit in the last place.",
    undefined: "\"one repetition per condition\"; \"one repetition\"; \"too few repetitions\"; \"no attacked \
                edges given\"; \"attacked graph has no edges\"; \"clean and attacked edges are both \
                needed\"; \"attack added no edge\"; \"no clean edge was kept\"; \"kept edges have no \
                difference\"; \"node subset is empty\"; \"clean features are all zero\"; \"no labels \
                given\"; \"no test nodes given\"; \"test set is empty\"; \"features are not class scores\"; \
                \"no test node was correct on the clean graph\"; \"clean graph has no edges\".",
    differs: "ddof is 1 unless set; published drivers use 0.",
    example: (
        "repetitions",
        r#"{"0.2": {"bias_total": 2.8284271247461903, "bias_mean": 1.4142135623730951, "bias_relative": 0.3535533905932738, "mean_diff": null, "added_mean_diff": null, "kept_mean_diff": null, "diff_ratio": null, "clean_accuracy": 0.0, "robust_accuracy": 0.3535533905932738, "accuracy_drop": 0.3535533905932738, "attack_success_rate": 0.3535533905932738, "flips_added": null, "flips_removed": null, "budget_used": null}}"#,
    ),
    interval: IntervalRule::Never,
    number: curve!(|_, _, _| {}, |protocol, groups| {
        if groups.iter().all(|sums| sums.count() <= protocol.ddof) {
            return Value::undefined("one repetition per condition");
        }
        by_name(groups, |sums| {
            let entries = SCALARS.iter();
            entries.map(|(line, scalar)| (line.id.into(), deviation(protocol, sums, *scalar))).collect()
        })
    }),
    ..BEYOND
};

#[cfg(test)]
mod tests {
    use calipers_core::exact::rational::mean;
    use calipers_core::{Accumulator, SplitMix64};

    use super::*;
    use crate::robustness::row::reading::value;
    use crate::robustness::{Budget, Matrix, Pair};
    use calipers_core::NumberSlice;

    /// More than are added up exactly.
    const MANY: usize = 64;

    #[test]
    fn many_repetitions_have_the_mean_of_their_exact_sum() {
        let mut pairs = Accumulator::new(Robustness::default());
        let mut random = SplitMix64::new(2);
        for unit in 0..MANY + 9 {
            let mut numbers = || (0..12).map(|_| random.unit() - 0.4).collect::<Vec<f64>>();
            let (clean, attacked) = (numbers(), numbers());
            let matrix = |data| Matrix::new(6, 2, NumberSlice::F64(data)).unwrap();
            let name = format!("{unit:03}");
            let edges = [[(0, 1), (1, 2), (3, 4)], [(0, 1), (0, 2), (2, 5)]];
            let pair = Pair {
                labels: Some(&[0, 1, 0, 1, 1, 0]),
                test: Some(&[0, 1, 2, 3, 4][..2 + unit % 4]),
                clean_edges: Some(&edges[0]),
                attacked_edges: Some(&edges[1]),
                ..Pair::new(&name, Budget::parse("0.05").unwrap(), matrix(&clean), matrix(&attacked))
            };
            pairs.update(name.as_str(), pair).unwrap();
        }
        let (protocol, rows) = (pairs.protocol(), pairs.rows());
        for (line, scalar) in &SCALARS {
            let values = rows.iter().map(|row| scalar.of(protocol, row)).collect::<Result<Vec<_>, Reason>>();
            let exact = value(values.map(|values| mean(&values)));
            assert_eq!(line.read(protocol, &rows), exact, "{}", line.id);
        }
    }
}
