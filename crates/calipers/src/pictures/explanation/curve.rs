//! Fidelity over the size of the explanation: fid+, fid-, and the curve whose area is reported.

use calipers_core::Accumulator;
use calipers_metrics::explanation::Explanation;
use calipers_metrics::explanation::curve::sweep::{
    CURVE_X, FID_MINUS_MODEL_CURVE, FID_MINUS_PHENOMENON_CURVE, FID_PLUS_MODEL_CURVE,
    FID_PLUS_PHENOMENON_CURVE, FIDELITY_CURVE_AUC_MODEL, FIDELITY_CURVE_AUC_PHENOMENON,
};
use calipers_report::chart::lines::{Curve, Lines};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::{Cell, Grid};
use calipers_report::number::rounded;

use super::super::readings::{missing, over_all, series, table, words};

const SLUG: &str = "fidelity-curve";
const TITLE: &str = "Fidelity curve and its area";
/// How many given curves are drawn.
const MOST: usize = 12;

/// The picture: the swept fidelities, and the curves that units brought along.
pub(super) fn picture(rows: &Accumulator<Explanation>) -> Picture {
    let (mut variants, mut data) = (Vec::new(), Vec::new());
    for (of, fid_plus, fid_minus, area) in [
        ("model", FID_PLUS_MODEL_CURVE, FID_MINUS_MODEL_CURVE, FIDELITY_CURVE_AUC_MODEL),
        ("phenomenon", FID_PLUS_PHENOMENON_CURVE, FID_MINUS_PHENOMENON_CURVE, FIDELITY_CURVE_AUC_PHENOMENON),
    ] {
        let [x, plus, minus] = [CURVE_X, fid_plus, fid_minus].map(|line| series(&over_all(rows, &line)));
        if let (Some(x), Some(plus), Some(minus)) = (x, plus, minus) {
            let area = over_all(rows, &area).as_f64();
            variants.push((of.to_owned(), swept(of, &x, &plus, &minus, area)));
            data.push((format!("curve-{of}"), points(&x, &plus, &minus)));
        }
    }
    let mut left_out = String::new();
    let given = given(rows);
    if !given.is_empty() {
        if given.len() > MOST {
            left_out = format!(" The first {MOST} of {} given curves are drawn.", given.len());
        }
        variants.push(("given curves".to_owned(), drawn(&given[..given.len().min(MOST)])));
        let lines = given.iter().flat_map(|unit| {
            let row = |k: usize| {
                let cells = [unit.x[k], unit.plus[k], unit.minus[k]].map(Cell::Number);
                let ratio = ratio(unit.plus[k], unit.minus[k]);
                let ratio = Cell::from(Some(ratio).filter(|ratio| ratio.is_finite()));
                [words(unit.name)].into_iter().chain(cells).chain([ratio]).collect()
            };
            (0..unit.x.len()).map(row)
        });
        data.push(("curve-given".to_owned(), table(&["unit", "x", "fid_plus", "fid_minus", "ratio"], lines)));
    }
    if variants.is_empty() {
        return missing(SLUG, TITLE, "no fidelity at several sizes of the explanation was given");
    }
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "The tinted area lies below fid+ / (1 − fid−), the curve that the area metrics measure.{left_out}"
        ),
        art: Art::Variants(variants),
        data,
        unit: None,
    }
}

/// A fidelity curve that came with a unit.
struct Given<'a> {
    name: &'a str,
    x: Vec<f64>,
    plus: &'a [f64],
    minus: &'a [f64],
}

fn given(rows: &Accumulator<Explanation>) -> Vec<Given<'_>> {
    let curves = rows.rows();
    curves
        .named()
        .filter_map(|(name, row)| {
            let curve = row.curve.as_ref()?;
            let numbered = || (0..curve.pos.len()).map(|k| k as f64).collect();
            let x = curve.x.clone().unwrap_or_else(numbered);
            let usable = x.len() == curve.pos.len() && x.len() == curve.neg.len();
            usable.then_some(Given { name, x, plus: &curve.pos, minus: &curve.neg })
        })
        .collect()
}

fn ratio(plus: f64, minus: f64) -> f64 {
    let ratio = plus / (1.0 - minus);
    if ratio.is_finite() { ratio } else { f64::NAN }
}

fn points(x: &[f64], plus: &[f64], minus: &[f64]) -> Grid {
    let cell = |number: f64| Cell::from(Some(number).filter(|number| number.is_finite()));
    let rows = x
        .iter()
        .zip(plus.iter().zip(minus))
        .map(|(x, (plus, minus))| [*x, *plus, *minus, ratio(*plus, *minus)].map(cell).to_vec());
    table(&["x", "fid_plus", "fid_minus", "ratio"], rows)
}

fn zipped(x: &[f64], y: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    x.iter().copied().zip(y).collect()
}

fn swept(of: &str, x: &[f64], plus: &[f64], minus: &[f64], area: Option<f64>) -> Chart {
    let ratios: Vec<f64> = plus.iter().zip(minus).map(|(plus, minus)| ratio(*plus, *minus)).collect();
    let area = area.map_or(String::new(), |area| format!(", area {}", rounded(area)));
    let highest = ratios.iter().copied().filter(|ratio| ratio.is_finite()).fold(1.0, f64::max);
    let curves = vec![
        Curve {
            name: Some(format!("fid+ / (1 − fid−){area}")),
            filled: true,
            ..Curve::new(Colour::Series(2), zipped(x, ratios))
        },
        Curve { name: Some("fid+".into()), ..Curve::new(Colour::Series(0), zipped(x, plus.iter().copied())) },
        Curve {
            name: Some("fid−".into()),
            ..Curve::new(Colour::Series(1), zipped(x, minus.iter().copied()))
        },
    ];
    Chart::Lines(Lines {
        title: format!("{TITLE} ({of})"),
        description: format!("{} sizes of the explanation{area}", x.len()),
        x: Axis::around("x, the size of the explanation", x.iter().copied()),
        y: Axis::around("fidelity", [0.0, highest]),
        curves,
        levels: Vec::new(),
        signs: Vec::new(),
    })
}

fn drawn(given: &[Given<'_>]) -> Chart {
    let alone = given.len() == 1;
    let mut curves = Vec::new();
    let mut highest = 1.0f64;
    for (i, unit) in given.iter().enumerate() {
        let ratios: Vec<f64> = unit.plus.iter().zip(unit.minus).map(|(p, m)| ratio(*p, *m)).collect();
        highest = ratios.iter().copied().filter(|ratio| ratio.is_finite()).fold(highest, f64::max);
        let name = if alone { "fid+ / (1 − fid−)".to_owned() } else { unit.name.to_owned() };
        curves.push(Curve {
            name: Some(name),
            filled: true,
            opacity: if alone { 1.0 } else { 0.8 },
            tip: unit.name.to_owned(),
            ..Curve::new(Colour::Series(if alone { 2 } else { i }), zipped(&unit.x, ratios))
        });
    }
    if let [unit] = given {
        for (name, series, values) in [("fid+", 0, unit.plus), ("fid−", 1, unit.minus)] {
            curves.push(Curve {
                name: Some(name.into()),
                ..Curve::new(Colour::Series(series), zipped(&unit.x, values.iter().copied()))
            });
        }
    }
    Chart::Lines(Lines {
        title: TITLE.into(),
        description: format!("{} given curves", given.len()),
        x: Axis::around("x", given.iter().flat_map(|unit| unit.x.iter().copied())),
        y: Axis::around("fid+ / (1 − fid−)", [0.0, highest]),
        curves,
        levels: Vec::new(),
        signs: Vec::new(),
    })
}
