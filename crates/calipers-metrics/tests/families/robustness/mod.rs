//! Attacked models as the laws see them: runs written as JSON, and what is particular to the family.

mod cases;
mod properties;
mod warnings;

use calipers_core::{Accumulator, Result};
use calipers_metrics::robustness::{
    Budget, Edge, Matrix, NumberSlice, Pair, Pairs, Repeats, edges_both_ways, edges_once, entries,
    nodes_of_index, nodes_of_mask, toggled,
};
use calipers_metrics::robustness::{Options, Preset, Robustness};
use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::family::{Family, metrics};

pub(crate) const FAMILY: Family = Family {
    name: "robustness",
    golden: &["cases.json"],
    metrics: metrics::<Robustness>,
    run: |input| Ok(Box::new(run(input)?)),
    // Everything is rounded once, but for the roots of standard deviations.
    tolerance: |id, _| Tolerance::Ulps(u64::from(id == "curve_std")),
    general,
};

fn general(reason: &str) -> String {
    let words = reason.split(' ').map(|word| match word.parse::<u64>() {
        Ok(number) if number > 0 => "K",
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The state after all files of `input`, which has `params` (only what differs from the defaults)
/// and `files`.
pub(crate) fn run(input: &Json) -> Result<Accumulator<Robustness>> {
    let options: Options = serde_json::from_value(input["params"].clone()).expect("options of the family");
    let mut state = Accumulator::new(options.resolve()?);
    for file in input["files"].as_array().expect("files") {
        for text in budgets(&file["arrays"]) {
            add(&mut state, file, &text)?;
        }
    }
    Ok(state)
}

fn budgets(arrays: &Json) -> Vec<String> {
    let keys = arrays.as_object().expect("arrays by key").keys();
    let attacked = keys.filter(|key| !key.starts_with("attacked_logits"));
    attacked.filter_map(|key| key.strip_prefix("attacked_")).map(String::from).collect()
}

fn add(state: &mut Accumulator<Robustness>, file: &Json, text: &str) -> Result<()> {
    let arrays = &file["arrays"];
    let single = file["dtype"] == "f32";
    let of = |key: &str| arrays.get(key).map(|json| Stored::new(json, single));
    let suffixed = |key: &str| of(&format!("{key}_{text}"));
    let (clean, attacked) = (of("clean").unwrap(), suffixed("attacked").unwrap());
    let (clean_logits, attacked_logits) = (of("clean_logits"), suffixed("attacked_logits"));
    let clean = clean.matrix()?;
    let nodes = clean.rows;
    let fork = state.protocol().preset == Preset::RungFork;
    let repeats = if fork { Repeats::Counted } else { Repeats::Refused };
    let index =
        |key: &str| ints(&arrays[key]).map(|list| nodes_of_index(NumberSlice::Int(&list), nodes, repeats));
    let mask = ints(&arrays["test_mask"]).map(|list| nodes_of_mask(NumberSlice::Int(&list), nodes));
    let (test, train) = (index("test_idx").or(mask).transpose()?, index("train_idx").transpose()?);
    let labels = ints(&arrays["labels"]);
    let edge_index = |key: &str| {
        let rows = arrays[key].as_array()?;
        let values: Vec<i64> = rows.iter().flat_map(|row| ints(row).unwrap()).collect();
        Some((vec![2, values.len() / 2], values))
    };
    let once = |key: &str, pairs| {
        let rows = arrays[key].as_array()?;
        let values: Vec<i64> = rows.iter().flat_map(|row| ints(row).unwrap()).collect();
        Some(edges_once(&values, &[rows.len(), 2], nodes, pairs))
    };
    let graph = |both: &str, single: &str| -> Result<Option<Vec<Edge>>> {
        match edge_index(both) {
            Some((shape, values)) => edges_both_ways(&values, &shape, nodes).map(Some),
            None => once(single, Pairs::Edges).transpose(),
        }
    };
    let clean_edges = graph("edge_index", "edges")?;
    let raw_key = format!("edge_index_attacked_{text}");
    let raw = edge_index(&raw_key).filter(|_| fork);
    let raw = raw.map(|(shape, values)| entries(&values, &shape, nodes)).transpose()?;
    let attacked_edges = match once(&format!("flips_{text}"), Pairs::Flips).transpose()? {
        Some(flips) => Some(toggled(clean_edges.as_deref().unwrap(), &flips)),
        None if raw.is_some() => None,
        None => graph(&raw_key, &format!("edges_attacked_{text}"))?,
    };
    let pair = Pair {
        attack: file["attack"].as_str(),
        clean_logits: clean_logits.as_ref().map(Stored::matrix).transpose()?,
        attacked_logits: attacked_logits.as_ref().map(Stored::matrix).transpose()?,
        labels: labels.as_deref(),
        test: test.as_deref(),
        train: train.as_deref(),
        clean_edges: clean_edges.as_deref(),
        attacked_edges: attacked_edges.as_deref(),
        raw_attacked_entries: raw.as_deref(),
        ..Pair::new(file["name"].as_str().unwrap(), Budget::parse(text)?, clean, attacked.matrix()?)
    };
    state.update(pair.name(), pair)
}

/// A feature array as a file would hold it.
struct Stored {
    rows: usize,
    singles: Option<Vec<f32>>,
    doubles: Vec<f64>,
}

impl Stored {
    fn new(json: &Json, single: bool) -> Self {
        let rows = json.as_array().expect("rows");
        let doubles: Vec<f64> =
            rows.iter().flat_map(|row| row.as_array().unwrap()).map(|x| x.as_f64().unwrap()).collect();
        let singles = single.then(|| doubles.iter().map(|&x| x as f32).collect());
        Self { rows: rows.len(), singles, doubles }
    }

    fn matrix(&self) -> Result<Matrix<'_>> {
        let cells = self.singles.as_deref().map_or(NumberSlice::F64(&self.doubles), NumberSlice::F32);
        Matrix::new(self.rows, self.doubles.len() / self.rows.max(1), cells)
    }
}

fn ints(json: &Json) -> Option<Vec<i64>> {
    let number =
        |value: &Json| value.as_i64().or_else(|| value.as_bool().map(i64::from)).expect("a whole number");
    json.as_array().map(|list| list.iter().map(number).collect())
}
