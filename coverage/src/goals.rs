//! What intervals and sets have to hold, with three standard errors of slack for the samples.

use std::fmt;

use crate::campaign::{Coverage, Drawn, InSet, Results, Share};
use crate::populations::Kind;
use crate::sample::METHODS;
use calipers::core::resample::Method;

/// From so many sampling units on there is a goal.
const ENOUGH: usize = 20;
/// From so many clusters on it is the same as for units.
const MANY_CLUSTERS: usize = 40;
const UNITS: f64 = 93.0;
const FEW_CLUSTERS: f64 = 91.0;
const SETS: f64 = 94.0;
const SLACK: f64 = 3.0;

/// A share that has a goal.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) what: String,
    pub(crate) share: Share,
    /// In percent.
    pub(crate) least: f64,
}

impl Goal {
    /// The goal less the slack.
    fn bound(&self) -> f64 {
        let p = self.least / 100.0;
        let error = (p * (1.0 - p) / f64::from(self.share.of.max(1))).sqrt();
        self.least - SLACK * 100.0 * error
    }

    /// Whether the share is as large as it has to be.
    pub(crate) fn met(&self) -> bool {
        self.share.of > 0 && self.share.percent() >= self.bound()
    }

    /// Whether it is so without the slack.
    pub(crate) fn met_outright(&self) -> bool {
        self.share.of > 0 && self.share.percent() >= self.least
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, share, least } = self;
        write!(
            f,
            "{what}: {:.1} %, at least {least:.0} % (with slack {:.1} %)",
            share.percent(),
            self.bound()
        )
    }
}

/// Every share that has a goal.
pub(crate) fn check(results: &Results) -> Vec<Goal> {
    results.coverage.iter().filter_map(of_coverage).chain(results.sets.iter().map(of_set)).collect()
}

fn of_coverage(line: &Coverage) -> Option<Goal> {
    let least = match line.drawn {
        _ if line.rare_labels || line.size < ENOUGH => return None,
        Drawn::UnitsOfClusters => return None,
        Drawn::Clusters if line.size < MANY_CLUSTERS => FEW_CLUSTERS,
        _ => UNITS,
    };
    if !matches!(line.kind, Kind::Mean | Kind::Ratio) {
        return None;
    }
    let place = METHODS.iter().position(|method| *method == Method::Expanded)?;
    let what = format!("{}, {}, {} drawn", line.population, line.path, line.size);
    Some(Goal { what, share: line.shares[place], least })
}

fn of_set(set: &InSet) -> Goal {
    let what = format!("the best of {} {}, {}, {} drawn", set.models, set.population, set.path, set.size);
    Goal { what, share: set.share, least: SETS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(drawn: Drawn, kind: Kind, size: usize, held: u32) -> Coverage {
        let share = Share { held, of: 200 };
        let none = Share { held: 0, of: 200 };
        Coverage {
            population: "rows",
            each: None,
            drawn,
            kind,
            path: "a.number".into(),
            rare_labels: false,
            size,
            samples: 200,
            shares: [none, none, share],
        }
    }

    fn met(line: &Coverage) -> Option<bool> {
        of_coverage(line).map(|goal| goal.met())
    }

    #[test]
    fn a_share_below_its_goal_by_more_than_chance_is_missed() {
        // 93 % less three times 1.8 %.
        assert_eq!(met(&line(Drawn::Units, Kind::Mean, 20, 176)), Some(true));
        assert_eq!(met(&line(Drawn::Units, Kind::Mean, 20, 175)), Some(false));
        assert_eq!(met(&line(Drawn::Clusters, Kind::Ratio, 20, 170)), Some(true));
        assert_eq!(met(&line(Drawn::Clusters, Kind::Ratio, 40, 170)), Some(false));
        let goal = of_coverage(&line(Drawn::Units, Kind::Mean, 20, 176)).unwrap();
        assert!(!goal.met_outright());
    }

    #[test]
    fn what_promises_nothing_has_no_goal() {
        assert_eq!(met(&line(Drawn::Units, Kind::Mean, 10, 0)), None);
        assert_eq!(met(&line(Drawn::Units, Kind::Median, 50, 0)), None);
        assert_eq!(met(&line(Drawn::UnitsOfClusters, Kind::Mean, 20, 0)), None);
        assert_eq!(met(&Coverage { rare_labels: true, ..line(Drawn::Units, Kind::Ratio, 50, 0) }), None);
    }

    #[test]
    fn a_set_that_loses_the_best_too_often_is_missed() {
        let set = |held| InSet {
            population: "models",
            path: "a.number".into(),
            models: 4,
            size: 20,
            share: Share { held, of: 200 },
            members: 0,
        };
        assert!(of_set(&set(178)).met() && !of_set(&set(177)).met());
        assert!(!of_set(&InSet { share: Share::default(), ..set(0) }).met());
    }
}
