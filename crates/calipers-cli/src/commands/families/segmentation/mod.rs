//! `calipers segmentation`: label maps and probabilities in one global label space.

pub(crate) mod fit;

use std::path::{Path, PathBuf};

use calipers::compare::{self, Model};
use calipers::core::resample::Bootstrap;
use calipers::inputs::{Inputs, role};
use calipers::metrics::segmentation::config::{Config, Measures, Orientation, Spacing};
use calipers::metrics::segmentation::labels::{ClassRef, Originals};
use calipers::metrics::segmentation::surface::{MissingConfig, Tolerance};
use calipers::metrics::segmentation::{
    Closed, Kind, Layout, Measure, MissingHeads, Preset, Segmentation, Space, Unpredicted,
};
use calipers::report::comparison;
use calipers::run::Progress;
use calipers::sources::config_file;
use calipers::sources::segmentation::classes;
use calipers::sources::segmentation::meant::places;
use calipers::sources::segmentation::options::Options;
use calipers::{Accumulator, Error, Ledger, Result, demo, run, sources};
use clap::{Args, Subcommand};

use self::fit::FitArgs;
use crate::commands::demo::Shown;
use crate::options::{Output, Work, named};
use crate::progress::Bar;
use crate::{Measured, Outcome, emit};

/// Score label maps and probabilities of images
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  calipers segmentation --truth gt --pred out --classes 19 --ignore 255 --json -
  calipers segmentation --truth gt --pred logits --classes names.txt --ignore 255 --kind logits --bins 15
  calipers segmentation mtl.toml --shard 1/4 --state 1.state --quiet
  calipers segmentation --truth gtFine/val --pred results --classes cityscapes --preset cityscapes \\
      --truth-suffix _gtFine_labelIds.png --flat
  calipers segmentation --confusion cms.jsonl --classes id2label.json --background 0 --preset coral-mtl
  calipers segmentation camvid.toml --measure all --thickness 4 --per-unit images.csv
  calipers segmentation --truth labelsTs --pred out --classes names.txt --background 0 --measure surface \\
      --surface-tolerance 2 --per-unit cases.csv
  calipers segmentation --truth a.nii.gz --pred b.nii.gz --classes 3 --background 0 --measure overlap,surface
  calipers segmentation fit val.toml -o fitted.toml

A flag overrides the key of the configuration; paths in a configuration are relative to it.")]
pub(crate) struct SegmentationArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SegmentationCommand>,
    /// Configuration file (TOML)
    #[arg(value_name = "CONFIG.toml")]
    config: Option<PathBuf>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    pub(crate) labels: Labels,
    #[command(flatten)]
    prediction: Prediction,
    #[command(flatten)]
    measuring: Measuring,
    #[command(flatten)]
    spatial: Spatial,
    /// Seed of the bootstrap
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    pub(super) work: Work,
    #[command(flatten)]
    output: Output,
}

#[derive(Subcommand, Debug)]
pub(crate) enum SegmentationCommand {
    Fit(FitArgs),
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Files")]
struct Files {
    /// Truth maps: a folder (.png .tif .tiff .npy .npz .safetensors .nii .nii.gz .mha .mhd), a container (.npz
    /// .safetensors .npy) or one image or volume
    #[arg(long, value_name = "DIR|FILE")]
    truth: Option<PathBuf>,
    /// Predictions: a folder, a container, or one image or volume
    #[arg(long, value_name = "DIR|FILE")]
    pred: Option<PathBuf>,
    /// Confusion matrices instead of maps: .jsonl, .npz or .safetensors
    #[arg(long, value_name = "FILE")]
    confusion: Option<PathBuf>,
    /// Use only truth files that end so; the unit name is what is left
    #[arg(long, value_name = "TEXT")]
    truth_suffix: Option<String>,
    /// Use only prediction files that end so; the unit name is what is left
    #[arg(long, value_name = "TEXT")]
    pred_suffix: Option<String>,
    /// How the colours of truth are ids: ids, panoptic:FILE.json or ade20k
    #[arg(long, value_name = "RULE")]
    truth_rgb: Option<String>,
    /// How the colours of predictions are ids: ids, panoptic:FILE.json or ade20k
    #[arg(long, value_name = "RULE")]
    pred_rgb: Option<String>,
    /// Name units without their folders
    #[arg(long)]
    flat: bool,
    /// Leave truth without prediction out, with a warning
    #[arg(long)]
    allow_missing: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Labels")]
pub(crate) struct Labels {
    /// The classes of the truth: how many, a file of names (text, .json, .toml), or cityscapes
    #[arg(long, value_name = "FILE|N|cityscapes")]
    classes: Option<String>,
    /// The classes themselves, where a program gives them
    #[arg(skip)]
    pub(crate) named: Option<Originals>,
    /// Truth values or class names that are not scored
    #[arg(long, value_name = "V[,V..]", value_delimiter = ',', allow_hyphen_values = true)]
    ignore: Option<Vec<String>>,
    /// Global class outside the boundary metrics
    #[arg(long, value_name = "ID|NAME|none")]
    background: Option<String>,
    /// Leave the background out of the means over classes
    #[arg(long)]
    exclude_background: bool,
    /// What the ids of the truth are [default: original]
    #[arg(long, value_name = "SPACE", value_parser = named::<Space>(&["original", "global"]))]
    truth_space: Option<Space>,
    /// What a label map with an ignored value at a scored pixel is [default: error]
    #[arg(long, value_name = "RULE", value_parser = named::<Unpredicted>(&["error", "wrong"]))]
    unpredicted: Option<Unpredicted>,
    /// What a unit without one of the heads is [default: error]
    #[arg(long, value_name = "RULE", value_parser = named::<MissingHeads>(&["error", "marginalise"]))]
    missing_heads: Option<MissingHeads>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Prediction")]
struct Prediction {
    /// What the prediction holds [default: labels]
    #[arg(long, value_parser = named::<Kind>(&["labels", "logits", "log-probs", "probs"]))]
    kind: Option<Kind>,
    /// Order of the axes of scores [default: CHW]
    #[arg(long, value_parser = named::<Layout>(&["CHW", "HWC"]))]
    layout: Option<Layout>,
    /// What the ids of predicted label maps are [default: original]
    #[arg(long, value_parser = named::<Space>(&["original", "global", "channel"]))]
    space: Option<Space>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Measuring")]
struct Measuring {
    /// Which conventions: exact ones, or those of published code [default: strict]
    #[arg(long, value_name = "NAME", value_parser = named::<Preset>(
        &["strict", "document", "coral-mtl", "cityscapes", "mmseg", "torchmetrics-jaccard"]))]
    preset: Option<Preset>,
    /// What to measure, separated by commas; `all` stands for all but surface and images
    /// [default: overlap,boundary,calibration]
    #[arg(long, value_name = "LIST|all", value_delimiter = ',', value_parser =
        ["overlap", "boundary", "cheng", "contour", "calibration", "classwise", "temperature", "surface", "images",
         "all"])]
    measure: Option<Vec<String>>,
    /// Width of the outer band in pixels [default: 2]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    thickness: Option<i64>,
    /// Width of Cheng's band as a fraction of the diagonal [default: 0.02]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    cheng: Option<f64>,
    /// Contour matching radius as a fraction of the diagonal [default: 0.0075]
    #[arg(long, value_name = "R", allow_negative_numbers = true, conflicts_with = "tolerance_px")]
    tolerance: Option<f64>,
    /// Contour matching radius in pixels
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    tolerance_px: Option<f64>,
    /// Number of calibration bins [default: 10]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    bins: Option<i64>,
    /// Which end belongs to a bin [default: right]
    #[arg(long, value_name = "END", value_parser = named::<Closed>(&["right", "left"]))]
    bins_closed: Option<Closed>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Surfaces and volumes")]
struct Spatial {
    /// Whose surface distances: strict, medpy, monai or deepmind [default: strict]
    #[arg(long, value_name = "NAME", value_parser = ["strict", "medpy", "monai", "deepmind"])]
    surface_convention: Option<String>,
    /// Another percentile of the distances beside the 95th
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    surface_percentile: Option<f64>,
    /// Distance up to which surfaces count as equal, for all classes or per class
    #[arg(long, value_name = "T|CLASS=T,..", allow_negative_numbers = true)]
    surface_tolerance: Option<String>,
    /// Distances where one side alone has a surface [default: undefined]
    #[arg(long, value_name = "undefined|diagonal|X", allow_negative_numbers = true)]
    surface_missing: Option<String>,
    /// What holds where neither side has a surface [default: undefined]
    #[arg(long, value_name = "RULE", value_parser = ["undefined", "perfect"])]
    surface_absent: Option<String>,
    /// How far elements are apart: one number, or one per axis as in the array (z, y, x); wins over files
    #[arg(long, value_name = "S[,S..]", value_delimiter = ',', allow_negative_numbers = true)]
    spacing: Option<Vec<f64>>,
    /// Whether truth and prediction must point the same way in space [default: check]
    #[arg(long, value_name = "RULE", value_parser = named::<Orientation>(&["check", "ignore"]))]
    orientation: Option<Orientation>,
    /// Share of the worst units that `images` looks at, per cent [default: 5]
    #[arg(long, value_name = "Q", allow_negative_numbers = true)]
    worst: Option<f64>,
}

impl SegmentationArgs {
    pub(crate) fn run(self) -> Result<Outcome> {
        match self.command {
            Some(SegmentationCommand::Fit(fit)) => fit.run(),
            None => {
                self.output.check_shard(&self.work)?;
                let bar = Bar::new(&self.output);
                self.measure(&bar)?.emit()
            }
        }
    }

    pub(crate) fn measure(self, progress: &dyn Progress) -> Result<Measured> {
        let inputs = Inputs::default();
        let options = self.options(&inputs)?;
        self.output.check()?;
        let names = self.work.names()?;
        let work = self.work.with(names.as_ref(), progress);
        let accumulator = sources::segmentation::measure(&options, inputs, &work)?;
        let (seed, threads) = (self.seed, self.work.threads());
        Ok(Measured {
            ledgers: vec![Box::new(accumulator)],
            beside: Vec::new(),
            output: self.output,
            seed,
            threads,
        })
    }

    /// Lays classes and flags over the configuration.
    fn options(&self, inputs: &Inputs) -> Result<Options> {
        let (mut config, folder) = match &self.config {
            Some(path) if places::holds_maps(path) => {
                let given = (self.files.truth.is_some(), self.files.pred.is_some());
                return Err(places::no_configuration(path, given));
            }
            Some(path) => (read(path, inputs)?.0, path.parent().unwrap_or(Path::new(""))),
            None => (Config::default(), Path::new("")),
        };
        if let Some(named) = &self.labels.named {
            classes::put_into(&mut config, classes::named(named.clone())?);
        }
        if let Some(word) = &self.labels.classes {
            classes::put_into(&mut config, classes::classes(word, inputs)?);
        }
        let written = Options::new(config, folder);
        let mut options = written.clone();
        self.files.lay_over(&mut options);
        self.labels.lay_over(&mut options.config);
        self.prediction.lay_over(&mut options.config)?;
        self.measuring.lay_over(&mut options.config);
        self.spatial.lay_over(&mut options.config)?;
        sources::segmentation::rgb::name_classes(&mut options.config)?;
        options.check()?;
        // What files say is their fault; what only the flags upset is wrong usage.
        options.config.resolve().map_err(|error| match (written.config.resolve(), &self.config) {
            (Ok(_), _) => error.as_usage(),
            (Err(_), Some(path)) => error.in_file(path.display()),
            (Err(_), None) => error,
        })?;
        Ok(options)
    }
}

/// A configuration, and its text.
pub(crate) fn read(path: &Path, inputs: &Inputs) -> Result<(Config, String)> {
    let shown = path.display().to_string();
    let bytes = inputs.read(path, &shown, &role("config", None))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::format("a configuration is UTF-8 text")
            .in_file(&shown)
            .at(format!("byte {}", error.utf8_error().valid_up_to()))
    })?;
    let config = config_file::parse(&text).map_err(|error| error.in_file(shown))?;
    Ok((config, text))
}

/// Replaces a key by its flag, where one was given.
fn replace<T: Clone>(key: &mut Option<T>, flag: &Option<T>) {
    if flag.is_some() {
        key.clone_from(flag);
    }
}

impl Files {
    fn lay_over(&self, options: &mut Options) {
        // Maps and matrices exclude each other: the flag of one puts the key of the other aside.
        if self.confusion.is_some() && self.truth.is_none() && self.pred.is_none() {
            (options.truth, options.pred) = (None, None);
        } else if self.truth.is_some() || self.pred.is_some() {
            options.confusion = None;
        }
        replace(&mut options.truth, &self.truth);
        replace(&mut options.pred, &self.pred);
        replace(&mut options.confusion, &self.confusion);
        let data = &mut options.config.data;
        replace(&mut data.truth_suffix, &self.truth_suffix);
        replace(&mut data.pred_suffix, &self.pred_suffix);
        replace(&mut data.truth_rgb, &self.truth_rgb);
        replace(&mut data.pred_rgb, &self.pred_rgb);
        data.flat |= self.flat;
        data.allow_missing |= self.allow_missing;
    }
}

impl Labels {
    fn lay_over(&self, config: &mut Config) {
        let labels = &mut config.labels;
        if let Some(words) = &self.ignore {
            labels.ignore = words.iter().map(|word| ClassRef::from(word.trim())).collect();
        }
        if let Some(word) = &self.background {
            labels.background = Some(ClassRef::from(word.as_str()));
        }
        if self.exclude_background {
            labels.include_background = Some(false);
        }
        replace(&mut labels.unpredicted, &self.unpredicted);
        replace(&mut labels.missing_heads, &self.missing_heads);
        replace(&mut config.data.truth_space, &self.truth_space);
    }
}

impl Prediction {
    fn lay_over(&self, config: &mut Config) -> Result<()> {
        let given = self.kind.is_some() || self.layout.is_some() || self.space.is_some();
        match config.heads.as_mut_slice() {
            [] => {
                replace(&mut config.kind, &self.kind);
                replace(&mut config.layout, &self.layout);
                replace(&mut config.space, &self.space);
            }
            [head] => {
                replace(&mut head.kind, &self.kind);
                replace(&mut head.layout, &self.layout);
                replace(&mut head.space, &self.space);
            }
            heads if given => {
                return Err(Error::usage("--kind, --layout and --space need a single head")
                    .found(format!("{} heads in the configuration", heads.len()))
                    .advice("say it in [[heads]]"));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Measuring {
    fn lay_over(&self, config: &mut Config) {
        replace(&mut config.preset, &self.preset);
        if let Some(words) = &self.measure {
            let of = |measure: &Measure| words.iter().any(|word| *word == word_of(*measure));
            let all =
                |measure: &Measure| words.iter().any(|word| word == "all") && Measure::ALL.contains(measure);
            let parts = Measure::ALL.into_iter().chain(Measure::BY_NAME);
            config.measure = Some(Measures(parts.filter(|measure| all(measure) || of(measure)).collect()));
        }
        let boundary = &mut config.boundary;
        replace(&mut boundary.thickness, &self.thickness);
        replace(&mut boundary.cheng, &self.cheng);
        if self.tolerance.is_some() || self.tolerance_px.is_some() {
            (boundary.tolerance, boundary.tolerance_px) = (self.tolerance, self.tolerance_px);
        }
        replace(&mut config.bins.count, &self.bins);
        replace(&mut config.bins.closed, &self.bins_closed);
    }
}

impl Spatial {
    fn lay_over(&self, config: &mut Config) -> Result<()> {
        let surface = &mut config.surface;
        replace(&mut surface.convention, &self.surface_convention);
        replace(&mut surface.percentile, &self.surface_percentile);
        if let Some(text) = &self.surface_tolerance {
            surface.tolerance = Some(tolerance(text)?);
        }
        if let Some(word) = &self.surface_missing {
            surface.missing = Some(match word.parse() {
                Ok(distance) => MissingConfig::Distance(distance),
                Err(_) => MissingConfig::Rule(word.clone()),
            });
        }
        replace(&mut surface.absent, &self.surface_absent);
        if let Some(steps) = &self.spacing {
            config.data.spacing = Some(Spacing::Axes(steps.clone()));
        }
        replace(&mut config.data.orientation, &self.orientation);
        replace(&mut config.images.worst, &self.worst);
        Ok(())
    }
}

/// One number, or `CLASS=T` for some classes.
fn tolerance(text: &str) -> Result<Tolerance> {
    if let Ok(all) = text.parse() {
        return Ok(Tolerance::All(all));
    }
    let of_class = |part: &str| {
        let (class, tolerance) = part.rsplit_once('=')?;
        Some((class.trim().to_owned(), tolerance.trim().parse().ok()?))
    };
    let classes = text.split(',').map(of_class).collect::<Option<_>>();
    classes.map(Tolerance::Classes).ok_or_else(|| {
        let error = Error::usage("not a tolerance").at("--surface-tolerance").found(format!("{text:?}"));
        error.allowed("a number, or CLASS=T,CLASS=T")
    })
}

/// A measure as the protocol spells it.
fn word_of(measure: Measure) -> String {
    serde_json::to_value(measure).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Scenes, and two models that segment them: one flat head, and one head per kind of object.
pub(in crate::commands) fn demo(folder: &Path, seed: u64, work: &run::Work<'_>) -> Result<Shown> {
    demo::segmentation::write(folder, seed)?;
    let measured = |config: &str| {
        let inputs = Inputs::default();
        let options = Options::new(read(&folder.join(config), &inputs)?.0, folder);
        sources::segmentation::measure(&options, inputs, work)
    };
    let models = [
        ("baseline", measured(demo::segmentation::BASELINE)?),
        ("multi-head", measured(demo::segmentation::MULTI_HEAD)?),
    ];
    let boxed = |rows: &Accumulator<Segmentation>| -> Box<dyn Ledger> { Box::new(rows.clone()) };
    let sides: Vec<Model> =
        models.iter().map(|(name, rows)| Model::from_ledgers(name, name, vec![boxed(rows)])).collect();
    let defaults = compare::Options::default();
    let mut infos = Ledger::metrics(&models[0].1);
    infos.retain(|info| info.headline.is_some());
    let compared = compare::compare(
        &sides,
        &compare::Options {
            metrics: infos.into_iter().map(|info| info.id).collect(),
            bootstrap: Bootstrap { seed, ..defaults.bootstrap },
            threads: work.threads,
            ..defaults
        },
    )?;
    let config = folder.join(demo::segmentation::MULTI_HEAD);
    let config = config.display();
    Ok(Shown {
        ledgers: models.iter().map(|(name, rows)| (Some(*name), boxed(rows))).collect(),
        sections: compared.iter().map(comparison::section).collect(),
        text: comparison::terminal(&compared, emit::style(), comparison::Forms::default()),
        next: vec![
            format!("segmentation {config} --measure all"),
            format!("segmentation fit {config} -o fitted.toml"),
        ],
    })
}
