//! `calipers robustness attack`: which edges an attacker flips, budget by budget.

use std::path::{Path, PathBuf};

use calipers::inputs::Inputs;
use calipers::io::array::npy;
use calipers::metrics::robustness::{Budget, Prepare};
use calipers::reproduce::settings::{Settings, of_files};
use calipers::rung::files::checkpoint::Checkpoint;
use calipers::rung::files::dataset::Dataset;
use calipers::rung::files::run_arrays::pairs;
use calipers::rung::model::{Attack, Attacked, BLOCK_SIZE, Gradient, Method, Rung, Watch, attack};
use calipers::{Error, Result, output};
use clap::{Args, ValueEnum};

use super::finished::Finished;
use super::model_args::{ChosenSplit, GraphArgs, PenaltyArgs, SplitArgs, budgets, checkpoint};
use super::speaking::{Speaking, Warnings};
use super::train::note_lone_classes;
use crate::Outcome;

/// Attack a trained model by flipping edges; the test nodes are the targets
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  calipers robustness attack --graph cora.npz --prepare rung --splits splits.json --split 0 \\
      --model model.safetensors --budgets 0.05,0.1 --out flips/
  calipers robustness attack --graph large.npz --splits masks --model model.safetensors --budgets 0.05 \\
      --method prbcd --block-size 1000000 --out flips/

Writes DIR/<budget>.npy with the pairs to toggle as soon as a budget is done. Stop it at any time,
and go on with --resume.")]
pub(crate) struct AttackArgs {
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) splits: SplitArgs,
    /// The model under attack (.safetensors or .pt)
    #[arg(long, value_name = "FILE")]
    model: PathBuf,
    /// A model that a program has in memory
    #[arg(skip)]
    pub(crate) given: Option<Rung>,
    #[command(flatten)]
    penalty: PenaltyArgs,
    /// The shares of edges that may be flipped, each on its own
    #[arg(long, value_name = "B[,B..]", value_delimiter = ',', required = true, allow_hyphen_values = true)]
    pub(crate) budgets: Vec<String>,
    #[command(flatten)]
    search: Search,
    /// The folder that the flips are written to
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Keep the flips that are finished
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    pub(crate) speaking: Speaking,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Attack")]
struct Search {
    /// How flips are found
    #[arg(long, value_enum, default_value_t = MethodWord::Pgd)]
    method: MethodWord,
    /// How many pairs of nodes prbcd considers at a time, no fewer than may be flipped; with all of them it
    /// is pgd [default: 250000]
    #[arg(long, value_name = "PAIRS", value_parser = clap::value_parser!(u64).range(1..))]
    block_size: Option<u64>,
    /// Whether edge weights count as constants (detached) or are differentiated too (full)
    #[arg(long, value_enum, default_value_t = GradientWord::Detached)]
    gradient: GradientWord,
    /// Steps of the descent
    #[arg(long, value_name = "N", default_value_t = 200)]
    steps: u32,
    /// Samples of which the best is kept
    #[arg(long, value_name = "N", default_value_t = 100)]
    samples: u32,
    /// Seed of the samples and of the blocks
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// The most memory that pairs of nodes may take, such as 4GiB or 512MiB: all pairs, or those of a block
    #[arg(long, value_name = "BYTES", default_value = "4GiB", value_parser = bytes)]
    attack_memory: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodWord {
    /// By projected gradient over all pairs of nodes
    Pgd,
    /// The same over random blocks of pairs, for graphs with too many pairs
    Prbcd,
    /// Random insertions, which every attack must beat
    Random,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GradientWord {
    Detached,
    Full,
}

impl Search {
    fn attack(&self) -> Result<Attack> {
        let method = match (self.method, self.block_size) {
            (MethodWord::Prbcd, size) => Method::Prbcd {
                block_size: size.map_or(BLOCK_SIZE, |size| usize::try_from(size).unwrap_or(usize::MAX)),
            },
            (_, Some(_)) => return Err(Error::usage("--block-size belongs to --method prbcd")),
            (MethodWord::Pgd, None) => Method::Pgd,
            (MethodWord::Random, None) => Method::Random,
        };
        Ok(Attack {
            method,
            gradient: match self.gradient {
                GradientWord::Detached => Gradient::Detached,
                GradientWord::Full => Gradient::Full,
            },
            steps: self.steps,
            samples: self.samples,
            seed: self.seed,
            memory: self.attack_memory,
        })
    }
}

/// Everything that an attack is made of.
struct Ready {
    budgets: Vec<(String, Budget)>,
    search: Attack,
    dataset: Dataset,
    split: ChosenSplit,
    targets: Vec<usize>,
    checkpoint: Checkpoint,
}

impl Ready {
    /// How many flips a budget allows, and those that were found; nothing is looked for where it allows none.
    fn of_budget(
        &self,
        (text, budget): &(String, Budget),
        threads: usize,
        watch: &dyn Watch,
    ) -> Result<(u64, Option<Attacked>)> {
        let Dataset { graph, features, shown, .. } = &self.dataset;
        let allowed = budget.allowed(graph.edges() as u64);
        if allowed == 0 {
            return Ok((0, None));
        }
        let found = attack(
            &self.checkpoint.model,
            graph,
            features,
            self.dataset.needed_labels()?,
            &self.targets,
            usize::try_from(allowed).unwrap_or(usize::MAX),
            &self.search,
            threads,
            watch,
        );
        found
            .map(|found| (allowed, Some(found)))
            .map_err(|error| error.in_file(shown).at(format!("budget {text}")))
    }
}

/// Pairs of nodes whose edge an attack adds or takes away.
type Flips = Vec<(u32, u32)>;

impl AttackArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        let inputs = Inputs::default();
        let ready = self.ready(&inputs)?;
        std::fs::create_dir_all(&self.out).map_err(|error| {
            Error::io(format!("cannot create the folder: {}", error.kind())).in_file(self.out.display())
        })?;
        let files: Vec<PathBuf> =
            ready.budgets.iter().map(|(text, _)| self.out.join(format!("{text}.npy"))).collect();
        let settings = self.settings(&ready, inputs)?;
        let mut finished = Finished::read(&self.out)?;
        let done = files.iter().map(|file| finished.has(file, &settings, self.resume));
        let done = done.collect::<Result<Vec<bool>>>()?;
        let mut warnings = self.speaking.warnings();
        self.tell_first(&ready, &mut warnings)?;
        for ((budget, file), done) in ready.budgets.iter().zip(&files).zip(done) {
            if done {
                self.speaking.note(&format!("budget {}: finished before", budget.0));
                continue;
            }
            finished.announce(file, &settings)?;
            let bar = self.speaking.bar();
            let found = ready.of_budget(budget, self.speaking.threads(), &bar);
            bar.clear();
            let (allowed, found) = found?;
            write_flips(file, found.as_ref().map_or(&[], |found| &found.flips))?;
            self.tell(&ready, &budget.0, allowed, found.as_ref(), &mut warnings);
        }
        Ok(warnings.outcome())
    }

    /// The flips of every budget, which are not written.
    pub(crate) fn found(&self, watch: &dyn Watch, warnings: &mut Warnings) -> Result<Vec<(String, Flips)>> {
        let ready = self.ready(&Inputs::default())?;
        self.tell_first(&ready, warnings)?;
        let of_budget = |budget: &(String, Budget)| {
            let (allowed, found) = ready.of_budget(budget, self.speaking.threads(), watch)?;
            self.tell(&ready, &budget.0, allowed, found.as_ref(), warnings);
            Ok((budget.0.clone(), found.map_or_else(Vec::new, |found| found.flips)))
        };
        ready.budgets.iter().map(of_budget).collect()
    }

    /// Reads and checks everything.
    fn ready(&self, inputs: &Inputs) -> Result<Ready> {
        let budgets = budgets(&self.budgets)?;
        let search = self.search.attack()?;
        let dataset = self.graph.load(inputs)?;
        let split = self.splits.load_one(&dataset, inputs)?;
        dataset.needed_labels()?;
        let targets = split.needed("test", split.nodes.test.as_ref())?;
        let checkpoint = checkpoint(self.given.as_ref(), &self.model, &self.penalty, inputs)?;
        checkpoint
            .check(dataset.features.columns(), dataset.classes())
            .map_err(|error| error.in_file(self.model.display()))?;
        Ok(Ready { budgets, search, dataset, split, targets, checkpoint })
    }

    /// Everything that decides what flips are found.
    fn settings(&self, ready: &Ready, inputs: Inputs) -> Result<Settings> {
        let Ready { search, checkpoint, split, .. } = ready;
        let Search { method, gradient, steps, samples, seed, .. } = &self.search;
        let named = [
            ("gradient", format!("{gradient:?}").to_lowercase()),
            ("method", format!("{method:?}").to_lowercase()),
            ("model", checkpoint.model.settings().penalty.kind().to_string()),
            ("prepare", format!("{:?}", self.graph.prepare.unwrap_or(Prepare::None)).to_lowercase()),
            ("samples", samples.to_string()),
            ("seed", seed.to_string()),
            ("split", split.number.to_string()),
            ("splits", self.splits.words()),
            ("steps", steps.to_string()),
        ];
        let mut settings = of_files(&inputs.into_files()?);
        settings.extend(named.map(|(name, text)| (name.to_owned(), text)));
        let model = checkpoint.model.settings().to_metadata();
        settings.extend(model.into_iter().map(|(name, text)| (format!("model {name}"), text)));
        if let Method::Prbcd { block_size } = search.method {
            settings.insert("block_size".to_owned(), block_size.to_string());
        }
        Ok(settings)
    }

    fn tell_first(&self, ready: &Ready, warnings: &mut Warnings) -> Result<()> {
        if let Some(replaced) = &ready.checkpoint.replaced {
            warnings.add("penalty_replaced", &format!("flags replace {replaced}"));
        }
        if ready.split.drawn {
            note_lone_classes(&self.speaking, ready.dataset.needed_labels()?);
        }
        Ok(())
    }

    fn tell(
        &self,
        ready: &Ready,
        budget: &str,
        allowed: u64,
        found: Option<&Attacked>,
        warnings: &mut Warnings,
    ) {
        let Some(found) = found else {
            let edges = ready.dataset.graph.edges();
            warnings.add("no_flips_allowed", &format!("budget {budget} of {edges} edges allows 0 flips"));
            return;
        };
        let flips = found.flips.len() as u64;
        self.speaking.note(&format!("budget {budget}: {flips} of {allowed} flips, loss {:.4}", found.loss));
        if found.no_valid_sample {
            self.speaking.note(&format!(
                "note: budget {budget}: no sample stayed within the budget; the {flips} pairs of the greatest \
                 probability are taken"
            ));
        }
        // Less than nine tenths, in whole numbers.
        if 10 * u128::from(flips) < 9 * u128::from(allowed) {
            let why = match (self.search.gradient, self.search.method) {
                (_, MethodWord::Random) => ": there is no other pair of nodes to join",
                (GradientWord::Detached, MethodWord::Prbcd) => {
                    ": with constant weights it does not see pruned pairs, nor those that no block held, so the model looks \
                     more robust than it is; try --gradient full, or a larger --block-size"
                }
                (GradientWord::Detached, _) => {
                    ": with constant weights it does not see pruned pairs, so the model looks more robust than it is; \
                     try --gradient full"
                }
                (GradientWord::Full, _) => ", so the model may look more robust than it is",
            };
            let message = format!("budget {budget}: the attack used {flips} of {allowed} flips{why}");
            warnings.add("under_budget", &message);
        }
    }
}

fn write_flips(path: &Path, flips: &[(u32, u32)]) -> Result<()> {
    let array = pairs(flips)?;
    output::write_with(path, |out| npy::write_to(&array, out))
}

fn bytes(text: &str) -> std::result::Result<u64, String> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40), ("B", 0), ("", 0)];
    let parsed = units.iter().find_map(|(unit, shift)| {
        let number = text.strip_suffix(unit)?.trim().parse::<u64>().ok()?;
        number.checked_mul(1 << shift)
    });
    parsed.ok_or_else(|| "a number of bytes, or one with KiB, MiB, GiB or TiB behind it".into())
}

#[cfg(test)]
mod tests {
    use super::{AttackArgs, BLOCK_SIZE, bytes};

    #[test]
    fn the_help_names_the_size_of_a_block() {
        let command = <AttackArgs as clap::Args>::augment_args(clap::Command::new("attack"));
        let option = command.get_arguments().find(|option| option.get_id() == "block_size").unwrap();
        let help = option.get_help().unwrap().to_string();
        assert!(help.contains(&format!("[default: {BLOCK_SIZE}]")), "{help}");
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("4GiB"), Ok(4 << 30));
        assert_eq!(bytes("512 MiB"), Ok(512 << 20));
        assert_eq!(bytes("100"), Ok(100));
        for text in ["", "GiB", "-1", "1.5GiB", "4GB", "99999999999TiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
