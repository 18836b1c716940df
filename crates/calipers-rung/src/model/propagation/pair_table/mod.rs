//! Sums over all pairs of a graph in which almost every two nodes are joined a little, as in the middle of
//! an attack: no neighbours are listed, and every pair is visited once for both of its ends.
//!
//! Nodes come in blocks of sixty-four, and a block meets itself and every later one; nodes that are joined to none of
//! the other block are passed over. What it finds is added to
//! the sums of its strip, which has every eighth of them; the strips are added up in their order, so that
//! threads change no bit.

mod field;
mod gather;
mod slopes;
mod tiles;

use crate::model::graph::Graph;
use crate::model::matrix::{Matrix, Vector, WIDTH};
use crate::model::parallel;
use crate::model::penalty::Real;
use crate::model::propagation::gather::Edges;

pub(crate) use self::field::{BLOCK, Field, Lane, Rows, add_products, disagreements, distances, lanes};
pub(crate) use self::gather::Precision;
pub(crate) use self::tiles::Tiles;

// Which nodes of a block are joined to one of another is a bit each.
const _: () = assert!(BLOCK == u64::BITS as usize);

/// How many sums are kept beside each other.
const STRIPS: usize = 8;

/// How probable it is that each pair of a graph is flipped.
pub(crate) struct PairTable<'a> {
    graph: &'a Graph,
    flips: &'a Tiles,
    /// For each block the edges of the graph to itself and later ones, in the order in which they are met.
    edges: Vec<Vec<Met>>,
    /// For each two blocks, a bit for each node of the first that is joined to one of the second.
    joined: Vec<Vec<u64>>,
}

/// Rows added up by weight, and the sums of the weights.
pub(crate) struct Gathered {
    sums: Matrix,
    totals: Vec<f64>,
}

/// What the weights of all pairs say about scaled scores and probabilities.
pub(crate) struct TableSlopes {
    pub(crate) by_scaled: Matrix,
    pub(crate) by_probabilities: Option<Matrix>,
}

impl Gathered {
    /// Those of the nodes from `first` on.
    pub(crate) fn copy(&self, first: usize, sums: &mut [Vector], totals: &mut [f64]) {
        let start = first * self.sums.vectors();
        sums.copy_from_slice(&self.sums.data()[start..start + sums.len()]);
        totals.copy_from_slice(&self.totals[first..first + totals.len()]);
    }
}

impl<'a> PairTable<'a> {
    pub(crate) fn new(graph: &'a Graph, flips: &'a Tiles) -> Self {
        let blocks = graph.nodes().div_ceil(BLOCK);
        let edges: Vec<Vec<Met>> = (0..blocks).map(|block| edges_of(graph, block)).collect();
        let joined = edges.iter().enumerate().map(|(block, edges)| {
            let mut joined: Vec<u64> = (block..blocks).map(|other| flips.filled(block, other)).collect();
            edges.iter().for_each(|met| joined[met.block - block] |= 1 << met.row);
            joined
        });
        Self { graph, flips, joined: joined.collect(), edges }
    }

    fn blocks(&self) -> usize {
        self.edges.len()
    }

    /// How much work it is to visit all pairs once.
    fn work(&self, columns: usize) -> usize {
        let nodes = self.graph.nodes();
        nodes * nodes / 2 * (columns + 2)
    }

    /// One more than the sum of each node's strengths.
    pub(crate) fn degrees(&self, threads: usize) -> Vec<f64> {
        let sums = self.sums(1, threads, |strip, sums| gather::degree_strip(self, strip, sums));
        let degrees = sums.iter().flat_map(|lane| lane.0).map(|sum| 1.0 + sum);
        degrees.take(self.graph.nodes()).collect()
    }

    /// The rows of all other nodes added up by weight and strength.
    pub(crate) fn gather<T: Precision>(&self, edges: &Edges<'_>, rows: &Matrix, threads: usize) -> Gathered {
        let (columns, nodes) = (rows.columns(), rows.rows());
        let pass = gather::Pass::<T>::new(self, edges, rows);
        let width = pass.fours() * WIDTH;
        let sums = self.sums(width, threads, |strip, sums| T::gather_strip(&pass, strip, sums));
        let totals = (0..nodes).map(|node| sums[node / BLOCK * width + columns][node % BLOCK]).collect();
        Gathered { sums: matrix(&sums, width, 0, rows), totals }
    }

    /// What the weights say when they count as functions of the scores.
    pub(crate) fn slopes(
        &self,
        edges: &Edges<'_>,
        pulls: &Matrix,
        tolls: &[f64],
        threads: usize,
    ) -> TableSlopes {
        let pass = slopes::Pass::new(self, edges, pulls, tolls);
        let width = pass.fours() * WIDTH;
        let sums = self.sums(width, threads, |strip, sums| slopes::slope_strip(&pass, strip, sums));
        TableSlopes {
            by_scaled: matrix(&sums, width, 0, pulls),
            by_probabilities: edges.probabilities.map(|like| matrix(&sums, width, width / 2, like)),
        }
    }

    /// The sums of all strips: `width` lanes a block.
    fn sums<T: Real>(
        &self,
        width: usize,
        threads: usize,
        visit: impl Fn(usize, &mut [Lane<T>]) + Sync,
    ) -> Vec<Lane<f64>> {
        let mut strips: Vec<Vec<Lane<T>>> = (0..STRIPS.min(self.blocks())).map(|_| Vec::new()).collect();
        parallel::each(threads, self.work(width), strips.iter_mut().enumerate(), |(strip, sums)| {
            *sums = vec![Lane::zero(); self.blocks() * width];
            visit(strip, sums);
        });
        let mut all = vec![Lane::zero(); self.blocks() * width];
        for strip in &strips {
            for (all, sums) in all.iter_mut().zip(strip) {
                for k in 0..BLOCK {
                    all[k] += sums[k].wide();
                }
            }
        }
        all
    }

    /// The blocks of a strip.
    fn blocks_of(&self, strip: usize) -> impl Iterator<Item = usize> {
        (strip..self.blocks()).step_by(STRIPS)
    }

    /// The nodes of a block that are joined to one of another, which is not before it; a bit each.
    fn joined(&self, block: usize, other: usize) -> u64 {
        self.joined[block][other - block]
    }

    /// Whether one of the edges that were not met yet joins a node to a block.
    #[inline(always)]
    fn joins(node: usize, block: usize, edges: &[Met]) -> bool {
        edges.first().is_some_and(|met| (met.block, met.row) == (block, node % BLOCK))
    }

    /// Writes how strongly a node is joined to the nodes of a block, those before it and itself left out.
    /// `edges` are those that were not met yet.
    #[inline(always)]
    fn strengths<T: Real>(&self, node: usize, block: usize, edges: &mut &[Met], out: &mut Lane<T>) {
        let flips = self.flips.lane(node, block);
        for k in 0..BLOCK {
            out[k] = T::of_single(flips[k]);
        }
        while Self::joins(node, block, edges)
            && let [met, rest @ ..] = *edges
        {
            // More probable means less joined where there is an edge.
            out[met.lane] = T::of(1.0) - out[met.lane];
            *edges = rest;
        }
    }
}

/// The edges of a graph from a block to itself and later ones, in the order in which they are met.
fn edges_of(graph: &Graph, block: usize) -> Vec<Met> {
    let nodes = block * BLOCK..((block + 1) * BLOCK).min(graph.nodes());
    let mut met: Vec<Met> = nodes
        .flat_map(|node| graph.later_neighbours(node as u32).iter().map(move |&other| (node, other)))
        .map(|(node, other)| Met {
            block: other as usize / BLOCK,
            row: node % BLOCK,
            lane: other as usize % BLOCK,
        })
        .collect();
    met.sort_by_key(|met| (met.block, met.row));
    met
}

/// An edge of the graph as a block meets it.
struct Met {
    block: usize,
    row: usize,
    lane: usize,
}

/// The columns of some sums from `first` on, in the shape of another matrix.
fn matrix(sums: &[Lane<f64>], width: usize, first: usize, like: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(like.rows(), like.columns());
    for node in 0..like.rows() {
        let lanes = &sums[node / BLOCK * width + first..];
        out.row_mut(node).iter_mut().zip(lanes).for_each(|(out, lane)| *out = lane[node % BLOCK]);
    }
    out
}

/// The sum of some numbers, a power of two of them, always in the same order.
#[inline(always)]
fn across<T: Real, const N: usize>(numbers: &[T; N]) -> T {
    let mut sums = *numbers;
    let mut half = N / 2;
    while half > 0 {
        for k in 0..half {
            sums[k] = sums[k] + sums[k + half];
        }
        half /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::penalty::{Kind, Penalty, SCAD_A, ScadScale, Weights};
    use crate::model::propagation::Propagation;
    use crate::model::propagation::backward::{Derivatives, Through};
    use crate::model::propagation::links::{Links, SoftGraph};
    use crate::model::random::{Draws, Stream};
    use crate::model::settings::Settings;

    const NODES: usize = 141;

    /// Every third flip is impossible, and so are all flips of one node.
    fn flips() -> Vec<f32> {
        let draws = Draws::new(5, Stream::Samples);
        let pairs = (0..NODES).flat_map(|i| (i + 1..NODES).map(move |j| (i, j)));
        let flip = |(k, (i, j)): (usize, (usize, usize))| {
            if k % 3 == 0 || i == 7 || j == 7 { 0.0 } else { draws.uniform(k as u64) as f32 }
        };
        pairs.enumerate().map(flip).collect()
    }

    fn random_matrix(seed: u64) -> Matrix {
        let draws = Draws::new(seed, Stream::Splits);
        let mut matrix = Matrix::zeros(NODES, 3);
        for node in 0..NODES {
            let row = matrix.row_mut(node).iter_mut().enumerate();
            row.for_each(|(k, value)| *value = 4.0 * draws.uniform((node * 3 + k) as u64) - 2.0);
        }
        matrix
    }

    fn near(found: &Matrix, expected: &Matrix, tolerance: f64, what: &str) {
        let values = |matrix: &Matrix| matrix.data().as_flattened().to_vec();
        let largest = values(expected).iter().fold(1e-9f64, |largest, value| largest.max(value.abs()));
        for (found, expected) in values(found).iter().zip(values(expected)) {
            assert!((found - expected).abs() <= tolerance * largest, "{what}: {found} {expected}");
        }
    }

    #[test]
    fn a_table_moves_scores_and_gradients_as_lists_do_for_any_number_of_threads() {
        let edges: Vec<(u32, u32)> = (0..NODES as u32).map(|i| (i, (i + 1) % NODES as u32)).collect();
        let graph = Graph::new(NODES, &edges).unwrap();
        let (initial, gradient, flips) = (random_matrix(1), random_matrix(2), flips());
        let mut tiles = Tiles::new(NODES);
        let same: Vec<u32> = (0..NODES as u32).collect();
        tiles.fill(&flips, &same, |flip| flip, 1);
        let strengths = || {
            let pairs = (0..NODES as u32).flat_map(|i| (i + 1..NODES as u32).map(move |j| (i, j)));
            let strength = |((i, j), &flip)| {
                let flip = f64::from(flip);
                (i, j, if graph.joins(i, j) { 1.0 - flip } else { flip })
            };
            pairs.zip(&flips).map(strength).filter(|(_, _, strength)| *strength > 0.0)
        };
        let soft = SoftGraph::from_sorted(NODES, strengths);
        let table = PairTable::new(&graph, &tiles);
        for &kind in Kind::ALL {
            for &weights in Weights::ALL {
                let gamma = kind.takes_gamma().then_some(2.0);
                let penalty = Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::One).unwrap();
                let settings = Settings { layers: 3, ..Settings::new(penalty) };
                for through in [Through::Scores, Through::ScoresAndWeights] {
                    let run = |links: Links<'_>, threads| -> (Matrix, Derivatives) {
                        let propagation = Propagation::new(links, &settings, threads);
                        let tape = propagation.record(&initial, None).unwrap();
                        let back = propagation.backward(&tape, &initial, gradient.clone(), through, |_| {});
                        (tape.scores, back)
                    };
                    let what = format!("{kind} {weights} {through:?}");
                    let (scores, back) = run(Links::of_table(&table, 1), 1);
                    let (expected, expected_back) = run(Links::of_soft(&soft), 1);
                    near(&scores, &expected, 1e-12, &what);
                    near(&back.initial, &expected_back.initial, 1e-4, &what);
                    let degrees = |back: &Derivatives| Matrix::from_rows(std::slice::from_ref(&back.degrees));
                    near(&degrees(&back), &degrees(&expected_back), 1e-4, &what);
                    let (again, back_again) = run(Links::of_table(&table, 7), 7);
                    assert!(again == scores && back_again.initial == back.initial, "{what}");
                    assert_eq!(back_again.degrees, back.degrees, "{what}");
                }
            }
        }
    }
}
