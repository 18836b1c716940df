//! What the demo's generators make, with more seeds than the demo.

use std::fs;
use std::path::{Path, PathBuf};

use calipers::core::SplitMix64;
use calipers::metrics::explanation::{Explanation, Scores};
use calipers::metrics::independent_set::{self, IndependentSet};
use calipers::metrics::robustness::{Budget, Robustness};
use calipers::metrics::training::{Preset, Training};
use calipers::reproduce::{Budgets, Options, Unseen};
use calipers::run::Work;
use calipers::rung::model::penalty::SCAD_A;
use calipers::rung::model::{Attack, Kind as PenaltyKind, Penalty, ScadScale, Weights};
use calipers::sources::inputs::Inputs;
use calipers::{Accumulator, Error, Result, demo, output, sources};
use serde_json::Value as Json;

use super::rows::{blocks_of, grouped_by, units_of};
use super::{Clustered, Drawable, Kind, Models, Part, Population, Populations};

const GRAPHS: usize = 400;
const MOLECULES: usize = 400;
const RUNS: usize = 400;
/// Trained and attacked models.
const MODELS: u64 = 60;
const BUDGETS: [&str; 3] = ["0.05", "0.2", "0.4"];
/// The configuration whose runs waver.
const GROUP: &str = "wavering";
/// Explained predictions of one explainer.
const TOGETHER: usize = 8;
/// Explainers that differ by chance alone.
const EXPLAINERS: u64 = 4;

pub(super) fn all(folder: &Path, threads: usize) -> Result<Populations> {
    let work = Work::quiet(threads);
    let graphs = graphs(&folder.join("graphs"), &work)?;
    let molecules = molecules(&folder.join("molecules"))?;
    let explained = explained(&folder.join("explained"), &molecules, &work)?;
    let population =
        |name, units: Box<dyn Drawable>, numbers: &[(Kind, String)], each| -> Result<Population> {
            // Few graphs are solved, so that there is no median of the steps to that.
            let each = Part::of_each(&*units, each)?;
            Ok(Population { name, parts: vec![Part::new(units, numbers)?, each] })
        };
    let single = vec![
        population(
            "400 graphs",
            Box::new(units_of(&graphs)),
            &[
                (Kind::Mean, "independent_set.f1".into()),
                (Kind::Ratio, "independent_set.accuracy_micro".into()),
                (Kind::Rate, "independent_set.optimal_rate".into()),
            ],
            "independent_set.f1",
        )?,
        population(
            "400 explained predictions",
            Box::new(units_of(&explained)),
            &[
                (Kind::Mean, "explanation.auroc".into()),
                (Kind::Ratio, "explanation.accuracy_pooled".into()),
                (Kind::Rate, "explanation.fid_plus_model".into()),
            ],
            "explanation.auroc",
        )?,
        runs(&folder.join("runs"), &work)?,
        attacked(&folder.join("attacked"), threads)?,
    ];
    let clustered = vec![by_explainer(&folder.join("clustered"), &molecules, &work)?];
    let models = vec![explainers(&folder.join("models"), &molecules, &work)?];
    Ok(Populations { single, clustered, models })
}

fn graphs(folder: &Path, work: &Work<'_>) -> Result<Accumulator<IndependentSet>> {
    let mut all = Accumulator::new(IndependentSet::new(independent_set::Preset::Strict));
    for seed in 0.. {
        let folder = folder.join(seed.to_string());
        demo::independent_set::write(&folder, seed)?;
        let options = sources::independent_set::options::Options {
            inputs: vec![folder],
            protocol: all.protocol().clone(),
            ..Default::default()
        };
        let measured = sources::independent_set::measure(&options, Inputs::default(), work)?;
        for row in measured.rows().iter() {
            if all.len() == GRAPHS {
                return Ok(all);
            }
            all.insert(format!("{:03}", all.len()), row.clone())?;
        }
    }
    Ok(all)
}

/// The lines of the explained predictions, one object each.
fn molecules(folder: &Path) -> Result<Vec<Json>> {
    let mut all = Vec::new();
    for seed in 0.. {
        demo::explanation::write(folder, seed)?;
        let path = folder.join(demo::explanation::UNITS);
        let text = fs::read_to_string(&path).map_err(|error| Error::io(error.to_string()))?;
        for line in text.lines() {
            if all.len() == MOLECULES {
                return Ok(all);
            }
            let mut molecule: Json =
                serde_json::from_str(line).map_err(|error| Error::format(error.to_string()))?;
            molecule["unit"] = format!("{:03}", all.len()).into();
            all.push(molecule);
        }
    }
    Ok(all)
}

fn explained(folder: &Path, molecules: &[Json], work: &Work<'_>) -> Result<Accumulator<Explanation>> {
    let lines: String = molecules.iter().map(|molecule| format!("{molecule}\n")).collect();
    let path = folder.with_extension("jsonl");
    output::write(&path, lines.as_bytes())?;
    let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let options = sources::explanation::Options { inputs: vec![path], protocol };
    sources::explanation::measure(&options, Inputs::default(), work)
}

/// The masks of an explainer: those of the demo, with `noise` times as much chance as truth in them.
fn masked(molecules: &[Json], noise: impl Fn(usize) -> f64, seed: u64) -> Vec<Json> {
    let mut random = SplitMix64::new(seed);
    let one = |(at, molecule): (usize, &Json)| {
        let mut molecule = molecule.clone();
        let noise = noise(at);
        for value in molecule["pred_mask"].as_array_mut().into_iter().flatten() {
            let mixed = (value.as_f64().unwrap_or(0.0) + noise * random.unit()) / (1.0 + noise);
            *value = mixed.into();
        }
        molecule
    };
    molecules.iter().enumerate().map(one).collect()
}

/// Explainers of which each explained so many predictions, one well and the next badly.
fn by_explainer(folder: &Path, molecules: &[Json], work: &Work<'_>) -> Result<Clustered> {
    let mut random = SplitMix64::new(1);
    let skills: Vec<f64> = (0..MOLECULES / TOGETHER).map(|_| 3.0 * random.unit()).collect();
    let rows = explained(folder, &masked(molecules, |at| skills[at / TOGETHER], 2), work)?;
    let numbers =
        [(Kind::Mean, "explanation.auroc".into()), (Kind::Ratio, "explanation.jaccard_pooled".into())];
    let part = Part::new(Box::new(blocks_of(&rows, TOGETHER)), &numbers)?;
    Ok(Clustered { name: "8 explained predictions of each explainer", part })
}

/// Explainers of one skill, whose masks differ by chance.
fn explainers(folder: &Path, molecules: &[Json], work: &Work<'_>) -> Result<Models> {
    let mut models: Vec<Box<dyn Drawable>> = Vec::new();
    for model in 0..EXPLAINERS {
        let path = folder.with_file_name(format!("explainer-{model}"));
        let rows = explained(&path, &masked(molecules, |_| 1.0, 10 + model), work)?;
        models.push(Box::new(units_of(&rows)));
    }
    let numbers =
        vec![(Kind::Mean, "explanation.auroc".into()), (Kind::Ratio, "explanation.jaccard_pooled".into())];
    Ok(Models { name: "explainers of the 400 predictions", models, numbers })
}

fn runs(folder: &Path, work: &Work<'_>) -> Result<Population> {
    let key = demo::training::KEY;
    let metric = Training { metric: key.into(), label: key.into(), ..Training::new(Preset::Strict) };
    let mut all: Option<Accumulator<Training>> = None;
    let mut seed = 0;
    while all.as_ref().is_none_or(|rows| rows.len() < RUNS) {
        demo::training::write(folder, seed)?;
        let options =
            sources::training::options::Options::over(vec![folder.join(GROUP)], vec![metric.clone()]);
        let measured = sources::training::measure(&options, Inputs::default(), work)?;
        for rows in measured.accumulators {
            let whole = all.get_or_insert_with(|| Accumulator::new(rows.protocol().clone()));
            for row in rows.rows().iter() {
                whole.insert(format!("{:03}", whole.len()), row.clone())?;
            }
        }
        seed += 1;
    }
    let rows = all.unwrap_or_else(|| Accumulator::new(metric));
    let group = rows.rows().first().map_or_else(String::new, |row| row.group.clone());
    let of = |id: &str| format!("training.{id}.{group}");
    Ok(Population {
        name: "400 training runs of one group",
        parts: vec![Part::new(
            Box::new(units_of(&rows)),
            &[
                (Kind::Mean, of("last_mean")),
                (Kind::Ratio, of("stability_wise")),
                (Kind::Rate, of("divergence_rate")),
                (Kind::Median, of("velocity_median")),
            ],
        )?],
    })
}

fn attacked(folder: &Path, threads: usize) -> Result<Population> {
    let budget = |text: &str| Ok((text.to_owned(), Budget::parse(text)?));
    let budgets: Budgets = BUDGETS.into_iter().map(budget).collect::<Result<_>>()?;
    let penalty = Penalty::new(PenaltyKind::L1, Weights::Exact, None, SCAD_A, ScadScale::One)?;
    let options = Options {
        graph: None,
        given: None,
        splits: None,
        split: Vec::new(),
        one_split: true,
        seeds: (0..MODELS).collect(),
        penalties: vec![penalty],
        budgets,
        epochs: 100,
        attack: Attack { steps: 40, samples: 10, ..Attack::default() },
        out: PathBuf::from(folder),
        resume: false,
    };
    let found = calipers::rung::reproduce::run(&options, threads, &Unseen)?;
    let rows: &Accumulator<Robustness> = match found.penalties.first() {
        Some(penalty) => &penalty.accumulator,
        None => return Err(Error::value("no model was attacked")),
    };
    let units =
        grouped_by(rows, |row| row.run().to_owned(), |place, _, row| row.of_run(format!("{place:04}")));
    let each = Part::of_each(&units, "robustness.accuracy_average")?;
    let numbers = [
        (Kind::Mean, "robustness.accuracy_average".into()),
        (Kind::Ratio, "robustness.bias_slope".into()),
        (Kind::OverLabels, "robustness.accuracy_auc".into()),
    ];
    let own = Part::new(Box::new(units), &numbers)?;
    Ok(Population { name: "60 robustness runs of 3 budgets", parts: vec![own, each] })
}
