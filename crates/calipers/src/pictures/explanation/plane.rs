//! The fidelity plane: what removing an explanation breaks against what keeping it alone breaks.

use std::collections::BTreeMap;

use calipers_core::Accumulator;
use calipers_metrics::explanation::Explanation;
use calipers_metrics::explanation::fidelity::labels::{
    FID_MINUS_MODEL, FID_MINUS_PHENOMENON, FID_PLUS_MODEL, FID_PLUS_PHENOMENON,
};
use calipers_report::chart::scatter::{Cloud, Point, Scatter};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;

use super::super::readings::{missing, of_each, over_all, reason, table, words};

const SLUG: &str = "fidelity-plane";
const TITLE: &str = "Fidelity plane";
/// How many names a tip holds.
const NAMED: usize = 4;

/// The name of a unit, its fid- and its fid+.
type Unit<'a> = (&'a str, f64, f64);

/// The picture.
pub(super) fn picture(rows: &Accumulator<Explanation>) -> Picture {
    let (mut variants, mut data) = (Vec::new(), Vec::new());
    for (of, fid_minus, fid_plus) in [
        ("model", FID_MINUS_MODEL, FID_PLUS_MODEL),
        ("phenomenon", FID_MINUS_PHENOMENON, FID_PLUS_PHENOMENON),
    ] {
        let [minus, plus] = [fid_minus, fid_plus].map(|line| of_each(rows, &line));
        let plus: BTreeMap<usize, (&str, f64)> =
            plus.iter().map(|(i, name, value)| (*i, (name.as_str(), *value))).collect();
        let both: Vec<Unit<'_>> = minus
            .iter()
            .filter_map(|(i, _, minus)| plus.get(i).map(|(name, plus)| (*name, *minus, *plus)))
            .collect();
        if both.is_empty() {
            continue;
        }
        let pooled = [fid_minus, fid_plus].map(|line| over_all(rows, &line).as_f64());
        variants.push((of.to_owned(), plane(rows.protocol(), of, &both, pooled)));
        let lines = both.iter().map(|(name, minus, plus)| {
            let score = characterization(rows.protocol(), *plus, *minus);
            vec![words(*name), Cell::Number(*minus), Cell::Number(*plus), score.into()]
        });
        data.push((
            format!("fidelity-{of}"),
            table(&["unit", "fid_minus", "fid_plus", "characterization_score"], lines),
        ));
    }
    if variants.is_empty() {
        return missing(SLUG, TITLE, reason(&over_all(rows, &FID_PLUS_MODEL)));
    }
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: "Good explanations lie at the top left: without them the prediction changes (fid+), with \
                  nothing else it stays (fid−). Curves join points of equal characterization score; larger \
                  points are several units at one place."
            .into(),
        art: Art::Variants(variants),
        data,
        unit: None,
    }
}

fn plane(protocol: &Explanation, of: &str, units: &[Unit<'_>], pooled: [Option<f64>; 2]) -> Chart {
    let mut places: BTreeMap<(u64, u64), Vec<Unit<'_>>> = BTreeMap::new();
    for unit in units {
        places.entry((unit.1.to_bits(), unit.2.to_bits())).or_default().push(*unit);
    }
    let points = places
        .into_values()
        .map(|same| {
            let (_, x, y) = same[0];
            Point { x, y, radius: (3.5 + 1.2 * (same.len() as f64).sqrt()).min(18.0), tip: tip(&same) }
        })
        .collect();
    let units_name = format!("{} units", units.len());
    let mut clouds = vec![Cloud { name: Some(units_name), colour: Colour::Series(0), points, hollow: false }];
    if let [Some(x), Some(y)] = pooled {
        let tip = format!("all instances: fid− {}, fid+ {}", rounded(x), rounded(y));
        clouds.push(Cloud {
            name: Some("all instances together".into()),
            colour: Colour::Series(1),
            points: vec![Point { x, y, radius: 7.0, tip }],
            hollow: true,
        });
    }
    Chart::Scatter(Scatter {
        title: format!("Fidelity plane ({of})"),
        description: format!("{} units; fid+ upwards, fid− to the right", units.len()),
        x: Axis::between(format!("fid− ({of}): with the explanation alone"), -0.05, 1.05),
        y: Axis::between(format!("fid+ ({of}): without it"), -0.05, 1.05),
        height: 400.0,
        clouds,
        contours: [0.1, 0.3, 0.5, 0.7, 0.9].map(|score| contour(protocol, score)).into(),
        levels: Vec::new(),
    })
}

fn tip(same: &[Unit<'_>]) -> String {
    let names: Vec<&str> = same.iter().take(NAMED).map(|(name, _, _)| *name).collect();
    let more = match same.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let (_, minus, plus) = same[0];
    format!("{}{more}: fid− {}, fid+ {}", names.join(", "), rounded(minus), rounded(plus))
}

/// The points with a characterization score, from no fid- on.
fn contour(protocol: &Explanation, score: f64) -> (String, Vec<(f64, f64)>) {
    const PARTS: i32 = 400;
    let Explanation { pos_weight, neg_weight, .. } = *protocol;
    let name = format!("{score:.1}");
    if pos_weight <= 0.0 {
        return (name, vec![(1.0 - score, 0.0), (1.0 - score, 1.0)]);
    }
    let height = |minus: f64| pos_weight / ((pos_weight + neg_weight) / score - neg_weight / (1.0 - minus));
    let places = (0..PARTS).map(|i| f64::from(i) / f64::from(PARTS)).map(|minus| (minus, height(minus)));
    let inside = places.filter(|(_, plus)| (0.0..=1.0).contains(plus));
    // Where it leaves the plane at the top.
    let end = 1.0 - neg_weight / ((pos_weight + neg_weight) / score - pos_weight);
    let top = (neg_weight > 0.0 && (0.0..=1.0).contains(&end)).then_some((end, 1.0));
    (name, inside.chain(top).collect())
}

/// The weighted harmonic mean of fid+ and 1 - fid-.
fn characterization(protocol: &Explanation, plus: f64, minus: f64) -> Option<f64> {
    let Explanation { pos_weight, neg_weight, .. } = *protocol;
    calipers_metrics::explanation::kernels::characterization(plus, 1.0 - minus, pos_weight, neg_weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contours_hold_their_score() {
        for (pos_weight, neg_weight) in [(0.5, 0.5), (0.2, 0.8), (1.0, 0.0)] {
            let protocol = Explanation { pos_weight, neg_weight, ..Explanation::default() };
            for score in [0.1, 0.5, 0.9] {
                let (_, points) = contour(&protocol, score);
                assert!(points.len() > 10, "{pos_weight} {score}");
                for (minus, plus) in points {
                    let found = characterization(&protocol, plus, minus).unwrap();
                    assert!((found - score).abs() < 1e-9, "{minus} {plus}: {found}");
                }
            }
        }
    }
}
