//! `calipers demo`: a data set of every family, made on the spot and scored.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use calipers::compare::{self, Model};
use calipers::core::Better;
use calipers::core::metric::MetricInfo;
use calipers::core::resample::Bootstrap;
use calipers::inputs::Inputs;
use calipers::io::history::delimited;
use calipers::metrics::explanation::protocol::{Explanation, Scores};
use calipers::metrics::independent_set::{Decoder, IndependentSet};
use calipers::metrics::training::protocol::{Preset, Training};
use calipers::report::comparison::{self, Comparison};
use calipers::report::number::rounded;
use calipers::report::page::Section;
use calipers::reproduce::{Stage, Unseen};
use calipers::run::Work;
use calipers::sources::training::assign::{Assignment, FoldBy, GroupBy};
use calipers::sources::{explanation, independent_set, robustness, segmentation, training};
use calipers::{Ledger, Report, Result, Value, demo, pages, registry};
use clap::Args;

use super::robustness::reproduce;
use super::segmentation::read;
use super::training_view;
use crate::options::Output;
use crate::progress::Bar;
use crate::{Outcome, emit};

/// Make a small data set of every family and score it
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Where the data sets, report.json and report.html are written
    #[arg(long, value_name = "DIR", default_value = "calipers-demo")]
    out: PathBuf,
    /// Seed of the data sets
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
}

impl Demo {
    pub(crate) fn run(self) -> Result<Outcome> {
        let [graphs, molecules, scenes, logs, attacks] =
            ["independent_set", "explanation", "segmentation", "training", "robustness"]
                .map(|family| self.out.join(family));
        demo::independent_set::write(&graphs, self.seed)?;
        demo::explanation::write(&molecules, self.seed)?;
        demo::segmentation::write(&scenes, self.seed)?;
        demo::training::write(&logs, self.seed)?;
        let bar = Bar::new(&Output::default());
        let work = Work { progress: &bar, ..Work::quiet(emit::one_a_core()) };
        let threads = work.threads;
        let silent = |_: usize| -> Box<dyn Stage> { Box::new(Unseen) };
        let figures = demo::robustness::write(&attacks, self.seed, threads, &silent)?;
        let solved = self.solved(&graphs, &work)?;
        let explained = explained(&molecules, &work)?;
        let baseline = segmented(&scenes.join(demo::segmentation::BASELINE), &work)?;
        let multi_head = segmented(&scenes.join(demo::segmentation::MULTI_HEAD), &work)?;
        let learnt = trained(&logs, &work)?;
        let curves = training_view::curves(&learnt, emit::style());
        let runs = learnt.accumulators.into_iter().map(|runs| -> Box<dyn Ledger> { Box::new(runs) });
        let mut ledgers = vec![solved, baseline, multi_head, explained];
        ledgers.extend(runs);
        let first_attack = ledgers.len();
        for model in demo::robustness::MODELS {
            ledgers.push(attacked(&demo::robustness::arrays(&attacks, model), &work)?);
        }
        let reports: Vec<Report> = ledgers.iter().map(|ledger| ledger.report()).collect();
        let report = self.out.join("report.json");
        calipers::output::write(&report, calipers::report::json::write_array(&reports).as_bytes())?;
        let output = Output { confidence: 0.95, ..Output::default() };
        let mut sections = self.sections(&ledgers, &output, threads)?;
        for (section, model) in sections[first_attack..].iter_mut().zip(demo::robustness::MODELS) {
            section.heading = format!("{}, {model}", section.heading);
        }
        let outcome = emit::ledgers(&ledgers[..1], &output, self.seed, threads)?;
        let compared = self.compared(ledgers.drain(1..3), threads)?;
        sections.splice(3..3, compared.iter().map(comparison::section));
        let page = self.out.join("report.html");
        emit::page(&page, sections)?;
        emit::say(&format!("\n{}", comparison::terminal(&compared, emit::style())))?;
        emit::say(&in_short(&reports[3]))?;
        emit::say(&format!("\n{curves}"))?;
        reports[4..first_attack].iter().try_for_each(|report| emit::say(&configurations(report)))?;
        emit::say(&format!(
            "\nrobustness, penalties under attack on a synthetic graph\n{}",
            reproduce::verdicts(&figures.verdicts)
        ))?;
        emit::say(&format!(
            "\nThe data is in {out}, the reports in {report}, the page to look at is {page}. Try next:\n  \
             calipers independent-set {graphs} --per-unit graphs.csv\n  \
             calipers explanation {molecules} --scores logits --per-unit molecules.csv\n  \
             calipers segmentation {config} --measure all\n  \
             calipers segmentation fit {config} -o fitted.toml\n  \
             calipers robustness {arrays} --per-node nodes.csv\n  \
             calipers training {logs} --metric {key} --group-by folder --sweep 0.85,0.9,0.95\n  \
             calipers show {report} --markdown\n  \
             calipers verify {report}\n  \
             calipers serve {out}\n  \
             calipers explain certified_ratio\n",
            out = self.out.display(),
            report = report.display(),
            page = page.display(),
            graphs = graphs.display(),
            arrays = demo::robustness::arrays(&attacks, demo::robustness::MODELS[0]).display(),
            logs = logs.display(),
            key = demo::training::KEY,
            molecules = molecules.join(demo::explanation::UNITS).display(),
            config = scenes.join(demo::segmentation::MULTI_HEAD).display(),
        ))?;
        Ok(outcome)
    }

    fn solved(&self, folder: &Path, work: &Work<'_>) -> Result<Box<dyn Ledger>> {
        let protocol = IndependentSet {
            decoders: vec![Decoder::ScoreDegree, Decoder::Swap, Decoder::Ils],
            ils_iterations: 2_000,
            seed: self.seed,
            ..IndependentSet::default()
        };
        let inputs = vec![folder.to_owned()];
        let options = independent_set::options::Options { inputs, protocol, ..Default::default() };
        Ok(Box::new(independent_set::measure(&options, Inputs::default(), work)?))
    }

    /// A section for each ledger; the two models are told apart by name.
    fn sections(&self, ledgers: &[Box<dyn Ledger>], output: &Output, threads: usize) -> Result<Vec<Section>> {
        let bootstrap = output.page_intervals(self.seed);
        let mut sections = Vec::new();
        for ledger in ledgers {
            sections.push(pages::of_ledger(&**ledger, &bootstrap, threads)?);
        }
        for (section, model) in sections[1..].iter_mut().zip(MODELS) {
            section.heading = format!("{}, {model}", section.heading);
        }
        Ok(sections)
    }

    /// The two models over the same scenes.
    fn compared(
        &self,
        models: impl Iterator<Item = Box<dyn Ledger>>,
        threads: usize,
    ) -> Result<Vec<Comparison>> {
        let model = |(name, ledger)| Model::from_ledgers(name, name, vec![ledger]);
        let models: Vec<Model> = MODELS.into_iter().zip(models).map(model).collect();
        let metrics = SEGMENTATION.iter().map(|id| format!("segmentation.{id}")).collect();
        let defaults = compare::Options::default();
        let bootstrap = Bootstrap { seed: self.seed, ..defaults.bootstrap };
        compare::compare(&models, &compare::Options { metrics, bootstrap, threads, ..defaults })
    }
}

/// The two models of the segmentation data.
const MODELS: [&str; 2] = ["baseline", "multi-head"];

fn explained(folder: &Path, work: &Work<'_>) -> Result<Box<dyn Ledger>> {
    let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let options = explanation::Options { inputs: vec![folder.to_owned()], protocol };
    Ok(Box::new(explanation::measure(&options, Inputs::default(), work)?))
}

fn attacked(arrays: &Path, work: &Work<'_>) -> Result<Box<dyn Ledger>> {
    let options = robustness::options::Options { inputs: vec![arrays.to_owned()], ..Default::default() };
    let measured = robustness::measure(&options, Inputs::default(), work)?;
    Ok(Box::new(measured.accumulator))
}

fn segmented(config: &Path, work: &Work<'_>) -> Result<Box<dyn Ledger>> {
    let inputs = Inputs::default();
    let folder = config.parent().unwrap_or(Path::new(""));
    let options = segmentation::options::Options::new(read(config, &inputs)?.0, folder);
    Ok(Box::new(segmentation::measure(&options, inputs, work)?))
}

fn trained(folder: &Path, work: &Work<'_>) -> Result<training::Measured> {
    let options = training::options::Options {
        inputs: vec![folder.to_owned()],
        metrics: vec![Training {
            metric: demo::training::KEY.into(),
            label: demo::training::KEY.into(),
            ..Training::new(Preset::Strict)
        }],
        assignment: Assignment { group_by: GroupBy::Folder, fold_by: FoldBy::Auto, runs: None },
        x: None,
        run_column: None,
        delimited: delimited::Options::default(),
        format: None,
        skip_missing: false,
        endings: false,
        sketches: true,
    };
    training::measure(&options, Inputs::default(), work)
}

/// What is said first of an explainer.
const EXPLAINER: &[&str] = &[
    "fid_plus_model",
    "fid_minus_model",
    "characterization_score_model",
    "unfaithfulness",
    "recall",
    "precision",
    "f1_score",
    "auroc",
    "sparsity",
    "fidelity_curve_auc_model",
];

/// The headline numbers of an explainer, each with the direction that is better.
fn in_short(report: &Report) -> String {
    let infos = registry::metrics_of(&report.protocol);
    let mut text = format!("\nexplanation, {} explained predictions\n", report.units);
    for headline in EXPLAINER {
        let id = format!("explanation.{headline}");
        let arrow = match infos.iter().find(|info| info.id == id).map(|info| info.better) {
            Some(Better::Higher) => "↑",
            Some(Better::Lower) => "↓",
            _ => " ",
        };
        if let Some(Value::Number(number)) = report.get(&id) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {headline:<30}{arrow}{:>10}", rounded(*number));
        }
    }
    text
}

/// The numbers that papers print first.
const SEGMENTATION: &[&str] =
    &["miou", "pixel_accuracy", "mean_f1", "biou", "boundary_f1", "nll", "brier", "ece"];
const TRAINING: &[&str] = &[
    "saturation_count",
    "velocity_strict",
    "velocity_wise",
    "velocity_rmst",
    "stability_wise",
    "divergence_wise",
    "best_mean",
    "last_mean",
];

/// The configurations of one report in columns, headline numbers in lines.
fn configurations(report: &Report) -> String {
    let by_group = |id: &str| match report.get(id) {
        Some(Value::PerLabel(groups)) => groups.as_slice(),
        _ => &[],
    };
    let groups: Vec<&str> = by_group("training.fold_count").iter().map(|(group, _)| group.as_str()).collect();
    side_by_side("training, configurations side by side", report, &groups, TRAINING, |column, id| {
        by_group(id).get(column).and_then(|(_, value)| value.as_f64())
    })
}

/// A table of headline numbers; the best one of a line has a star.
fn side_by_side(
    title: &str,
    report: &Report,
    columns: &[&str],
    headlines: &[&str],
    value: impl Fn(usize, &str) -> Option<f64>,
) -> String {
    let mut text = format!("\n{title}\n  {:<20}", "");
    let infos: Vec<MetricInfo> = registry::metrics_of(&report.protocol);
    // Writing to a string cannot fail.
    columns.iter().for_each(|name| _ = write!(text, "{name:>14}"));
    for headline in headlines {
        let info = infos.iter().find(|info| info.id.split_once('.').is_some_and(|(_, id)| id == *headline));
        let Some(info) = info else { continue };
        let numbers: Vec<Option<f64>> = (0..columns.len()).map(|column| value(column, &info.id)).collect();
        let defined = numbers.iter().copied().flatten();
        let best = match info.better {
            Better::Higher => defined.max_by(f64::total_cmp),
            Better::Lower => defined.min_by(f64::total_cmp),
            Better::Neither => None,
        };
        let _ = write!(text, "\n  {headline:<20}");
        for number in numbers {
            let star = if number.is_some() && number == best { "*" } else { " " };
            let _ = write!(text, "{:>13}{star}", number.map_or("-".into(), rounded));
        }
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
