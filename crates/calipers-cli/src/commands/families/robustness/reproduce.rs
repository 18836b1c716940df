//! `calipers robustness reproduce`: the figures of the bias document, from training to verdicts.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use calipers::Result;
use calipers::metrics::robustness::Prepare;
use calipers::reproduce::{self, Options, Reproduction, Stage, Verdicts};
use calipers::rung::model::penalty::SCAD_A;
use calipers::rung::model::watch::{Status, Watch};
use calipers::rung::model::{Attack, Kind, Penalty, ScadScale, Weights};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::model_args::{GraphArgs, budgets};
use super::speaking::{Speaking, Warnings};
use crate::Outcome;
use crate::emit::with_units;
use crate::options::{named, whole};

/// Train, attack and measure several penalties, draw the two figures, and judge what was expected
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers robustness reproduce --graph synthetic --out figures/
  calipers robustness reproduce --graph cora.npz --prepare rung --out figures/ --quick
  calipers robustness reproduce --graph texas.npz --out texas/ --penalties l1,mcp --gamma 3

Writes DIR/index.html, figure6 and figure7 as .csv, .svg and .png, report.json, expectations.json,
and models/ and flips/ as they are finished. Stop it at any time, and go on with --resume.")]
pub(crate) struct ReproduceArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    /// Train, val and test nodes: a .json or .npz file, masks (of the graph file) or stratified:S
    /// [default: masks, or stratified:1 without any]
    #[arg(long, value_name = "SPLITS")]
    splits: Option<String>,
    /// Which splits, from 0 [default: all]
    #[arg(long, value_name = "K[,K..]", value_delimiter = ',', allow_negative_numbers = true, value_parser = whole::<usize>("from 0 on"))]
    split: Vec<usize>,
    /// Seeds of training and attack
    #[arg(long, value_name = "S[,S..]", value_delimiter = ',', default_value = "0")]
    seeds: Vec<u64>,
    /// The penalties to compare
    #[arg(long, value_name = "P[,P..]", value_delimiter = ',', default_value = "l2,l1,mcp,scad,adaptive",
          value_parser = named::<Kind>(&["l2", "l1", "mcp", "scad", "adaptive"]))]
    penalties: Vec<Kind>,
    /// The forms of the edge weights; several are compared on one page
    #[arg(long, value_name = "FORM[,FORM..]", value_delimiter = ',', default_value = "exact",
          value_parser = named::<Weights>(&["legacy", "fixed", "exact"]))]
    weights: Vec<Weights>,
    /// Where mcp and scad become flat, and the two parts of adaptive meet
    #[arg(long, value_name = "G", default_value_t = 6.0, allow_negative_numbers = true)]
    gamma: f64,
    /// The shares of edges that may be flipped [default: 0.05,0.1,0.2,0.3,0.4]
    #[arg(long, value_name = "B[,B..]", value_delimiter = ',', allow_hyphen_values = true)]
    budgets: Vec<String>,
    /// How often training sees all train nodes
    #[arg(long, value_name = "N", default_value_t = 300)]
    epochs: u32,
    /// Steps of every attack [default: 200]
    #[arg(long, value_name = "N")]
    steps: Option<u32>,
    /// Samples of which every attack keeps the best [default: 100]
    #[arg(long, value_name = "N")]
    samples: Option<u32>,
    /// Three budgets (0.05,0.2,0.4), 60 steps, 20 samples, the first split
    #[arg(long)]
    quick: bool,
    /// The folder that everything is written to
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Keep the models and flips that are finished
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    pub(crate) speaking: Speaking,
}

impl ReproduceArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        let (options, found) = self.reproduced(&Bar::new(&self.speaking))?;
        self.speaking.say(&verdicts(&found.verdicts))?;
        self.speaking.say(&format!("written to {}\n", self.out.join("index.html").display()))?;
        Ok(self.warnings(&options, &found).outcome())
    }

    /// What looks wrong in the reports.
    pub(crate) fn warnings(&self, options: &Options, found: &Reproduction) -> Warnings {
        let mut warnings = self.speaking.warnings();
        for (label, report) in options.labels().iter().zip(&found.reports) {
            for warning in &report.warnings {
                warnings.add(&warning.code, &format!("{label}: {}", with_units(warning)));
            }
        }
        warnings
    }

    /// What came out, and of what.
    pub(crate) fn reproduced(&self, stage: &dyn Stage) -> Result<(Options, Reproduction)> {
        let options = self.options()?;
        let found = reproduce::run(&options, self.speaking.threads(), stage)?;
        Ok((options, found))
    }

    fn options(&self) -> Result<Options> {
        let given = self.graph.given.clone();
        let prepare = self.graph.prepare.unwrap_or(Prepare::None);
        let graph = match (&given, self.graph.is_synthetic()) {
            (None, false) => Some(self.graph.source()?),
            (None, true) => self.graph.check_synthetic().map(|()| None)?,
            (Some(_), _) => None,
        };
        let mut penalties = Vec::new();
        for &weights in &self.weights {
            for &kind in &self.penalties {
                let gamma = kind.takes_gamma().then_some(self.gamma);
                penalties.push(Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::One)?);
            }
        }
        let usual: &[&str] =
            if self.quick { &["0.05", "0.2", "0.4"] } else { &["0.05", "0.1", "0.2", "0.3", "0.4"] };
        let texts: Vec<String> = match self.budgets.is_empty() {
            true => usual.iter().map(|text| (*text).to_owned()).collect(),
            false => self.budgets.clone(),
        };
        let budgets = budgets(&texts)?;
        let (steps, samples) = if self.quick { (60, 20) } else { (200, 100) };
        let attack = Attack {
            steps: self.steps.unwrap_or(steps),
            samples: self.samples.unwrap_or(samples),
            ..Attack::default()
        };
        Ok(Options {
            graph,
            given: given.map(|given| (given, prepare)),
            splits: self.splits.as_deref().map(str::parse).transpose()?,
            split: self.split.clone(),
            one_split: self.quick,
            seeds: self.seeds.clone(),
            penalties,
            budgets,
            epochs: self.epochs,
            attack,
            out: self.out.clone(),
            resume: self.resume,
        })
    }
}

/// What was expected, and what came out, a line each.
pub(crate) fn verdicts(verdicts: &[Verdicts]) -> String {
    let mut text = String::from("Expectations of the document\n");
    for form in verdicts {
        if verdicts.len() > 1 {
            text.push_str(&format!("  weights {}\n", form.weights));
        }
        for found in &form.expectations {
            let word = match found.held {
                Some(true) => "held",
                Some(false) => "did not hold",
                None => "not tested",
            };
            let why = if found.why.is_empty() { found.rule } else { &found.why };
            text.push_str(&format!("  {word:<12}  {}: {why}\n", found.statement));
        }
    }
    text
}

/// One bar for all parts; each part fills its share of it.
struct Bar {
    bar: ProgressBar,
    done: Cell<u64>,
}

/// How finely a part is followed.
const GRAIN: u64 = 1000;

impl Bar {
    fn new(speaking: &Speaking) -> Self {
        let visible = speaking.draws() && io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template(
            "{bar:30} {percent:>3} %  {elapsed} elapsed, {eta} left  {wide_msg}",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, done: Cell::new(0) }
    }
}

impl Stage for Bar {
    fn start(&self, parts: usize) {
        self.bar.set_length(parts as u64 * GRAIN);
    }

    fn begin(&self, name: &str) -> Box<dyn Watch + '_> {
        self.bar.set_message(name.to_owned());
        let start = self.done.get();
        self.done.set(start + 1);
        Box::new(Part { bar: &self.bar, start: start * GRAIN })
    }

    fn skip(&self) {
        self.done.set(self.done.get() + 1);
        self.bar.set_position(self.done.get() * GRAIN);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// One part's share of the bar.
struct Part<'a> {
    bar: &'a ProgressBar,
    start: u64,
}

impl Watch for Part<'_> {
    fn step(&self, done: u64, total: u64, _: Status<'_>) -> bool {
        self.bar.set_position(self.start + GRAIN * done / total.max(1));
        true
    }
}
