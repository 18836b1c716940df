//! Whether probabilities mean what they say.

use calipers_core::{Doc, Number};

use super::super::calibration_reading::{Calibration, infinite_pixels, total};
use super::super::reading::number;
use super::{Line, NON_NEGATIVE, SHARE, UP_TO_PIXELS, UP_TO_TWO, document, lower, neither, reasons};

pub(super) const NLL: Line = Line {
    id: "nll",
    group: "calibration",
    better: lower,
    range: NON_NEGATIVE,
    per_unit: true,
    doc: Doc {
        measures: "How improbable the truth is under the predicted probabilities.",
        formula: "Mean over the scored pixels of -ln p of the true global class. Preset coral-mtl: -ln(p \
                  + 1e-8), and 0 without a scored pixel.",
        undefined: reasons!(
            scores,
            "no scored pixel",
            "infinite: the true class has probability 0 at K pixel(s)"
        ),
        differs: "No floor: a true class with probability 0 makes it infinite, which is said and counted \
                  in nll_infinite_pixels.",
        reference: document!("3) Probabilistic / Calibration Metrics"),
        example: ("reliability", "0.8016133262174109"),
    },
    headline: Some(6),
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Calibration::nll))),
    ..Line::DEFAULTS
};

pub(super) const NLL_INFINITE_PIXELS: Line = Line {
    id: "nll_infinite_pixels",
    group: "calibration",
    better: lower,
    range: UP_TO_PIXELS,
    per_unit: true,
    doc: Doc {
        measures: "The pixels whose true class has probability 0.",
        formula: "Scored pixels with p = 0 for the true global class.",
        undefined: reasons!(scores),
        differs: "",
        reference: "Calipers",
        example: ("veto", "1"),
    },
    number: Number::Rows(infinite_pixels),
    ..Line::DEFAULTS
};

pub(super) const BRIER: Line = Line {
    id: "brier",
    group: "calibration",
    better: lower,
    range: UP_TO_TWO,
    per_unit: true,
    doc: Doc {
        measures: "The squared distance between the predicted probabilities and the truth.",
        formula: "Mean over the scored pixels of the sum over classes g of (p_g - [g = y])^2. Preset \
                  coral-mtl: 0 without a scored pixel.",
        undefined: reasons!(scores, "no scored pixel"),
        differs: "Summed over classes, so 2 at worst; some divide by the number of classes.",
        reference: "Brier, Verification of forecasts expressed in terms of probability, 1950",
        example: ("reliability", "0.52125"),
    },
    headline: Some(7),
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Calibration::brier))),
    ..Line::DEFAULTS
};

pub(super) const ECE: Line = Line {
    id: "ece",
    group: "calibration",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How far confidence and accuracy lie apart, over bins of confidence.",
        formula: "Confidence = largest p_g, right when that class is the true one. sum over bins of \
                  |right - sum of confidences| / N. Bins of equal width; a confidence within 1e-6 of an \
                  edge lies on it. Preset coral-mtl: 0 without a scored pixel.",
        undefined: reasons!(scores, "no scored pixel"),
        differs: "Depends on the number of bins; the sums are exact, so it does not drift with the number \
                  of pixels.",
        reference: "Guo et al., On Calibration of Modern Neural Networks, ICML 2017",
        example: ("reliability", "0.3625"),
    },
    headline: Some(8),
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Calibration::ece))),
    ..Line::DEFAULTS
};

pub(super) const MCE: Line = Line {
    id: "mce",
    group: "calibration",
    better: lower,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "The largest distance between confidence and accuracy in a bin.",
        formula: "Largest |right - sum of confidences| / count over the bins that are not empty, bins as \
                  in ece.",
        undefined: reasons!(scores, "no scored pixel"),
        differs: "A bin with a single pixel counts as much as any other.",
        reference: "Naeini, Cooper and Hauskrecht, Obtaining Well Calibrated Probabilities Using Bayesian \
                    Binning, AAAI 2015",
        example: ("reliability", "0.4"),
    },
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Calibration::mce))),
    ..Line::DEFAULTS
};

pub(super) const MEAN_CONFIDENCE: Line = Line {
    id: "mean_confidence",
    group: "calibration",
    better: neither,
    range: SHARE,
    per_unit: true,
    doc: Doc {
        measures: "How sure the model is on average.",
        formula: "sum of confidences / N; compare with pixel_accuracy.",
        undefined: reasons!(scores, "no scored pixel"),
        differs: "",
        reference: "Calipers",
        example: ("reliability", "0.7875"),
    },
    number: Number::Rows(|protocol, rows| number(total(protocol, rows, Calibration::mean_confidence))),
    ..Line::DEFAULTS
};
