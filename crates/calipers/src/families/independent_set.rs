//! Independent sets: read again, whole or one graph.

use std::path::PathBuf;

use calipers_core::resample::Intervals;
use calipers_core::{Accumulator, Error, Result};
use calipers_io::graph::FORMATS;
use calipers_metrics::independent_set::IndependentSet;
use calipers_metrics::independent_set::solution::chosen;
use calipers_report::chart::Picture;
use calipers_sources::independent_set::options::{IN_GRAPH, Labels, Optimum, Options};
use calipers_sources::independent_set::{Units, measure};
use calipers_sources::run::Work;
use serde::de::DeserializeOwned;

use crate::pictures;
use crate::registry::Registered;
use crate::replay::{Evidence, Replay};

/// A graph with the set that was scored.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// How many nodes there are.
    pub nodes: usize,
    /// Every edge once, the smaller node first.
    pub edges: Vec<(u32, u32)>,
    /// The predicted set as it was given: scores above their middle, violations included.
    pub chosen: Option<Vec<bool>>,
    /// The set after greedy repair.
    pub decoded: Option<Vec<bool>>,
    /// The labels.
    pub labels: Option<Vec<bool>>,
    /// The score of each node: the first sample, the last step.
    pub scores: Option<Vec<f64>>,
}

/// The graphs, to be read one by one.
pub fn units(replay: &Replay) -> Result<Units> {
    Units::find(options(replay)?, replay.again())
}

/// The graph of that name.
pub fn unit(units: &Units, name: &str) -> Result<Solved> {
    units.with(name, |protocol, graph, scores, labels| {
        let larger = |u: u32| graph.neighbours(u).iter().filter(move |v| **v > u).map(move |v| (u, *v));
        let sets = scores.map(|scores| chosen(protocol.preset, graph, &scores));
        let (mut predicted, mut decoded, mut values) = (None, None, None);
        if let Some(sets) = sets {
            (predicted, decoded, values) = (Some(sets.predicted), Some(sets.decoded), Some(sets.scores));
        }
        Ok(Solved {
            nodes: graph.nodes(),
            edges: (0..graph.nodes() as u32).flat_map(larger).collect(),
            chosen: predicted,
            decoded,
            labels: labels.map(<[bool]>::to_vec),
            scores: values,
        })
    })
}

impl Registered for IndependentSet {
    const SUMMARY: &'static str = "predicted maximum independent sets of graphs";

    fn measure_again(replay: &Replay, threads: usize) -> Result<Vec<Accumulator<Self>>> {
        Ok(vec![measure(&options(replay)?, replay.again(), &Work::quiet(threads))?])
    }

    fn pictures(rows: &Accumulator<Self>, evidence: &Evidence, _: Option<&Intervals>) -> Vec<Picture> {
        pictures::independent_set::of(rows, evidence)
    }
}

fn options(replay: &Replay) -> Result<Options> {
    let recorded = replay.recorded();
    let one = |role: &str| -> Result<Option<PathBuf>> { recorded.one(role) };
    let labels = match recorded.text("labels").as_deref() {
        Some(IN_GRAPH) => Some(Labels::InGraph),
        _ => one("labels")?.map(Labels::At),
    };
    let optimum = match recorded.number("optimum") {
        Some(same) => Some(Optimum::Same(same)),
        None => one("optimum")?.map(Optimum::At),
    };
    Ok(Options {
        inputs: recorded.given("input"),
        graph: one("graph")?,
        scores: one("scores")?,
        labels,
        optimum,
        names: one("names")?,
        no_scores: recorded.flag("no_scores"),
        scores_are: word(recorded.text("scores_are")),
        axis: word(recorded.text("axis")),
        graph_format: recorded
            .text("graph_format")
            .map(|name| FORMATS.called(&name).ok_or_else(|| Error::usage("unknown graph format").found(name)))
            .transpose()?,
        index_base: recorded.number("index_base").unwrap_or(0).try_into().unwrap_or(u32::MAX),
        num_nodes: recorded.number("num_nodes"),
        pair_strip: recorded.list("pair_strip"),
        refuse_self_loops: recorded.text("self_loops").as_deref() == Some("error"),
        protocol: replay.parameter::<IndependentSet>()?,
    })
}

/// A word that the protocol spells the same way.
fn word<T: DeserializeOwned>(text: Option<String>) -> Option<T> {
    text.and_then(|text| serde_json::from_value(text.into()).ok())
}
