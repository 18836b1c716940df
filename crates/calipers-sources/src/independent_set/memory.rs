//! Independent sets from arrays in memory: what a binding passes.

use calipers_core::{Accumulator, Error, Result};
use calipers_io::array::Arrays;
use calipers_metrics::independent_set::graph::Graph;
use calipers_metrics::independent_set::{Axis, IndependentSet, Kind};

use super::containers::{Part, in_memory};
use super::options::Options;
use super::{arrays, from_arrays, shown, update};

/// Measures the graph, or the graphs of a packed batch, that the arrays hold under the keys of array
/// files. `names` are those of the units in order; `between` is asked before each and may stop the work.
pub fn measure(
    options: &Options,
    names: &[String],
    given: Arrays,
    between: &dyn Fn() -> Result<()>,
) -> Result<Accumulator<IndependentSet>> {
    let options = &Options { no_scores: !has_scores(&given), ..options.clone() };
    let found =
        arrays::score_key(&given.keys(), options)?.map_or((None, None), |(_, k, axis)| (Some(k), axis));
    same_kind(&options.protocol, found)?;
    let container = in_memory(given, options)?;
    if names.len() != container.units() {
        return Err(Error::value("'names' must have one name per graph")
            .at("key names")
            .found(format!("{} names", names.len()))
            .allowed(format!("{} names", container.units())));
    }
    let mut accumulator = Accumulator::new(options.protocol.clone());
    for (graph, name) in names.iter().enumerate() {
        between()?;
        let unit = container.unit(Part { member: 0, graph: Some(graph), listed: false }, options)?;
        let evidence = from_arrays(unit, options).map_err(|error| error.at(format!("unit {name}")))?;
        update(&mut accumulator, name, &evidence, options)?;
    }
    Ok(accumulator)
}

/// The graphs that the arrays hold, with their scores and labels: what pure functions work on.
pub fn graphs(options: &Options, given: Arrays) -> Result<Vec<Evidence>> {
    let options = &Options { no_scores: !has_scores(&given), ..options.clone() };
    let container = in_memory(given, options)?;
    (0..container.units())
        .map(|graph| {
            let unit = container.unit(Part { member: 0, graph: Some(graph), listed: false }, options)?;
            let read = from_arrays(unit, options)?;
            Ok(Evidence {
                graph: read.graph.graph,
                scores: read.scores.map(|scores| scores.values),
                labels: read.labels,
            })
        })
        .collect()
}

/// One graph and what is given for its nodes.
pub struct Evidence {
    /// The simple graph.
    pub graph: Graph,
    /// The scores, row by row.
    pub scores: Option<Vec<f64>>,
    /// The labels.
    pub labels: Option<Vec<bool>>,
}

fn has_scores(given: &Arrays) -> bool {
    let kinds = ["logits", "probs", "set", "scores"];
    given.keys().iter().any(|key| kinds.contains(&key.split('_').next().unwrap_or(key)))
}

fn same_kind(protocol: &IndependentSet, found: (Option<Kind>, Option<Axis>)) -> Result<()> {
    let expected = (protocol.scores, protocol.axis);
    if found == expected {
        return Ok(());
    }
    Err(Error::value("the scores are of another kind than declared")
        .found(shown(found))
        .allowed(shown(expected))
        .advice("all units of a run have one kind of scores and one axis"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use calipers_io::array::{Array, Dtype};

    use super::*;

    fn array(dtype: Dtype, shape: &[u64], bytes: Vec<u8>) -> Array {
        Array::shared(dtype, shape.to_vec(), Arc::new(bytes)).unwrap()
    }

    fn path(kind: Kind) -> Result<Accumulator<IndependentSet>> {
        let edges: Vec<u8> = [0i64, 1, 1, 2, 1, 0, 2, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
        let logits: Vec<u8> = [1f32, -1.0, 1.0].iter().flat_map(|z| z.to_le_bytes()).collect();
        let given = Arrays::of([
            ("edge_index".to_owned(), array(Dtype::I64, &[2, 4], edges)),
            ("logits".to_owned(), array(Dtype::F32, &[3], logits)),
            ("labels".to_owned(), array(Dtype::Bool, &[3], vec![1, 0, 1])),
        ]);
        let protocol = IndependentSet { scores: Some(kind), ..IndependentSet::default() };
        measure(&Options { protocol, ..Options::default() }, &["path".to_owned()], given, &|| Ok(()))
    }

    #[test]
    fn arrays_in_memory_are_measured_like_those_of_a_file() {
        let report = path(Kind::Logits).unwrap().finish();
        assert_eq!(report.get("independent_set.solved").and_then(|value| value.as_f64()), Some(1.0));
        assert_eq!(report.units, 1);
    }

    #[test]
    fn scores_of_another_kind_than_declared_are_refused_with_both() {
        let text = path(Kind::Probs).unwrap_err().to_string();
        assert!(text.contains("logits") && text.contains("probs"), "{text}");
    }
}
