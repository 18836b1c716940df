//! What rows do not hold, read again from recorded inputs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::{Path, PathBuf};

use calipers::core::InputFiles;
use calipers::families;
use calipers::inputs::Inputs;
use calipers::metrics::explanation::{Explanation, Scores};
use calipers::replay::{Evidence, Replay};
use calipers::run::Work;
use calipers::sources::config_file;
use calipers::sources::training::assign::{Assignment, FoldBy};
use calipers::sources::{explanation, independent_set, segmentation, training};
use calipers::{Accumulator, Report, demo};
use calipers_metrics::training::{Preset, Training};

fn available(report: &Report) -> Replay {
    match Evidence::of(report) {
        Evidence::Available(replay) => replay,
        Evidence::Missing(why) => panic!("{why}"),
    }
}

fn graphs(folder: &Path) -> Report {
    demo::independent_set::write(folder, 0).unwrap();
    let inputs = vec![folder.to_path_buf()];
    let options = independent_set::options::Options { inputs, ..Default::default() };
    independent_set::measure(&options, Inputs::default(), &Work::quiet(1)).unwrap().finish()
}

#[test]
fn a_graph_comes_back_with_its_sets() {
    let folder = tempfile::tempdir().unwrap();
    let report = graphs(folder.path());
    let replay = available(&report);
    let units = families::independent_set::units(&replay).unwrap();
    let solved = families::independent_set::unit(&units, "graph_00").unwrap();
    let (chosen, decoded) = (solved.chosen.unwrap(), solved.decoded.unwrap());
    assert_eq!((chosen.len(), decoded.len()), (solved.nodes, solved.nodes));
    assert!(
        solved.edges.is_sorted() && solved.edges.iter().all(|(u, v)| u < v && (*v as usize) < solved.nodes)
    );
    assert!(solved.edges.iter().all(|(u, v)| !(decoded[*u as usize] && decoded[*v as usize])));
    assert!(families::independent_set::unit(&units, "graph_99").is_err());
    assert_eq!(replay.measure(2).unwrap().report(), report);
}

#[test]
fn an_image_comes_back_in_global_classes() {
    let folder = tempfile::tempdir().unwrap();
    demo::segmentation::write(folder.path(), 0).unwrap();
    let config = folder.path().join(demo::segmentation::MULTI_HEAD);
    let parsed = config_file::parse(&std::fs::read_to_string(&config).unwrap()).unwrap();
    let options = segmentation::options::Options::new(parsed, config.parent().unwrap());
    let measured = segmentation::measure(&options, Inputs::default(), &Work::quiet(1)).unwrap();
    let (classes, report) = (measured.protocol().classes() as u16, measured.finish());
    let replay = available(&report);
    let units = families::segmentation::units(&replay).unwrap();
    let maps = families::segmentation::unit(&units, "scene_00").unwrap();
    assert_eq!(
        (maps.truth.len(), maps.prediction.len()),
        (maps.width * maps.height, maps.width * maps.height)
    );
    assert!(maps.truth.iter().chain(&maps.prediction).flatten().all(|class| *class < classes));
    let right = maps.truth.iter().zip(&maps.prediction).filter(|(a, b)| a.is_some() && a == b).count();
    assert!(2 * right > maps.truth.len(), "{right}");
    assert_eq!(replay.measure(1).unwrap().report(), report);
}

#[test]
fn masks_and_curves_come_back() {
    let folder = tempfile::tempdir().unwrap();
    demo::explanation::write(folder.path(), 0).unwrap();
    let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let options = explanation::Options { inputs: vec![folder.path().into()], protocol };
    let measured = explanation::measure(&options, Inputs::default(), &Work::quiet(1)).unwrap();
    let name = measured.rows().named().next().unwrap().0.to_owned();
    let units = families::explanation::units(&available(&measured.finish())).unwrap();
    let masks = families::explanation::unit(&units, &name).unwrap();
    assert!(!masks.is_empty() && masks.iter().all(|mask| !mask.pred.is_empty()));

    let folder = tempfile::tempdir().unwrap();
    demo::training::write(folder.path(), 0).unwrap();
    let key = demo::training::KEY;
    let metric = Training { metric: key.into(), label: key.into(), ..Training::new(Preset::Strict) };
    let options = training::options::Options {
        assignment: Assignment { group_by: "folder".parse().unwrap(), fold_by: FoldBy::Auto, runs: None },
        ..training::options::Options::over(vec![PathBuf::from(folder.path())], vec![metric])
    };
    let measured = training::measure(&options, Inputs::default(), &Work::quiet(1)).unwrap();
    let accumulator: &Accumulator<Training> = &measured.accumulators[0];
    let curves = families::training::curves(&available(&accumulator.finish())).unwrap();
    let units: Vec<&str> = curves.iter().map(|curve| curve.unit.as_str()).collect();
    assert_eq!(units, accumulator.rows().named().map(|(name, _)| name).collect::<Vec<_>>());
    for (curve, row) in curves.iter().zip(accumulator.rows().iter()) {
        assert_eq!((curve.x.len(), curve.values.len()), (curve.values.len(), row.points as usize));
        let saturated = row.strict.as_ref().map(|strict| strict.x.to_bits());
        assert_eq!(curve.saturation.map(|at| curve.x[at].to_bits()), saturated, "{}", curve.unit);
    }
}

#[test]
fn evidence_that_changed_or_was_never_in_a_file_is_missing_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let report = graphs(folder.path());
    let file = folder.path().join("graph_03.safetensors");
    let mut bytes = std::fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let why = |report: &Report| match Evidence::of(report) {
        Evidence::Missing(why) => why,
        Evidence::Available(_) => panic!("the evidence is there"),
    };
    assert!(why(&report).contains("graph_03.safetensors has changed"), "{}", why(&report));
    std::fs::remove_file(&file).unwrap();
    assert!(why(&report).contains("graph_03.safetensors cannot be read"), "{}", why(&report));
    let nowhere = Report { inputs: InputFiles::default(), ..report };
    assert!(why(&nowhere).contains("names no inputs"));
}
