//! From the scores of the heads to one distribution over the global classes.
//!
//! Each head is an expert on the originals: the scores of an original are the weighted
//! log-probabilities of its channels. Originals that no expert separates form a group and share
//! its mass; the mass of a global class is that of its originals.

mod slopes;

use std::ops::Range;

use calipers_core::{Error, Result};

use crate::segmentation::heads::groups::{
    Group, classes_of_channels, groups, parts, plain_channels, takes_part,
};
use crate::segmentation::heads::kernel::{
    Masses, TIE, add_up, cool, distances, finish, first_with, largest, log_ratios, logarithms,
    logs_of_probabilities, normalise, peaks, powers, quotients, sums_of_powers, weigh,
};
use crate::segmentation::probability::block::{LANES, Lanes, Rows, ScoreBlock, sums_to_one};
use crate::segmentation::protocol::{Head, Kind, MissingHeads, Segmentation};
use crate::segmentation::unit::ScoreArray;
use calipers_core::functions::lanes::{exp, ln};

/// Below this, a mass may have lost digits to underflow.
const SAFE_MASS: f64 = 1e-290;

/// A head's scores, and what they are as logarithms.
#[derive(Debug)]
struct Expert<'a> {
    block: ScoreBlock<'a>,
    /// The logarithms of scores that are probabilities; other scores are logarithms.
    logs: Rows,
    /// The largest logarithm of every pixel.
    peaks: Lanes,
    /// Its rows among those of all heads.
    rows: Range<usize>,
}

impl Expert<'_> {
    fn logarithms(&self) -> &[Lanes] {
        if self.logs.is_empty() { &self.block.values } else { &self.logs }
    }
}

/// The distributions of a block of pixels.
#[derive(Debug)]
pub(crate) struct Fusion<'a> {
    experts: Vec<Expert<'a>>,
    groups: Vec<Group>,
    /// The weight of each head that takes part.
    weights: Vec<f64>,
    /// For each class the groups that give it mass.
    parts: Vec<Vec<(usize, f64)>>,
    /// Whether the groups are the classes, one original in each and in the same order.
    are_classes: bool,
    /// The channel of each class, where one head has exactly one channel for each.
    plain: Option<Vec<usize>>,
    /// The class of each channel, where a single head decides; `None` for several or no classes.
    decides: Option<Vec<Option<usize>>>,
    floor: Option<f64>,
    width: usize,
    pixels: Vec<usize>,
    /// The log-probabilities of all heads.
    logs: Rows,
    /// The powers of all heads, then those of the groups.
    powers: Rows,
    scores: Rows,
    masses: Masses,
}

impl<'a> Fusion<'a> {
    /// Prepares the heads that a unit has.
    pub(crate) fn new(
        protocol: &'a Segmentation,
        heads: &[Option<ScoreArray<'a>>],
        width: usize,
        height: usize,
    ) -> Result<Self> {
        let missing: Vec<&str> = missing_heads(protocol, heads).collect();
        let none_is_left = missing.len() == protocol.heads.len();
        if none_is_left || (!missing.is_empty() && protocol.labels.missing_heads == MissingHeads::Error) {
            let error = Error::value(format!("the prediction lacks the head {}", missing.join(", ")));
            return Err(if none_is_left {
                error.advice("a unit needs the scores of at least one head")
            } else {
                error.advice(
                    "add the head's array, or score from the other heads with --missing-heads marginalise",
                )
            });
        }
        let mut experts: Vec<Expert<'_>> = Vec::new();
        for (position, (head, array)) in protocol.heads.iter().zip(heads).enumerate() {
            let Some(array) = array else { continue };
            array.check(head, height, width)?;
            let channels = head.channels.len();
            let first = experts.last().map_or(0, |expert| expert.rows.end);
            experts.push(Expert {
                block: ScoreBlock::new(head, position, *array),
                logs: Rows::new(if head.kind == Kind::Probs { channels } else { 0 }),
                peaks: [0.0; LANES],
                rows: first..first + channels,
            });
        }
        let present: Vec<&Head> = experts.iter().map(|expert| expert.block.head).collect();
        let mut groups = groups(protocol, &present);
        let classes = protocol.labels.global.len();
        // In the order of the classes, where each has a group of its own: their powers are the masses then.
        let are_classes = groups.len() == classes
            && groups.iter().all(|group| matches!(group.members[..], [(_, 1.0)]))
            && parts(&groups, classes).iter().all(|parts| parts.len() == 1);
        if are_classes {
            groups.sort_by_key(|group| group.members[0].0);
        }
        let rows = experts.last().map_or(0, |expert| expert.rows.end);
        let single = protocol.heads.len() == 1;
        let only = if single { present.first().copied() } else { None };
        Ok(Self {
            plain: only.and_then(|head| plain_channels(protocol, head)),
            decides: only
                .filter(|_| protocol.conventions.decide_in_head)
                .map(|head| classes_of_channels(protocol, head)),
            floor: if single { None } else { protocol.conventions.fusion_floor },
            width,
            pixels: Vec::with_capacity(LANES),
            logs: Rows::new(rows),
            powers: Rows::new(rows.max(groups.len())),
            scores: Rows::new(groups.len()),
            masses: Masses { of: Rows::new(classes), total: [0.0; LANES], largest: [0.0; LANES] },
            weights: present.iter().filter(|head| takes_part(head)).map(|head| head.alpha).collect(),
            parts: parts(&groups, classes),
            are_classes,
            experts,
            groups,
        })
    }

    /// The heads at the pixels that were loaded.
    pub(crate) fn heads(&self) -> impl Iterator<Item = &ScoreBlock<'a>> {
        self.experts.iter().map(|expert| &expert.block)
    }

    /// Reads and checks up to [`LANES`] pixels.
    pub(crate) fn load(&mut self, pixels: &[usize]) -> Result<()> {
        self.pixels.clear();
        self.pixels.extend_from_slice(pixels);
        let mut sound = true;
        for Expert { block, logs, peaks: largest, .. } in &mut self.experts {
            sound &= block.load(pixels);
            // Checked on the way, reported afterwards: finding the first bad pixel is only worth its time when there is one.
            let sums = match block.head.kind {
                Kind::Probs => Some(logs_of_probabilities(&block.values, logs)),
                Kind::LogProbs => Some(sums_of_powers(&block.values)),
                Kind::Logits | Kind::Labels => None,
            };
            sound &= sums.is_none_or(|sums| sums.iter().all(|&sum| sums_to_one(sum)));
            *largest = if logs.is_empty() { *block.peaks() } else { peaks(logs, block.is_used()) };
            sound &= largest.iter().all(|&peak| peak > f64::NEG_INFINITY);
        }
        if sound { Ok(()) } else { self.refuse() }
    }

    /// The distributions of the loaded pixels, every temperature multiplied by `stretch`.
    pub(crate) fn fuse(&mut self, stretch: f64) -> Result<()> {
        for expert in &self.experts {
            let temperature = expert.block.head.tau * stretch;
            cool(expert.logarithms(), &expert.peaks, temperature, &mut self.logs[expert.rows.clone()]);
        }
        // The powers of all heads in one go: the more rows, the more of them are computed side by side.
        powers(&self.logs, &[0.0; LANES], &mut self.powers);
        for Expert { block, rows, .. } in &self.experts {
            normalise(&self.powers[rows.clone()], block.is_used(), &mut self.logs[rows.clone()]);
        }
        let mut peaks = weigh(&self.logs, &self.weights, &self.groups, &mut self.scores);
        // A floor is a probability, and masses must stay on its scale: nothing is taken off.
        if self.floor.is_some() {
            peaks = [0.0; LANES];
        } else if let Some(lane) = peaks.iter().position(|peak| peak.is_infinite()) {
            return Err(Error::value("every class has probability 0 after fusion")
                .at(self.place(lane))
                .advice("two heads exclude each other's classes: check groups and absent"));
        }
        if self.are_classes {
            powers(&self.scores, &peaks, &mut self.masses.of);
        } else {
            powers(&self.scores, &peaks, &mut self.powers);
            add_up(&self.powers, &self.parts, &mut self.masses.of);
        }
        finish(self.floor, &mut self.masses);
        Ok(())
    }

    /// The probability of a class at every pixel.
    pub(crate) fn probabilities(&self, class: usize) -> Lanes {
        quotients(&self.masses.of[class], &self.masses.total)
    }

    /// The largest probability of every pixel.
    pub(crate) fn confidences(&self) -> Lanes {
        quotients(&self.masses.largest, &self.masses.total)
    }

    /// The squared distance of every pixel's distribution from the one that is sure of a class.
    pub(crate) fn distances(&self, classes: &[usize; LANES]) -> Lanes {
        distances(&self.masses, classes)
    }

    /// -ln of the probability of one class at every pixel, plus `floor`; inf where it is 0.
    pub(crate) fn surprises(&self, classes: &[usize; LANES], floor: Option<f64>) -> Lanes {
        let Masses { of, total, .. } = &self.masses;
        let own: Lanes = std::array::from_fn(|lane| of[classes[lane]][lane]);
        if let Some(floor) = floor {
            let raised = std::array::from_fn(|lane| own[lane] / total[lane] + floor);
            return logarithms(&raised).map(|logarithm| -logarithm);
        }
        let mut surprises = log_ratios(total, &own);
        for lane in 0..LANES {
            // Below this the mass has lost digits to underflow: its logarithm is taken from the scores.
            if own[lane] < SAFE_MASS {
                surprises[lane] = ln(total[lane]) - self.deep_logarithm(classes[lane], lane);
            }
        }
        surprises
    }

    /// The logarithm of a class's mass where the mass itself underflows.
    fn deep_logarithm(&self, class: usize, lane: usize) -> f64 {
        let scores = || {
            self.groups.iter().zip(self.scores.iter()).flat_map(move |(group, scores)| {
                let of_class = group.members.iter().filter(move |(member, _)| *member == class);
                of_class.map(move |&(_, count)| (count, scores[lane]))
            })
        };
        let shift = self.scores.iter().fold(f64::NEG_INFINITY, |most, scores| most.max(scores[lane]));
        let peak = scores().fold(f64::NEG_INFINITY, |most, (_, score)| most.max(score));
        if peak.is_infinite() {
            return f64::NEG_INFINITY;
        }
        peak - shift + ln(scores().map(|(count, score)| count * exp(score - peak)).sum())
    }

    /// Whether the given numbers decide, so that nothing need be fused for that.
    pub(crate) fn decides_by_given(&self) -> bool {
        self.plain.is_some()
    }

    /// The class with the largest probability at every pixel; the lowest of equal ones.
    pub(crate) fn tops(&self) -> [usize; LANES] {
        let given = self.plain.as_ref().zip(self.experts.first());
        let Some((channels, expert)) = given else {
            // Equal classes may differ in last bits after fusion: the first within rounding wins.
            return first_with(&self.masses.of, &self.masses.largest.map(|largest| largest * (1.0 - TIE)));
        };
        largest(&expert.block.values, channels)
    }

    /// The decided class of every pixel, given the most probable ones.
    pub(crate) fn decisions(&self, tops: &[usize; LANES]) -> Result<[usize; LANES]> {
        let Some((classes, expert)) = self.decides.as_ref().zip(self.experts.first()) else {
            return Ok(*tops);
        };
        let mut decisions = [0; LANES];
        for (lane, &channel) in expert.block.winners().iter().enumerate() {
            decisions[lane] = classes[channel].ok_or_else(|| {
                let head = expert.block.head;
                Error::value(format!("channel '{}' covers several global classes", head.channels[channel]))
                    .at(self.place(lane))
                    .at(format!("head {}", head.name))
                    .advice("this preset decides in the head's channels: use --preset strict, or split the channel")
            })?;
        }
        Ok(decisions)
    }

    fn place(&self, lane: usize) -> String {
        let pixel = self.pixels.get(lane).or(self.pixels.last()).copied().unwrap_or_default();
        format!("x = {}, y = {}", pixel % self.width, pixel / self.width)
    }

    /// Says what is wrong with the first loaded pixel that is not allowed.
    fn refuse(&self) -> Result<()> {
        for lane in 0..self.pixels.len() {
            for Expert { block, peaks, .. } in &self.experts {
                let probability = if block.head.kind == Kind::LogProbs { exp } else { |v| v };
                let located =
                    |error: Error| error.at(self.place(lane)).at(format!("head {}", block.head.name));
                block.check_values(lane).map_err(located)?;
                block.check_sum(lane, probability).map_err(located)?;
                if !peaks[lane].is_finite() {
                    return Err(located(
                        Error::value("every class has probability 0")
                            .advice("look for -inf in every channel, or ignore the pixel"),
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The names of the heads that a unit lacks.
fn missing_heads<'p>(
    protocol: &'p Segmentation,
    heads: &[Option<ScoreArray<'_>>],
) -> impl Iterator<Item = &'p str> {
    protocol
        .heads
        .iter()
        .enumerate()
        .filter(|(position, _)| heads.get(*position).is_none_or(Option::is_none))
        .map(|(_, head)| head.name.as_str())
}

/// The probability of every global class at every pixel, class by class and row by row.
pub fn fuse(
    protocol: &Segmentation,
    heads: &[Option<ScoreArray<'_>>],
    width: usize,
    height: usize,
) -> Result<Vec<f64>> {
    let mut fusion = Fusion::new(protocol, heads, width, height)?;
    let pixels: Vec<usize> = (0..width * height).collect();
    let mut probabilities = vec![0.0; protocol.labels.global.len() * pixels.len()];
    for block in pixels.chunks(LANES) {
        fusion.load(block)?;
        fusion.fuse(1.0)?;
        for (class, plane) in probabilities.chunks_exact_mut(pixels.len()).enumerate() {
            plane[block[0]..][..block.len()].copy_from_slice(&fusion.probabilities(class)[..block.len()]);
        }
    }
    Ok(probabilities)
}
