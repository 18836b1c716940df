//! One unit reduced to its row.

use crate::independent_set::certificate::upper_bound;
use crate::independent_set::losses::{node_sums, probabilities, stored_sum};
use crate::independent_set::protocol::{Axis, Decoder, IndependentSet, Kind, Preset, Switch};
use crate::independent_set::row::{LabelRow, Row, ScoreRow, Sums};
use crate::independent_set::search::baseline::baseline;
use crate::independent_set::search::{extent, from_swapped, greedy, score_degree, swap_search};
use crate::independent_set::solution::{Walk, counts, pinned_probabilities, size, stored_violations, walk};
use crate::independent_set::steps::{Predicted, predict, samples, steps};
use crate::independent_set::unit::{Scores, Unit};

/// Everything that is kept of one graph. The name seeds the iterated local search.
pub(crate) fn measure(protocol: &IndependentSet, name: &str, unit: &Unit<'_>) -> Row {
    let graph = unit.graph;
    let (walked, scores) = match &unit.scores {
        None => (walk(graph, None, unit.labels, None), None),
        Some(scores) => {
            let (walked, row) = score_row(protocol, name, unit, scores);
            (walked, Some(row))
        }
    };
    let labels = unit.labels.map(|labels| LabelRow {
        ones: size(labels),
        violations: walked.labels.violations,
        maximal: walked.labels.maximal,
    });
    Row {
        nodes: graph.nodes() as u64,
        edges: graph.edges(),
        entries: graph.entries(),
        self_loops: graph.self_loops(),
        duplicate_edges: graph.duplicate_edges(),
        one_directional_edges: graph.one_directional_edges(),
        isolated_nodes: graph.isolated_nodes(),
        labels,
        optimum: unit.optimum,
        baseline: baseline(graph, protocol.baseline, protocol.seed).map(|set| size(&set)),
        upper_bound: (protocol.certificate == Switch::On).then(|| upper_bound(graph)),
        scores,
    }
}

fn score_row(
    protocol: &IndependentSet,
    name: &str,
    unit: &Unit<'_>,
    scores: &Scores<'_>,
) -> (Walk, ScoreRow) {
    let (graph, kind, preset) = (unit.graph, scores.kind(), protocol.preset);
    let values = scores.prediction();
    let main = predict(graph, kind, preset, values);
    let (p, labelled) = match unit.labels.filter(|_| kind != Kind::Set) {
        None => (probabilities(kind, values), None),
        Some(labels) => {
            let (p, sums) = node_sums(kind, preset, values, &main.predicted, labels);
            (p, Some(sums))
        }
    };
    let real = (kind != Kind::Set).then_some(&p[..]);
    let walked = walk(graph, Some(&main.predicted), unit.labels, real);
    let sums = real.map(|p| Sums {
        edge: walked.edges.value(),
        edge_stored: stored_sum(graph, p, &walked.edges),
        labelled,
    });
    let found = walked.prediction;
    let (lowest, highest) = extent(values);
    let (swap, ils) = local_searches(protocol, name, unit, values, &main);
    let row = ScoreRow {
        predicted: size(&main.predicted),
        counts: unit.labels.map(|labels| counts(&main.predicted, labels)),
        violations: found.violations,
        stored_violations: stored_violations(graph, &main.predicted, found.violations),
        conflicted: found.conflicted,
        maximal: found.maximal,
        decoded: size(&main.decoded),
        tied: main.tied,
        // + 0.0 drops the sign of zero, which no comparison sees.
        lowest: lowest + 0.0,
        highest: highest + 0.0,
        sums,
        score_degree: wants(protocol, Decoder::ScoreDegree)
            .then(|| size(&score_degree(graph, &pinned_probabilities(kind, values)))),
        swap,
        ils,
        samples: if scores.axis() == Some(Axis::Samples) { samples(unit, preset, &main) } else { Vec::new() },
        steps: if scores.axis() == Some(Axis::Steps) { steps(unit, preset, &main) } else { Vec::new() },
    };
    (walked, row)
}

/// The sizes after the swap search and the iterated local search, as far as they are wanted.
fn local_searches(
    protocol: &IndependentSet,
    name: &str,
    unit: &Unit<'_>,
    scores: &[f64],
    main: &Predicted,
) -> (Option<u64>, Option<u64>) {
    let (wants_swap, wants_ils) = (wants(protocol, Decoder::Swap), wants(protocol, Decoder::Ils));
    if !wants_swap && !wants_ils {
        return (None, None);
    }
    // The greedy decode of the published presets ranks rounded scores; the search starts from the scores.
    let swapped = match protocol.preset {
        Preset::Strict => swap_search(unit.graph, &main.decoded),
        _ => swap_search(unit.graph, &greedy(unit.graph, scores)),
    };
    let swap = wants_swap.then(|| size(&swapped));
    let search = |set| from_swapped(unit.graph, set, protocol.ils_iterations, protocol.seed, name);
    (swap, wants_ils.then(|| size(&search(swapped))))
}

fn wants(protocol: &IndependentSet, decoder: Decoder) -> bool {
    protocol.decoders.contains(&decoder)
}
