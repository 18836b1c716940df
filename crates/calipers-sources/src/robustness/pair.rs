//! A clean/attacked pair with the memory behind it.

use std::sync::Arc;

use calipers_core::Result;
use calipers_metrics::robustness::{Budget, Edge, Pair, unit_name};

use super::numbers::Numbers;

/// What a pair is made of, owned; what several pairs of a run have in common is shared.
#[derive(Clone, Debug)]
pub struct OwnedPair {
    /// The file it was read from, as messages show it.
    pub file: Option<String>,
    /// The run: a split, a seed, a file.
    pub run: String,
    /// The attack, where it is named.
    pub attack: Option<String>,
    /// How strong the attack was.
    pub budget: Budget,
    /// The features on the clean graph.
    pub clean: Numbers,
    /// The features on the attacked graph.
    pub attacked: Numbers,
    /// The class scores on the clean graph, where the features are not.
    pub clean_logits: Option<Numbers>,
    /// The class scores on the attacked graph, where the features are not.
    pub attacked_logits: Option<Numbers>,
    /// The labels of all nodes.
    pub labels: Option<Arc<Vec<i64>>>,
    /// The test nodes.
    pub test: Option<Arc<Vec<u32>>>,
    /// The training nodes.
    pub train: Option<Arc<Vec<u32>>>,
    /// The validation nodes.
    pub val: Option<Arc<Vec<u32>>>,
    /// The edges of the clean graph, sorted, each once.
    pub clean_edges: Option<Arc<Vec<Edge>>>,
    /// The edges of the attacked graph, sorted, each once.
    pub attacked_edges: Option<Arc<Vec<Edge>>>,
    /// The entries of the attacked graph's matrix as they were given, for preset `rung-fork`.
    pub attacked_entries: Option<Arc<Vec<Edge>>>,
}

impl OwnedPair {
    /// A pair of feature arrays and nothing beside them.
    pub fn new(run: String, budget: Budget, clean: Numbers, attacked: Numbers) -> Self {
        Self {
            file: None,
            run,
            attack: None,
            budget,
            clean,
            attacked,
            clean_logits: None,
            attacked_logits: None,
            labels: None,
            test: None,
            train: None,
            val: None,
            clean_edges: None,
            attacked_edges: None,
            attacked_entries: None,
        }
    }

    /// The unit's name.
    pub fn name(&self) -> String {
        unit_name(&self.run, self.attack.as_deref(), &self.budget)
    }

    /// The pair as it is measured. Numbers that are not allowed are refused under their name.
    pub fn pair(&self) -> Result<Pair<'_>> {
        let (clean, attacked) = (self.clean.matrix()?, self.attacked.matrix()?);
        attacked.same_shape_as(&clean).map_err(|error| error.at(self.attacked.name()))?;
        Ok(Pair {
            attack: self.attack.as_deref(),
            clean_logits: self.clean_logits.as_ref().map(Numbers::matrix).transpose()?,
            attacked_logits: self.attacked_logits.as_ref().map(Numbers::matrix).transpose()?,
            labels: self.labels.as_ref().map(|labels| labels.as_slice()),
            test: self.test.as_ref().map(|nodes| nodes.as_slice()),
            train: self.train.as_ref().map(|nodes| nodes.as_slice()),
            val: self.val.as_ref().map(|nodes| nodes.as_slice()),
            clean_edges: self.clean_edges.as_ref().map(|edges| edges.as_slice()),
            attacked_edges: self.attacked_edges.as_ref().map(|edges| edges.as_slice()),
            raw_attacked_entries: self.attacked_entries.as_ref().map(|entries| entries.as_slice()),
            ..Pair::new(&self.run, self.budget.clone(), clean, attacked)
        })
    }
}
