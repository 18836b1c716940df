//! Attacks: read again from array files, or computed again from graphs and models.

use std::collections::BTreeMap;

use calipers_core::resample::Intervals;
use calipers_core::{Accumulator, Error, Result};
use calipers_metrics::robustness::Budget;
use calipers_metrics::robustness::{ModelSettings, Prepare, Robustness};
use calipers_report::chart::Picture;
use calipers_rung::files::checkpoint::Flags;
use calipers_rung::files::dataset::GraphSource;
use calipers_rung::files::splits::{SHARES, SplitSource};
use calipers_rung::from_model::conditions::{AttackFile, Condition, Template, run_of_words};
use calipers_rung::from_model::{self, Options as ModelOptions};
use calipers_sources::robustness::measure;
use calipers_sources::robustness::options::Options;
use calipers_sources::run::Work;

use crate::pictures;
use crate::registry::Registered;
use crate::replay::{Evidence, Recorded, Replay};

impl Registered for Robustness {
    const SUMMARY: &'static str = "how far an attack moves a graph model";

    fn measure_again(replay: &Replay, threads: usize) -> Result<Vec<Accumulator<Self>>> {
        let (recorded, work) = (replay.recorded(), Work::quiet(threads));
        let protocol: Self = replay.parameter()?;
        let measured = match &protocol.model_settings {
            Some(model) => {
                let options = model_options(&recorded, &protocol, model)?;
                from_model::measure(&options, replay.again(), &work)?
            }
            None => {
                let options = Options {
                    inputs: recorded.given("input"),
                    run: recorded.text("run"),
                    run_by: recorded.text("run_by").map(|text| text.parse()).transpose()?,
                    attack: recorded.text("attack"),
                    budget: recorded.text("budget").map(|text| Budget::parse(&text)).transpose()?,
                    protocol,
                    per_node: false,
                };
                measure(&options, replay.again(), &work)?
            }
        };
        Ok(vec![measured.accumulator])
    }

    fn pictures(rows: &Accumulator<Self>, evidence: &Evidence, _: Option<&Intervals>) -> Vec<Picture> {
        pictures::robustness::of(rows, evidence)
    }
}

fn model_options(
    recorded: &Recorded<'_>,
    protocol: &Robustness,
    model: &ModelSettings,
) -> Result<ModelOptions> {
    let graph = recorded.one("graph")?.ok_or_else(|| missing("graph"))?;
    let splits = match recorded.text("splits").as_deref() {
        None => None,
        Some("file") => Some(SplitSource::File(recorded.one("splits")?.ok_or_else(|| missing("splits"))?)),
        Some(words) => Some(words.parse()?),
    };
    let shares = recorded.text("shares").map_or(Ok(SHARES), |text| {
        let parts =
            text.split_once(',').and_then(|(train, val)| Some((train.parse().ok()?, val.parse().ok()?)));
        parts.ok_or_else(|| not_one("shares", &text))
    })?;
    Ok(ModelOptions {
        graph: GraphSource {
            graph,
            features: recorded.one("features")?,
            labels: recorded.one("labels")?,
            prepare: protocol.prepare.unwrap_or(Prepare::None),
        },
        splits,
        split: numbers(recorded, "split")?,
        shares,
        seeds: numbers(recorded, "seeds")?,
        trained_on: recorded.one("trained-on")?,
        model: Template::Recorded(runs(recorded, "model:", "")?),
        flags: Flags {
            penalty: Some(model.penalty.parse()?),
            weights: Some(model.weights.parse()?),
            gamma: model.gamma,
            lambda_hat: Some(model.lambda_hat),
            layers: Some(
                u32::try_from(model.layers).map_err(|_| not_one("layers", &model.layers.to_string()))?,
            ),
            scad_a: Some(model.scad_a),
            scad_scale: Some(model.scad_scale.parse()?),
        },
        conditions: conditions(recorded)?,
        run: recorded.text("run"),
        attack: recorded.text("attack"),
        protocol: protocol.clone(),
        per_node: false,
    })
}

/// The attacked graphs, in the order in which their budgets were given.
fn conditions(recorded: &Recorded<'_>) -> Result<Vec<Condition>> {
    let condition = |label: &String| {
        let budget = Budget::parse(label)?;
        for form in [AttackFile::Graph, AttackFile::Flips] {
            let paths = runs(recorded, &format!("{}:", form.word()), &format!("/{label}"))?;
            if !paths.is_empty() {
                return Ok(Condition { budget, form, path: Template::Recorded(paths) });
            }
        }
        Err(missing(&format!("attacked graph of budget {label}")))
    };
    recorded.list("budgets").iter().map(condition).collect()
}

/// The file of every run whose role begins and ends so.
fn runs(
    recorded: &Recorded<'_>,
    beginning: &str,
    end: &str,
) -> Result<BTreeMap<(usize, Option<u64>), std::path::PathBuf>> {
    let mut paths = BTreeMap::new();
    for role in recorded.roles(beginning) {
        let Some(words) = role[beginning.len()..].strip_suffix(end) else { continue };
        let run = run_of_words(words).ok_or_else(|| not_one("inputs", &role))?;
        paths.extend(recorded.one(&role)?.map(|path| (run, path)));
    }
    Ok(paths)
}

fn numbers<T: std::str::FromStr>(recorded: &Recorded<'_>, key: &str) -> Result<Vec<T>> {
    recorded.list(key).iter().map(|text| text.parse().map_err(|_| not_one(key, text))).collect()
}

fn missing(what: &str) -> Error {
    Error::value(format!("the report names no {what}")).advice("measure again with this version")
}

fn not_one(place: &str, found: &str) -> Error {
    Error::format("the report does not say how its inputs were read").at(place).found(found)
}
