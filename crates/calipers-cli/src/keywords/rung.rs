//! The RUNG network with keyword arguments: trained, attacked and run on files, or on what a program has in memory.
//! Nothing is written but by `reproduce`.

use std::sync::{Mutex, PoisonError};

use calipers::core::stop;
use calipers::inputs::Inputs;
use calipers::io::array::Array;
use calipers::reproduce::Stage;
use calipers::run::Progress;
use calipers::rung::files::checkpoint::Checkpoint;
use calipers::rung::files::dataset::{GIVEN, GivenGraph};
use calipers::rung::from_model::conditions::AttackFile;
use calipers::rung::model::{Rung, Status, Watch};
use calipers::{Error, Report};
use clap::{CommandFactory, FromArgMatches, Parser};

use super::others::{in_path, none};
use super::wording::text_in_keywords;
use super::{Options, Refused, arguments, read, refused};
use crate::commands::Command;
use crate::commands::families::Family;
use crate::commands::families::robustness::RobustnessCommand;
use crate::commands::families::robustness::model_args::PenaltyArgs;
use crate::commands::families::robustness::speaking::Warnings;

/// What takes the place of files.
#[derive(Default)]
pub struct Memory {
    /// The graph with features and labels.
    pub graph: Option<GivenGraph>,
    /// Index lists or masks of one split, under the keys of a file of splits.
    pub splits: Option<Vec<(String, Array)>>,
    /// The model.
    pub model: Option<Rung>,
    /// Attacked graphs by budget, as `edge_index` or as the pairs to toggle.
    pub attacked: Vec<(String, AttackFile, Array)>,
}

/// What came out, and the warnings, which the caller says.
pub type Said<T> = Result<(T, Vec<String>), Refused>;

fn said(warnings: Warnings) -> Vec<String> {
    warnings.into_said().iter().map(|text| text_in_keywords(text)).collect()
}

/// A model of a file. Options that say how it propagates win over the file.
pub fn load(path: &str, options: &Options) -> Said<Rung> {
    #[derive(Parser)]
    #[command(name = "load")]
    struct Loading {
        #[command(flatten)]
        penalty: PenaltyArgs,
    }
    let matches = arguments::parsed(Loading::command(), &[], &[], options, &[])?;
    let asked = Loading::from_arg_matches(&matches).map_err(|error| refused::by_parser(&error))?;
    let read = Checkpoint::read(path.as_ref(), &asked.penalty.flags(), &Inputs::default());
    let read = read.map_err(|error| in_path("path", path, error))?;
    let replaced = read.replaced.map(|replaced| format!("penalty_replaced: arguments replace {replaced}"));
    Ok((read.model, replaced.into_iter().collect()))
}

/// Trains a model.
pub fn train(options: &Options, memory: Memory, progress: &dyn Progress) -> Said<Rung> {
    let command = command("train", options, &[("out", "model.safetensors")])?;
    let RobustnessCommand::Train(mut args) = command else { return Err(none()) };
    args.speaking.hush();
    let named = Named::new(options, &memory);
    (args.graph.given, args.splits.given) = (memory.graph, memory.splits);
    let mut warnings = args.speaking.warnings();
    let trained =
        args.trained(&Steps::new(progress, 1), &mut warnings).map_err(|error| named.argument(error));
    progress.finish();
    Ok((trained?, said(warnings)))
}

/// The pairs to toggle, by the text of the budget.
pub type Flips = Vec<(String, Vec<(u32, u32)>)>;

/// Attacks a model in memory.
pub fn attack(options: &Options, memory: Memory, progress: &dyn Progress) -> Said<Flips> {
    let command = command("attack", options, &[("out", "flips"), ("model", MODEL), ("resume", "")])?;
    let RobustnessCommand::Attack(mut args) = command else { return Err(none()) };
    args.speaking.hush();
    let named = Named::new(options, &memory);
    (args.graph.given, args.splits.given, args.given) = (memory.graph, memory.splits, memory.model);
    let mut warnings = args.speaking.warnings();
    let steps = Steps::new(progress, args.budgets.len() as u64);
    let found = args.found(&steps, &mut warnings).map_err(|error| named.argument(error));
    progress.finish();
    Ok((found?, said(warnings)))
}

/// The arrays of a run by key: features of a model in memory on the clean graph and on attacked ones.
pub fn forward(options: &Options, memory: Memory) -> Said<Vec<(String, Array)>> {
    let command =
        command("forward", options, &[("out", "run.npz"), ("model", MODEL), ("model-name", MODEL)])?;
    let RobustnessCommand::Forward(mut args) = command else { return Err(none()) };
    args.speaking.hush();
    let named = Named::new(options, &memory);
    (args.graph.given, args.splits.given, args.given) = (memory.graph, memory.splits, memory.model);
    args.attacked.given = memory.attacked;
    let mut warnings = args.speaking.warnings();
    let arrays = args.arrays(&mut warnings).map_err(|error| named.argument(error))?;
    Ok((arrays.into_arrays(), said(warnings)))
}

/// Trains, attacks, measures and draws several penalties; the reports, which have warnings of their own.
pub fn reproduce(options: &Options, memory: Memory, progress: &dyn Progress) -> Result<Vec<Report>, Refused> {
    let RobustnessCommand::Reproduce(mut args) = command("reproduce", options, &[])? else {
        return Err(none());
    };
    args.speaking.hush();
    let named = Named::new(options, &memory);
    args.graph.given = memory.graph;
    let made = args.reproduced(&Parts(progress)).map_err(|error| named.argument(error));
    progress.finish();
    let (_, found) = made?;
    Ok(found.reports)
}

/// What stands for the path of a model in memory, and names it in messages.
const MODEL: &str = "model";

fn command(name: &str, options: &Options, settled: &[(&str, &str)]) -> Result<RobustnessCommand, Refused> {
    let read = read(&["robustness", name], &[], options, settled)?;
    let Command::Family(Family::Robustness(args)) = read else { return Err(none()) };
    args.command.ok_or_else(none)
}

/// The arguments that messages name instead of files.
struct Named {
    in_memory: Vec<&'static str>,
    options: Options,
}

impl Named {
    fn new(options: &Options, memory: &Memory) -> Self {
        let parts = [
            (GIVEN, memory.graph.is_some()),
            ("splits", memory.splits.is_some()),
            (MODEL, memory.model.is_some()),
        ];
        let in_memory = parts.into_iter().filter_map(|(name, given)| given.then_some(name)).collect();
        Self { in_memory, options: options.clone() }
    }

    fn argument(&self, error: Error) -> Error {
        match self.in_memory.iter().find(|name| error.file() == Some(**name)) {
            Some(name) => error.in_argument(name),
            None => refused::naming(error, &[], &self.options),
        }
    }
}

/// Tells of every epoch, step and sample, and hears whether the work is still wanted.
struct Steps<'a> {
    progress: &'a dyn Progress,
    parts: u64,
    told: Mutex<Told>,
}

/// The progress of the parts that are reported as one piece of work.
#[derive(Default)]
struct Told {
    started: bool,
    before: u64,
    of_part: u64,
    advanced: u64,
}

impl<'a> Steps<'a> {
    /// This many pieces of work, all of one length.
    fn new(progress: &'a dyn Progress, parts: u64) -> Self {
        Self { progress, parts, told: Mutex::default() }
    }
}

impl Watch for Steps<'_> {
    fn step(&self, done: u64, total: u64, _: Status<'_>) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.started {
            told.started = true;
            self.progress.start(total * self.parts);
        }
        if done < told.of_part {
            told.before += total;
        }
        told.of_part = done;
        while told.advanced < told.before + done {
            told.advanced += 1;
            self.progress.advance();
        }
        !stop::asked()
    }
}

/// Tells of every finished model and attack.
struct Parts<'a>(&'a dyn Progress);

impl Stage for Parts<'_> {
    fn start(&self, parts: usize) {
        self.0.start(parts as u64);
    }

    fn begin(&self, _: &str) -> Box<dyn Watch + '_> {
        Box::new(Part(self.0))
    }

    fn skip(&self) {
        self.0.advance();
    }
}

/// A part, which is finished when it is dropped.
struct Part<'a>(&'a dyn Progress);

impl Watch for Part<'_> {
    fn step(&self, _: u64, _: u64, _: Status<'_>) -> bool {
        !stop::asked()
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.0.advance();
    }
}
