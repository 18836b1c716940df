//! Rows that were stored: counts that fit the instances and the elements of the mask.

use calipers_core::Result;
use calipers_core::check::{
    COUNT, at_most, finite, keep, long, name, number_sum, positive_sum, sum, total, within,
};

use super::{
    AgreementRow, Confusion, CurveRow, DivergenceRow, Flips, MaskRow, RobustRow, Row, Shift, SideRow,
    StabilityRow, TypeRow,
};

/// The most elements of a mask, and instances of a prediction: products of two counts stay below 2^127.
const MOST: u64 = 1 << 48;

impl Row {
    /// Refuses what no explanation gives.
    pub(in crate::explanation) fn check(&self) -> Result<()> {
        self.unused.iter().try_for_each(|key| name("unused", key))?;
        let instances = self.instances.unwrap_or(0);
        at_most("instances", instances, MOST)?;
        let compared = self.plus.is_some()
            || self.minus.is_some()
            || self.faithfulness.is_some()
            || self.published.is_some();
        keep(self.instances.is_some() || !compared, "instances", "none", "a number beside predictions")?;
        self.sweep_x.iter().try_for_each(|x| finite("sweep_x", *x))?;
        for (field, side) in [("plus", &self.plus), ("minus", &self.minus)] {
            let Some(side) = side else { continue };
            side.check(instances, self.sweep_x.len()).map_err(|error| error.at(field))?;
        }
        if let Some(row) = &self.faithfulness {
            row.forward.check(instances).map_err(|error| error.at("faithfulness.forward"))?;
            row.reversed.check(instances).map_err(|error| error.at("faithfulness.reversed"))?;
        }
        if let Some(published) = &self.published {
            number_sum("published.sum", &published.sum)?;
        }
        if let Some(mask) = &self.mask {
            mask.check().map_err(|error| error.at("mask"))?;
        }
        self.curve.as_ref().map_or(Ok(()), |curve| curve.check().map_err(|error| error.at("curve")))
    }
}

impl SideRow {
    fn check(&self, instances: u64, points: usize) -> Result<()> {
        self.labels.map_or(Ok(()), |labels| labels.check("labels", instances))?;
        for (field, drop) in [("model", &self.model), ("phenomenon", &self.phenomenon)] {
            let Some(drop) = drop else { continue };
            positive_sum(format_args!("{field}.absolute"), &drop.absolute)?;
            number_sum(format_args!("{field}.signed"), &drop.signed)?;
        }
        if let Some(regression) = &self.regression {
            positive_sum("regression.absolute", &regression.absolute)?;
            positive_sum("regression.squared", &regression.squared)?;
            at_most("regression.values", regression.values, COUNT)?;
        }
        if !self.sweep.is_empty() {
            long("sweep", self.sweep.len(), points)?;
        }
        self.sweep.iter().try_for_each(|flips| flips.check("sweep", instances))?;
        self.robust.as_ref().map_or(Ok(()), |robust| robust.check(instances))
    }
}

impl Flips {
    fn check(&self, field: &str, instances: u64) -> Result<()> {
        at_most(format_args!("{field}.changed"), self.changed, instances)?;
        let Some(Shift { lost, gained }) = self.truth else { return Ok(()) };
        let moved = total([lost, gained]);
        keep(moved <= u128::from(instances), format_args!("{field}.truth"), moved, instances)
    }
}

impl RobustRow {
    fn check(&self, instances: u64) -> Result<()> {
        at_most("robust.samples", self.samples, MOST)?;
        let most = u128::from(instances) * u128::from(self.samples);
        keep(u128::from(self.changed) <= most, "robust.changed", self.changed, format_args!("0 to {most}"))?;
        let drops = [&self.model, &self.phenomenon];
        drops.into_iter().flatten().try_for_each(|drop| number_sum("robust, a drop", drop))
    }
}

impl DivergenceRow {
    fn check(&self, instances: u64) -> Result<()> {
        number_sum("row.unfaithfulness", &self.unfaithfulness)?;
        number_sum("finite", &self.finite)?;
        at_most("infinite", self.infinite, instances)
    }
}

impl MaskRow {
    fn check(&self) -> Result<()> {
        at_most("elements", self.elements, MOST)?;
        at_most("selected", self.selected, self.elements)?;
        at_most("zeros", self.zeros, self.elements)?;
        positive_sum("mass", &self.mass)?;
        number_sum("mass_log", &self.mass_log)?;
        number_sum("row.gini", &self.gini)?;
        if let Some(agreement) = &self.agreement {
            agreement.check(self).map_err(|error| error.at("agreement"))?;
        }
        for (kind, row) in &self.types {
            name("types", kind)?;
            row.check(self.elements).map_err(|error| error.at(format!("types.{kind}")))?;
        }
        self.stability.as_ref().map_or(Ok(()), StabilityRow::check)
    }
}

impl AgreementRow {
    fn check(&self, mask: &MaskRow) -> Result<()> {
        self.confusion.check(mask.elements, mask.selected)?;
        pairs("twice_auroc", self.twice_auroc, &self.confusion)?;
        let positives = self.confusion.positives();
        sum("row.precision", &self.precision, positives, 1.0)?;
        at_most("top.hits", self.top.hits, positives)?;
        at_most("top.slots", self.top.slots, positives)?;
        at_most("top.ties", self.top.ties, mask.elements)?;
        at_most("top.tie_hits", self.top.tie_hits, self.top.ties.min(positives))?;
        positive_sum("mass", &self.mass)
    }
}

impl Confusion {
    /// Each element counts once, and those that are selected are told apart by the truth.
    fn check(&self, elements: u64, selected: u64) -> Result<()> {
        let all = total([self.tp, self.fp, self.tn, self.fn_]);
        keep(all == u128::from(elements), "confusion", all, format_args!("{elements}, the elements"))?;
        keep(self.tp + self.fp == selected, "confusion.tp and fp", self.tp + self.fp, selected)
    }
}

/// Twice the pairs of an element in the truth and one outside it.
fn pairs(field: &str, found: u128, counts: &Confusion) -> Result<()> {
    let most = 2 * u128::from(counts.positives()) * u128::from(counts.negatives());
    keep(found <= most, field, found, format_args!("0 to {most}"))
}

impl TypeRow {
    fn check(&self, elements: u64) -> Result<()> {
        at_most("elements", self.elements, elements)?;
        at_most("selected", self.selected, self.elements)?;
        let Some((counts, twice)) = &self.agreement else { return Ok(()) };
        counts.check(self.elements, self.selected)?;
        pairs("twice_auroc", *twice, counts)
    }
}

impl StabilityRow {
    fn check(&self) -> Result<()> {
        let distances = [self.cosine_max, self.cosine_mean, self.sensitivity];
        for distance in distances.into_iter().flatten() {
            keep(distance >= 0.0, "stability", distance, "0 or more")?;
        }
        Ok(())
    }
}

impl CurveRow {
    fn check(&self) -> Result<()> {
        keep(!self.pos.is_empty(), "pos", 0, "a point at least")?;
        long("neg", self.neg.len(), self.pos.len())?;
        self.pos.iter().chain(&self.neg).try_for_each(|value| finite("pos and neg", *value))?;
        let Some(x) = &self.x else { return Ok(()) };
        long("x", x.len(), self.pos.len())?;
        finite("x", x[0])?;
        x.windows(2).try_for_each(|pair| within("x", pair[1], pair[0], f64::INFINITY))
    }
}
