//! What is drawn: strata of sampling units, each with all its rows.
//!
//! A resample asks what another sample would have given. Drawn is therefore what would be another
//! one next time: an image, a patient with all images, a run with all budgets.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::error::{Error, Result};
use crate::input_files::InputFiles;
use crate::resample::{SplitMix64, Weights};

/// How the strata of a protocol are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// All from one stream, one after the other in each resample. Every number reads all strata.
    Joint,
    /// Each as if it were alone, with the same seed. A number reads the stratum that its first label
    /// names.
    Separate,
}

/// What the sample of a protocol is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// What messages call a sampling unit.
    pub unit: &'static str,
    /// How strata are drawn.
    pub draws: Draws,
    /// Whether the folders of unit names are videos, patients or scenes, whose units come together.
    pub by_folder: bool,
}

impl Sampling {
    /// Every unit for itself, in one stratum.
    pub const UNITS: Self = Self { unit: "unit", draws: Draws::Joint, by_folder: false };
}

/// Where a row belongs in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled<'a> {
    /// The sampling unit that brings it.
    pub unit: &'a str,
    /// With [`Draws::Separate`] the stratum. With [`Draws::Joint`] what the stratum of its sampling
    /// unit is named by: the parts of all its rows.
    pub part: &'a str,
}

/// Which sampling units come together: the cluster of each by its name.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Clusters {
    /// The rule as it was asked for.
    pub rule: String,
    /// The cluster of each sampling unit that has one; `None` says that units are independent.
    pub of: Option<BTreeMap<String, String>>,
    /// Why a unit has none, after its name: "has no '/'".
    pub lacks: String,
    /// The files that the rule was read from.
    pub inputs: InputFiles,
}

impl Clusters {
    /// The cluster of every sampling unit.
    fn cluster(&self, unit: &str) -> Option<&str> {
        self.of.as_ref()?.get(unit).map(String::as_str)
    }

    /// Refuses units without a cluster: a forgotten patient would become an independent one.
    fn check<'a>(&self, units: impl Iterator<Item = &'a str>) -> Result<()> {
        if self.of.is_none() {
            return Ok(());
        }
        let lacking: BTreeSet<&str> = units.filter(|unit| self.cluster(unit).is_none()).collect();
        let Some(first) = lacking.first() else { return Ok(()) };
        let many = match lacking.len() {
            1 => "1 such unit".into(),
            many => format!("{many} such units"),
        };
        Err(Error::value(format!("unit '{first}' {}", self.lacks))
            .at(format!("--cluster-by {}", self.rule))
            .found(many)
            .allowed("a cluster for every unit")
            .advice("name the cluster of every unit, or use a rule that finds one"))
    }
}

/// Sampling units that are drawn for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stratum {
    /// The name: `all` where there is one, else what its rows have in common.
    pub name: String,
    /// How many rows it has.
    pub rows: usize,
    /// Its sampling units among all.
    pub units: Range<usize>,
}

/// What is drawn, and how: strata and the sampling units in them, both in byte order of their names.
///
/// *Correctness.* The weights of resample r depend on the seed, on r and on the sizes of the strata
/// alone, so that any range of resamples can be drawn anywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    strata: Vec<Stratum>,
    /// The sampling unit of each row, in key order.
    unit_of: Vec<u32>,
    /// The names of the sampling units.
    names: Vec<String>,
    draws: Draws,
    /// What a sampling unit is called: `unit`, `run` or `cluster`.
    word: &'static str,
    rule: Option<String>,
}

/// The name of the only stratum.
const ALL: &str = "all";

impl Plan {
    /// The plan of rows in key order.
    pub fn new<'a>(
        sampling: Sampling,
        rows: impl Iterator<Item = Sampled<'a>>,
        clusters: Option<&Clusters>,
    ) -> Result<Self> {
        let rows: Vec<Sampled<'_>> = rows.collect();
        if let Some(clusters) = clusters {
            clusters.check(rows.iter().map(|row| row.unit))?;
        }
        let clustered = clusters.is_some_and(|clusters| clusters.of.is_some());
        let name = |row: &Sampled<'a>| match clusters.and_then(|clusters| clusters.cluster(row.unit)) {
            Some(cluster) => Cow::Owned(cluster.to_owned()),
            None => Cow::Borrowed(row.unit),
        };
        let strata = match sampling.draws {
            Draws::Separate => by_part(&rows, name),
            Draws::Joint => by_parts_of_units(&rows, name),
        };
        let mut plan = Self {
            strata: Vec::with_capacity(strata.len()),
            unit_of: vec![0; rows.len()],
            names: Vec::new(),
            draws: sampling.draws,
            word: if clustered { "cluster" } else { sampling.unit },
            rule: clusters.map(|clusters| clusters.rule.clone()),
        };
        for (name, units) in strata {
            let (start, rows) = (plan.names.len(), units.values().map(Vec::len).sum());
            for (unit, members) in units {
                members.iter().for_each(|&row| plan.unit_of[row] = plan.names.len() as u32);
                plan.names.push(unit.into_owned());
            }
            plan.strata.push(Stratum { name, rows, units: start..plan.names.len() });
        }
        Ok(plan)
    }

    /// The strata in order.
    pub fn strata(&self) -> &[Stratum] {
        &self.strata
    }

    /// The names of the sampling units, stratum after stratum.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.unit_of.len()
    }

    /// The sampling unit of each row, counted over all strata.
    pub fn unit_of(&self) -> &[u32] {
        &self.unit_of
    }

    /// What a sampling unit is called: `unit`, `run` or `cluster`.
    pub fn word(&self) -> &'static str {
        self.word
    }

    /// The rule that made clusters, as it was asked for.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// The strata that a number with this first label reads.
    pub fn read_by(&self, label: Option<&str>) -> Range<usize> {
        let own = || {
            let label = label.filter(|_| self.draws == Draws::Separate)?;
            self.strata.iter().position(|stratum| stratum.name == label)
        };
        own().map_or(0..self.strata.len(), |own| own..own + 1)
    }

    /// How many sampling units each of some strata has.
    pub fn sizes(&self, strata: Range<usize>) -> Vec<usize> {
        self.strata[strata].iter().map(|stratum| stratum.units.len()).collect()
    }

    /// Why numbers that read these strata have no interval.
    pub fn too_small(&self, strata: Range<usize>) -> Option<String> {
        if self.strata.is_empty() {
            return Some(format!("0 {}s; an interval needs at least 2", self.word));
        }
        let small = self.strata[strata].iter().find(|stratum| stratum.units.len() < 2)?;
        let of = if self.strata.len() > 1 { format!(" of {}", small.name) } else { String::new() };
        Some(format!("{} {}{of}; an interval needs at least 2", small.units.len(), self.word))
    }

    /// How often each row counts in each of these resamples.
    pub fn draw(&self, seed: u64, resamples: Range<u32>) -> Weights {
        let all = self.names.len() as u64;
        self.weights(resamples, |resample, counts| {
            let mut joint = SplitMix64::after(seed, u64::from(resample).wrapping_mul(all));
            for stratum in &self.strata {
                let size = stratum.units.len() as u64;
                let mut own = SplitMix64::after(seed, u64::from(resample).wrapping_mul(size));
                let random = if self.draws == Draws::Joint { &mut joint } else { &mut own };
                let counts = &mut counts[stratum.units.clone()];
                (0..size).for_each(|_| counts[random.below(size) as usize] += 1);
            }
        })
    }

    /// How many jackknife samples there are: one per sampling unit; strata that are drawn separately
    /// leave out one each at once, for no number reads two.
    pub fn left_out_samples(&self) -> usize {
        let largest = || self.strata.iter().map(|stratum| stratum.units.len()).max().unwrap_or(0);
        if self.draws == Draws::Joint { self.names.len() } else { largest() }
    }

    /// Which jackknife samples lack a sampling unit of a stratum.
    pub fn left_out_of(&self, stratum: usize) -> Range<usize> {
        let units = &self.strata[stratum].units;
        if self.draws == Draws::Joint { units.clone() } else { 0..units.len() }
    }

    /// How often each row counts in each of these jackknife samples.
    pub fn leave_out(&self, samples: Range<u32>) -> Weights {
        self.weights(samples, |sample, counts| {
            counts.fill(1);
            for stratum in 0..self.strata.len() {
                let left_out = self.left_out_of(stratum);
                if left_out.contains(&(sample as usize)) {
                    counts[self.strata[stratum].units.start + sample as usize - left_out.start] = 0;
                }
            }
        })
    }

    /// One sampling unit alone, with all its rows, for each of these.
    pub fn alone(&self, units: Range<u32>) -> Weights {
        self.weights(units, |unit, counts| counts[unit as usize] = 1)
    }

    /// Weights of rows from counts of sampling units.
    fn weights(&self, samples: Range<u32>, mut count: impl FnMut(u32, &mut [u32])) -> Weights {
        let own_row = self.unit_of.iter().enumerate().all(|(row, unit)| row == *unit as usize);
        if own_row && self.names.len() == self.rows() {
            return Weights::new(self.rows(), samples, count);
        }
        let mut counts = vec![0; self.names.len()];
        Weights::new(self.rows(), samples, |sample, rows| {
            counts.fill(0);
            count(sample, &mut counts);
            rows.iter_mut().zip(&self.unit_of).for_each(|(row, unit)| *row = counts[*unit as usize]);
        })
    }
}

/// The rows of each sampling unit, by its name.
type Units<'a> = BTreeMap<Cow<'a, str>, Vec<usize>>;

/// Every part is a stratum: the same name in two of them is two sampling units.
fn by_part<'a>(
    rows: &[Sampled<'a>],
    name: impl Fn(&Sampled<'a>) -> Cow<'a, str>,
) -> BTreeMap<String, Units<'a>> {
    let mut strata: BTreeMap<String, Units<'a>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        strata.entry(row.part.into()).or_default().entry(name(row)).or_default().push(at);
    }
    strata
}

/// Sampling units whose rows have the same parts are a stratum.
fn by_parts_of_units<'a>(
    rows: &[Sampled<'a>],
    name: impl Fn(&Sampled<'a>) -> Cow<'a, str>,
) -> BTreeMap<String, Units<'a>> {
    let mut units: BTreeMap<Cow<'a, str>, (BTreeSet<&str>, Vec<usize>)> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let (parts, members) = units.entry(name(row)).or_default();
        parts.insert(row.part);
        members.push(at);
    }
    let mut strata: BTreeMap<String, Units<'a>> = BTreeMap::new();
    for (unit, (parts, members)) in units {
        let stratum = parts.into_iter().collect::<Vec<_>>().join("+");
        strata.entry(stratum).or_default().insert(unit, members);
    }
    if strata.len() == 1 {
        return strata.into_values().map(|units| (ALL.to_owned(), units)).collect();
    }
    strata
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(rows: &'static [(&'static str, &'static str)]) -> impl Iterator<Item = Sampled<'static>> {
        rows.iter().map(|&(unit, part)| Sampled { unit, part })
    }

    fn counts(weights: &Weights) -> Vec<Vec<u32>> {
        weights.each().map(<[u32]>::to_vec).collect()
    }

    const FIVE: &[(&str, &str)] = &[("a", "x"), ("b", "x"), ("c", "x"), ("d", "y"), ("e", "y")];

    #[test]
    fn one_stratum_has_the_draws_that_were_always_made() {
        let rows = &[("a", ""), ("b", ""), ("c", ""), ("d", "")];
        let plan = Plan::new(Sampling::UNITS, sampled(rows), None).unwrap();
        assert_eq!(plan.draw(0, 0..2), Weights::resamples(0, 4, 0..2));
        // 3 1 0 3 and 0 1 0 3.
        assert_eq!(counts(&plan.draw(0, 0..2)), [[1, 1, 0, 2], [2, 1, 0, 1]]);
        assert_eq!((plan.strata()[0].name.as_str(), plan.word()), ("all", "unit"));
    }

    #[test]
    fn joint_strata_share_one_stream_and_separate_ones_are_drawn_as_if_alone() {
        let joint = Plan::new(Sampling::UNITS, sampled(FIVE), None).unwrap();
        // 2 1 0 | 1 0 and 0 0 2 | 0 1.
        assert_eq!(counts(&joint.draw(0, 0..2)), [[1, 1, 1, 1, 1], [2, 0, 1, 1, 1]]);
        assert_eq!(joint.draw(0, 1..2).each().next(), joint.draw(0, 0..2).each().nth(1));
        let apart = Plan::new(Sampling { draws: Draws::Separate, ..Sampling::UNITS }, sampled(FIVE), None);
        let apart = apart.unwrap();
        let three = Weights::resamples(0, 3, 0..4);
        let two = Weights::resamples(0, 2, 0..4);
        for (both, (three, two)) in apart.draw(0, 0..4).each().zip(three.each().zip(two.each())) {
            assert_eq!(both, [three, two].concat());
        }
        assert_eq!((apart.read_by(Some("y")), joint.read_by(Some("y"))), (1..2, 0..2));
    }

    #[test]
    fn a_sampling_unit_brings_all_its_rows_and_its_stratum_is_what_they_are() {
        let rows =
            &[("r1", "pgd"), ("r1", "meta"), ("r2", "pgd"), ("r3", "meta"), ("r3", "pgd"), ("r4", "pgd")];
        let plan = Plan::new(Sampling { unit: "run", ..Sampling::UNITS }, sampled(rows), None).unwrap();
        let names: Vec<_> =
            plan.strata().iter().map(|stratum| (stratum.name.as_str(), stratum.rows)).collect();
        assert_eq!(names, [("meta+pgd", 4), ("pgd", 2)]);
        assert_eq!((plan.unit_of(), plan.names().join(" ")), (&[0, 0, 2, 1, 1, 3][..], "r1 r3 r2 r4".into()));
        for counts in plan.draw(5, 0..20).each() {
            assert!(counts[0] == counts[1] && counts[3] == counts[4] && counts[0] + counts[3] == 2);
        }
    }

    #[test]
    fn leaving_out_and_standing_alone_are_by_sampling_unit() {
        let joint = Plan::new(Sampling::UNITS, sampled(FIVE), None).unwrap();
        assert_eq!((joint.left_out_samples(), joint.left_out_of(1)), (5, 3..5));
        assert_eq!(counts(&joint.leave_out(3..4)), [[1, 1, 1, 0, 1]]);
        assert_eq!(counts(&joint.alone(1..3)), [[0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]);
        let apart = Plan::new(Sampling { draws: Draws::Separate, ..Sampling::UNITS }, sampled(FIVE), None);
        let apart = apart.unwrap();
        assert_eq!((apart.left_out_samples(), apart.left_out_of(1)), (3, 0..2));
        assert_eq!(counts(&apart.leave_out(0..3)), [[0, 1, 1, 0, 1], [1, 0, 1, 1, 0], [1, 1, 0, 1, 1]]);
    }

    #[test]
    fn clusters_are_drawn_in_their_place_and_none_may_lack_one() {
        let of = |pairs: &[(&str, &str)]| Clusters {
            rule: "folder".into(),
            of: Some(pairs.iter().map(|(unit, cluster)| (unit.to_string(), cluster.to_string())).collect()),
            lacks: "has no '/'".into(),
            ..Clusters::default()
        };
        let all = of(&[("a", "q"), ("b", "p"), ("c", "q"), ("d", "p"), ("e", "p")]);
        let plan = Plan::new(Sampling::UNITS, sampled(FIVE), Some(&all)).unwrap();
        assert_eq!(
            (plan.word(), plan.rule(), plan.names().join(" ")),
            ("cluster", Some("folder"), "q p".into())
        );
        let sizes: Vec<_> =
            plan.strata().iter().map(|stratum| (stratum.name.as_str(), stratum.units.len())).collect();
        assert_eq!(sizes, [("x", 1), ("x+y", 1)]);
        assert_eq!(plan.too_small(0..2).unwrap(), "1 cluster of x; an interval needs at least 2");
        let error = Plan::new(Sampling::UNITS, sampled(FIVE), Some(&of(&[("a", "q")]))).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("unit 'b' has no '/'") && text.contains("4 such units"), "{text}");
        let independent = Clusters { rule: "none".into(), ..Clusters::default() };
        assert_eq!(Plan::new(Sampling::UNITS, sampled(FIVE), Some(&independent)).unwrap().word(), "unit");
    }
}
