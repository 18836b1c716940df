//! The permutation test of every difference, and the correction over all that were made.

use std::ops::Range;

use calipers_core::Result;
use calipers_core::resample::blocks;
use calipers_report::comparison::Line;
use calipers_sources::run::{Silent, in_parts};

use super::Options;
use super::paired::Number;
use super::significance::{holm, permutation};

/// The random sign patterns have a stream of their own.
const COINS: u64 = 1;

/// The differences of sampling units that are tested, with those of the same sampling units together:
/// they share their sign patterns.
#[derive(Default)]
pub(super) struct Tests {
    groups: Vec<(Range<usize>, Vec<Vec<f64>>)>,
    /// Line and later model of each test, and its place among the groups.
    places: Vec<((usize, usize), [usize; 2])>,
}

/// One test that was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tested {
    /// Its line.
    pub(super) line: usize,
    /// How many sampling units differ.
    pub(super) differ: usize,
}

impl Tests {
    /// Adds the test of a line's difference to a later model.
    pub(super) fn push(&mut self, of: (usize, usize), number: &Number<'_>, differences: Vec<f64>) {
        let known = self.groups.iter().position(|(units, _)| *units == number.units);
        let group = known.unwrap_or_else(|| {
            self.groups.push((number.units.clone(), Vec::new()));
            self.groups.len() - 1
        });
        let columns = &mut self.groups[group].1;
        columns.push(differences);
        self.places.push((of, [group, columns.len() - 1]));
    }

    /// Makes the tests and writes them into the lines.
    pub(super) fn run(self, lines: &mut [Line], options: &Options) -> Result<Vec<Tested>> {
        let outcomes: Vec<Vec<permutation::Outcome>> = self
            .groups
            .iter()
            .map(|(units, columns)| outcomes(units.len(), columns, options))
            .collect::<Result<_>>()?;
        let p = |&(_, [group, column]): &(_, [usize; 2])| outcomes[group][column].p;
        let adjusted = holm::adjusted(&self.places.iter().map(p).collect::<Vec<_>>());
        let mut tested = Vec::with_capacity(self.places.len());
        for (((line, other), [group, column]), adjusted) in self.places.iter().zip(adjusted) {
            let differ = self.groups[*group].1[*column].iter().filter(|d| d.abs() > 0.0).count();
            tested.push(Tested { line: *line, differ });
            let found = lines[*line].against[*other].as_mut();
            if let Some(paired) = found.and_then(|found| found.paired.as_mut()) {
                let outcome = outcomes[*group][*column];
                (paired.permutation, paired.exact, paired.adjusted) = (outcome.p, outcome.exact, adjusted);
            }
        }
        Ok(tested)
    }
}

fn outcomes(units: usize, columns: &[Vec<f64>], options: &Options) -> Result<Vec<permutation::Outcome>> {
    let tests = permutation::Tests::new(units, columns);
    if tests.are_exact() {
        return Ok(tests.outcomes(&[], 0));
    }
    let (seed, throws) = (options.bootstrap.seed.wrapping_add(COINS), options.bootstrap.resamples);
    let parts = in_parts(
        &blocks(throws),
        options.threads,
        &Silent,
        || vec![0; columns.len()],
        |_, block, hits: &mut Vec<u64>| {
            hits.iter_mut().zip(tests.extreme(seed, block.clone())).for_each(|(all, more)| *all += more);
            Ok(())
        },
    )?;
    let mut hits = vec![0; columns.len()];
    parts.iter().for_each(|part| hits.iter_mut().zip(part).for_each(|(all, more)| *all += more));
    Ok(tests.outcomes(&hits, throws))
}
