//! Which originals the heads cannot tell apart, and which channels speak for a class.

use std::collections::BTreeMap;

use crate::segmentation::protocol::{Head, Segmentation};
use calipers_core::functions::lanes::ln;

/// Originals that have the same channel in every expert.
#[derive(Debug)]
pub(crate) struct Group {
    /// The row of the channel of each expert, when the channels of all heads stand in one list.
    pub(crate) channels: Vec<usize>,
    /// The logarithm of how many share the mass.
    pub(crate) share: f64,
    /// The global classes of its originals, and how many are of each.
    pub(crate) members: Vec<(usize, f64)>,
}

/// Whether a head is one of the experts.
pub(crate) fn takes_part(head: &Head) -> bool {
    head.alpha > 0.0
}

/// The groups of the originals, under the heads that are there.
pub(crate) fn groups(protocol: &Segmentation, present: &[&Head]) -> Vec<Group> {
    let mut firsts = Vec::new();
    let mut rows = 0;
    for head in present {
        if takes_part(head) {
            firsts.push((*head, rows));
        }
        rows += head.channels.len();
    }
    let mut members: BTreeMap<Vec<usize>, BTreeMap<usize, u32>> = BTreeMap::new();
    for (original, &class) in &protocol.labels.to_global {
        let row = |(head, first): &(&Head, usize)| Some(first + head.to_channel.get(original)?);
        let channels: Option<Vec<usize>> = firsts.iter().map(row).collect();
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

/// For each class the groups that give it mass, and how many of its originals are in each.
pub(crate) fn parts(groups: &[Group], classes: usize) -> Vec<Vec<(usize, f64)>> {
    let mut parts = vec![Vec::new(); classes];
    for (place, group) in groups.iter().enumerate() {
        for &(class, count) in &group.members {
            parts[class].push((place, count));
        }
    }
    parts
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
pub(crate) fn classes_of_channels(protocol: &Segmentation, head: &Head) -> Vec<Option<usize>> {
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
