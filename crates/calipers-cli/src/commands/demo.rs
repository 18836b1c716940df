//! `calipers demo`: a data set of every family, made on the spot and scored.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use calipers::core::Better;
use calipers::core::protocol::MetricInfo;
use calipers::inputs::Inputs;
use calipers::metrics::explanation::protocol::{Explanation, Scores};
use calipers::metrics::independent_set::{Decoder, IndependentSet};
use calipers::report::number::rounded;
use calipers::sources::{explanation, independent_set, segmentation};
use calipers::{Ledger, Report, Result, Value, demo, registry};
use clap::Args;

use super::segmentation::read;
use crate::options::{Output, Work};
use crate::progress::Bar;
use crate::{Outcome, emit};

/// Make a small data set of every family and score it
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Where the data sets and report.json are written
    #[arg(long, value_name = "DIR", default_value = "calipers-demo")]
    out: PathBuf,
    /// Seed of the data sets
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
}

impl Demo {
    pub(crate) fn run(self) -> Result<Outcome> {
        let (graphs, scenes) = (self.out.join("independent_set"), self.out.join("segmentation"));
        let molecules = self.out.join("explanation");
        demo::independent_set::write(&graphs, self.seed)?;
        demo::explanation::write(&molecules, self.seed)?;
        demo::segmentation::write(&scenes, self.seed)?;
        let (threads, progress) =
            (Work { shard: None, threads: None }.threads(), Bar::new(&Output::default()));
        let solved = self.solved(&graphs, threads, &progress)?;
        let explained = explained(&molecules, threads, &progress)?;
        let baseline = segmented(&scenes.join(demo::segmentation::BASELINE), threads, &progress)?;
        let multi_head = segmented(&scenes.join(demo::segmentation::MULTI_HEAD), threads, &progress)?;
        let report = self.out.join("report.json");
        let reports = [solved.report(), baseline, multi_head, explained];
        calipers::output::write(&report, calipers::report::json::write_array(&reports).as_bytes())?;
        let output = Output { confidence: 0.95, ..Output::default() };
        let outcome = emit::ledgers(&[solved], &output, self.seed)?;
        let models = [("baseline", &reports[1]), ("multi-head", &reports[2])];
        emit::say(&side_by_side(&models))?;
        emit::say(&in_short(&reports[3]))?;
        emit::say(&format!(
            "\nThe data is in {out}, the reports in {report}. Try next:\n  \
             calipers independent-set {graphs} --per-unit graphs.csv\n  \
             calipers explanation {molecules} --scores logits --per-unit molecules.csv\n  \
             calipers segmentation {config} --measure all\n  \
             calipers segmentation fit {config} -o fitted.toml\n  \
             calipers show {report} --markdown\n  \
             calipers explain certified_ratio\n",
            out = self.out.display(),
            report = report.display(),
            graphs = graphs.display(),
            molecules = molecules.join(demo::explanation::UNITS).display(),
            config = scenes.join(demo::segmentation::MULTI_HEAD).display(),
        ))?;
        Ok(outcome)
    }

    fn solved(&self, folder: &Path, threads: usize, progress: &Bar) -> Result<Box<dyn Ledger>> {
        let protocol = IndependentSet {
            decoders: vec![Decoder::ScoreDegree, Decoder::Swap, Decoder::Ils],
            ils_iterations: 2_000,
            seed: self.seed,
            ..IndependentSet::default()
        };
        let inputs = vec![folder.to_owned()];
        let options = independent_set::options::Options { inputs, protocol, ..Default::default() };
        Ok(Box::new(independent_set::measure(&options, None, threads, progress)?))
    }
}

fn explained(folder: &Path, threads: usize, progress: &Bar) -> Result<Report> {
    let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let options = explanation::Options { inputs: vec![folder.to_owned()], protocol };
    Ok(explanation::measure(&options, None, threads, progress)?.finish())
}

fn segmented(config: &Path, threads: usize, progress: &Bar) -> Result<Report> {
    let inputs = Inputs::default();
    let folder = config.parent().unwrap_or(Path::new(""));
    let options = segmentation::options::Options::new(read(config, &inputs)?.0, folder);
    Ok(segmentation::measure(&options, inputs, None, threads, progress)?.finish())
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
const HEADLINES: &[&str] =
    &["miou", "pixel_accuracy", "mean_f1", "biou", "boundary_f1", "nll", "brier", "ece", "mean_confidence"];

/// Models in columns, headline numbers in lines; the better one has a star.
fn side_by_side(models: &[(&str, &Report)]) -> String {
    let mut text = format!("\nsegmentation, models side by side\n  {:<20}", "");
    let infos: Vec<MetricInfo> =
        models.first().map_or_else(Vec::new, |(_, report)| registry::metrics_of(&report.protocol));
    // Writing to a string cannot fail.
    models.iter().for_each(|(name, _)| _ = write!(text, "{name:>14}"));
    for headline in HEADLINES {
        let id = format!("segmentation.{headline}");
        let better = infos.iter().find(|info| info.id == id).map(|info| info.better);
        let numbers: Vec<Option<f64>> = models
            .iter()
            .map(|(_, report)| match report.get(&id) {
                Some(Value::Number(number)) => Some(*number),
                _ => None,
            })
            .collect();
        let defined = numbers.iter().copied().flatten();
        let best = match better {
            Some(Better::Higher) => defined.max_by(f64::total_cmp),
            Some(Better::Lower) => defined.min_by(f64::total_cmp),
            _ => None,
        };
        let _ = write!(text, "\n  {headline:<20}");
        for number in numbers {
            let star = if number.is_some() && number == best { "*" } else { " " };
            let _ = write!(text, "{:>13}{star}", number.map_or("-".into(), rounded));
        }
    }
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
