//! How the NLL changes with the temperature.

use super::calibration::{INFINITE, PIXELS, finite, without_pixels};
use crate::segmentation::metrics::*;

/// How far above the smallest NLL a temperature still counts as the best one.
const AS_GOOD: f64 = 1e-6;

/// The first column of the factors.
const FACTORS: usize = FIRST + 2;

const TEMPERATURE: Line = Line {
    group: "temperature",
    undefined: reasons!(
        scores,
        "no scored pixel",
        "infinite: the true class has probability 0 at K pixel(s)"
    ),
    reference: "Guo et al., On Calibration of Modern Neural Networks, ICML 2017",
    ..Line::DEFAULTS
};

pub(crate) const METRICS: &[Line] = &[TEMPERATURE_NLL, BEST_TEMPERATURE];

fn add_row<'r>(_: &Segmentation, row: &'r Row, terms: &mut Terms<'r>) {
    let Some(scores) = scores(row, terms) else { return };
    terms.whole(PIXELS, scores.pixels);
    terms.whole(INFINITE, scores.infinite);
    scores.temperature.iter().zip(FACTORS..).for_each(|(sum, column)| terms.exact(column, sum));
}

/// The mean NLL at each factor; undefined as the NLL itself.
fn nlls(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Result<Vec<f64>, Reason> {
    has_scores(protocol, sums, Measure::Temperature)?;
    match without_pixels(protocol, sums) {
        Some(value) => value.map(|value| vec![value; protocol.temperatures.len()]),
        None => {
            finite(sums.whole(INFINITE))?;
            let columns = (FACTORS..).take(protocol.temperatures.len());
            Ok(columns.map(|column| sums.number_over(column, sums.whole(PIXELS))).collect())
        }
    }
}

/// Among the factors whose NLL is as good as the smallest, the one fewest steps from 1; of two, the
/// smaller.
fn best(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    let values = nlls(protocol, sums)?;
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let factors = &protocol.temperatures;
    let neutral = factors.iter().position(|factor| factor.total_cmp(&1.0).is_ge()).unwrap_or(0);
    let good = (0..values.len()).filter(|&k| values[k] <= lowest + AS_GOOD);
    good.min_by_key(|&k| (k.abs_diff(neutral), k)).map(|k| factors[k]).ok_or(NO_SCORED_PIXEL)
}

const TEMPERATURE_NLL: Line = Line {
    id: "temperature_nll",
    better: lower,
    range: NON_NEGATIVE,
    measures: "The NLL if every head were hotter or cooler.",
    formula: "Series: nll with every tau multiplied by theta = 2^(k/8), k = -16..16.",
    example: (
        "temperature",
        "[4.000000112535169, 3.668016597441352, 3.3635870960182266, 3.0844260342031, \
                2.828439329139042, 2.593710320549159, 2.3784880638127865, 2.1811780773946463, \
                2.000335406372896, 1.8346595050347574, 1.6829900302684144, 1.5443022930931514, \
                1.4177009635910032, 1.3024107529649935, 1.1977632255655963, 1.1031795667338906, \
                1.0181499279178097, 0.9422107295151677, 0.8749218612597891, 0.8158459495974972, \
                0.7645316979310675, 0.7205027737028972, 0.6832529286244609, 0.6522471675035605, \
                0.6269280110429725, 0.6067253721414095, 0.5910683511675826, 0.5793973382512616, \
                0.5711751121750175, 0.5658960403506209, 0.563092912630535, 0.5623413107912216, \
                0.5632616875182228]",
    ),
    number: Number::pooled(add_row, |protocol, sums| {
        let series = |nlls: Vec<f64>| Value::Series(nlls.into_iter().map(Value::Number).collect());
        nlls(protocol, sums).map_or_else(Value::Undefined, series)
    }),
    ..TEMPERATURE
};

const BEST_TEMPERATURE: Line = Line {
    id: "best_temperature",
    better: neither,
    range: FACTOR,
    per_unit: true,
    measures: "The factor on every temperature that calibrates best.",
    formula: "The theta of temperature_nll whose nll is within 1e-6 of the smallest; of several the nearest \
              to 1, then the smaller.",
    differs: "Above 1: the model is too sure. Fit it on a validation split, then set tau. A grid, so that \
              runs merge exactly.",
    example: ("temperature", "3.668016172818685"),
    number: Number::pooled(add_row, |protocol, sums| number(best(protocol, sums))),
    ..TEMPERATURE
};
