//! Estimation bias: how far each node moved, and how far all of them did.

use super::dyadic::{Dyadic, Wide};
use super::squares::{Distance, Distances, Total};
use crate::robustness::protocol::{Nodes, Robustness};
use crate::robustness::row::BiasRow;
use crate::robustness::unit::Pair;

/// The order statistics that are reported: name, numerator and denominator of the share.
pub(in crate::robustness) const QUANTILES: [(&str, u64, u64); 4] =
    [("0.5", 1, 2), ("0.9", 9, 10), ("0.99", 99, 100), ("1", 1, 1)];

/// The nodes that sums run over, in ascending order.
pub(in crate::robustness) fn chosen(protocol: &Robustness, pair: &Pair<'_>) -> Vec<u32> {
    let all = 0..pair.clean.rows as u32;
    match protocol.nodes {
        Nodes::All => all.collect(),
        Nodes::Test => {
            let mut test = pair.test.unwrap_or_default().to_vec();
            test.sort_unstable();
            test
        }
        Nodes::NotTrain => {
            let mut train = vec![false; pair.clean.rows];
            pair.train.unwrap_or_default().iter().for_each(|&node| train[node as usize] = true);
            all.filter(|&node| !train[node as usize]).collect()
        }
    }
}

/// The squared distances between attacked and clean features.
pub(in crate::robustness) fn moved<'a>(protocol: &Robustness, pair: &Pair<'a>) -> Distances<'a> {
    Distances { from: pair.attacked, to: Some(pair.clean), single: protocol.is_fork() }
}

/// The squared lengths of the clean features.
pub(in crate::robustness) fn lengths<'a>(protocol: &Robustness, pair: &Pair<'a>) -> Distances<'a> {
    Distances { from: pair.clean, to: None, single: protocol.is_fork() }
}

/// A distance as it is printed for a node.
pub(in crate::robustness) fn printed(protocol: &Robustness, distance: &Distance<'_>) -> f64 {
    if protocol.is_fork() { distance.nearest_single().into() } else { distance.nearest() }
}

/// The row of the chosen nodes, and the bias of those that are touched.
pub(in crate::robustness) fn measure(
    protocol: &Robustness,
    pair: &Pair<'_>,
    nodes: &[u32],
    touched: Option<&[bool]>,
) -> (BiasRow, Wide) {
    let moved = moved(protocol, pair);
    let (mut total, mut of_touched, mut energy) = (Total::default(), Total::default(), Total::default());
    let mut per_node = Vec::with_capacity(nodes.len());
    let mut floats = Vec::with_capacity(nodes.len());
    moved.each(nodes, |place, distance| {
        per_node.push(printed(protocol, distance));
        floats.push(!protocol.is_fork() && distance.is_float());
        total.add(distance);
        if touched.is_some_and(|touched| touched[nodes[place] as usize]) {
            of_touched.add(distance);
        }
    });
    lengths(protocol, pair).each(nodes, |_, length| energy.add(length));
    let quantiles = quantiles(&moved, nodes, &per_node, &floats);
    let row = BiasRow {
        total: Dyadic::from(&total.exact()),
        energy: Dyadic::from(&energy.exact()),
        per_node,
        quantiles,
    };
    (row, of_touched.exact())
}

/// The exact order statistics, of which only rounded values are at hand: where several nodes share
/// one, their exact values are looked up.
fn quantiles(moved: &Distances<'_>, nodes: &[u32], rounded: &[f64], floats: &[bool]) -> Vec<Dyadic> {
    if nodes.is_empty() {
        return Vec::new();
    }
    let mut order = rounded.to_vec();
    let count = nodes.len() as u64;
    let statistic = |(_, numerator, denominator): (&str, u64, u64)| {
        let rank = (numerator * count).div_ceil(denominator).max(1) as usize - 1;
        let value = *order.select_nth_unstable_by(rank, f64::total_cmp).1;
        let same = |&place: &usize| rounded[place].to_bits() == value.to_bits();
        let group: Vec<usize> = (0..nodes.len()).filter(same).collect();
        let mut exact = Wide::default();
        if group.iter().all(|&place| floats[place]) {
            exact.add(value);
        } else {
            let below = rounded.iter().filter(|&&other| other < value).count();
            let group: Vec<u32> = group.into_iter().map(|place| nodes[place]).collect();
            let mut candidates = Vec::with_capacity(group.len());
            moved.each(&group, |_, distance| candidates.push(distance.exact()));
            candidates.sort_unstable();
            exact = candidates.swap_remove(rank - below);
        }
        Dyadic::from(&exact)
    };
    QUANTILES.map(statistic).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robustness::budget::fraction::Budget;
    use crate::robustness::protocol::Preset;
    use crate::robustness::unit::matrix::Matrix;
    use calipers_core::NumberSlice;

    fn rows(preset: Preset, clean: &[f64], attacked: &[f64], columns: usize) -> BiasRow {
        let matrix = |data| Matrix::new(clean.len() / columns, columns, NumberSlice::F64(data)).unwrap();
        let pair = Pair::new("a", Budget::parse("0.1").unwrap(), matrix(clean), matrix(attacked));
        let protocol = Robustness { preset, ..Robustness::default() };
        let nodes = chosen(&protocol, &pair);
        measure(&protocol, &pair, &nodes, None).0
    }

    proptest! {
        #[test]
        fn order_statistics_are_those_of_the_exact_values(
            numbers in prop::collection::vec((0u8..4, 0i32..3, -70i32..-40), 1..40),
            fork in any::<bool>(),
        ) {
            // Distances that agree when rounded and differ beyond.
            let attacked: Vec<f64> = numbers
                .iter()
                .flat_map(|&(whole, digit, place)| [f64::from(whole), f64::from(digit) * 2f64.powi(place)])
                .collect();
            let preset = if fork { Preset::RungFork } else { Preset::Strict };
            let row = rows(preset, &vec![0.0; attacked.len()], &attacked, 2);
            let mut exact: Vec<_> = attacked
                .chunks(2)
                .map(|pair| {
                    let mut sum = Wide::default();
                    pair.iter().for_each(|&x| sum.add_squared_difference(x, 0.0));
                    sum
                })
                .collect();
            exact.sort();
            for (found, (_, numerator, denominator)) in row.quantiles.iter().zip(QUANTILES) {
                let rank = (numerator * exact.len() as u64).div_ceil(denominator);
                prop_assert_eq!(found, &Dyadic::from(&exact[rank as usize - 1]));
            }
        }
    }

    #[test]
    fn whole_numbers_add_up() {
        let row = rows(Preset::Strict, &[3.0, 0.0, 0.0, 4.0], &[3.0, 1.0, 2.0, 4.0], 2);
        assert_eq!(
            row.per_node.iter().map(|b| b.to_bits()).collect::<Vec<_>>(),
            [1f64, 4.0].map(f64::to_bits)
        );
        assert_eq!(row.total.value().nearest().to_bits(), 5f64.to_bits());
        assert_eq!(row.energy.value().nearest().to_bits(), 25f64.to_bits());
    }
}
