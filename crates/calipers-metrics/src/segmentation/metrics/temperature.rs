//! How the NLL changes with the temperature.

use calipers_core::{Doc, Number};

use super::super::calibration_reading::{best_temperature, temperature_nll};
use super::super::reading::number;
use super::{FACTOR, Line, NON_NEGATIVE, lower, neither, reasons};

pub(super) const TEMPERATURE_NLL: Line = Line {
    id: "temperature_nll",
    group: "temperature",
    better: lower,
    range: NON_NEGATIVE,
    doc: Doc {
        measures: "The NLL if every head were hotter or cooler.",
        formula: "Series: nll with every tau multiplied by theta = 2^(k/8), k = -16..16.",
        undefined: reasons!(
            scores,
            "no scored pixel",
            "infinite: the true class has probability 0 at K pixel(s)"
        ),
        differs: "",
        reference: "Guo et al., On Calibration of Modern Neural Networks, ICML 2017",
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
    },
    number: Number::Rows(temperature_nll),
    ..Line::DEFAULTS
};

pub(super) const BEST_TEMPERATURE: Line = Line {
    id: "best_temperature",
    group: "temperature",
    better: neither,
    range: FACTOR,
    per_unit: true,
    doc: Doc {
        measures: "The factor on every temperature that calibrates best.",
        formula: "The theta of temperature_nll whose nll is within 1e-6 of the smallest; of several the \
                  nearest to 1, then the smaller.",
        undefined: reasons!(
            scores,
            "no scored pixel",
            "infinite: the true class has probability 0 at K pixel(s)"
        ),
        differs: "Above 1: the model is too sure. Fit it on a validation split, then set tau. A grid, so \
                  that runs merge exactly.",
        reference: "Guo et al., On Calibration of Modern Neural Networks, ICML 2017",
        example: ("temperature", "3.668016172818685"),
    },
    number: Number::Rows(|protocol, rows| number(best_temperature(protocol, rows))),
    ..Line::DEFAULTS
};
