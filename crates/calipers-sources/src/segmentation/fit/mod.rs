//! Weights and temperatures of heads, fitted on the data of a configuration.

mod share;
mod strata;
pub mod write;

use calipers_core::{Error, Result};
use calipers_metrics::segmentation::config::{HeadConfig, Measures};
use calipers_metrics::segmentation::fit::{HeadFit, Sample, fit as fit_sample};
use calipers_metrics::segmentation::labels::{ClassId, truth_classes};
use calipers_metrics::segmentation::{Kind, Measure, Segmentation};

pub use self::share::Share;
use self::share::{Split, shares};
use self::strata::Strata;
use super::evidence::{Buffers, Reader};
use super::options::Options;
use super::plan::Plan;
use super::rgb::Rules;
use super::scores::Scores;
use crate::inputs::Inputs;
use crate::run::Work;

/// The most pixels that are fitted to.
const MOST_PIXELS: u64 = 200_000;

/// The most scores that are held in memory for it: 128 MiB of them.
const MOST_SCORES: u64 = 1 << 24;

/// How units are divided before anything is fitted.
#[derive(Clone, Copy, Debug)]
pub struct Holdout {
    /// The share of the units that is held back, in [0, 1).
    pub share: f64,
    /// The seed of the division and of the choice of pixels.
    pub seed: u64,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The heads by name, in order.
    pub heads: Vec<(String, HeadFit)>,
    /// The pixels that were fitted to.
    pub sampled: u64,
    /// The units that were fitted to.
    pub fitted: Share,
    /// The units that were held back, if any.
    pub held_back: Option<Share>,
}

/// Finds the weights and temperatures with which the truth is least surprising.
pub fn fit(options: &Options, holdout: Holdout, work: &Work<'_>) -> Result<Fitted> {
    let options = for_calibration(options)?;
    let protocol = options.config.resolve()?;
    if protocol.heads.iter().any(|head| head.kind == Kind::Labels) {
        return Err(Error::value("label maps have no temperature to fit")
            .advice("give scores, and say what they are: kind = \"logits\", \"log-probs\" or \"probs\""));
    }
    let measure = |options: &Options| super::measure(options, Inputs::default(), work);
    let before = measure(&options)?;
    let split = Split::new(before.len(), holdout);
    let sample = sampled(&options, &protocol, &split, &shares(&before, &split).0, holdout.seed)?;
    let fits = fit_sample(&protocol, &sample)?;
    let mut improved = options.clone();
    for (head, fitted) in improved.config.heads.iter_mut().zip(&fits) {
        (head.alpha, head.tau) = (Some(fitted.alpha), Some(fitted.tau));
    }
    let after = measure(&improved)?;
    let (fitted, held_back) = shares(&before, &split);
    let (fitted_after, held_back_after) = shares(&after, &split);
    Ok(Fitted {
        heads: protocol.heads.into_iter().map(|head| head.name).zip(fits).collect(),
        sampled: sample.len() as u64,
        fitted: fitted.then(&fitted_after),
        held_back: held_back.zip(held_back_after).map(|(before, after)| before.then(&after)),
    })
}

/// The options with only the probabilities measured, and with the heads spelt out.
fn for_calibration(options: &Options) -> Result<Options> {
    let mut options = options.clone();
    if options.confusion.is_some() {
        return Err(Error::value("confusion matrices have no temperature to fit")
            .advice("give truth maps and scores"));
    }
    options.config.measure = Some(Measures(vec![Measure::Calibration]));
    if options.config.heads.is_empty() {
        options.config.heads.push(HeadConfig { name: "flat".into(), ..HeadConfig::default() });
        options.config.heads[0].kind = Some(options.config.kind.unwrap_or(Kind::Labels));
    }
    Ok(options)
}

/// Pixels of the units that are not held back: all, or one of each of many equal strata.
fn sampled(
    options: &Options,
    protocol: &Segmentation,
    split: &Split,
    fitted: &Share,
    seed: u64,
) -> Result<Sample> {
    let channels: usize = protocol.heads.iter().map(|head| head.channels.len()).sum();
    let most = MOST_PIXELS.min(MOST_SCORES / channels.max(1) as u64);
    if fitted.pixels == 0 {
        return Err(Error::value("there is no scored pixel to fit to")
            .advice("check the ignored values, or hold back less"));
    }
    let mut strata = Strata::new(fitted.pixels, most, seed);
    let inputs = Inputs::default();
    let plan = Plan::new(options, protocol, &inputs, 1)?;
    let colours = options.config.colors(&protocol.labels)?;
    let told = options.told();
    let rules = Rules::read(&options.config, &inputs)?;
    let reader =
        Reader { plan: &plan, protocol, colours: &colours, rules: &rules, told: &told, inputs: &inputs };
    let mut sample = Sample::default();
    let mut buffers = Buffers::default();
    for (_, unit) in plan.units.iter().enumerate().filter(|(number, _)| !split.is_held_back(*number)) {
        reader.read(unit, &mut buffers)?;
        let truth = truth_classes::<u16>(protocol, &buffers.truth.map())?;
        let scored: Vec<usize> = (0..truth.len()).filter(|&pixel| truth[pixel] != u16::VOID).collect();
        let pixels: Vec<usize> = strata.next(scored.len() as u64).map(|at| scored[at as usize]).collect();
        let grid = buffers.truth.grid(None)?;
        let scores = buffers.scores.iter().zip(&protocol.heads);
        let scores: Vec<Option<Scores<'_>>> = scores
            .map(|(array, head)| {
                array.as_ref().map(|array| Scores::on(array, head.layout, &grid)).transpose()
            })
            .collect::<Result<_>>()?;
        let arrays: Vec<_> = scores.iter().map(|head| head.as_ref().map(Scores::view)).collect();
        sample.add(protocol, &arrays, &truth, &pixels);
    }
    Ok(sample)
}
