//! Random clean/attacked pairs for the laws.

use calipers::core::{Accumulator, SplitMix64};
use calipers::metrics::robustness::{Budget, Edge, Matrix, NumberSlice, Pair};
use calipers::metrics::robustness::{Nodes, Preset, Robustness};

use crate::Sample;

const COLUMNS: usize = 3;
const BUDGETS: [&str; 3] = ["0", "0.05", "0.2"];
const ATTACKS: [Option<&str>; 3] = [None, Some("meta"), Some("pgd")];

pub(crate) fn samples() -> Vec<Sample<Robustness>> {
    let strict = Robustness { bins: 5, cutoff: Some(0.5), ..Robustness::default() };
    let ranged = Robustness { hist_range: Some([0.25, 2.0]), nodes: Nodes::Test, ..strict.clone() };
    let fork = Robustness { preset: Preset::RungFork, ddof: 0, ..Robustness::default() };
    let document = Robustness { preset: Preset::Document, ..fork.clone() };
    let strict_again = strict.clone();
    vec![
        Sample { protocol: strict.clone(), other: ranged.clone(), add: add_many },
        Sample { protocol: ranged, other: strict, add: add_one },
        Sample { protocol: fork.clone(), other: document.clone(), add: add_one },
        Sample { protocol: strict_again, other: document.clone(), add: add_whole },
        Sample { protocol: fork, other: document.clone(), add: add_whole },
        Sample { protocol: Robustness::default(), other: document, add: add_budgets },
    ]
}

/// Pairs of several attacks and budgets.
fn add_many(accumulator: &mut Accumulator<Robustness>, name: &str, unit: usize) {
    add(accumulator, name, unit, ATTACKS[unit % 3], BUDGETS[unit / 3 % 3]);
}

/// Repetitions of one condition, of which the scalars are means.
fn add_one(accumulator: &mut Accumulator<Robustness>, name: &str, unit: usize) {
    add(accumulator, name, unit, None, "0.05");
}

/// Repetitions of one condition that all have every piece of evidence.
fn add_whole(accumulator: &mut Accumulator<Robustness>, name: &str, unit: usize) {
    add_complete(accumulator, name, unit, "0.05", &[1.0]);
}

/// Pairs of one attack at several budgets, of which budget 0 is often not drawn. Biases have more
/// bits than are kept of them, and test sets are of different size.
fn add_budgets(accumulator: &mut Accumulator<Robustness>, name: &str, unit: usize) {
    let budget = if unit == 0 { "0" } else { ["0.05", "0.1", "0.2", "0.4"][unit % 4] };
    add_complete(accumulator, name, unit, budget, &[1.0, 1e-7, 3e4]);
}

fn add_complete(
    accumulator: &mut Accumulator<Robustness>,
    name: &str,
    unit: usize,
    budget: &str,
    sizes: &[f64],
) {
    let mut random = SplitMix64::new(unit as u64);
    let nodes = 4 + unit % 3;
    let mut numbers = || {
        let sizes = sizes.iter().cycle();
        sizes.take(nodes * COLUMNS).map(|size| (random.unit() - 0.5) * size).collect::<Vec<f64>>()
    };
    let (clean, attacked) = (numbers(), numbers());
    let labels: Vec<i64> = clean
        .chunks(COLUMNS)
        .map(|scores| (0..COLUMNS).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap() as i64)
        .collect();
    let test: Vec<u32> = (0..nodes as u32).collect();
    let (clean_edges, attacked_edges) = ([(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (1, 3)]);
    let matrix = |data| Matrix::new(nodes, COLUMNS, NumberSlice::F64(data)).unwrap();
    let pair = Pair {
        labels: Some(&labels),
        test: Some(&test),
        clean_edges: Some(&clean_edges),
        attacked_edges: Some(&attacked_edges),
        ..Pair::new(name, Budget::parse(budget).unwrap(), matrix(&clean), matrix(&attacked))
    };
    accumulator.update(name, pair).unwrap();
}

/// A random pair; some lack labels, some the graph. Numbers are of very different size.
fn add(
    accumulator: &mut Accumulator<Robustness>,
    name: &str,
    unit: usize,
    attack: Option<&str>,
    budget: &str,
) {
    let mut random = SplitMix64::new(unit as u64);
    let nodes = 2 + random.below(7) as usize;
    let mut numbers = || -> Vec<f64> {
        let size = |draw: u64| [1.0, 1e-9, 1e9][draw as usize];
        (0..nodes * COLUMNS).map(|_| (random.unit() - 0.5) * size(random.below(3))).collect()
    };
    let (clean, attacked) = (numbers(), numbers());
    let labels: Vec<i64> = (0..nodes).map(|_| random.below(COLUMNS as u64) as i64).collect();
    let test: Vec<u32> = (0..nodes as u32).filter(|_| random.below(3) > 0).collect();
    let train: Vec<u32> = (0..nodes as u32).filter(|_| random.below(3) == 0).collect();
    let pairs = |last: u32| (0..last).flat_map(move |i| (i + 1..last).map(move |j| (i, j)));
    let mut graph = || -> Vec<Edge> { pairs(nodes as u32).filter(|_| random.below(2) == 0).collect() };
    let (clean_edges, attacked_edges) = (graph(), graph());
    let matrix = |data| Matrix::new(nodes, COLUMNS, NumberSlice::F64(data)).unwrap();
    let pair = Pair {
        attack,
        labels: (unit % 5 != 4).then_some(&labels),
        test: Some(&test),
        train: Some(&train),
        clean_edges: (unit % 7 != 6).then_some(&clean_edges),
        attacked_edges: (unit % 6 != 5).then_some(&attacked_edges),
        ..Pair::new(name, Budget::parse(budget).unwrap(), matrix(&clean), matrix(&attacked))
    };
    accumulator.update(name, pair).unwrap();
}
