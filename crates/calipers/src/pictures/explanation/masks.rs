//! How important elements are said to be, inside and outside the truth.

use std::collections::BTreeMap;

use calipers_core::Accumulator;
use calipers_core::functions::sigmoid;
use calipers_metrics::explanation::{Explanation, MaskScores};
use calipers_report::chart::histogram::{Histogram, bins, counted};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::{Cell, Grid};

use super::super::readings::{missing, table};
use crate::families::explanation::{unit, units};
use crate::replay::Evidence;

const SLUG: &str = "masks";
const TITLE: &str = "Mask values";
/// How many units are read again.
const MOST: usize = 100;
const BINS: usize = 40;

/// The values of one type of element.
#[derive(Default)]
struct Values {
    all: Vec<f64>,
    in_truth: Vec<f64>,
    has_truth: bool,
}

/// The picture.
pub(super) fn picture(rows: &Accumulator<Explanation>, evidence: &Evidence) -> Picture {
    let replay = match evidence {
        Evidence::Available(replay) => replay,
        Evidence::Missing(why) => return missing(SLUG, TITLE, why),
    };
    let all = rows.rows();
    let with_masks: Vec<&str> =
        all.named().filter(|(_, row)| row.mask.is_some()).map(|(name, _)| name).collect();
    if with_masks.is_empty() {
        return missing(SLUG, TITLE, "no masks were given");
    }
    let units = match units(replay) {
        Ok(units) => units,
        Err(error) => return missing(SLUG, TITLE, error.to_string()),
    };
    let protocol = rows.protocol();
    let value = |mask: f64| if protocol.mask_scores == MaskScores::Logits { sigmoid(mask) } else { mask };
    let mut by_type: BTreeMap<String, Values> = BTreeMap::new();
    for name in with_masks.iter().take(MOST) {
        let masks = match unit(&units, name) {
            Ok(masks) => masks,
            Err(error) => return missing(SLUG, TITLE, error.to_string()),
        };
        for mask in masks {
            let values = by_type.entry(mask.kind).or_default();
            values.all.extend(mask.pred.iter().copied().map(value));
            if let Some(target) = mask.target {
                values.has_truth = true;
                let pairs = mask.pred.iter().zip(target);
                let inside = pairs.filter(|(_, target)| *target >= protocol.target_threshold);
                values.in_truth.extend(inside.map(|(pred, _)| value(*pred)));
            }
        }
    }
    let named = |kind: &str| if kind.is_empty() { "all elements".to_owned() } else { kind.to_owned() };
    let drawings = by_type.iter().map(|(kind, values)| (named(kind), histogram(values, protocol.threshold)));
    let (drawn, tables): (Vec<_>, Vec<_>) = drawings
        .enumerate()
        .map(|(i, (kind, (svg, grid)))| ((kind, svg), (format!("masks-{}", i + 1), grid)))
        .unzip();
    let read = match with_masks.len() {
        n if n > MOST => format!("the first {MOST} of {n} units"),
        n => format!("{n} units"),
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "Values of the masks of {read}; what lies right of the threshold is selected. A mask that meets \
             its truth has the truth's values on the right and the others on the left."
        ),
        art: Art::Variants(drawn),
        data: tables,
        unit: None,
    }
}

fn histogram(values: &Values, threshold: f64) -> (Chart, Grid) {
    let within = values.all.iter().all(|value| (0.0..=1.0).contains(value));
    let axis = if within {
        Axis::share("mask value")
    } else {
        Axis::around("mask value", values.all.iter().copied().chain([threshold]))
    };
    let edges = bins(&axis, BINS);
    let all = counted(values.all.iter().copied(), &edges);
    let inside = counted(values.in_truth.iter().copied(), &edges);
    let cells = |i: usize| {
        let mut row = vec![Cell::Number(edges[i]), Cell::Number(edges[i + 1]), Cell::Number(all[i] as f64)];
        row.push(if values.has_truth { Cell::Number(inside[i] as f64) } else { Cell::Empty });
        row
    };
    let grid = table(&["from", "to", "elements", "in the truth"], (0..BINS).map(cells));
    let mut counts = vec![("all elements".to_owned(), Colour::Series(5), all)];
    if values.has_truth {
        counts.push(("elements in the truth".to_owned(), Colour::Series(1), inside));
    }
    let drawing = Histogram {
        title: TITLE.into(),
        description: format!("{} elements, {} of them in the truth", values.all.len(), values.in_truth.len()),
        x: axis,
        counted: "elements".into(),
        edges,
        counts,
        posts: vec![(threshold, format!("threshold {threshold}"))],
    };
    (Chart::Histogram(drawing), grid)
}
