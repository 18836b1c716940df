//! Random graphs whose largest independent set is known, and a model that finds it step by step.

use std::path::Path;

use calipers_core::{Result, SplitMix64};

use super::{Tensor, create_folder, write_safetensors};

const GRAPHS: usize = 40;
const STEPS: usize = 6;

/// A graph with a planted optimum: nodes in groups of three or four that are all adjacent, one
/// node of each group planted, edges between groups that spare the planted nodes. No independent
/// set can take two nodes of a group, and the planted nodes are independent: they are an optimum,
/// and the groups prove it.
struct Planted {
    labels: Vec<bool>,
    entries: Vec<(i64, i64)>,
}

impl Planted {
    fn new(random: &mut SplitMix64) -> Self {
        let groups = 40 + random.below(60) as usize;
        let mut starts = vec![0];
        let mut labels = Vec::new();
        for group in 0..groups {
            let size = 3 + random.below(2) as usize;
            let planted = random.below(size as u64) as usize;
            labels.extend((0..size).map(|i| i == planted));
            starts.push(starts[group] + size);
        }
        let mut pairs = std::collections::BTreeSet::new();
        for group in starts.windows(2) {
            for u in group[0]..group[1] {
                pairs.extend((u + 1..group[1]).map(|v| (u, v)));
            }
        }
        let nodes = labels.len() as u64;
        for _ in 0..3 * nodes {
            let (u, v) = (random.below(nodes) as usize, random.below(nodes) as usize);
            if u != v && !(labels[u] && labels[v]) {
                pairs.insert((u.min(v), u.max(v)));
            }
        }
        let both = |(u, v): (usize, usize)| [(u as i64, v as i64), (v as i64, u as i64)];
        Self { labels, entries: pairs.into_iter().flat_map(both).collect() }
    }

    /// Logits that lean more to the labels with every step; `skill` says how much.
    fn logits(&self, skill: f64, random: &mut SplitMix64) -> Vec<f32> {
        let noise: Vec<f64> =
            self.labels.iter().map(|_| (0..4).map(|_| random.unit()).sum::<f64>() - 2.0).collect();
        let step = |step: usize| {
            let push = skill * (step + 1) as f64 / STEPS as f64;
            self.labels
                .iter()
                .zip(&noise)
                .map(move |(label, noise)| (2.5 * noise + if *label { push } else { -push }) as f32)
        };
        (0..STEPS).flat_map(step).collect()
    }
}

/// Writes the data set: one safetensors file a graph.
pub fn write(folder: &Path, seed: u64) -> Result<()> {
    create_folder(folder)?;
    let mut random = SplitMix64::new(seed);
    for number in 0..GRAPHS {
        let graph = Planted::new(&mut random);
        let skill = 1.0 + 3.0 * random.unit();
        let logits = graph.logits(skill, &mut random);
        let (nodes, entries) = (graph.labels.len(), graph.entries.len());
        let ends = graph.entries.iter().map(|(u, _)| u).chain(graph.entries.iter().map(|(_, v)| v));
        let optimum = graph.labels.iter().filter(|label| **label).count() as i64;
        let tensor = |name, dtype, shape: &[usize], bytes: Vec<u8>| Tensor {
            name,
            dtype,
            shape: shape.to_vec(),
            bytes,
        };
        let tensors = [
            tensor("edge_index", "I64", &[2, entries], ends.flat_map(|end| end.to_le_bytes()).collect()),
            tensor(
                "logits_steps",
                "F32",
                &[STEPS, nodes],
                logits.iter().flat_map(|z| z.to_le_bytes()).collect(),
            ),
            tensor("labels", "U8", &[nodes], graph.labels.iter().map(|label| u8::from(*label)).collect()),
            tensor("optimum", "I64", &[1], optimum.to_le_bytes().to_vec()),
        ];
        write_safetensors(&folder.join(format!("graph_{number:02}.safetensors")), &tensors)?;
    }
    Ok(())
}
