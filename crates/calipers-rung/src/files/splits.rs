//! Splits of nodes into train, val and test: which there are, and which are wanted.

use std::path::PathBuf;
use std::str::FromStr;

use calipers_core::{Error, Result};
use calipers_io::array::{Array, Arrays};
use calipers_sources::inputs::Inputs;

use super::dataset::Dataset;
use super::split_file::{from_file, of_arrays};
use crate::model::split::stratified;

/// Which nodes are trained on, kept for validation and tested; a set that nobody gave is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSplit {
    /// Nodes whose labels the training sees.
    pub train: Option<Vec<u32>>,
    /// Nodes kept for choosing between models.
    pub val: Option<Vec<u32>>,
    /// Nodes that are scored.
    pub test: Option<Vec<u32>>,
}

/// Where splits come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitSource {
    /// The masks in the graph file.
    Masks,
    /// So many drawn ones with equal shares of every class.
    Stratified(u32),
    /// A file.
    File(PathBuf),
}

/// Splits to choose from.
#[derive(Clone, Debug)]
pub struct Splits {
    /// Where they come from.
    pub source: SplitSource,
    /// The seeds of drawn splits; 0, 1, ... without.
    pub seeds: Option<Vec<u64>>,
    /// The shares of train and val nodes in drawn splits.
    pub shares: (f64, f64),
}

/// The usual shares of train and val nodes.
pub const SHARES: (f64, f64) = (0.1, 0.1);

const WORDS: &str = "a file (.json or .npz), masks, or stratified:S";

impl FromStr for SplitSource {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.strip_prefix("stratified:") {
            Some(count) => match count.parse() {
                Ok(count) if (1..=10_000).contains(&count) => Ok(Self::Stratified(count)),
                _ => Err(Error::usage("not a number of splits")
                    .at("--splits")
                    .found(text)
                    .allowed("stratified:1 to stratified:10000")),
            },
            None if text == "masks" => Ok(Self::Masks),
            None if text.is_empty() => Err(Error::usage("--splits is empty").allowed(WORDS)),
            None => Ok(Self::File(text.into())),
        }
    }
}

impl SplitSource {
    /// The source a caller named, or the masks of the graph file, if it has any.
    pub fn or_masks(given: Option<&Self>, dataset: &Dataset) -> Result<Self> {
        match (given, &dataset.masks) {
            (Some(source), _) => Ok(source.clone()),
            (None, Some(_)) => Ok(Self::Masks),
            (None, None) => {
                Err(Error::usage("--splits is missing, and the graph file has no masks").allowed(WORDS))
            }
        }
    }
}

impl Splits {
    /// Refuses shares and seeds that mean nothing.
    pub fn check(&self) -> Result<()> {
        let (train, val) = self.shares;
        if !((0.0..1.0).contains(&train) && (0.0..1.0).contains(&val) && train > 0.0 && train + val <= 1.0) {
            return Err(Error::usage("--shares out of range")
                .found(format!("{train},{val}"))
                .allowed("TRAIN,VAL with TRAIN above 0 and a sum of at most 1"));
        }
        match (&self.source, &self.seeds) {
            (SplitSource::Stratified(count), Some(seeds)) if seeds.len() != *count as usize => {
                Err(Error::usage("--seeds gives every drawn split its seed")
                    .found(format!("{} seeds for stratified:{count}", seeds.len()))
                    .allowed(format!("{count} seeds")))
            }
            _ => Ok(()),
        }
    }

    /// All splits, in the numbers of the prepared graph.
    pub fn load(&self, dataset: &Dataset, inputs: &Inputs) -> Result<Vec<NodeSplit>> {
        match &self.source {
            SplitSource::Masks => dataset.masks.clone().ok_or_else(|| {
                Error::value("the graph file has no masks")
                    .in_file(&dataset.shown)
                    .advice("give --splits FILE, or stratified:S")
            }),
            SplitSource::Stratified(count) => {
                let labels = dataset.needed_labels()?;
                let seeds = self.seeds.clone().unwrap_or_else(|| (0..u64::from(*count)).collect());
                Ok(seeds.iter().map(|seed| drawn(labels, *seed, self.shares)).collect())
            }
            SplitSource::File(path) => from_file(path, "splits", dataset.graph.nodes(), inputs),
        }
    }

    /// The source as messages show it.
    pub fn shown(&self) -> String {
        match &self.source {
            SplitSource::Masks => "masks".into(),
            SplitSource::Stratified(count) => format!("stratified:{count}"),
            SplitSource::File(path) => path.display().to_string(),
        }
    }

    /// The numbers of the chosen splits: those given, or the only one there is.
    pub fn chosen(&self, given: &[usize], count: usize) -> Result<Vec<usize>> {
        if given.is_empty() {
            return match count {
                1 => Ok(vec![0]),
                _ => Err(Error::usage("--split K is needed: there are several splits")
                    .at(self.shown())
                    .found(format!("{count} splits"))
                    .allowed(format!("0 to {}", count.saturating_sub(1)))),
            };
        }
        if let Some(beyond) = given.iter().find(|split| **split >= count) {
            return Err(Error::value("no such split")
                .in_file(self.shown())
                .at(format!("--split {beyond}"))
                .found(format!("{count} splits"))
                .allowed(format!("0 to {}", count as i64 - 1)));
        }
        let twice = given.iter().enumerate().find(|(place, split)| given[..*place].contains(split));
        match twice {
            Some((_, split)) => Err(Error::usage("--split names one split twice").found(split)),
            None => Ok(given.to_vec()),
        }
    }
}

/// The only split of arrays in memory, in the numbers of the prepared graph: index lists or masks under the
/// keys of a file of splits.
pub fn of_given(sets: &[(String, Array)], nodes: usize) -> Result<NodeSplit> {
    let splits = of_arrays(&Arrays::of(sets.iter().cloned()), nodes)?.unwrap_or_default();
    match <[NodeSplit; 1]>::try_from(splits) {
        Ok([split]) => Ok(split),
        Err(splits) => Err(Error::value("one split is expected").found(format!("{} of them", splits.len()))),
    }
}

fn drawn(labels: &[i64], seed: u64, shares: (f64, f64)) -> NodeSplit {
    let split = stratified(labels, seed, shares);
    let narrow = |set: Vec<usize>| Some(set.into_iter().map(|node| node as u32).collect());
    NodeSplit { train: narrow(split.train), val: narrow(split.val), test: narrow(split.test) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splits(source: &str) -> Splits {
        Splits { source: source.parse().unwrap(), seeds: None, shares: SHARES }
    }

    #[test]
    fn words_and_files_are_told_apart() {
        assert_eq!(splits("masks").source, SplitSource::Masks);
        assert_eq!(splits("stratified:3").source, SplitSource::Stratified(3));
        assert_eq!(splits("./masks").source, SplitSource::File("./masks".into()));
        for text in ["stratified:", "stratified:0", "stratified:x", ""] {
            assert!(text.parse::<SplitSource>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_only_split_needs_no_number_and_several_do() {
        let splits = splits("s.json");
        assert_eq!(splits.chosen(&[], 1).unwrap(), [0]);
        assert_eq!(splits.chosen(&[2, 0], 3).unwrap(), [2, 0]);
        let text = splits.chosen(&[], 5).unwrap_err().to_string();
        assert!(text.contains("--split K is needed") && text.contains("0 to 4"), "{text}");
        let text = splits.chosen(&[1, 5], 5).unwrap_err().to_string();
        assert!(text.contains("--split 5") && text.contains("s.json") && text.contains("0 to 4"), "{text}");
        assert!(splits.chosen(&[1, 1], 5).is_err());
    }

    #[test]
    fn shares_and_seeds_must_mean_something() {
        for shares in [(0.0, 0.1), (0.6, 0.5), (-0.1, 0.1), (f64::NAN, 0.1), (1.0, 0.0)] {
            assert!(Splits { shares, ..splits("stratified:1") }.check().is_err(), "{shares:?}");
        }
        assert!(Splits { shares: (0.48, 0.32), ..splits("stratified:1") }.check().is_ok());
        assert!(Splits { seeds: Some(vec![4]), ..splits("stratified:2") }.check().is_err());
        assert!(Splits { seeds: Some(vec![4, 7]), ..splits("stratified:2") }.check().is_ok());
    }
}
