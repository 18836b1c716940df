//! From the scores of the heads to one distribution over the global classes.
//!
//! Each head is an expert on the originals: the scores of an original are the weighted
//! log-probabilities of its channels. Originals that no expert separates form a group and share
//! its mass; the mass of a global class is that of its originals.

mod slopes;

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use crate::segmentation::heads::kernel::{
    add_weighted, centre, larger, largest, log_softmax, logarithms, powers,
};
use crate::segmentation::probability::block::{LANES, Lanes, ScoreBlock, sums_to_one};
use crate::segmentation::protocol::{Head, Kind, MissingHeads, Segmentation};
use crate::segmentation::unit::ScoreArray;
use calipers_core::functions::lanes::{exp, ln};

/// A probability this close to the largest, relatively, is as large.
const TIE: f64 = 1e-12;

/// Below this, a mass may have lost digits to underflow.
const SAFE_MASS: f64 = 1e-290;

/// Originals that have the same channel in every expert.
#[derive(Debug)]
struct Group {
    channels: Vec<usize>,
    /// The logarithm of how many share the mass.
    share: f64,
    /// The global classes of its originals, and how many are of each.
    members: Vec<(usize, f64)>,
}

/// A head's scores, and what they are as logarithms.
#[derive(Debug)]
struct Expert<'a> {
    block: ScoreBlock<'a>,
    used: Vec<bool>,
    centred: Vec<Lanes>,
    logs: Vec<Lanes>,
}

/// The distributions of a block of pixels.
#[derive(Debug)]
pub(crate) struct Fusion<'a> {
    experts: Vec<Expert<'a>>,
    groups: Vec<Group>,
    /// The channel of each class, where one head has exactly one channel for each.
    plain: Option<Vec<usize>>,
    /// The class of each channel, where a single head decides; `None` for several or no classes.
    decides: Option<Vec<Option<usize>>>,
    floor: Option<f64>,
    width: usize,
    pixels: Vec<usize>,
    scores: Vec<Lanes>,
    masses: Vec<Lanes>,
    total: Lanes,
    largest: Lanes,
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
        let mut experts = Vec::new();
        for (position, (head, array)) in protocol.heads.iter().zip(heads).enumerate() {
            let Some(array) = array else { continue };
            array.check(head, height, width)?;
            let channels = head.channels.len();
            experts.push(Expert {
                block: ScoreBlock::new(head, position, *array),
                used: (0..channels).map(|channel| !head.unused.contains(&channel)).collect(),
                centred: vec![[0.0; LANES]; channels],
                logs: vec![[0.0; LANES]; channels],
            });
        }
        let present: Vec<&Head> = experts.iter().map(|expert| expert.block.head).collect();
        let groups = groups(protocol, &present);
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
            scores: vec![[0.0; LANES]; groups.len()],
            masses: vec![[0.0; LANES]; protocol.labels.global.len()],
            total: [0.0; LANES],
            largest: [0.0; LANES],
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
        for expert in &mut self.experts {
            sound &= expert.block.load(pixels);
            let kind = expert.block.head.kind;
            let mut sums = [0.0; LANES];
            let peaks = centre(&expert.block.values, &expert.used, kind, &mut expert.centred, &mut sums);
            // Checked on the way, reported afterwards: finding the first bad pixel is only worth its time when there is one.
            sound &= peaks.iter().all(|&peak| peak > f64::NEG_INFINITY);
            sound &= kind == Kind::Logits || sums.iter().all(|&sum| sums_to_one(sum));
        }
        if sound { Ok(()) } else { self.refuse() }
    }

    /// The distributions of the loaded pixels, every temperature multiplied by `stretch`.
    pub(crate) fn fuse(&mut self, stretch: f64) -> Result<()> {
        for expert in &mut self.experts {
            let temperature = expert.block.head.tau * stretch;
            log_softmax(&expert.centred, &expert.used, temperature, &mut expert.logs);
        }
        let mut peaks = [f64::NEG_INFINITY; LANES];
        for (group, scores) in self.groups.iter().zip(&mut self.scores) {
            *scores = [-group.share; LANES];
            let experts = self.experts.iter().filter(|expert| takes_part(expert.block.head));
            for (expert, &channel) in experts.zip(&group.channels) {
                add_weighted(scores, expert.block.head.alpha, &expert.logs[channel]);
            }
            peaks = larger(&peaks, scores);
        }
        // A floor is a probability, and masses must stay on its scale: nothing is taken off.
        if self.floor.is_some() {
            peaks = [0.0; LANES];
        } else if let Some(lane) = peaks.iter().position(|peak| peak.is_infinite()) {
            return Err(Error::value("every class has probability 0 after fusion")
                .at(self.place(lane))
                .advice("two heads exclude each other's classes: check groups and absent"));
        }
        self.add_up(&peaks);
        Ok(())
    }

    fn add_up(&mut self, shift: &Lanes) {
        self.masses.fill([0.0; LANES]);
        for (group, scores) in self.groups.iter().zip(&self.scores) {
            let powers = powers(scores, shift);
            for &(class, count) in &group.members {
                add_weighted(&mut self.masses[class], count, &powers);
            }
        }
        self.total = [0.0; LANES];
        self.largest = [0.0; LANES];
        for mass in &mut self.masses {
            if let Some(floor) = self.floor {
                *mass = larger(&[floor; LANES], mass);
            }
            add_weighted(&mut self.total, 1.0, mass);
            self.largest = larger(&self.largest, mass);
        }
    }

    /// The probability of a class at every pixel.
    pub(crate) fn probabilities(&self, class: usize) -> Lanes {
        std::array::from_fn(|lane| self.masses[class][lane] / self.total[lane])
    }

    /// The largest probability of every pixel.
    pub(crate) fn confidences(&self) -> Lanes {
        std::array::from_fn(|lane| self.largest[lane] / self.total[lane])
    }

    /// -ln of the probability of one class at every pixel, plus `floor`; inf where it is 0.
    pub(crate) fn surprises(&self, classes: &[usize; LANES], floor: Option<f64>) -> Lanes {
        let own: Lanes = std::array::from_fn(|lane| self.masses[classes[lane]][lane]);
        if let Some(floor) = floor {
            let raised = std::array::from_fn(|lane| own[lane] / self.total[lane] + floor);
            return logarithms(&raised).map(|logarithm| -logarithm);
        }
        let (own_logs, total_logs) = (logarithms(&own), logarithms(&self.total));
        std::array::from_fn(|lane| {
            // Below this the mass has lost digits to underflow: its logarithm is taken from the scores.
            if own[lane] >= SAFE_MASS {
                total_logs[lane] - own_logs[lane]
            } else {
                total_logs[lane] - self.deep_logarithm(classes[lane], lane)
            }
        })
    }

    /// The logarithm of a class's mass where the mass itself underflows.
    fn deep_logarithm(&self, class: usize, lane: usize) -> f64 {
        let scores = || {
            self.groups.iter().zip(&self.scores).flat_map(move |(group, scores)| {
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
            return std::array::from_fn(|lane| {
                // Equal classes may differ in last bits after fusion: the first within rounding wins.
                let enough = self.largest[lane] * (1.0 - TIE);
                self.masses.iter().position(|mass| mass[lane] >= enough).unwrap_or(0)
            });
        };
        largest(&expert.block.values, channels).map(|class| class as usize)
    }

    /// The decided class of every pixel, given the most probable ones.
    pub(crate) fn decisions(&self, tops: &[usize; LANES]) -> Result<[usize; LANES]> {
        let Some((classes, expert)) = self.decides.as_ref().zip(self.experts.first()) else {
            return Ok(*tops);
        };
        let mut decisions = [0; LANES];
        for (lane, channel) in expert.block.winners().into_iter().enumerate() {
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
            for Expert { block, used, centred, .. } in &self.experts {
                let probability = if block.head.kind == Kind::LogProbs { exp } else { |v| v };
                let located =
                    |error: Error| error.at(self.place(lane)).at(format!("head {}", block.head.name));
                block.check_values(lane).map_err(located)?;
                block.check_sum(lane, probability).map_err(located)?;
                if !centred.iter().zip(used).any(|(centred, used)| *used && centred[lane].is_finite()) {
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

fn takes_part(head: &Head) -> bool {
    head.alpha > 0.0
}

fn groups(protocol: &Segmentation, present: &[&Head]) -> Vec<Group> {
    let mut members: BTreeMap<Vec<usize>, BTreeMap<usize, u32>> = BTreeMap::new();
    for (original, &class) in &protocol.labels.to_global {
        let experts = present.iter().filter(|head| takes_part(head));
        let channels: Option<Vec<usize>> =
            experts.map(|head| head.to_channel.get(original).copied()).collect();
        if let Some(channels) = channels {
            *members.entry(channels).or_default().entry(class).or_default() += 1;
        }
    }
    let shared = protocol.conventions.split_multiplicity;
    members
        .into_iter()
        .map(|(channels, classes)| Group {
            channels,
            share: if shared { ln(f64::from(classes.values().sum::<u32>())) } else { 0.0 },
            members: classes.into_iter().map(|(class, count)| (class, f64::from(count))).collect(),
        })
        .collect()
}

/// The channel of each global class, if the head has one for each and no two share it.
pub(crate) fn plain_channels(protocol: &Segmentation, head: &Head) -> Option<Vec<usize>> {
    let mut channels = vec![None; protocol.labels.global.len()];
    let mut owners = vec![None; head.channels.len()];
    for (original, &class) in &protocol.labels.to_global {
        let channel = *head.to_channel.get(original)?;
        if *channels[class].get_or_insert(channel) != channel
            || *owners[channel].get_or_insert(class) != class
        {
            return None;
        }
    }
    channels.into_iter().collect()
}

/// The one global class of each channel's originals.
fn classes_of_channels(protocol: &Segmentation, head: &Head) -> Vec<Option<usize>> {
    let mut classes: Vec<Vec<usize>> = vec![Vec::new(); head.channels.len()];
    for (original, &channel) in &head.to_channel {
        classes[channel].extend(protocol.labels.to_global.get(original));
    }
    classes
        .into_iter()
        .map(|mut classes| {
            classes.dedup();
            (classes.len() == 1).then(|| classes[0])
        })
        .collect()
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
