//! The arrays of one run: what its pairs share, read once, and what each has of its own.

use std::sync::Arc;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays};
use calipers_metrics::robustness::{Edge, Pairs, Repeats, toggled};
use calipers_metrics::robustness::{Preset, Robustness};

use super::arrays::{both_ways, matrix_entries, node_labels, node_set, once};
use super::keys::{CLEAN, Condition, Layout, Part};
use super::numbers::Numbers;
use super::pair::OwnedPair;

/// A run of which everything is read that its pairs have in common.
#[derive(Debug)]
pub(super) struct Run {
    arrays: Arrays,
    clean: Numbers,
    clean_logits: Option<Numbers>,
    /// The features on all attacked graphs, where one array holds them.
    slabs: Vec<Numbers>,
    labels: Option<Arc<Vec<i64>>>,
    test: Option<Arc<Vec<u32>>>,
    train: Option<Arc<Vec<u32>>>,
    val: Option<Arc<Vec<u32>>>,
    clean_edges: Option<Arc<Vec<Edge>>>,
    fork: bool,
}

impl Run {
    /// Reads what is shared. The graph is left alone where no number comes from it.
    pub(super) fn read(arrays: Arrays, layout: &Layout, protocol: &Robustness) -> Result<Self> {
        let fork = protocol.preset == Preset::RungFork;
        let clean = numbers(&arrays, CLEAN)?;
        let nodes = clean.rows();
        let clean_logits = match arrays.get("clean_logits")? {
            Some(array) => Some(Numbers::of("key clean_logits", array)?),
            None => None,
        };
        let with_slab = layout.conditions.iter().filter(|condition| condition.slab.is_some());
        let slabs = match with_slab.clone().next() {
            Some(first) => {
                let key = first.features();
                Numbers::slabs(&format!("key {key}"), needed(&arrays, key)?, with_slab.count())?
            }
            None => Vec::new(),
        };
        let repeats = if fork { Repeats::Counted } else { Repeats::Refused };
        let test = node_set(&arrays, "test", nodes, repeats)?;
        let train = node_set(&arrays, "train", nodes, Repeats::Refused)?;
        let val = node_set(&arrays, "val", nodes, Repeats::Refused)?;
        let labels = node_labels(&arrays, nodes, test.as_deref())?;
        let flipped = layout.conditions.iter().any(|condition| condition.parts.contains_key(&Part::Flips));
        let clean_edges = if fork && !flipped { None } else { clean_graph(&arrays, nodes)? };
        Ok(Self {
            clean,
            clean_logits,
            slabs,
            labels: labels.map(Arc::new),
            test: test.map(Arc::new),
            train: train.map(Arc::new),
            val: val.map(Arc::new),
            clean_edges: clean_edges.map(Arc::new),
            arrays,
            fork,
        })
    }

    /// Reads what one pair has of its own.
    pub(super) fn pair(&self, run: &str, attack: Option<&str>, condition: &Condition) -> Result<OwnedPair> {
        let attacked = match condition.slab {
            Some(slab) => self.slabs[slab].clone(),
            None => numbers(&self.arrays, condition.features())?,
        };
        let attacked_logits = match condition.parts.get(&Part::Logits) {
            Some(key) => Some(numbers(&self.arrays, key)?),
            None => None,
        };
        let mut pair = OwnedPair {
            attack: attack.map(str::to_owned),
            clean_logits: self.clean_logits.clone(),
            attacked_logits,
            labels: self.labels.clone(),
            test: self.test.clone(),
            train: self.train.clone(),
            val: self.val.clone(),
            clean_edges: self.clean_edges.clone(),
            ..OwnedPair::new(run.to_owned(), condition.budget.clone(), self.clean.clone(), attacked)
        };
        if let Some((form, key)) = condition.graph() {
            let nodes = self.clean.rows();
            if form == Part::EdgeIndex && self.fork {
                pair.attacked_entries = matrix_entries(&self.arrays, key, nodes)?.map(Arc::new);
            } else {
                pair.attacked_edges = self.attacked_graph(form, key)?.map(Arc::new);
            }
        }
        Ok(pair)
    }

    fn attacked_graph(&self, form: Part, key: &str) -> Result<Option<Vec<Edge>>> {
        let nodes = self.clean.rows();
        match (form, &self.clean_edges) {
            (Part::Flips, None) => {
                Err(Error::value(format!("`{key}` without a clean graph, `edge_index` or `edges`"))
                    .at(format!("key {key}"))
                    .advice("flips toggle edges of the clean graph: give it, or the attacked graph itself"))
            }
            (Part::Flips, Some(clean)) => {
                let flips = once(&self.arrays, key, nodes, Pairs::Flips)?;
                Ok(flips.map(|flips| toggled(clean, &flips)))
            }
            (Part::Edges, _) => once(&self.arrays, key, nodes, Pairs::Edges),
            _ => both_ways(&self.arrays, key, nodes),
        }
    }
}

fn clean_graph(arrays: &Arrays, nodes: usize) -> Result<Option<Vec<Edge>>> {
    let index = both_ways(arrays, "edge_index", nodes)?;
    let edges = once(arrays, "edges", nodes, Pairs::Edges)?;
    match (index, edges) {
        (Some(_), Some(_)) => Err(Error::value("the clean graph is given in two forms")
            .at("key edges")
            .found("`edge_index` and `edges`")
            .advice("keep one of them")),
        (index, edges) => Ok(index.or(edges)),
    }
}

fn numbers(arrays: &Arrays, key: &str) -> Result<Numbers> {
    Numbers::of(&format!("key {key}"), needed(arrays, key)?)
}

fn needed(arrays: &Arrays, key: &str) -> Result<Array> {
    arrays.get(key)?.ok_or_else(|| Error::value(format!("the key `{key}` is missing")))
}
