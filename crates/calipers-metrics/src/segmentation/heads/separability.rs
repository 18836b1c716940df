//! Which classes a prediction can tell apart at all, by its declaration alone.

use std::collections::{BTreeMap, BTreeSet};

use crate::segmentation::protocol::{Head, Kind, Segmentation, Space};

/// Scored originals that have the same channel in every head that takes part, two or more at a time.
pub(crate) fn inseparable(protocol: &Segmentation) -> Vec<Vec<i64>> {
    let heads: Vec<&Head> =
        protocol.heads.iter().filter(|head| head.alpha > 0.0 && head.kind != Kind::Labels).collect();
    if heads.is_empty() {
        return Vec::new();
    }
    let mut sharing: BTreeMap<Vec<usize>, Vec<i64>> = BTreeMap::new();
    for original in protocol.labels.to_global.keys() {
        let channels: Option<Vec<usize>> =
            heads.iter().map(|head| head.to_channel.get(original).copied()).collect();
        if let Some(channels) = channels {
            sharing.entry(channels).or_default().push(*original);
        }
    }
    let mut groups: Vec<_> = sharing.into_values().filter(|originals| originals.len() > 1).collect();
    groups.sort_unstable();
    groups
}

/// Whether the originals lie in more than one global class.
pub(crate) fn straddles(protocol: &Segmentation, originals: &[i64]) -> bool {
    let classes: BTreeSet<_> =
        originals.iter().map(|original| protocol.labels.to_global.get(original)).collect();
    classes.len() > 1
}

/// Whether label maps hold ids of which several mean one global class.
pub(crate) fn finer_than_global(protocol: &Segmentation) -> bool {
    protocol.heads.iter().any(|head| {
        let ids: BTreeSet<(usize, i64)> = match (head.kind, head.space) {
            (Kind::Labels, Space::Original) => {
                protocol.labels.to_global.iter().map(|(&original, &class)| (class, original)).collect()
            }
            (Kind::Labels, Space::Channel) => head
                .to_channel
                .iter()
                .filter_map(|(original, &channel)| {
                    Some((*protocol.labels.to_global.get(original)?, channel as i64))
                })
                .collect(),
            _ => BTreeSet::new(),
        };
        let classes: BTreeSet<usize> = ids.iter().map(|&(class, _)| class).collect();
        classes.len() < ids.len()
    })
}
