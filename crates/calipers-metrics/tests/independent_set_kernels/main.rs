//! The kernels of the independent_set family against slow and obvious versions of themselves, on
//! random graphs with loops, repeats and missing directions.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod gradients;
mod oracle;

use calipers_core::{ExactSum, Protocol, SplitMix64};
use calipers_metrics::independent_set::certificate::upper_bound;
use calipers_metrics::independent_set::search::{greedy, ils, min_degree, score_degree, swap_search};
use calipers_metrics::independent_set::solution::{is_independent, is_maximal};
use calipers_metrics::independent_set::{
    Axis, Baseline, Decoder, Graph, IndependentSet, Kind, Preset, Row, Scores, Storage, Switch, Unit,
};
use oracle::SlowGraph;
use proptest::prelude::*;

fn measure(protocol: &IndependentSet, unit: Unit<'_>) -> Row {
    protocol.measure("g", unit).unwrap()
}

/// A number of nodes and entries between them; dense and sparse, now and then in sorted order.
fn entries(most: u32) -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (1..=most, 0..4 * most as usize, 0..4).prop_flat_map(|(nodes, count, shape)| {
        prop::collection::vec((0..nodes, 0..nodes), 0..=count).prop_map(move |mut entries| {
            if shape > 0 {
                let reversed: Vec<(u32, u32)> = entries.iter().map(|&(u, v)| (v, u)).collect();
                entries.extend(reversed);
            }
            if shape > 1 {
                entries.retain(|(u, v)| u != v);
                entries.sort_unstable();
                entries.dedup();
            }
            (nodes, entries)
        })
    })
}

/// Scores with ties and signed zeros.
fn scores(nodes: u32, seed: u64) -> Vec<f64> {
    let mut random = SplitMix64::new(seed);
    (0..nodes)
        .map(|_| if random.below(3) == 0 { -0.0 } else { (random.below(9) as f64 - 4.0) / 4.0 })
        .collect()
}

fn probabilities(scores: &[f64]) -> Vec<f64> {
    scores.iter().map(|z| 1.0 / (1.0 + (-z).exp())).collect()
}

fn size(set: &[bool]) -> u64 {
    set.iter().filter(|&&chosen| chosen).count() as u64
}

fn both(nodes: u32, entries: &[(u32, u32)]) -> (Graph, SlowGraph) {
    let graph = Graph::build(u64::from(nodes), Storage::Both, &entries).unwrap();
    (graph, SlowGraph::new(nodes, true, entries))
}

proptest! {
    #[test]
    fn stored_entries_become_the_simple_graph_and_its_counts((nodes, entries) in entries(40)) {
        for (storage, both) in [(Storage::Both, true), (Storage::Once, false)] {
            let graph = Graph::build(u64::from(nodes), storage, &&entries[..]).unwrap();
            let slow = SlowGraph::new(nodes, both, &entries);
            for v in 0..nodes {
                let near: Vec<u32> = slow.near[v as usize].iter().copied().collect();
                prop_assert_eq!(graph.neighbours(v), &near[..]);
                prop_assert_eq!(graph.degree(v), near.len());
            }
            prop_assert_eq!(graph.edges(), slow.edges.len() as u64);
            prop_assert_eq!(graph.entries(), entries.len() as u64);
            prop_assert_eq!(graph.self_loops(), slow.self_loops);
            prop_assert_eq!(graph.duplicate_edges(), slow.duplicates);
            prop_assert_eq!(graph.one_directional_edges(), slow.one_directional);
            prop_assert_eq!(graph.isolated_nodes(), slow.isolated);
            let first = entries.iter().find(|(u, v)| u == v).map(|&(u, _)| u64::from(u));
            prop_assert_eq!(graph.first_self_loop(), first);
        }
    }

    #[test]
    fn the_complement_has_exactly_the_missing_edges((nodes, entries) in entries(20)) {
        let (graph, slow) = both(nodes, &entries);
        let complement = graph.complement().unwrap();
        let missing: Vec<(u32, u32)> = (0..nodes)
            .flat_map(|v| (0..v).map(move |u| (u, v)))
            .filter(|pair| !slow.edges.contains(pair))
            .collect();
        let expected = Graph::build(u64::from(nodes), Storage::Once, &&missing[..]).unwrap();
        prop_assert_eq!(complement, expected);
    }

    #[test]
    fn every_decoder_makes_the_choices_of_its_definition((nodes, entries) in entries(32), seed: u64) {
        let (graph, slow) = both(nodes, &entries);
        let z = scores(nodes, seed);
        let p = probabilities(&z);
        prop_assert_eq!(greedy(&graph, &z), slow.greedy(&z));
        prop_assert_eq!(min_degree(&graph), slow.adaptive(|_, degree| -f64::from(degree)));
        let worth = |v: u32, degree: u32| p[v as usize] / f64::from(1 + degree);
        prop_assert_eq!(score_degree(&graph, &p), slow.adaptive(worth));
        let start = greedy(&graph, &z);
        prop_assert_eq!(swap_search(&graph, &start), slow.swap_search(&start));
    }

    #[test]
    fn swaps_from_any_set_are_those_of_the_definition((nodes, entries) in entries(16), bits: u32) {
        let (graph, slow) = both(nodes, &entries);
        let start: Vec<bool> = (0..nodes).map(|v| bits >> v & 1 == 1).collect();
        prop_assert_eq!(swap_search(&graph, &start), slow.swap_search(&start));
    }

    #[test]
    fn the_bound_is_the_smallest_of_the_three_covers((nodes, entries) in entries(32)) {
        let (graph, slow) = both(nodes, &entries);
        prop_assert_eq!(upper_bound(&graph), slow.upper_bound());
    }

    #[test]
    fn no_set_is_larger_than_the_optimum_and_the_optimum_not_than_the_bound(
        (nodes, entries) in entries(12), seed: u64,
    ) {
        let (graph, slow) = both(nodes, &entries);
        let (optimum, z) = (slow.optimum(), scores(nodes, seed));
        prop_assert!(optimum <= upper_bound(&graph));
        let start = greedy(&graph, &z);
        let swapped = swap_search(&graph, &start);
        let searched = ils(&graph, &start, 60, seed, "graph");
        let sets =
            [&start, &swapped, &searched, &min_degree(&graph), &score_degree(&graph, &probabilities(&z))];
        for set in sets {
            prop_assert!(slow.is_maximal(set) && is_maximal(&graph, set) && size(set) <= optimum);
        }
        prop_assert!(size(&start) <= size(&swapped) && size(&swapped) <= size(&searched));
    }

    #[test]
    fn the_local_search_depends_on_seed_and_name_and_starts_at_the_swap_result(
        (nodes, entries) in entries(30), seed: u64,
    ) {
        let (graph, _) = both(nodes, &entries);
        let start = greedy(&graph, &scores(nodes, seed));
        prop_assert_eq!(ils(&graph, &start, 0, seed, "a"), swap_search(&graph, &start));
        prop_assert_eq!(ils(&graph, &start, 50, seed, "a"), ils(&graph, &start, 50, seed, "a"));
    }

    #[test]
    fn a_row_counts_what_the_definitions_count(
        (nodes, entries) in entries(24), seed: u64, which in 0..3usize,
    ) {
        let (graph, slow) = both(nodes, &entries);
        let z = scores(nodes, seed);
        let labels: Vec<bool> = scores(nodes, !seed).iter().map(|&x| x > 0.25).collect();
        let preset = [Preset::Strict, Preset::Document, Preset::TrmMisHead][which];
        let protocol = IndependentSet {
            preset,
            decoders: vec![Decoder::ScoreDegree, Decoder::Swap, Decoder::Ils],
            ils_iterations: 5,
            ..IndependentSet::default()
        };
        let unit_scores = Scores::new(Kind::Logits, None, &z, nodes as usize).unwrap();
        let unit = Unit::new(&graph, Some(unit_scores), Some(&labels), Some(1)).unwrap();
        let row = measure(&protocol, unit);
        let found = row.scores.unwrap();
        let label_row = row.labels.unwrap();
        // These scores are multiples of 1/4: single precision predicts and ranks alike.
        let predicted: Vec<bool> = z.iter().map(|&x| x > 0.0).collect();
        let inside = |set: &[bool]| entries.iter().filter(|(u, v)| set[*u as usize] && set[*v as usize]).count();
        prop_assert_eq!(found.predicted, size(&predicted));
        prop_assert_eq!(found.violations, slow.violations(&predicted));
        prop_assert_eq!(found.stored_violations, inside(&predicted) as u64);
        prop_assert_eq!(found.conflicted, slow.conflicted(&predicted));
        prop_assert_eq!(found.maximal, slow.is_maximal(&predicted));
        prop_assert_eq!(label_row.violations, slow.violations(&labels));
        prop_assert_eq!(label_row.maximal, slow.is_maximal(&labels));
        prop_assert_eq!(is_independent(&graph, &labels), label_row.violations == 0);
        let order = slow.greedy(&z);
        let decoded = if preset == Preset::TrmMisHead {
            let mut order: Vec<u32> = (0..nodes).filter(|&v| predicted[v as usize]).collect();
            order.sort_by(|&a, &b| z[b as usize].partial_cmp(&z[a as usize]).unwrap().then(a.cmp(&b)));
            slow.take(order)
        } else {
            order.clone()
        };
        prop_assert_eq!(found.decoded, size(&decoded));
        prop_assert_eq!(found.swap, Some(size(&slow.swap_search(&order))));
        prop_assert!(found.ils >= found.swap);
        let shared = |a: &f64| z.iter().filter(|b| a.partial_cmp(b).unwrap().is_eq()).count() > 1;
        prop_assert_eq!(found.tied, z.iter().filter(|a| shared(a)).count() as u64);
        prop_assert_eq!(row.baseline, Some(size(&slow.adaptive(|_, degree| -f64::from(degree)))));
        prop_assert_eq!(row.upper_bound, Some(slow.upper_bound()));
        let sums = found.sums.unwrap();
        let p = probabilities(&z);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * b.abs();
        let total = |pairs: &mut dyn Iterator<Item = (u32, u32)>| {
            pairs.map(|(u, v)| p[u as usize] * p[v as usize]).collect::<ExactSum>().value()
        };
        prop_assert!(near(sums.edge, total(&mut slow.edges.iter().copied())));
        prop_assert!(near(sums.edge_stored, total(&mut entries.iter().copied())));
        let sum = |label: bool, term: fn(f64) -> f64| {
            (0..nodes as usize).filter(|&v| labels[v] == label).map(|v| term(p[v])).sum::<f64>()
        };
        let labelled = sums.labelled.unwrap();
        prop_assert!(near(labelled.positive.unwrap(), sum(true, |p| -p.ln())));
        prop_assert!(near(labelled.negative.unwrap(), sum(false, |p| -(-p).ln_1p())));
    }
}

#[test]
fn a_graph_too_large_to_be_sorted_in_the_cache_has_the_same_neighbours() {
    let (nodes, mut random) = (3_000u32, SplitMix64::new(1));
    let mut node = || random.below(u64::from(nodes)) as u32;
    let entries: Vec<(u32, u32)> = (0..600_000).map(|_| (node(), node())).collect();
    let mut near = vec![Vec::new(); nodes as usize];
    for &(u, v) in entries.iter().filter(|(u, v)| u != v) {
        near[u as usize].push(v);
        near[v as usize].push(u);
    }
    for list in &mut near {
        list.sort_unstable();
        list.dedup();
    }
    for storage in [Storage::Both, Storage::Once] {
        let graph = Graph::build(u64::from(nodes), storage, &&entries[..]).unwrap();
        assert!((0..nodes).all(|v| graph.neighbours(v) == near[v as usize]));
    }
}

#[test]
fn a_graph_outside_the_cache_is_covered_and_decoded_like_its_parts() {
    // Many copies of one small graph: every number is a multiple of the small one.
    let small: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 6), (6, 4), (1, 6)];
    let (size_of_part, parts) = (8u32, 40_000u32);
    let entries: Vec<(u32, u32)> = (0..parts)
        .flat_map(|part| small.iter().map(move |&(u, v)| (part + parts * u, part + parts * v)))
        .collect();
    let part = Graph::build(u64::from(size_of_part), Storage::Once, &small).unwrap();
    let all = Graph::build(u64::from(size_of_part * parts), Storage::Once, &&entries[..]).unwrap();
    assert_eq!(all.edges(), part.edges() * u64::from(parts));
    assert_eq!(upper_bound(&all), upper_bound(&part) * u64::from(parts));
    assert_eq!(size(&min_degree(&all)), size(&min_degree(&part)) * u64::from(parts));
    let (low, high) = (vec![0.0; part.nodes()], vec![0.0; all.nodes()]);
    assert_eq!(size(&greedy(&all, &high)), size(&greedy(&part, &low)) * u64::from(parts));
    let both_ways: Vec<(u32, u32)> = entries.iter().flat_map(|&(u, v)| [(u, v), (v, u), (v, u)]).collect();
    let twice = Graph::build(u64::from(size_of_part * parts), Storage::Both, &&both_ways[..]).unwrap();
    assert_eq!((twice.edges(), twice.duplicate_edges()), (all.edges(), all.edges()));
    assert_eq!(twice.one_directional_edges(), 0);
    assert!((0..all.nodes() as u32).all(|v| twice.neighbours(v) == all.neighbours(v)));
}

#[test]
fn samples_and_steps_keep_one_entry_each_and_share_the_prediction() {
    let pairs: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (3, 4)];
    let graph = Graph::build(5, Storage::Once, &pairs).unwrap();
    let labels = [true, false, true, false, true];
    let good = [2.0, -1.0, 1.0, -1.0, 0.5];
    let bad = [-1.0, 3.0, 1.0, 2.0, -0.5];
    let values: Vec<f64> = [bad, good].concat();
    let row = |axis| {
        let scores = Scores::new(Kind::Logits, Some(axis), &values, 5).unwrap();
        let unit = Unit::new(&graph, Some(scores), Some(&labels), None).unwrap();
        measure(&IndependentSet::default(), unit).scores.unwrap()
    };
    let sampled = row(Axis::Samples);
    assert_eq!((sampled.samples, sampled.decoded, sampled.steps.len()), (vec![2, 3], 2, 0));
    let stepped = row(Axis::Steps);
    assert_eq!((stepped.samples.len(), stepped.decoded), (0, 3));
    let steps: Vec<_> = stepped.steps.iter().map(|s| (s.correct, s.violations, s.decoded)).collect();
    assert_eq!(steps, [(Some(1), 2, 2), (Some(5), 0, 3)]);
    assert!(stepped.steps[1].solved(5) && !stepped.steps[0].solved(5));
}

#[test]
fn a_graph_without_nodes_and_a_unit_without_scores_have_rows() {
    let empty = Graph::build(0, Storage::Both, &(&[][..] as &[(u32, u32)])).unwrap();
    let scores = Scores::new(Kind::Probs, None, &[], 0).unwrap();
    let unit = Unit::new(&empty, Some(scores), Some(&[]), Some(0)).unwrap();
    let every = vec![Decoder::ScoreDegree, Decoder::Swap, Decoder::Ils];
    let row = measure(&IndependentSet { decoders: every, ..IndependentSet::default() }, unit);
    assert_eq!((row.nodes, row.baseline, row.upper_bound), (0, Some(0), Some(0)));
    assert_eq!(row.scores.unwrap().ils, Some(0));
    let bare = Unit::new(&empty, None, None, None).unwrap();
    let nothing =
        IndependentSet { baseline: Baseline::None, certificate: Switch::Off, ..IndependentSet::default() };
    let row = measure(&nothing, bare);
    assert!(row.scores.is_none() && row.labels.is_none() && row.baseline.is_none());
}

#[test]
fn score_degree_compares_probabilities_that_are_right_to_the_last_bit() {
    // The logistic function is the number below 1 at 36.9 and 1 at 40: node 1 goes first. A tie would
    // go to node 0 and leave a larger set.
    let pairs: &[(u32, u32)] = &[(0, 1), (0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (3, 7)];
    let graph = Graph::build(8, Storage::Once, &pairs).unwrap();
    let logits = [36.9, 40.0, -30.0, -30.0, -30.0, -30.0, -30.0, -30.0];
    let scores = Scores::new(Kind::Logits, None, &logits, 8).unwrap();
    let unit = Unit::new(&graph, Some(scores), None, None).unwrap();
    let protocol = IndependentSet { decoders: vec![Decoder::ScoreDegree], ..IndependentSet::default() };
    assert_eq!(measure(&protocol, unit).scores.unwrap().score_degree, Some(3));
}
