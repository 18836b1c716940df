//! Explanations as the laws see them: a run written as JSON, and what is particular to the family.

mod cases;
mod properties;
mod published;

use calipers_core::{Accumulator, Result};
use calipers_metrics::explanation::{Array, Evidence, Explanation, NumberSlice, Options};
use half::{bf16, f16};
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::family::{Family, metrics};

pub(crate) const FAMILY: Family = Family {
    name: "explanation",
    golden: &["cases.json"],
    metrics: metrics::<Explanation>,
    run: |input| Ok(Box::new(run(input)?)),
    tolerance,
    general,
};

fn general(reason: &str) -> String {
    let words = reason.split_whitespace().enumerate().map(|(place, word)| {
        let number = word.trim_end_matches(':').parse::<u64>().is_ok();
        match (number && place > 2, word.ends_with(':')) {
            (true, true) => "K:",
            (true, false) => "M",
            _ => word,
        }
    });
    // These numbers are part of the reason.
    let text = words.collect::<Vec<_>>().join(" ").replace("0/0: weight M", "0/0: weight 0");
    let text = text.replace("term of M", "term of 0").replace("y_sub is M", "y_sub is 0");
    text.replace("range is M", "range is 0").replace("y_hat is M", "y_hat is 0")
}

/// The state after all units of `input`, which has `protocol` (only what differs from the
/// defaults) and `units`.
pub(crate) fn run(input: &Json) -> Result<Accumulator<Explanation>> {
    let options: Options = serde_json::from_value(input["protocol"].clone()).expect("options of the family");
    let mut state = Accumulator::new(options.resolve()?);
    for (name, unit) in input["units"].as_object().expect("units by name") {
        let arrays: Vec<(&String, Stored)> = unit
            .as_object()
            .expect("arrays by key")
            .iter()
            .map(|(key, array)| (key, Stored::new(array)))
            .collect();
        let mut evidence = Evidence::new();
        for (key, array) in &arrays {
            evidence.insert(key, array.view());
        }
        state.update(name.as_str(), evidence)?;
    }
    Ok(state)
}

/// An array as a file would hold it.
pub(crate) struct Stored {
    shape: Vec<usize>,
    values: Values,
}

enum Values {
    Half(Vec<f16>),
    Brain(Vec<bf16>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Int(Vec<i64>),
    Bool(Vec<bool>),
}

impl Stored {
    /// An array with `dtype`, `shape` and flat `data`, or nested lists: integers without a point or
    /// exponent, truth values, else f64.
    pub(crate) fn new(json: &Json) -> Self {
        let Some(dtype) = json["dtype"].as_str() else { return Self::nested(json) };
        let shape = json["shape"].as_array().expect("a shape");
        let data = json["data"].as_array().expect("data").iter();
        let floats = || data.clone().map(float);
        let whole = || data.clone().map(|value| value.as_i64().expect("a whole number"));
        let values = match dtype {
            "float16" => Values::Half(floats().map(f16::from_f64).collect()),
            "bfloat16" => Values::Brain(floats().map(bf16::from_f64).collect()),
            "float32" => Values::Single(floats().map(|value| value as f32).collect()),
            "float64" => Values::Double(floats().collect()),
            "bool" => Values::Bool(whole().map(|value| value != 0).collect()),
            _ => Values::Int(whole().collect()),
        };
        Self { shape: shape.iter().map(|axis| axis.as_u64().expect("a length") as usize).collect(), values }
    }

    fn nested(json: &Json) -> Self {
        let mut shape = Vec::new();
        let mut inner = json;
        while let Some(list) = inner.as_array() {
            shape.push(list.len());
            inner = list.first().unwrap_or(&Json::Null);
        }
        let flat: Vec<&Json> = flat(json).collect();
        let values = if flat.iter().all(|value| value.is_i64()) {
            Values::Int(flat.iter().filter_map(|value| value.as_i64()).collect())
        } else if flat.iter().all(|value| value.is_boolean()) {
            Values::Bool(flat.iter().filter_map(|value| value.as_bool()).collect())
        } else {
            Values::Double(flat.into_iter().map(float).collect())
        };
        Self { shape, values }
    }

    /// The array as the family takes it.
    pub(crate) fn view(&self) -> Array<'_> {
        let data = match &self.values {
            Values::Half(values) => NumberSlice::F16(values),
            Values::Brain(values) => NumberSlice::BF16(values),
            Values::Single(values) => NumberSlice::F32(values),
            Values::Double(values) => NumberSlice::F64(values),
            Values::Int(values) => NumberSlice::Int(values),
            Values::Bool(values) => NumberSlice::Bool(values),
        };
        Array::new(self.shape.clone(), data).expect("a shape that fits")
    }
}

fn float(value: &Json) -> f64 {
    match value {
        Json::String(word) => word.parse().expect("nan or an infinity"),
        number => number.as_f64().expect("a number"),
    }
}

fn flat(json: &Json) -> Box<dyn Iterator<Item = &Json> + '_> {
    match json {
        Json::Array(parts) => Box::new(parts.iter().flat_map(flat)),
        value => Box::new(std::iter::once(value)),
    }
}

/// Counts and single quotients of counts are exact; what carries logarithms, or is a mean over
/// units, is not. The published code has tolerances of its own.
fn tolerance(id: &str, input: &Json) -> Tolerance {
    if input["protocol"]["preset"] == "pyg" {
        return match id {
            "auroc" => Tolerance::Absolute(1e-6),
            "unfaithfulness" => Tolerance::Absolute(2e-6),
            "fidelity_curve_auc" => Tolerance::Relative(1e-6),
            _ => Tolerance::Exact,
        };
    }
    let counted = [
        "fid_plus_model",
        "fid_minus_model",
        "fid_plus_phenomenon",
        "fid_minus_phenomenon",
        "fid_plus_signed_phenomenon",
        "fid_minus_signed_phenomenon",
        "curve_x",
    ];
    let quotients = [
        "accuracy",
        "recall",
        "precision",
        "f1_score",
        "auroc",
        "relevance_rank",
        "sparsity",
        "zero_fraction",
    ];
    let single = input["units"].as_object().is_some_and(|units| units.len() == 1);
    let exact = counted.contains(&id)
        || id.ends_with("_pooled")
        || id.ends_with("_curve")
        || (single && quotients.contains(&id.trim_end_matches("_by_type")));
    if exact { Tolerance::Exact } else { Tolerance::Mixed(1e-12) }
}
