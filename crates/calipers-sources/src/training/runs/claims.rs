//! Which run became which unit: every unit belongs to one run.

use std::collections::BTreeMap;

use calipers_core::{Error, ErrorKind, Result};
use calipers_metrics::training::unit_name;
use serde::{Deserialize, Serialize};

/// One run and the unit it became.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The position of its history and its position in there.
    pub place: (usize, usize),
    /// Its configuration.
    pub group: String,
    /// Which fold of it the run is.
    pub fold: String,
    /// Its run name.
    pub run: String,
    /// The file or folder it was read from, as given.
    pub file: String,
    /// How many values of the first metric it has that were logged at all.
    pub values: usize,
}

impl Claim {
    /// The name of the unit.
    pub fn unit(&self) -> String {
        unit_name(&self.group, &self.fold)
    }
}

/// Refuses two runs that are one unit: a `Duplicate` that names the first two runs of the first unit claimed
/// twice, in the order of places.
pub fn unique<'a>(claims: impl Iterator<Item = &'a Claim>) -> Result<()> {
    let mut units: BTreeMap<String, Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        units.entry(claim.unit()).or_default().push(claim);
    }
    units.values_mut().for_each(|of_unit| of_unit.sort_by_key(|claim| claim.place));
    let twice = units.values().filter(|of_unit| of_unit.len() > 1);
    let Some([one, two, ..]) = twice.min_by_key(|of_unit| of_unit[1].place).map(Vec::as_slice) else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Duplicate, format!("two runs are unit '{}'", one.unit()))
        .at(format!("group {}, fold {}", one.group, one.fold))
        .found(format!("run {} in {} and run {} in {}", one.run, one.file, two.run, two.file))
        .advice(
            "tell them apart with --fold-by id, --fold-by column:COL or --group-by, or choose one of two layouts \
             with --format",
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(place: (usize, usize), group: &str, fold: &str) -> Claim {
        let run = format!("r{}", place.0);
        let file = format!("f{}.csv", place.0);
        Claim { place, group: group.into(), fold: fold.into(), run, file, values: 1 }
    }

    #[test]
    fn the_complaint_does_not_depend_on_who_came_first() {
        let all = [
            claim((0, 0), "a", "1"),
            claim((1, 0), "a", "1"),
            claim((2, 0), "b", "1"),
            claim((2, 1), "b", "1"),
        ];
        let said = |order: &[usize]| unique(order.iter().map(|at| &all[*at])).unwrap_err().to_string();
        let error = said(&[0, 1, 2, 3]);
        assert_eq!(said(&[3, 2, 1, 0]), error);
        assert!(error.contains("'a/1'") && error.contains("f0.csv") && error.contains("f1.csv"), "{error}");
        assert!(unique(all[1..3].iter()).is_ok());
    }
}
