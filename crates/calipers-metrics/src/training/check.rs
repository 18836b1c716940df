//! Runs and parameters that were stored: numbers that lie in the run, and counts that fit its points.

use calipers_core::Result;
use calipers_core::check::{at_most, finite, keep, long, name};

use super::curve::points::MOST_EPOCHS;
use super::protocol::Training;
use super::row::Row;
use super::saturation::aftermath::{Aftermath, Break};
use super::saturation::first::Saturation;

impl Training {
    pub(super) fn check_stored(&self) -> Result<()> {
        let reading = self.preset.stability_reading();
        keep(self.stability_reading == reading, "stability_reading", "another", "what the preset says")?;
        self.clone().checked().map(drop)
    }
}

impl Row {
    /// Refuses what no run gives under this protocol.
    pub(super) fn check(&self, protocol: &Training) -> Result<()> {
        name("group", &self.group)?;
        keep(self.folds != Some(0), "folds", 0, "1 or more")?;
        let most = MOST_EPOCHS as u64;
        keep((1..=most).contains(&self.points), "points", self.points, format_args!("1 to {most}"))?;
        keep((1..=most).contains(&self.epochs), "epochs", self.epochs, format_args!("1 to {most}"))?;
        if let Some(aftermath) = &self.strict {
            aftermath.check(self).map_err(|error| error.at("strict"))?;
        }
        if protocol.preset.is_published() {
            self.by_preset.map_or(Ok(()), |first| first.check(self))?;
        } else {
            let strict = self.strict.as_ref().map(|aftermath| aftermath.saturation);
            keep(self.by_preset == strict, "by_preset", "another saturation", "that of the strict rule")?;
        }
        at_most("sustained", self.sustained.unwrap_or(0), self.epochs)?;
        for (field, value) in [("first", self.first), ("last", self.last), ("best", self.best)] {
            value.map_or(Ok(()), |value| finite(field, value))?;
        }
        long("sweep", self.sweep.len(), protocol.sweep_thresholds().len())?;
        self.sweep.iter().flatten().try_for_each(|first| first.check(self))?;
        at_most("doubts.repeated", self.doubts.repeated, self.points)?;
        at_most("doubts.not_finite", self.doubts.not_finite, most)?;
        at_most("doubts.single_precision_ties", self.doubts.single_precision_ties, self.points)
    }
}

impl Saturation {
    fn check(&self, row: &Row) -> Result<()> {
        at_most("the number of a saturation", self.number, row.epochs)?;
        at_most("broken points", self.broken, row.points - 1)
    }
}

impl Aftermath {
    fn check(&self, row: &Row) -> Result<()> {
        self.saturation.check(row)?;
        finite("x", self.x)?;
        finite("value", self.value)?;
        at_most("points_after", self.points_after, row.points - 1)?;
        at_most("broken", self.saturation.broken, self.points_after)?;
        at_most("longest_break", self.longest_break, self.saturation.broken)?;
        at_most("zeros", self.zeros, self.points_after)?;
        keep(self.drop_depth >= 0.0, "drop_depth", self.drop_depth, "0 or more")?;
        at_most("breaks", self.breaks.len() as u64, self.saturation.broken)?;
        let mut before = self.saturation.number;
        for Break { numbers: (first, last), x: (from, to) } in &self.breaks {
            let follows = before < *first && first <= last && *last <= row.epochs;
            keep(follows, "breaks", format_args!("{first} to {last}"), "numbers that ascend")?;
            finite("breaks.x", *from)?;
            finite("breaks.x", *to)?;
            before = *last;
        }
        Ok(())
    }
}
