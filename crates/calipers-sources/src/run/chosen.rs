//! The units of a run: those that were asked for by name, of the shard that is measured.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Accumulator, Error, Listing, Protocol, Reading, Result, UnitId};

use super::{Shard, Work};
use crate::inputs::{Inputs, nothing_left};

/// A unit that can be measured, or anything else that has a name.
pub trait Named {
    /// Its name, which no other has.
    fn name(&self) -> &str;
}

/// The units to measure, and what is known of the others.
#[derive(Debug)]
pub struct Chosen<'u, U> {
    /// The units, in the order in which they were found.
    pub units: Vec<&'u U>,
    pub(super) listing: Listing,
    pub(super) shard: Shard,
    /// The units of this shard that cannot be measured, and why.
    left_out: BTreeMap<UnitId, String>,
}

/// How many names a message shows.
const SHOWN: usize = 5;

impl Work<'_> {
    /// The units of this run. `aside` are the names of units that options leave out: they are listed as
    /// well.
    pub fn choose<'u, U: Named>(
        &self,
        units: &'u [U],
        inputs: &Inputs,
        aside: &[&str],
    ) -> Result<Chosen<'u, U>> {
        let chosen = self.choose_names(units.iter().map(Named::name), inputs, aside)?;
        let units = units.iter().filter(|unit| self.wants(unit.name())).collect();
        let Chosen { listing, shard, left_out, .. } = chosen;
        Ok(Chosen { units, listing, shard, left_out })
    }

    /// Whether the unit of that name was asked for, and is in the shard that is measured.
    pub(crate) fn wants(&self, name: &str) -> bool {
        let asked = self.units.is_none_or(|wanted| wanted.contains(name));
        asked && self.shard.unwrap_or(Shard::WHOLE).takes(name)
    }

    /// The same where the units are known but not yet at hand.
    pub(crate) fn choose_names<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        inputs: &Inputs,
        aside: &[&'n str],
    ) -> Result<Chosen<'static, ()>> {
        inputs.passed_over().iter().for_each(|line| self.progress.note(line));
        let left_out = inputs.left_out();
        let mut found: BTreeSet<&str> = names.chain(aside.iter().copied()).collect();
        found.extend(left_out.keys().map(String::as_str));
        if let Some(wanted) = self.units {
            let missing: Vec<&String> = wanted.iter().filter(|name| !found.contains(name.as_str())).collect();
            refuse_missing(&missing, &found)?;
        }
        let listing = match self.units {
            Some(wanted) => Listing::of(wanted.iter().map(String::as_str)),
            None => Listing::of(found.iter().copied()),
        };
        let shard = self.shard.unwrap_or(Shard::WHOLE);
        let mine = left_out.iter().filter(|(name, _)| self.wants(name));
        let left_out = mine.map(|(name, reason)| (name.as_str().into(), reason.clone())).collect();
        Ok(Chosen { units: Vec::new(), listing, shard, left_out })
    }
}

fn refuse_missing(missing: &[&String], found: &BTreeSet<&str>) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let mut named = missing.iter().take(SHOWN).map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    if missing.len() > SHOWN {
        named.push_str(&format!(" and {} more", missing.len() - SHOWN));
    }
    let mut there = found.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if found.len() > SHOWN {
        there.push_str(", ..");
    }
    Err(Error::value("a unit of --units is not there")
        .found(named)
        .allowed(format!("the {} units of the inputs: {there}", found.len()))
        .advice("give the names as --per-unit writes them, one per line"))
}

impl<U> Chosen<'_, U> {
    /// The same with one accumulator, which it gives back.
    pub fn recorded<P: Protocol>(
        &self,
        mut measured: Accumulator<P>,
        inputs: Inputs,
        reading: Option<Reading>,
    ) -> Result<Accumulator<P>> {
        self.record(std::slice::from_mut(&mut measured), inputs, reading)?;
        Ok(measured)
    }

    /// Writes down in each accumulator which files were read, how, which shard of which listing this
    /// was, and what was left out. Fails where that is everything.
    pub fn record<P: Protocol>(
        &self,
        accumulators: &mut [Accumulator<P>],
        inputs: Inputs,
        reading: Option<Reading>,
    ) -> Result<()> {
        let inputs = inputs.into_files()?;
        for accumulator in accumulators {
            let is_empty = accumulator.is_empty();
            let is_measured = |unit: &UnitId| accumulator.has(unit.as_str());
            let left_out = self.left_out.iter().filter(|(unit, _)| !is_measured(unit));
            let left_out: Vec<_> = left_out.map(|(unit, reason)| (unit.clone(), reason.clone())).collect();
            let kept = std::mem::take(&mut accumulator.provenance.inputs);
            let provenance = &mut accumulator.provenance;
            provenance.inputs = kept.merged(&inputs)?;
            provenance.readings.extend(reading.clone());
            provenance.listings.insert(Some(self.listing), self.shard.index, self.shard.of);
            provenance.left_out.extend(left_out);
            let left_out = &provenance.left_out;
            provenance.facts.retain(|fact| !left_out.contains_key(fact.unit.as_str()));
            if let (Some((unit, reason)), true) = (left_out.first_key_value(), is_empty)
                && !self.shard.is_part()
            {
                return Err(nothing_left(unit.as_str(), reason, left_out.len()));
            }
        }
        Ok(())
    }
}
