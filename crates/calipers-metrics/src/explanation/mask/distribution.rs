//! How masks are distributed: their size, and how sparse, even or concentrated they are.

use crate::explanation::metrics::*;
use calipers_core::functions::ln;

use super::MASK;
use crate::explanation::row::MaskRow;

fn share(row: &Row, count: fn(&MaskRow) -> u64) -> Value {
    of_unit(row.mask.as_deref().map(|mask| quotient(count(mask), mask.elements, NO_ELEMENTS)))
}

/// What is read from the mass of a mask that is not 0 everywhere.
fn of_mass(row: &Row, read: fn(&MaskRow, f64) -> f64) -> Value {
    let value = |mask: &MaskRow| -> Reading {
        unless(mask.elements == 0, NO_ELEMENTS)?;
        let mass = mask.mass.value();
        unless(mass <= 0.0, ZERO_MASK)?;
        Ok(read(mask, mass))
    };
    of_unit(row.mask.as_deref().map(value))
}

const ELEMENTS: Pooled = Pooled(0);

fn elements(_: &Explanation, row: &Row, terms: &mut Terms<'_>) {
    if let Some(mask) = &row.mask {
        ELEMENTS.whole(terms, mask.elements, 1);
    }
}

const SHAPE: Line =
    Line { group: "shape", better: lower, range: SHARE, per_unit: true, needs: &[MASK], ..BEYOND };

pub(crate) const NUM_MASK_ELEMENTS: Line = Line {
    id: "num_mask_elements",
    group: "counts",
    better: neither,
    range: NON_NEGATIVE,
    measures: "The elements of all predicted masks.",
    formula: "Sum over units of the length of `pred_mask`, all types together.",
    example: ("mask", "5"),
    number: Number::pooled(elements, |_, sums| {
        ELEMENTS.counts(sums).map_or(given(None), |(count, _)| Value::Count(count))
    }),
    ..SHAPE
};

pub(crate) const SPARSITY: Line = Line {
    id: "sparsity",
    better: neither,
    measures: "The share of elements that are not selected.",
    formula: "#(m <= threshold)/n; mean over units.",
    undefined: "\"mask has no elements\".",
    differs: "Depends on the threshold; zero_fraction does not.",
    reference: SURVEY,
    example: ("mask", "0.8"),
    headline: Some(7),
    number: Number::mean(|_, row| share(row, |mask| mask.elements - mask.selected)),
    ..SHAPE
};

pub(crate) const ZERO_FRACTION: Line = Line {
    id: "zero_fraction",
    better: neither,
    measures: "The share of elements without any importance.",
    formula: "#(m = 0)/n; mean over units.",
    undefined: "\"mask has no elements\".",
    example: ("mask", "0.2"),
    number: Number::mean(|_, row| share(row, |mask| mask.zeros)),
    ..SHAPE
};

pub(crate) const ENTROPY: Line = Line {
    id: "entropy",
    range: NON_NEGATIVE,
    measures: "How evenly the importance is spread, in nats.",
    formula: "-sum a ln a, a = |m| / sum |m|; mean over units.",
    undefined: reasons!(mask, "mask is zero everywhere"),
    differs: "Between 0, one element, and ln n, all alike.",
    reference: "Amara et al., GraphFramEx: Towards Systematic Evaluation of Explainability Methods for Graph \
                Neural Networks, LoG 2022",
    example: ("mask", "1.3208883431493221"),
    number: Number::mean(|_, row| {
        of_mass(row, |mask, mass| (ln(mass) - mask.mass_log.value() / mass).max(0.0))
    }),
    ..SHAPE
};

pub(crate) const GINI: Line = Line {
    id: "gini",
    better: higher,
    measures: "How unevenly the importance is spread.",
    formula: "sum (2i - n - 1) a_(i) / (n sum a), a = |m| ascending, i from 1; mean over units.",
    undefined: reasons!(mask, "mask is zero everywhere"),
    differs: "At most 1 - 1/n.",
    reference: "Hurley and Rickard, Comparing Measures of Sparsity, 2009",
    example: ("mask", "0.35"),
    number: Number::mean(|_, row| of_mass(row, |mask, mass| mask.gini.value() / mass / mask.elements as f64)),
    ..SHAPE
};
