//! Every picture of the demo is drawn, stands alone, and hostile names or many units change nothing about that.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::path::Path;

use calipers::core::{Accumulator, Ledger, SplitMix64};
use calipers::inputs::Inputs;
use calipers::metrics::explanation::{Explanation, Scores};
use calipers::metrics::independent_set::graph::{Graph, Storage};
use calipers::metrics::independent_set::unit::{Scores as NodeScores, Unit as GraphUnit};
use calipers::metrics::independent_set::{IndependentSet, Kind};
use calipers::metrics::segmentation::{Config, LabelMap, MapData, Prediction, Segmentation, Unit};
use calipers::metrics::training::{Preset, Training};
use calipers::replay::Evidence;
use calipers::report::chart::files::{FORMATS, write};
use calipers::report::chart::{Art, Chart, Drawing, Picture, Style};
use calipers::run::Work;
use calipers::sources::training::assign::{Assignment, FoldBy};
use calipers::sources::{explanation, independent_set, segmentation, training};
use calipers::{demo, pictures};
use serde_json::json;

const ELEMENTS: [&str; 8] = ["svg", "title", "desc", "rect", "circle", "line", "path", "text"];
const HOSTILE: [&str; 10] = [
    "</text><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onload='alert(1)",
    "<![CDATA[<svg/onload=alert(1)>]]>",
    "&#60;script&#62;",
    "]]>\u{0}\u{1}\u{ffff}\u{202e}x",
    "javascript:alert(1)",
    "{{7*7}}${7*7}<%= 7 %>",
    "<style>*{display:none}</style>",
    "--><foreignObject><body onload=alert(1)>",
];

fn charts(picture: &Picture) -> Vec<&Chart> {
    match &picture.art {
        Art::Chart(chart) => vec![chart],
        Art::Variants(variants) => variants.iter().map(|(_, chart)| chart).collect(),
        Art::Missing(_) => Vec::new(),
    }
}

/// As a page and a phone show them. Images are shown as images.
fn drawings(picture: &Picture) -> Vec<Drawing> {
    let drawn = charts(picture).into_iter().filter(|chart| !matches!(chart, Chart::Images(_)));
    drawn.flat_map(|chart| [500.0, 318.0].map(|width| chart.draw(width))).collect()
}

/// In every format and style: files of their kind, the same every time.
fn check_files(chart: &Chart) {
    for format in FORMATS {
        for (name, style) in Style::ALL {
            let file = || write(chart, format, None, style).unwrap();
            let bytes = file();
            assert!(bytes.len() > 500, "{} {name}", format.name);
            // Pixels take long; they are made from the same shapes.
            assert!(format.name == "png" || bytes == file(), "{} {name}", format.name);
        }
    }
    let units = 3.3 * 72.0 * 12.0 / 7.0;
    let narrow = chart.draw(units).to_string();
    for size in narrow.split("font-size=\"").skip(1) {
        let size: f64 = size.split('"').next().unwrap().parse().unwrap();
        assert!(size * 7.0 / 12.0 >= 6.5, "words of {size} units in a column of a paper");
    }
}

/// A file of its own: well formed, known elements only, a title and a description, nothing from outside.
fn check(svg: &Drawing) {
    let text = svg.to_string();
    let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"));
    for needed in ["title", "desc"] {
        let child = root.children().find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", needed)));
        assert!(child.is_some_and(|child| child.text().is_some_and(|text| !text.is_empty())), "{text}");
    }
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(ELEMENTS.contains(&node.tag_name().name()), "{}", node.tag_name().name());
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!name.starts_with("on") && !name.contains("href") && name != "style", "{name}");
            assert!(!attribute.value().contains("NaN") && !attribute.value().contains("url("), "{text}");
        }
    }
}

fn check_all(pictures: &[Picture]) {
    let slugs: BTreeSet<&str> = pictures.iter().map(|picture| picture.slug.as_str()).collect();
    assert_eq!(slugs.len(), pictures.len());
    for picture in pictures {
        assert!(picture.slug.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{}", picture.slug);
        drawings(picture).iter().for_each(check);
        for (name, grid) in &picture.data {
            assert!(grid.rows.iter().all(|row| row.len() == grid.columns.len()), "{} {name}", picture.slug);
            assert!(grid.rows.len() <= 20_000, "{} {name}", picture.slug);
        }
    }
}

fn size(pictures: &[Picture]) -> usize {
    let drawn = |picture: &Picture| drawings(picture).iter().map(|svg| svg.to_string().len()).sum::<usize>();
    pictures.iter().map(drawn).sum()
}

/// Draws a ledger with its inputs at hand: twice the same, and nothing is missing.
fn complete(ledger: &dyn Ledger, expected: &[&str]) {
    let evidence = Evidence::of(&ledger.report());
    let drawn = pictures::of(ledger, &evidence, None);
    assert_eq!(drawn, pictures::of(ledger, &evidence, None));
    check_all(&drawn);
    let slugs: Vec<&str> = drawn.iter().map(|picture| picture.slug.as_str()).collect();
    assert_eq!(slugs, expected);
    for picture in &drawn {
        let missing = matches!(picture.art, Art::Missing(_));
        assert!(!missing && !picture.caption.is_empty() && !picture.data.is_empty(), "{picture:?}");
    }
    drawn.iter().flat_map(charts).for_each(check_files);
    assert!(size(&drawn) < 2_000_000, "{}", size(&drawn));
}

#[test]
fn every_picture_of_the_demo_segmentation_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    demo::segmentation::write(folder.path(), 0).unwrap();
    let text = std::fs::read_to_string(folder.path().join(demo::segmentation::BASELINE)).unwrap();
    let config = calipers::sources::config_file::parse(&text).unwrap();
    let options = segmentation::options::Options::new(config, folder.path());
    let ledger = segmentation::measure(&options, Inputs::default(), &Work::quiet(2)).unwrap();
    complete(
        &ledger,
        &[
            "confusion",
            "iou",
            "reliability",
            "worst-images-1",
            "worst-images-2",
            "worst-images-3",
            "worst-images-4",
            "median-image",
            "best-image",
        ],
    );
    let drawn = pictures::of(&ledger, &Evidence::of(&ledger.report()), None);
    let Art::Chart(Chart::Images(images)) = &drawn[3].art else { panic!("images are panels") };
    let panels = &images.panels;
    let captions: Vec<&str> = panels.iter().map(|panel| panel.caption.as_str()).collect();
    assert_eq!(captions, ["truth", "prediction", "errors", "boundary bands"]);
    assert!(panels.iter().all(|panel| panel.image.png().starts_with(b"\x89PNG")));
}

#[test]
fn every_picture_of_the_demo_graphs_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    demo::independent_set::write(folder.path(), 0).unwrap();
    let inputs = vec![folder.path().to_owned()];
    let options = independent_set::options::Options { inputs, ..Default::default() };
    let ledger = independent_set::measure(&options, Inputs::default(), &Work::quiet(2)).unwrap();
    complete(&ledger, &["ratios", "gap", "steps", "graphs-1", "graphs-2", "graphs-3"]);
}

#[test]
fn every_picture_of_the_demo_explanations_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    demo::explanation::write(folder.path(), 0).unwrap();
    let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let options = explanation::Options { inputs: vec![folder.path().to_owned()], protocol };
    let ledger = explanation::measure(&options, Inputs::default(), &Work::quiet(2)).unwrap();
    complete(
        &ledger,
        &["fidelity-plane", "fidelity-curve", "masks", "explained-1", "explained-2", "explained-3"],
    );
}

fn trained(folder: &Path, sweep: Vec<f64>) -> Accumulator<Training> {
    demo::training::write(folder, 0).unwrap();
    let key = String::from(demo::training::KEY);
    let metric = Training { metric: key.clone(), label: key, sweep, ..Training::new(Preset::Strict) };
    let options = training::options::Options {
        assignment: Assignment { group_by: "folder".parse().unwrap(), fold_by: FoldBy::Auto, runs: None },
        ..training::options::Options::over(vec![folder.to_owned()], vec![metric])
    };
    let measured = training::measure(&options, Inputs::default(), &Work::quiet(2)).unwrap();
    measured.accumulators.into_iter().next().unwrap()
}

#[test]
fn every_picture_of_the_demo_runs_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = trained(folder.path(), vec![0.6, 0.8, 0.9]);
    complete(&ledger, &["configurations", "curves-1", "curves-2", "curves-3", "survival", "sweep"]);
}

#[test]
fn what_is_not_at_hand_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = trained(folder.path(), Vec::new());
    let drawn = pictures::of(&ledger, &Evidence::Missing("runs.csv has other bytes".into()), None);
    let missing: Vec<(&str, &str)> = drawn
        .iter()
        .filter_map(|picture| match &picture.art {
            Art::Missing(why) => Some((picture.slug.as_str(), why.as_str())),
            _ => None,
        })
        .collect();
    let sweep = "no sweep of thresholds was asked for (--sweep)";
    assert_eq!(missing, [("curves", "runs.csv has other bytes"), ("sweep", sweep)]);
}

fn segmented(
    names: Vec<String>,
    units: usize,
    side: usize,
    unit: impl Fn(usize) -> String,
) -> Accumulator<Segmentation> {
    let classes = names.len() as u64;
    let config = json!({"labels": {"original": names}});
    let protocol = serde_json::from_value::<Config>(config).unwrap().resolve().unwrap();
    let mut rows = Accumulator::new(protocol);
    let mut random = SplitMix64::new(1);
    for i in 0..units {
        let mut map = || -> Vec<u16> { (0..side * side).map(|_| random.below(classes) as u16).collect() };
        let (truth, pred) = (map(), map());
        let view = |data| LabelMap { height: side, width: side, data: MapData::U16(data) };
        let pixels = Unit::Pixels { truth: view(&truth), pred: Prediction::Labels(view(&pred)) };
        rows.update(unit(i), pixels).unwrap();
    }
    rows
}

fn without_inputs() -> Evidence {
    Evidence::Missing("nothing was read".into())
}

#[test]
fn hostile_names_never_become_markup() {
    let names = HOSTILE.map(String::from).to_vec();
    let rows = segmented(names, 5, 8, |i| format!("{}{i}", HOSTILE[i]));
    let drawn = pictures::of(&rows, &without_inputs(), None);
    check_all(&drawn);
    assert!(drawn.iter().flat_map(drawings).any(|svg| svg.to_string().contains("&lt;script&gt;")));

    let mut graphs =
        Accumulator::new(IndependentSet { scores: Some(Kind::Set), ..IndependentSet::default() });
    for name in HOSTILE {
        let graph = Graph::build(3, Storage::Both, &[(0u32, 1u32), (1, 2)].as_slice()).unwrap();
        let scores = NodeScores::new(Kind::Set, None, &[1.0, 0.0, 1.0], 3).unwrap();
        let unit = GraphUnit::new(&graph, Some(scores), Some(&[true, false, true]), None).unwrap();
        graphs.update(name, unit).unwrap();
    }
    check_all(&pictures::of(&graphs, &without_inputs(), None));
}

#[test]
fn many_classes_and_many_units_stay_small() {
    let names = (0..60_000).map(|i| format!("class {i}")).collect();
    let rows = segmented(names, 3, 200, |i| i.to_string());
    let drawn = pictures::of(&rows, &without_inputs(), None);
    check_all(&drawn);
    assert!(size(&drawn) < 3_000_000, "{}", size(&drawn));

    let protocol = IndependentSet { scores: Some(Kind::Set), ..IndependentSet::default() };
    let mut graphs = Accumulator::new(protocol);
    let mut random = SplitMix64::new(2);
    for i in 0..30_000 {
        let nodes = 2 + random.below(20);
        let edges: Vec<(u32, u32)> = (1..nodes as u32).map(|v| (v - 1, v)).collect();
        let graph = Graph::build(nodes, Storage::Once, &edges.as_slice()).unwrap();
        let set: Vec<f64> = (0..nodes).map(|v| (v % 2) as f64).collect();
        let labels: Vec<bool> = (0..nodes).map(|v| v % 2 == 0).collect();
        let scores = NodeScores::new(Kind::Set, None, &set, nodes as usize).unwrap();
        let name = format!("graph {i}");
        let unit = GraphUnit::new(&graph, Some(scores), Some(&labels), None).unwrap();
        graphs.update(name.as_str(), unit).unwrap();
    }
    let drawn = pictures::of(&graphs, &without_inputs(), None);
    check_all(&drawn);
    assert!(size(&drawn) < 600_000, "{}", size(&drawn));
}
