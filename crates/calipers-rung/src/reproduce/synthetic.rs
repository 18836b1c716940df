//! A graph that needs no file: communities whose members share words and, mostly, edges.

use std::path::Path;

use calipers_core::{Result, SplitMix64};
use calipers_io::array::{Array, npz};
use calipers_sources::output;

use crate::files::dataset::Dataset;
use crate::files::run_arrays::pairs;
use crate::model::{Features, Graph};

const CLASSES: usize = 4;
const NODES: usize = 120;
/// Words that are common in one class.
const OWN_WORDS: usize = 8;
const WORDS: usize = CLASSES * OWN_WORDS;

/// How often, in a thousand, a node has a word of its class and any other word.
const OWN_WORD: u64 = 300;
const OTHER_WORD: u64 = 80;
/// How often, in a thousand, two nodes of one class and of two are joined.
const SAME_CLASS: u64 = 150;
const OTHER_CLASS: u64 = 12;

/// The graph of a seed.
pub struct Synthetic {
    features: Vec<f32>,
    labels: Vec<i64>,
    edges: Vec<(u32, u32)>,
}

impl Synthetic {
    /// Draws words and edges.
    pub fn drawn(seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut happens = |in_a_thousand: u64| random.below(1000) < in_a_thousand;
        let class = |node: usize| node % CLASSES;
        let mut features = Vec::with_capacity(NODES * WORDS);
        for node in 0..NODES {
            let chance = |word| if word / OWN_WORDS == class(node) { OWN_WORD } else { OTHER_WORD };
            features.extend((0..WORDS).map(|word| f32::from(u8::from(happens(chance(word))))));
        }
        let mut edges = Vec::new();
        for i in 0..NODES {
            for j in i + 1..NODES {
                let chance = if class(i) == class(j) { SAME_CLASS } else { OTHER_CLASS };
                if happens(chance) {
                    edges.push((i as u32, j as u32));
                }
            }
        }
        let labels = (0..NODES).map(|node| class(node) as i64).collect();
        Self { features, labels, edges }
    }

    /// What reading the file at `path` gives.
    pub fn dataset(&self, path: &Path) -> Result<Dataset> {
        let features = self.features.iter().copied().map(f64::from).collect();
        let shown = path.display().to_string();
        Ok(Dataset {
            graph: Graph::new(NODES, &self.edges)?,
            features: Features::dense(NODES, WORDS, features)?,
            labels: Some(self.labels.clone()),
            masks: None,
            labels_shown: shown.clone(),
            shown,
        })
    }

    /// Writes an array file: `features`, `labels`, and `edges` once each.
    pub fn write(&self, path: &Path) -> Result<()> {
        let arrays = [
            ("features".to_owned(), Array::of_elements(&[NODES, WORDS], &self.features)?),
            ("labels".to_owned(), Array::of_elements(&[NODES], &self.labels)?),
            ("edges".to_owned(), pairs(&self.edges)?),
        ];
        output::write_with(path, |out| npz::write_to(&arrays, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::dataset::GraphSource;
    use calipers_metrics::robustness::Prepare;
    use calipers_sources::inputs::Inputs;

    #[test]
    fn the_file_reads_back_to_the_graph() {
        let folder = tempfile::tempdir().unwrap();
        let graph = folder.path().join("graph.npz");
        let drawn = Synthetic::drawn(7);
        drawn.write(&graph).unwrap();
        let known = drawn.dataset(&graph).unwrap();
        let source = GraphSource { graph, features: None, labels: None, prepare: Prepare::None };
        let read = Dataset::load(&source, &Inputs::default()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{known:?}"));
    }
}
