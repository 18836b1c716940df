//! Small graphs with the chosen set and the edges it violates.

use calipers_core::Accumulator;
use calipers_metrics::independent_set::IndependentSet;
use calipers_report::chart::network::{Look, Network, Stroke, places};
use calipers_report::chart::{Art, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_sources::independent_set::Units;

use super::super::readings::{missing, table, words};
use crate::families::independent_set::{Solved, unit, units};
use crate::replay::Evidence;

/// How many graphs are drawn.
const SHOWN: usize = 3;
/// The largest graph that is drawn.
const MOST_NODES: u64 = 170;
/// The most edges with which a drawing can still be read.
const MOST_EDGES: u64 = 700;
const SLUG: &str = "graphs";
const TITLE: &str = "Small graphs";

/// The pictures: graphs with violated edges first, small ones before large ones.
pub(super) fn pictures(rows: &Accumulator<IndependentSet>, evidence: &Evidence) -> Vec<Picture> {
    let replay = match evidence {
        Evidence::Available(replay) => replay,
        Evidence::Missing(why) => return vec![missing(SLUG, TITLE, why)],
    };
    let all = rows.rows();
    let mut small: Vec<(u64, u64, &str)> = all
        .named()
        .filter(|(_, row)| (2..=MOST_NODES).contains(&row.nodes) && row.edges <= MOST_EDGES)
        .map(|(name, row)| (row.scores.as_ref().map_or(0, |scores| scores.violations), row.nodes, name))
        .collect();
    if small.is_empty() {
        let why = format!(
            "graphs are drawn up to {MOST_NODES} nodes and {MOST_EDGES} edges, with which a drawing can be read; all are larger"
        );
        return vec![missing(SLUG, TITLE, why)];
    }
    let units = match units(replay) {
        Ok(units) => units,
        Err(error) => return vec![missing(SLUG, TITLE, error.to_string())],
    };
    small.sort_by_key(|&(violations, nodes, name)| (violations == 0, nodes, name));
    small.into_iter().take(SHOWN).enumerate().map(|(i, (_, _, name))| drawn(&units, i + 1, name)).collect()
}

fn drawn(units: &Units, number: usize, name: &str) -> Picture {
    let (slug, title) = (format!("{SLUG}-{number}"), format!("Graph {name}"));
    let graph = match unit(units, name) {
        Ok(graph) => graph,
        Err(error) => return missing(&slug, &title, error.to_string()),
    };
    let mut variants = Vec::new();
    if let Some(chosen) = &graph.chosen {
        variants.push(("predicted set".to_owned(), network(&title, &graph, chosen)));
    }
    if let Some(decoded) = &graph.decoded {
        variants.push(("after greedy repair".to_owned(), network(&title, &graph, decoded)));
    }
    if variants.is_empty()
        && let Some(labels) = &graph.labels
    {
        variants.push(("labels".to_owned(), network(&title, &graph, labels)));
    }
    if variants.is_empty() {
        return missing(&slug, &title, "there are neither scores nor labels");
    }
    Picture {
        slug,
        title,
        caption: format!(
            "{} nodes and {} edges. Filled nodes are chosen; a red edge joins two of them, which an independent \
             set must not have.",
            graph.nodes,
            graph.edges.len()
        ),
        art: Art::Variants(variants),
        data: vec![("nodes".into(), nodes(&graph)), ("edges".into(), edges(&graph))],
        unit: Some(name.to_owned()),
    }
}

fn network(title: &str, graph: &Solved, chosen: &[bool]) -> Chart {
    let is = |set: &[bool], node: usize| set.get(node).copied().unwrap_or(false);
    let violated = |u: u32, v: u32| is(chosen, u as usize) && is(chosen, v as usize);
    let violations: Vec<(u32, u32)> = graph.edges.iter().copied().filter(|(u, v)| violated(*u, *v)).collect();
    let mut wrong = vec![false; graph.nodes];
    for node in violations.iter().flat_map(|(u, v)| [*u, *v]) {
        if let Some(wrong) = wrong.get_mut(node as usize) {
            *wrong = true;
        }
    }
    let labelled = |node: usize| graph.labels.as_deref().is_some_and(|labels| is(labels, node));
    let (full, ring) = (Colour::Series(0), Colour::Series(2));
    let look = |node: usize| match (is(chosen, node), wrong[node], labelled(node)) {
        (true, true, _) => Look::Wrong(full),
        (true, false, _) => Look::Full(full),
        (false, _, true) => Look::Ringed(ring),
        (false, _, false) => Look::Hollow,
    };
    let tip = |node: usize| {
        let score = graph.scores.as_ref().and_then(|scores| scores.get(node));
        let score = score.map_or(String::new(), |score| format!(", score {score}"));
        let label = if labelled(node) { ", in the labels" } else { "" };
        format!("node {node}{score}{label}")
    };
    let mut legend = vec![(Look::Full(full), "chosen".to_owned())];
    if graph.labels.is_some() {
        legend.push((Look::Ringed(ring), "only in the labels".to_owned()));
    }
    legend.push((Look::Hollow, "not chosen".to_owned()));
    let bad = Stroke::Thick(Colour::Bad);
    let stroke = |&(u, v): &(u32, u32)| (u, v, if violated(u, v) { bad } else { Stroke::Plain });
    let strokes = if violations.is_empty() { Vec::new() } else { vec![(bad, "violated edge".to_owned())] };
    Chart::Network(Network {
        title: title.to_owned(),
        description: format!(
            "{} nodes, {} edges, {} violated",
            graph.nodes,
            graph.edges.len(),
            violations.len()
        ),
        nodes: (0..graph.nodes).map(|node| (look(node), tip(node))).collect(),
        places: places(graph.nodes, &graph.edges),
        edges: graph.edges.iter().map(stroke).collect(),
        legend,
        strokes,
    })
}

fn nodes(graph: &Solved) -> calipers_report::grid::Grid {
    let flag = |set: &Option<Vec<bool>>, node: usize| {
        set.as_ref().and_then(|set| set.get(node)).map_or(Cell::Empty, |is| Cell::Flag(*is))
    };
    let row = |node: usize| {
        let score = graph.scores.as_ref().and_then(|scores| scores.get(node)).copied();
        vec![
            Cell::Number(node as f64),
            score.into(),
            flag(&graph.chosen, node),
            flag(&graph.decoded, node),
            flag(&graph.labels, node),
        ]
    };
    table(&["node", "score", "predicted", "decoded", "label"], (0..graph.nodes).map(row))
}

fn edges(graph: &Solved) -> calipers_report::grid::Grid {
    let both = |u: u32, v: u32| {
        let chosen = graph.chosen.as_ref()?;
        Some(*chosen.get(u as usize)? && *chosen.get(v as usize)?)
    };
    let row = |&(u, v): &(u32, u32)| {
        let violated = both(u, v).map_or(words(""), Cell::Flag);
        vec![Cell::Number(u.into()), Cell::Number(v.into()), violated]
    };
    table(&["from", "to", "violated"], graph.edges.iter().map(row))
}
