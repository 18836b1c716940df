//! The Kaplan-Meier curve of every group, for pictures.

use calipers_core::Rows;

use super::protocol::Training;
use super::reading::{Group, groups};
use super::row::Row;

/// The share of runs of a group that have not saturated yet.
#[derive(Clone, Debug, PartialEq)]
pub struct SurvivalCurve {
    /// The epochs at which it falls, ascending, and the share left from there on.
    pub steps: Vec<(u64, f64)>,
    /// The epochs at which runs end without having saturated, ascending.
    pub ended: Vec<u64>,
    /// The last epoch of any run: beyond it nothing is known.
    pub last: u64,
}

/// The curve of each group by the strict rule, groups in byte order.
pub fn survival_curves(rows: &Rows<'_, Row>) -> Vec<(String, SurvivalCurve)> {
    let protocol = Training::default();
    let curve = |(name, runs): (&str, Vec<&Row>)| {
        let group = Group { protocol: &protocol, runs: &runs };
        let survival = group.survival();
        let mut ended: Vec<u64> = group.epochs_without().collect();
        ended.sort_unstable();
        (name.to_owned(), SurvivalCurve { steps: survival.heights(), ended, last: survival.last })
    };
    groups(rows).into_iter().map(curve).collect()
}

#[cfg(test)]
mod tests {
    use super::super::survival::{Lifetime, Survival};

    #[test]
    fn the_area_below_the_steps_is_the_restricted_mean() {
        let runs = [(2, true), (2, false), (3, true), (5, true), (5, false), (8, true), (9, false)];
        let survival = Survival::new(runs.map(|(epoch, saturates)| Lifetime { epoch, saturates }).to_vec());
        let (mut area, mut before, mut height) = (0.0, 0, 1.0);
        for (epoch, left) in survival.heights() {
            area += height * (epoch - before) as f64;
            (before, height) = (epoch, left);
        }
        area += height * (survival.last - before) as f64;
        let exact = survival.area(survival.last).unwrap();
        assert!((area - exact).abs() < 1e-12, "{area} {exact}");
    }
}
