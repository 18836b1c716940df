//! The features of a run as an array file: what `forward` writes and a run over arrays reads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Dtype, FORMATS, npz, safetensors};
use calipers_metrics::robustness::Budget;
use calipers_sources::output;

use super::attacked::AttackedGraph;
use super::dataset::Dataset;
use super::splits::NodeSplit;
use crate::model::{Graph, Rung};

/// The arrays of one run, in the order in which they are written, and what they are of.
pub struct RunArrays {
    arrays: Vec<(String, Array)>,
    names: RunNames,
}

/// Which model and run arrays are of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunNames {
    /// The name of the model.
    pub model: Option<String>,
    /// The number of the split.
    pub split: Option<u64>,
    /// The seed of the training.
    pub seed: Option<u64>,
}

impl RunArrays {
    /// The clean graph, its labels and the split; also says how many nodes were stuck.
    pub fn clean(
        model: &Rung,
        dataset: &Dataset,
        split: &NodeSplit,
        names: RunNames,
        threads: usize,
    ) -> Result<(Self, usize)> {
        let forward = model.forward(&dataset.graph, &dataset.features, threads)?;
        let nodes = dataset.graph.nodes();
        let mut arrays = Self { arrays: Vec::new(), names };
        arrays.put("clean", Array::of_elements(&[nodes, forward.columns], &forward.features)?);
        if let Some(labels) = &dataset.labels {
            arrays.put("labels", Array::of_elements(&[nodes], labels)?);
        }
        for (key, set) in [("train_idx", &split.train), ("val_idx", &split.val), ("test_idx", &split.test)] {
            if let Some(set) = set {
                let nodes: Vec<i64> = set.iter().copied().map(i64::from).collect();
                arrays.put(key, Array::of_elements(&[nodes.len()], &nodes)?);
            }
        }
        let edges: Vec<(u32, u32)> = dataset.graph.pairs().collect();
        arrays.put("edges", pairs(&edges)?);
        Ok((arrays, forward.stuck_nodes))
    }

    /// Adds an attacked graph; says how many nodes were stuck.
    pub fn add(
        &mut self,
        model: &Rung,
        dataset: &Dataset,
        budget: &Budget,
        attacked: &AttackedGraph,
        threads: usize,
    ) -> Result<usize> {
        let graph: &Graph = &attacked.graph;
        let forward = model.forward(graph, &dataset.features, threads)?;
        let features = Array::of_elements(&[graph.nodes(), forward.columns], &forward.features)?;
        self.put(&format!("attacked_{budget}"), features);
        match &attacked.flips {
            Some(flips) => self.put(&format!("flips_{budget}"), pairs(flips)?),
            None => {
                let edges: Vec<(u32, u32)> = graph.pairs().collect();
                self.put(&format!("edges_attacked_{budget}"), pairs(&edges)?);
            }
        }
        Ok(forward.stuck_nodes)
    }

    /// The arrays by key, without what they are of.
    pub fn into_arrays(self) -> Vec<(String, Array)> {
        self.arrays
    }

    /// Writes the file, whole or not at all; the ending decides in which form.
    pub fn write(&self, path: &Path) -> Result<()> {
        match form(path)? {
            Form::Npz => {
                let mut arrays = self.arrays.clone();
                arrays.extend(self.names.arrays()?);
                output::write_with(path, |out| npz::write_to(&arrays, out))
            }
            Form::Safetensors => {
                let texts = self.names.texts();
                output::write_with(path, |out| safetensors::write_to(&self.arrays, &texts, out))
            }
        }
    }

    fn put(&mut self, key: &str, array: Array) {
        self.arrays.push((key.to_owned(), array));
    }
}

impl RunNames {
    fn numbers(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let numbers = [("split", self.split), ("seed", self.seed)];
        numbers.into_iter().filter_map(|(key, number)| Some((key, number?)))
    }

    /// As single values under their keys.
    fn arrays(&self) -> Result<Vec<(String, Array)>> {
        let mut arrays: Vec<(String, Array)> =
            self.model.iter().map(|name| ("model".to_owned(), Array::of_text(name))).collect();
        for (key, number) in self.numbers() {
            let bytes = Arc::new(number.to_le_bytes());
            arrays.push((key.to_owned(), Array::shared(Dtype::U64, Vec::new(), bytes)?));
        }
        Ok(arrays)
    }

    /// As the texts beside the arrays of a safetensors file.
    fn texts(&self) -> BTreeMap<String, String> {
        let model = self.model.iter().map(|name| ("model".to_owned(), name.clone()));
        model.chain(self.numbers().map(|(key, number)| (key.to_owned(), number.to_string()))).collect()
    }
}

/// A form in which arrays are written.
pub enum Form {
    /// npz.
    Npz,
    /// safetensors.
    Safetensors,
}

/// The form that the ending of an output asks for.
pub fn form(path: &Path) -> Result<Form> {
    let name = path.to_string_lossy();
    match FORMATS.by_name(&name).map(|format| format.name) {
        Some("npz") => Ok(Form::Npz),
        Some("safetensors") => Ok(Form::Safetensors),
        _ => Err(Error::usage("the ending of the output says its form")
            .found(name)
            .allowed(".npz or .safetensors")),
    }
}

/// Pairs of nodes as an array of whole numbers, a line for each.
pub fn pairs(pairs: &[(u32, u32)]) -> Result<Array> {
    let ends: Vec<i64> = pairs.iter().flat_map(|(i, j)| [i64::from(*i), i64::from(*j)]).collect();
    Array::of_elements(&[pairs.len(), 2], &ends)
}
