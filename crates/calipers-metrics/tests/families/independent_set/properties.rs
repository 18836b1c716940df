//! What holds for any graph: ranges, relabelling, perfect predictions, and runs without evidence.

use calipers_core::{Accumulator, Fact, Metric, Protocol, Rows, Value};
use calipers_metrics::independent_set::graph::{Graph, Storage};
use calipers_metrics::independent_set::search::greedy;
use calipers_metrics::independent_set::unit::{Scores, Unit};
use calipers_metrics::independent_set::{Decoder, IndependentSet, Kind, PosWeight, Preset};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Sample {
    nodes: usize,
    entries: Vec<(u32, u32)>,
    scores: Vec<f64>,
    labels: Option<Vec<bool>>,
    optimum: Option<u64>,
}

impl Sample {
    fn graph(&self) -> Graph {
        Graph::build(self.nodes as u64, Storage::Both, &&self.entries[..]).expect("a good graph")
    }

    fn add_to(&self, state: &mut Accumulator<IndependentSet>, name: &str) {
        let graph = self.graph();
        let scores = state.protocol().scores.map(|kind| {
            let p: Vec<f64> = match kind {
                Kind::Logits => self.scores.clone(),
                Kind::Probs => self.scores.iter().map(|z| (z + 8.0) / 16.0).collect(),
                Kind::Set => self.scores.iter().map(|z| f64::from(*z > 0.0)).collect(),
            };
            (kind, p)
        });
        let scores = scores
            .as_ref()
            .map(|(kind, values)| Scores::new(*kind, None, values, self.nodes).expect("good scores"));
        let unit = Unit::new(&graph, scores, self.labels.as_deref(), self.optimum);
        state.update(name, unit.expect("a good unit")).expect("a new name");
    }

    /// The same graph with node v called `names[v]`.
    fn relabelled(&self, names: &[usize]) -> Self {
        let mut new = self.clone();
        new.entries =
            self.entries.iter().map(|&(u, v)| (names[u as usize] as u32, names[v as usize] as u32)).collect();
        for (v, &name) in names.iter().enumerate() {
            new.scores[name] = self.scores[v];
            if let (Some(new), Some(old)) = (&mut new.labels, &self.labels) {
                new[name] = old[v];
            }
        }
        new
    }
}

fn sample(smallest: usize) -> impl Strategy<Value = Sample> {
    (smallest..12usize).prop_flat_map(|nodes| {
        let node = 0..nodes.max(1) as u32;
        let most = if nodes == 0 { 0 } else { 30 };
        (
            prop::collection::vec((node.clone(), node), 0..=most),
            prop::collection::vec(-8.0..8.0f64, nodes),
            prop::option::of(prop::collection::vec(any::<bool>(), nodes)),
            prop::option::of(0..=nodes as u64),
        )
            .prop_map(move |(entries, scores, labels, optimum)| Sample {
                nodes,
                entries,
                scores,
                labels,
                optimum,
            })
    })
}

fn protocol() -> impl Strategy<Value = IndependentSet> {
    let preset = prop_oneof![Just(Preset::Strict), Just(Preset::Document), Just(Preset::TrmMisHead)];
    let kind =
        prop_oneof![Just(None), Just(Some(Kind::Logits)), Just(Some(Kind::Probs)), Just(Some(Kind::Set))];
    let weight = prop_oneof![Just(PosWeight::Pooled), (0.0..5.0f64).prop_map(PosWeight::Fixed)];
    (preset, kind, weight, 0.0..2.0f64).prop_map(|(preset, scores, pos_weight, feasibility_weight)| {
        IndependentSet {
            scores,
            pos_weight,
            feasibility_weight,
            decoders: vec![Decoder::ScoreDegree, Decoder::Swap],
            ..IndependentSet::new(preset)
        }
    })
}

fn in_range(metric: &Metric<IndependentSet>, value: &Value) -> bool {
    match value {
        Value::Undefined(reason) => {
            reason == "no units given" || metric.undefined.contains(&format!("\"{reason}\""))
        }
        Value::Series(points) => points.iter().all(|point| in_range(metric, point)),
        value => {
            value.as_f64().is_some_and(|x| x.is_finite() && metric.range.low <= x && x <= metric.range.high)
        }
    }
}

proptest! {
    #[test]
    fn every_value_lies_in_its_range_or_has_a_reason_that_its_definition_names(
        protocol in protocol(),
        samples in prop::collection::vec(sample(0), 0..4),
    ) {
        let mut state = Accumulator::new(protocol);
        for (i, sample) in samples.iter().enumerate() {
            sample.add_to(&mut state, &i.to_string());
        }
        let rows = state.rows();
        for metric in IndependentSet::METRICS.iter().filter(|metric| (metric.presets)(state.protocol())) {
            let value = metric.read(state.protocol(), &rows);
            prop_assert!(in_range(metric, &value), "{}: {:?}", metric.id, value);
            for i in 0..rows.len() {
                let value = metric.read(state.protocol(), &rows.single(i));
                prop_assert!(in_range(metric, &value), "{}: {:?}", metric.id, value);
            }
        }
    }

    #[test]
    fn relabelling_nodes_changes_no_number_that_does_not_depend_on_ties(
        mut sample in sample(1),
        order in Just((0..12usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        for (v, score) in sample.scores.iter_mut().enumerate() {
            *score = score.round() + v as f64 / 64.0 + 1.0 / 128.0;
        }
        let names: Vec<usize> = order.into_iter().filter(|&v| v < sample.nodes).collect();
        let protocol = IndependentSet { scores: Some(Kind::Logits), ..Default::default() };
        let mut before = Accumulator::new(protocol.clone());
        sample.add_to(&mut before, "g");
        let mut after = Accumulator::new(protocol);
        sample.relabelled(&names).add_to(&mut after, "g");
        let (before, after) = (before.rows(), after.rows());
        let by_number = ["labels", "certificate", "baseline"];
        for metric in IndependentSet::METRICS.iter().filter(|metric| !by_number.contains(&metric.group)) {
            let read = |rows: &Rows<'_, _>| metric.read(&IndependentSet::default(), rows);
            prop_assert_eq!(read(&before), read(&after), "{}", metric.id);
        }
    }

    #[test]
    fn a_perfect_prediction_gets_the_best_value_of_every_score(mut sample in sample(1)) {
        let labels = greedy(&sample.graph(), &sample.scores);
        sample.scores = labels.iter().map(|&y| if y { 3.0 } else { -3.0 }).collect();
        (sample.labels, sample.optimum) = (Some(labels), None);
        let mut state = Accumulator::new(IndependentSet { scores: Some(Kind::Logits), ..Default::default() });
        sample.add_to(&mut state, "g");
        let report = state.finish();
        let expected = [
            ("num_violations", 0.0),
            ("accuracy", 1.0),
            ("precision", 1.0),
            ("recall", 1.0),
            ("f1", 1.0),
            ("set_size_ratio", 1.0),
            ("gap", 0.0),
            ("gap_ratio", 0.0),
            ("approx_ratio_postprocessed", 1.0),
            ("solved", 1.0),
            ("is_independent", 1.0),
            ("is_maximal", 1.0),
            ("conflict_rate", 0.0),
            ("solved_any_optimum", 1.0),
            ("label_is_maximal", 1.0),
            ("drop_ratio_of_means", 0.0),
        ];
        for (id, best) in expected {
            let value = report.get(&format!("independent_set.{id}"));
            prop_assert_eq!(value, Some(&Value::Number(best)), "{}", id);
        }
        let sure = report.get("independent_set.q_hat").and_then(Value::as_f64).unwrap();
        prop_assert!((sure - 1.5f64.tanh()).abs() < 1e-12);
    }
}

#[test]
fn a_run_without_units_has_a_reason_for_every_metric() {
    for preset in [Preset::Strict, Preset::Document, Preset::TrmMisHead] {
        let report = Accumulator::new(IndependentSet::new(preset)).finish();
        for (id, value) in &report.metrics {
            assert_eq!(value.reason(), Some("no units given"), "{id}");
        }
        assert!(report.warnings.is_empty());
    }
}

#[test]
fn a_header_with_another_edge_count_is_a_warning_between_storage_and_labels() {
    let path = Sample {
        nodes: 3,
        entries: vec![(0, 1), (1, 2)],
        scores: vec![1.0, -1.0, 1.0],
        labels: Some(vec![true, false, false]),
        optimum: None,
    };
    let mut state = Accumulator::new(IndependentSet { scores: Some(Kind::Logits), ..Default::default() });
    path.add_to(&mut state, "path");
    state.provenance.facts.insert(Fact {
        code: "edge-count-differs".into(),
        unit: "path".into(),
        detail: "3 promised, 2 found".into(),
    });
    let warnings = state.finish().warnings;
    let codes: Vec<&str> = warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["one-directional-edges", "edge-count-differs", "label-not-maximal", "label-beaten"]);
    assert!(warnings[1].message.contains("3 promised, 2 found"));
    assert_eq!(warnings[1].units, ["path"]);
}
