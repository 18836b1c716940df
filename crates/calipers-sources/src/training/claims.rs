//! Which run became which unit: every unit belongs to one run.

use std::collections::BTreeMap;
use std::sync::Mutex;

use calipers_core::{Error, ErrorKind, Result};

/// One run and the unit it became.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        unit(&self.group, &self.fold)
    }
}

/// The name of the unit of a group and a fold.
pub fn unit(group: &str, fold: &str) -> String {
    format!("{group}/{fold}")
}

/// The claims of all workers. Two runs may claim one unit: who was first is left to chance, so
/// that the complaint is made when all are known.
#[derive(Debug, Default)]
pub struct Claims(Mutex<BTreeMap<String, Vec<Claim>>>);

impl Claims {
    /// Records a claim; whether it is the first on its unit.
    pub fn take(&self, claim: Claim) -> bool {
        let Ok(mut claims) = self.0.lock() else { return false };
        let of_unit = claims.entry(claim.unit()).or_default();
        of_unit.push(claim);
        of_unit.len() == 1
    }

    /// Every claim in the order of places, or a `Duplicate` that names the first two runs of the
    /// first unit claimed twice.
    pub fn finish(self) -> Result<Vec<Claim>> {
        let mut claims = self.0.into_inner().unwrap_or_default();
        claims.values_mut().for_each(|of_unit| of_unit.sort_by_key(|claim| claim.place));
        let twice = claims.values().filter(|of_unit| of_unit.len() > 1);
        if let Some([one, two, ..]) = twice.min_by_key(|of_unit| of_unit[1].place).map(Vec::as_slice) {
            return Err(Error::new(ErrorKind::Duplicate, format!("two runs are unit '{}'", one.unit()))
                .at(format!("group {}, fold {}", one.group, one.fold))
                .found(format!("run {} in {} and run {} in {}", one.run, one.file, two.run, two.file))
                .advice("tell them apart with --fold-by or --group-by, or choose one of two layouts with --format"));
        }
        let mut claims: Vec<Claim> = claims.into_values().flatten().collect();
        claims.sort_by_key(|claim| claim.place);
        Ok(claims)
    }
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
        let said = |order: &[usize]| {
            let claims = Claims::default();
            let first: usize = order.iter().filter(|at| claims.take(all[**at].clone())).count();
            assert_eq!(first, 2);
            claims.finish().unwrap_err().to_string()
        };
        let error = said(&[0, 1, 2, 3]);
        assert_eq!(said(&[3, 2, 1, 0]), error);
        assert!(error.contains("'a/1'") && error.contains("f0.csv") && error.contains("f1.csv"), "{error}");
    }

    #[test]
    fn claims_come_back_in_the_order_of_their_places() {
        let claims = Claims::default();
        for place in [(1, 0), (0, 1), (0, 0)] {
            assert!(claims.take(claim(place, "g", &format!("{place:?}"))));
        }
        let places: Vec<_> = claims.finish().unwrap().iter().map(|claim| claim.place).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0)]);
    }
}
