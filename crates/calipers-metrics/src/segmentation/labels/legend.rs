//! What the ids of a label map stand for, in the truth, in a head's truth and in a prediction.

use std::collections::BTreeMap;

use crate::segmentation::protocol::{Head, LabelSpace, Segmentation, Space, Unpredicted};

/// What an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A class: global, or a channel in a head's truth.
    Class(usize),
    /// The pixel is scored and has no prediction.
    NoPrediction,
    /// The pixel is not scored.
    Void,
    /// The id may not stand here.
    Bad,
}

/// The meaning of every id.
#[derive(Clone, Debug)]
pub(crate) struct Legend {
    /// The classes that maps read with this legend hold.
    pub(crate) classes: usize,
    /// The ids that mean something of their own.
    pub(crate) known: BTreeMap<i64, Meaning>,
    /// What all others mean.
    pub(crate) other: Meaning,
}

impl Legend {
    /// Ids of truth maps.
    pub(crate) fn truth(protocol: &Segmentation) -> Self {
        let labels = &protocol.labels;
        let mut known: BTreeMap<i64, Meaning> = match protocol.truth_space {
            Space::Original => originals(labels).collect(),
            Space::Global | Space::Channel => positions(protocol.classes()).collect(),
        };
        known.extend(labels.ignore.iter().map(|&id| (id, Meaning::Void)));
        Self { classes: protocol.classes(), known, other: Meaning::Bad }
    }

    /// Original ids of truth maps as channels of a head. Originals that the head cannot predict are not
    /// scored there.
    pub(crate) fn head_truth(head: &Head) -> Self {
        let known = head.to_channel.iter().map(|(&id, &channel)| (id, Meaning::Class(channel))).collect();
        Self { classes: head.channels.len(), known, other: Meaning::Void }
    }

    /// Ids of predicted maps at pixels that are scored.
    pub(crate) fn scored(protocol: &Segmentation, head: &Head) -> Self {
        let refused = protocol.labels.unpredicted == Unpredicted::Error;
        let ignored = if refused { Meaning::Bad } else { Meaning::NoPrediction };
        let wrong = protocol.conventions.unknown_is_wrong && !refused;
        let other = if wrong { Meaning::NoPrediction } else { Meaning::Bad };
        Self::prediction(protocol, head, ignored, other)
    }

    /// Ids of predicted maps at pixels that are not scored, for bands that keep void.
    pub(crate) fn unscored(protocol: &Segmentation, head: &Head) -> Self {
        let wrong = protocol.conventions.unknown_is_wrong;
        let other = if wrong { Meaning::NoPrediction } else { Meaning::Bad };
        Self::prediction(protocol, head, Meaning::NoPrediction, other)
    }

    fn prediction(protocol: &Segmentation, head: &Head, ignored: Meaning, other: Meaning) -> Self {
        let labels = &protocol.labels;
        let mut known: BTreeMap<i64, Meaning> = labels.ignore.iter().map(|&id| (id, ignored)).collect();
        match head.space {
            Space::Original => known.extend(originals(labels)),
            Space::Global => known.extend(positions(protocol.classes())),
            Space::Channel => known.extend(channels(labels, head)),
        }
        Self { classes: protocol.classes(), known, other }
    }

    /// What one id means.
    pub(crate) fn meaning(&self, id: i64) -> Meaning {
        self.known.get(&id).copied().unwrap_or(self.other)
    }
}

fn originals(labels: &LabelSpace) -> impl Iterator<Item = (i64, Meaning)> {
    labels.to_global.iter().map(|(&id, &class)| (id, Meaning::Class(class)))
}

fn positions(classes: usize) -> impl Iterator<Item = (i64, Meaning)> {
    (0..classes).map(|class| (class as i64, Meaning::Class(class)))
}

/// Channels that stand for a class; all originals of one lie in the same global class.
fn channels(labels: &LabelSpace, head: &Head) -> impl Iterator<Item = (i64, Meaning)> {
    let class = |id| labels.to_global.get(id).copied().map(Meaning::Class);
    head.to_channel.iter().filter_map(move |(id, &channel)| Some((channel as i64, class(id)?)))
}
