//! Explained graphs: edges as wide as their importance, what is selected, and what the truth is.

use std::collections::BTreeMap;

use calipers_core::functions::sigmoid;
use calipers_core::{Accumulator, Result};
use calipers_metrics::explanation::{Explanation, MaskScores, MaskValues};
use calipers_report::chart::network::{Look, Network, Stroke, WIDEST, places};
use calipers_report::chart::{Art, Chart, Colour, Picture};
use calipers_report::grid::{Cell, Grid};
use calipers_report::number::rounded;
use calipers_sources::explanation::Units;

use super::super::readings::{missing, table};
use crate::families::explanation::{edges, unit, units};
use crate::replay::Evidence;

/// How many graphs are drawn, and how many units are looked at to find them.
const SHOWN: usize = 3;
const LOOKED_AT: usize = 100;
/// The largest graph that is drawn.
const MOST_NODES: usize = 170;
const MOST_EDGES: usize = 700;
const SLUG: &str = "explained";
const TITLE: &str = "Explained graphs";
const SELECTED: Colour = Colour::Series(0);
const MISSED: Colour = Colour::Series(2);

/// The pictures of the first units that came with edges; none where no unit did.
pub(super) fn pictures(rows: &Accumulator<Explanation>, evidence: &Evidence) -> Vec<Picture> {
    // Without the inputs nobody knows whether there are edges; the histogram of masks says why.
    let Evidence::Available(replay) = evidence else { return Vec::new() };
    let Ok(units) = units(replay) else { return Vec::new() };
    let all = rows.rows();
    let masked = all.named().filter(|(_, row)| row.mask.is_some()).map(|(name, _)| name);
    let (mut drawn, mut refused) = (Vec::new(), None);
    for name in masked.take(LOOKED_AT) {
        match Explained::read(&units, name, rows.protocol()) {
            Ok(None) => {}
            Ok(Some(graph)) => drawn.push(graph.picture(drawn.len() + 1)),
            Err(error) => refused = refused.or(Some(error.to_string())),
        }
        if drawn.len() == SHOWN {
            break;
        }
    }
    match refused {
        Some(why) if drawn.is_empty() => vec![missing(SLUG, TITLE, why)],
        _ => drawn,
    }
}

/// A graph with the masks of one unit.
struct Explained<'a> {
    name: &'a str,
    protocol: &'a Explanation,
    nodes: usize,
    /// Every edge as given, or once where both directions are there.
    edges: Vec<(u32, u32)>,
    on_edges: Option<Mask>,
    on_nodes: Option<Mask>,
}

/// The importance of nodes or edges, by their number.
struct Mask {
    values: Vec<f64>,
    truth: Option<Vec<bool>>,
}

/// What a mask says of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Selected,
    Wrong,
    Missed,
    Left,
}

impl<'a> Explained<'a> {
    /// The graph of a unit; none where it came without edges, is too large to be read, or its masks lie on
    /// something else than its nodes and edges.
    fn read(units: &Units, name: &'a str, protocol: &'a Explanation) -> Result<Option<Self>> {
        let Some(given) = edges(units, name)? else { return Ok(None) };
        let masks = unit(units, name)?;
        let ends = given.iter().map(|(u, v)| *u.max(v) as usize + 1).max().unwrap_or(0);
        let of = |length: usize| masks.iter().find(|mask| mask.pred.len() == length);
        let on_edges = of(given.len());
        let on_nodes = masks.iter().find(|mask| mask.pred.len() != given.len() && mask.pred.len() >= ends);
        let nodes = on_nodes.map_or(ends, |mask| mask.pred.len());
        let is_small = (2..=MOST_NODES).contains(&nodes) && given.len() <= 2 * MOST_EDGES;
        if !is_small || (on_edges.is_none() && on_nodes.is_none()) {
            return Ok(None);
        }
        // The two directions of an edge are one line, as important as the more important of them.
        let mut lines: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for (at, (u, v)) in given.iter().enumerate() {
            lines.entry((*u.min(v), *u.max(v))).or_default().push(at);
        }
        let one_each: Vec<Vec<usize>> = (0..nodes).map(|node| vec![node]).collect();
        let of_lines: Vec<Vec<usize>> = lines.values().cloned().collect();
        let mask = |mask: &MaskValues, parts: &[Vec<usize>]| Mask::new(mask, parts, protocol);
        Ok((lines.len() <= MOST_EDGES).then(|| Self {
            name,
            protocol,
            nodes,
            edges: lines.keys().copied().collect(),
            on_edges: on_edges.map(|found| mask(found, &of_lines)),
            on_nodes: on_nodes.map(|found| mask(found, &one_each)),
        }))
    }

    fn picture(&self, number: usize) -> Picture {
        let title = format!("Explained graph {}", self.name);
        let threshold = self.protocol.threshold;
        let truth = [&self.on_edges, &self.on_nodes].into_iter().flatten().any(|mask| mask.truth.is_some());
        let said =
            if truth { " Red ones are not in the truth, dashed or ringed ones are missed." } else { "" };
        Picture {
            slug: format!("{SLUG}-{number}"),
            caption: format!(
                "{} nodes and {} edges. Lines are as wide as their mask value; coloured edges and filled nodes have \
                 more than {threshold} and are selected.{said}",
                self.nodes,
                self.edges.len()
            ),
            art: Art::Chart(self.network(&title)),
            data: self.tables(),
            unit: Some(self.name.to_owned()),
            title,
        }
    }

    fn network(&self, title: &str) -> Chart {
        let threshold = self.protocol.threshold;
        let node = |at: usize| match &self.on_nodes {
            None => (Look::Hollow, format!("node {at}")),
            Some(mask) => {
                (look(mask.said(at, threshold)), format!("node {at}, {}", rounded(mask.values[at])))
            }
        };
        let stroke =
            |at: usize| self.on_edges.as_ref().map_or(Stroke::Plain, |mask| mask.stroke(at, threshold));
        let said = |mask: &Option<Mask>| -> Vec<Said> {
            let mask = mask.as_ref();
            mask.map_or(Vec::new(), |mask| {
                (0..mask.values.len()).map(|at| mask.said(at, threshold)).collect()
            })
        };
        let (nodes, lines) = (said(&self.on_nodes), said(&self.on_edges));
        let signs = [
            (Said::Selected, "selected"),
            (Said::Wrong, "selected, not in the truth"),
            (Said::Missed, "in the truth, not selected"),
            (Said::Left, "not selected"),
        ];
        let of_nodes = signs.iter().filter(|(said, _)| nodes.contains(said));
        let of_lines = signs.iter().filter(|(said, _)| lines.contains(said));
        Chart::Network(Network {
            title: title.to_owned(),
            description: format!("{} nodes, {} edges", self.nodes, self.edges.len()),
            nodes: (0..self.nodes).map(node).collect(),
            places: places(self.nodes, &self.edges),
            edges: self.edges.iter().enumerate().map(|(at, (u, v))| (*u, *v, stroke(at))).collect(),
            legend: of_nodes.map(|(said, words)| (look(*said), format!("node {words}"))).collect(),
            strokes: of_lines
                .map(|(said, words)| (line(*said, WIDEST / 2), format!("edge {words}")))
                .collect(),
        })
    }

    fn tables(&self) -> Vec<(String, Grid)> {
        let cells = |mask: &Mask, at: usize| {
            let truth = mask.truth.as_ref().map_or(Cell::Empty, |truth| Cell::Flag(truth[at]));
            let selected = mask.values[at] > self.protocol.threshold;
            [Cell::Number(mask.values[at]), Cell::Flag(selected), truth]
        };
        let mut tables = Vec::new();
        if let Some(mask) = &self.on_nodes {
            let row = |at: usize| std::iter::once(Cell::Number(at as f64)).chain(cells(mask, at)).collect();
            tables.push((
                "nodes".into(),
                table(&["node", "mask", "selected", "truth"], (0..self.nodes).map(row)),
            ));
        }
        let row = |(at, (u, v)): (usize, &(u32, u32))| {
            let mask = self.on_edges.as_ref().map_or([const { Cell::Empty }; 3], |mask| cells(mask, at));
            [Cell::Number((*u).into()), Cell::Number((*v).into())].into_iter().chain(mask).collect()
        };
        let columns = ["from", "to", "mask", "selected", "truth"];
        tables.push(("edges".into(), table(&columns, self.edges.iter().enumerate().map(row))));
        tables
    }
}

impl Mask {
    /// The mask of parts of several elements each, as important as their most important element.
    fn new(mask: &MaskValues, parts: &[Vec<usize>], protocol: &Explanation) -> Self {
        let value = |at: usize| match protocol.mask_scores {
            MaskScores::Logits => sigmoid(mask.pred[at]),
            _ => mask.pred[at],
        };
        let most = |part: &Vec<usize>| part.iter().map(|at| value(*at)).fold(f64::NEG_INFINITY, f64::max);
        let is_true = |truth: &[f64], part: &Vec<usize>| {
            part.iter().any(|at| truth.get(*at).is_some_and(|value| *value >= protocol.target_threshold))
        };
        Self {
            values: parts.iter().map(most).collect(),
            truth: mask
                .target
                .as_deref()
                .map(|truth| parts.iter().map(|part| is_true(truth, part)).collect()),
        }
    }

    fn said(&self, at: usize, threshold: f64) -> Said {
        let truth = self.truth.as_ref().and_then(|truth| truth.get(at)).copied();
        match (self.values[at] > threshold, truth) {
            (true, Some(false)) => Said::Wrong,
            (true, _) => Said::Selected,
            (false, Some(true)) => Said::Missed,
            (false, _) => Said::Left,
        }
    }

    /// The line of an edge, as wide as its share of the widest.
    fn stroke(&self, at: usize, threshold: f64) -> Stroke {
        let most = self.values.iter().copied().fold(0.0, f64::max);
        let share = if most > 0.0 { (self.values[at] / most).clamp(0.0, 1.0) } else { 0.0 };
        line(self.said(at, threshold), (share * f64::from(WIDEST)).round() as u8)
    }
}

fn line(said: Said, weight: u8) -> Stroke {
    match said {
        Said::Selected => Stroke::Weighted(SELECTED, weight),
        Said::Wrong => Stroke::Weighted(Colour::Bad, weight),
        Said::Missed => Stroke::Dashed(MISSED),
        Said::Left => Stroke::Pale(weight),
    }
}

fn look(said: Said) -> Look {
    match said {
        Said::Selected => Look::Full(SELECTED),
        Said::Wrong => Look::Wrong(SELECTED),
        Said::Missed => Look::Ringed(MISSED),
        Said::Left => Look::Hollow,
    }
}
