//! Estimation bias: how far the attack moved the features of one condition.

pub(super) mod dyadic;
pub(super) mod measure;
pub(super) mod partials;
pub(super) mod per_node;
mod squares;

use crate::robustness::metrics::*;
use calipers_core::exact::Rational;

use measure::QUANTILES;

pub(super) const TOTAL: Scalar = Scalar::new(0, |row| Ok(row.bias.total.value()));

pub(super) const MEAN: Scalar = Scalar::new(1, |row| {
    unless(row.bias.per_node.is_empty(), NO_NODES)?;
    Ok(row.bias.total.value().over(&Rational::whole(row.bias.per_node.len() as i128)))
});

pub(super) const RELATIVE: Scalar = Scalar::new(2, |row| {
    unless(row.bias.energy.is_zero(), "clean features are all zero")?;
    Ok(row.bias.total.value().over(&row.bias.energy.value()))
});

const TOUCHED: Scalar = Scalar::new(3, |row| {
    let touched = flips(row)?.touched_bias.value();
    unless(row.bias.total.is_zero(), "bias is zero")?;
    Ok(touched.over(&row.bias.total.value()))
});

/// One for each of [`QUANTILES`].
const STATISTICS: [Scalar; QUANTILES.len()] = [
    Scalar::new(4, |row| statistic(row, 0)),
    Scalar::new(5, |row| statistic(row, 1)),
    Scalar::new(6, |row| statistic(row, 2)),
    Scalar::new(7, |row| statistic(row, 3)),
];

fn statistic(row: &Row, place: usize) -> Exact {
    row.bias.quantiles.get(place).map(|bias| bias.value()).ok_or_else(|| NO_NODES.into())
}

fn biases(protocol: &Robustness, row: &Row, terms: &mut Terms<'_>) {
    for scalar in [TOTAL, MEAN, RELATIVE, TOUCHED].into_iter().chain(STATISTICS) {
        scalar.add(protocol, row, terms);
    }
}

/// The bias of every node of the only unit.
fn of_nodes(_: &Robustness, rows: &Rows<'_, Row>) -> Value {
    let mut all = rows.iter();
    match (all.next(), all.next()) {
        (Some(row), None) => {
            Value::Series(row.bias.per_node.iter().map(|&bias| Value::Number(bias)).collect())
        }
        _ => Value::Undefined(format!("report holds {} units; use --per-node", rows.len()).into()),
    }
}

const BIAS: Line = Line {
    group: "bias",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    reference: "Estimation Bias Measurement, compute_estimation_bias",
    ..DOCUMENTED
};

const BEYOND_BIAS: Line = Line { presets: BEYOND.presets, reference: BEYOND.reference, ..BIAS };

/// How far the attack moved the features of all nodes together.
pub const BIAS_TOTAL: Line = Line {
    id: "bias_total",
    measures: "How far the attack moved the features of all nodes together.",
    formula: "Sum over the chosen nodes of b_i = ‖F_i - F*_i‖^2, exact; mean over repetitions.",
    undefined: reasons!(condition),
    differs: "Sums over all nodes, training nodes too, unless --nodes narrows them.",
    example: ("four-nodes", "16.0"),
    headline: Some(2),
    number: mean!(biases, TOTAL),
    ..BIAS
};

/// How far the attack moved a node on average.
pub const BIAS_MEAN: Line = Line {
    id: "bias_mean",
    measures: "How far the attack moved a node on average.",
    formula: "bias_total / n, n = the number of chosen nodes.",
    undefined: reasons!(condition, "node subset is empty"),
    differs: "Divided by nodes, not by nodes times columns.",
    example: ("four-nodes", "4.0"),
    headline: Some(3),
    number: mean!(biases, MEAN),
    ..BIAS
};

pub(in crate::robustness) const BIAS_PER_NODE: Line = Line {
    id: "bias_per_node",
    per_unit: false,
    measures: "How far the attack moved each chosen node, in node order.",
    formula: "b_i = sum over c of (F_ic - F*_ic)^2, exact and rounded once.",
    undefined: "\"report holds K units; use --per-node\".",
    example: ("four-nodes", "[0.0, 4.0, 4.0, 8.0]"),
    number: Number::Rows(of_nodes),
    ..BIAS
};

/// The bias beside the size of the features.
pub const BIAS_RELATIVE: Line = Line {
    id: "bias_relative",
    measures: "The bias beside the size of the features: comparable between models.",
    formula: "sum b_i / sum ‖F*_i‖^2 over the chosen nodes; mean over repetitions.",
    undefined: reasons!(condition, "clean features are all zero"),
    differs: "A model with twice the logits has four times the bias and the same relative bias.",
    example: ("four-nodes", "0.5161290322580645"),
    headline: Some(1),
    number: mean!(biases, RELATIVE),
    ..BEYOND_BIAS
};

pub(in crate::robustness) const BIAS_NODE_QUANTILES: Line = Line {
    id: "bias_node_quantiles",
    per_unit: false,
    measures: "How the bias is spread over nodes.",
    formula: "For q = 0.5, 0.9, 0.99 and 1 the ceil(q n)-th smallest b_i; mean over repetitions.",
    undefined: reasons!(condition, "node subset is empty"),
    differs: "An order statistic, never between two nodes.",
    example: ("four-nodes", r#"{"0.5": 4.0, "0.9": 8.0, "0.99": 8.0, "1": 8.0}"#),
    number: Number::Grouped {
        order: by_condition,
        terms: biases,
        read: |protocol, groups| {
            of_only(groups, |sums| {
                let names = QUANTILES.iter().map(|(name, ..)| String::from(*name));
                let values = STATISTICS.iter().map(|scalar| scalar.printed(protocol, sums));
                Value::PerLabel(names.zip(values).collect())
            })
        },
    },
    ..BEYOND_BIAS
};

pub(in crate::robustness) const BIAS_TOUCHED_SHARE: Line = Line {
    id: "bias_touched_share",
    better: neither,
    range: SHARE,
    measures: "How much of the bias lies on nodes at an end of a flip.",
    formula: "Sum of b_i over chosen nodes at an end of an added or removed edge / bias_total; mean over \
              repetitions.",
    undefined: reasons!(flips, "bias is zero"),
    example: ("four-nodes", "1.0"),
    number: mean!(biases, TOUCHED),
    ..BEYOND_BIAS
};
