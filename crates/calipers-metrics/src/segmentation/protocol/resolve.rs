//! From a configuration to a protocol: everything that can contradict itself is checked here.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Error, Result};

use crate::segmentation::labels::mapping::{Listed, NOT_USED, Wanted, duplicate};
use crate::segmentation::labels::{ClassRef, MOST_CLASSES};
use crate::segmentation::protocol::config::{BinsConfig, BoundaryConfig, Config, HeadConfig, LabelsConfig};
use crate::segmentation::protocol::{
    Bins, Boundary, Closed, Head, Kind, LabelSpace, Layout, Measure, Preset, Segmentation, Space,
};
use crate::segmentation::surface::{check_spacing, images, surface};

/// The most bins of calibration.
pub(super) const MOST_BINS: i64 = 1000;
/// 2^(k/8) for k = 0 to 7, correctly rounded.
const EIGHTHS: [f64; 8] = [
    1.0,
    1.090_507_732_665_257_7,
    1.189_207_115_002_721,
    1.296_839_554_651_009_6,
    std::f64::consts::SQRT_2,
    1.542_210_825_407_940_7,
    1.681_792_830_507_429,
    1.834_008_086_409_342_4,
];

impl Config {
    /// The protocol that the configuration describes.
    pub fn resolve(&self) -> Result<Segmentation> {
        let preset = self.preset.unwrap_or(Preset::Strict);
        let rules = [&self.data.truth_rgb, &self.data.pred_rgb];
        let unlabelled = rules.into_iter().flatten().any(|rule| rule != "ids");
        let labels = label_space(&self.labels, preset, unlabelled)?;
        let truth_space = self.data.truth_space.unwrap_or(Space::Original);
        if truth_space == Space::Channel {
            let error = Error::value("truth cannot be in channels").at("[data] truth_space").found("channel");
            return Err(error.allowed("original or global"));
        }
        let measure: Vec<Measure> = match &self.measure {
            None => Measure::DEFAULT.into(),
            Some(measures) if measures.0.is_empty() => {
                return Err(Error::value("nothing to measure").at("measure").found("an empty list"));
            }
            Some(measures) => measures.0.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
        };
        if let Some(spacing) = &self.data.spacing {
            check_spacing(spacing.numbers()).map_err(|error| error.at("[data]"))?;
        }
        let (surface, images) = (surface(&self.surface, &labels)?, images(&self.images)?);
        Segmentation {
            preset,
            truth_space,
            boundary: boundary(&self.boundary)?,
            bins: bins(&self.bins)?,
            surface: measure.contains(&Measure::Surface).then_some(surface),
            images: measure.contains(&Measure::Images).then_some(images),
            measure,
            temperatures: temperatures(),
            conventions: preset.conventions(),
            heads: self.resolve_heads(&labels)?,
            labels,
        }
        .checked()
    }

    fn resolve_heads(&self, labels: &LabelSpace) -> Result<Vec<Head>> {
        let flat = HeadConfig { name: "flat".into(), kind: Some(Kind::Labels), ..HeadConfig::default() };
        let implied = [HeadConfig { kind: self.kind.or(flat.kind), ..flat }];
        let written = if self.heads.is_empty() { &implied[..] } else { &self.heads };
        let listed = Listed::new(&labels.original, labels.ignore.clone());
        let mut names = BTreeSet::new();
        for head in written {
            if head.name.trim().is_empty() || !names.insert(head.name.as_str()) {
                let error = Error::value("every head needs a name of its own").at("[[heads]] name");
                return Err(error.found(format!("{:?}", head.name)));
            }
        }
        let heads =
            written.iter().map(|head| self.resolve_head(head, &listed)).collect::<Result<Vec<_>>>()?;
        if heads.len() > 1 && heads.iter().any(|head| head.kind == Kind::Labels) {
            let maps = heads.iter().filter(|head| head.kind == Kind::Labels);
            let named: Vec<String> = maps.map(|head| format!("{:?}", head.name)).collect();
            return Err(Error::value("label maps of several heads cannot be fused")
                .at("[[heads]] kind")
                .found(format!("labels in {}", named.join(", ")))
                .allowed("logits, log-probs or probs in every head, or a single head"));
        }
        if heads.iter().all(|head| head.alpha <= 0.0) {
            return Err(Error::value("every head has the weight 0")
                .at("[[heads]] alpha")
                .found("0 everywhere"));
        }
        Ok(heads)
    }

    fn resolve_head(&self, head: &HeadConfig, listed: &Listed<'_>) -> Result<Head> {
        let table = format!("[[heads]] {:?}", head.name);
        let entries = head.channels.clone().unwrap_or_else(|| listed.all().map(ClassRef::Id).collect());
        let wanted = Wanted {
            table: table.clone(),
            list: "channels",
            entries,
            groups: &head.groups,
            rest: head.rest.as_ref(),
            absent: &head.absent,
        };
        let mapping = wanted.resolve(listed)?;
        if mapping.position.is_empty() {
            return Err(Error::value("a head without any class").at(format!("{table} channels")));
        }
        let alpha = head.alpha.unwrap_or(1.0);
        if !(alpha.is_finite() && alpha >= 0.0) {
            let error = Error::value("not a weight").at(format!("{table} alpha")).found(alpha);
            return Err(error.allowed("a finite number, 0 or more"));
        }
        let tau = head.tau.unwrap_or(1.0);
        if !(tau.is_finite() && tau > 0.0) {
            let error = Error::value("not a temperature").at(format!("{table} tau")).found(tau);
            return Err(error.allowed("a finite number above 0"));
        }
        Ok(Head {
            name: head.name.clone(),
            kind: head.kind.or(self.kind).unwrap_or(Kind::Logits),
            layout: head.layout.or(self.layout).unwrap_or(Layout::Chw),
            space: head.space.or(self.space).unwrap_or(Space::Original),
            channels: mapping.names,
            to_channel: mapping.position,
            absent: mapping.absent,
            unused: mapping.empty,
            rest: mapping.rest,
            alpha,
            tau,
        })
    }
}

impl Segmentation {
    /// The protocol itself, if nothing in it contradicts the rest: where a decision is made in channels,
    /// each channel must lie in one global class.
    pub fn checked(self) -> Result<Self> {
        let [head] = &self.heads[..] else { return Ok(self) };
        let in_channels = match head.kind {
            Kind::Labels => head.space == Space::Channel,
            Kind::Logits | Kind::LogProbs | Kind::Probs => self.conventions.decide_in_head,
        };
        let labels = &self.labels;
        let mut first = BTreeMap::new();
        for (id, channel) in head.to_channel.iter().filter(|_| in_channels) {
            let other = *first.entry(channel).or_insert(id);
            if labels.to_global[other] != labels.to_global[id] {
                return Err(Error::value(
                    "a channel covers several global classes: its argmax cannot be mapped",
                )
                .at(format!("[[heads]] {:?}, channel {:?}", head.name, head.channels[*channel]))
                .found(format!("{:?} and {:?}", labels.original[other], labels.original[id]))
                .advice("split the channel, or score its probabilities with preset strict"));
            }
        }
        Ok(self)
    }
}

/// The label space; with `unlabelled` a rule leaves pixels without a label, which have an ignored value.
fn label_space(config: &LabelsConfig, preset: Preset, unlabelled: bool) -> Result<LabelSpace> {
    let Some(original) = &config.original else {
        return Err(Error::usage("the classes are not given")
            .advice("give --classes FILE|N|cityscapes, or original in [labels]"));
    };
    let original = &original.0;
    check_originals(original)?;
    let everything = Listed::new(original, BTreeSet::new());
    let ignored = |class: &ClassRef| match class {
        ClassRef::Id(value) => Ok(*value),
        ClassRef::Name(_) => everything.id(class, "[labels] ignore"),
    };
    let mut ignore = config.ignore.iter().map(ignored).collect::<Result<BTreeSet<_>>>()?;
    ignore.extend(config.value_of_ignored_colors(original, &ignore, unlabelled));
    let listed = Listed::new(original, ignore);
    if listed.scored().next().is_none() {
        return Err(Error::value("no class is left to score").at("[labels] ignore").found("every class"));
    }
    let wanted = Wanted {
        table: "[labels]".into(),
        list: "global",
        entries: match &config.global {
            Some(global) => global.clone(),
            None => listed.scored().map(|(id, _)| ClassRef::Id(id)).collect(),
        },
        groups: &config.groups,
        rest: config.rest.as_ref(),
        absent: &[],
    };
    let mapping = wanted.resolve(&listed)?;
    if let Some(class) = mapping.empty.first() {
        return Err(Error::value("a global class without original classes")
            .at("[labels] global")
            .found(format!("{:?}", mapping.names[*class]))
            .advice("take it out of the list, or give it originals that are not ignored"));
    }
    let background = match &config.background {
        None => preset.background(),
        Some(class) => background(class, &mapping.names)?,
    };
    Ok(LabelSpace {
        original: original.clone(),
        global: mapping.names,
        to_global: mapping.position,
        ignore: listed.into_ignore(),
        background,
        include_background: config.include_background.unwrap_or(true),
        unpredicted: config.unpredicted.unwrap_or_else(|| preset.unpredicted()),
        missing_heads: config.missing_heads.unwrap_or_else(|| preset.missing_heads()),
    })
}

pub(super) fn check_originals(original: &BTreeMap<i64, String>) -> Result<()> {
    let at = "[labels] original";
    if !(1..=MOST_CLASSES).contains(&original.len()) {
        let error = Error::value("the number of classes").at(at).found(original.len());
        return Err(error.allowed(format!("1 to {MOST_CLASSES}")));
    }
    let mut seen = BTreeMap::new();
    for (id, name) in original {
        if name.trim().is_empty() || name == NOT_USED {
            let error = Error::value("not a class name").at(format!("{at}, id {id}"));
            return Err(error.found(format!("{name:?}")).allowed("anything but blanks and \"-\""));
        }
        if let Some(other) = seen.insert(name.as_str(), id) {
            return Err(duplicate(name).at(format!("{at}, ids {other} and {id}")));
        }
    }
    Ok(())
}

/// The global class that a reference means: a number is a position, the word `none` no class.
fn background(class: &ClassRef, global: &[String]) -> Result<Option<usize>> {
    let position = match class {
        ClassRef::Name(name) if name == "none" => return Ok(None),
        ClassRef::Name(name) => global.iter().position(|known| known == name),
        ClassRef::Id(id) => usize::try_from(*id).ok().filter(|id| *id < global.len()),
    };
    position.map(Some).ok_or_else(|| {
        let error = Error::value("the background is no global class").at("[labels] background").found(class);
        let last = global.len() - 1;
        error.allowed(format!("the name of a global class, its id from 0 to {last}, or \"none\""))
    })
}

fn boundary(config: &BoundaryConfig) -> Result<Boundary> {
    let thickness = config.thickness.unwrap_or(2);
    let Some(thickness) = u32::try_from(thickness).ok().filter(|thickness| *thickness >= 1) else {
        let error = Error::value("not a thickness").at("[boundary] thickness").found(thickness);
        return Err(error.allowed("a whole number of pixels, 1 or more"));
    };
    let length = |key: &str, value: f64| {
        if value.is_finite() && value >= 0.0 {
            return Ok(value);
        }
        let error = Error::value("not a length").at(format!("[boundary] {key}")).found(value);
        Err(error.allowed("a finite number, 0 or more"))
    };
    Ok(Boundary {
        thickness,
        cheng: length("cheng", config.cheng.unwrap_or(0.02))?,
        tolerance: length("tolerance", config.tolerance.unwrap_or(0.0075))?,
        tolerance_px: config.tolerance_px.map(|value| length("tolerance_px", value)).transpose()?,
    })
}

fn bins(config: &BinsConfig) -> Result<Bins> {
    let count = config.count.unwrap_or(10);
    if !(1..=MOST_BINS).contains(&count) {
        let error = Error::value("not a number of bins").at("[bins] count").found(count);
        return Err(error.allowed(format!("1 to {MOST_BINS}")));
    }
    Ok(Bins { count: count as usize, closed: config.closed.unwrap_or(Closed::Right) })
}

/// 2^(k/8) for k = -16 to 16.
pub(super) fn temperatures() -> Vec<f64> {
    let octaves = [0.25, 0.5, 1.0, 2.0];
    let steps = octaves.iter().flat_map(|octave| EIGHTHS.iter().map(move |eighth| octave * eighth));
    steps.chain([4.0]).collect()
}
