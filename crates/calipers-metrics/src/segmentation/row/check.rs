//! Rows that were stored: counts that add up to the pixels of the image, and a place for each of them.

use calipers_core::Result;
use calipers_core::check::{
    COUNT, at_most, finite_sum, keep, long, number_sum, positive_sum, sum, total, within,
};

use crate::segmentation::overlap::Confusion;
use crate::segmentation::protocol::{Head, Measure, Segmentation};
use crate::segmentation::row::sparse::Sparse;
use crate::segmentation::row::{BandCounts, BinRow, CalibrationRow, ContourCounts, HeadRow, PixelRow, Row};
use crate::segmentation::surface::{Apart, Convention, Space, Surface, SurfaceRow};

/// The finest unit of a confidence, and what rounding adds to the sum of many.
const CONFIDENCE_BITS: u32 = 62;
const ROUNDED_BITS: u32 = 42;

impl Row {
    /// Refuses what no image or matrix gives under this protocol.
    pub(crate) fn check(&self, protocol: &Segmentation) -> Result<()> {
        let classes = protocol.classes();
        cells("row.confusion", &self.confusion, classes, classes + 1)?;
        let scored = total(self.confusion.cells().map(|(_, pixels)| pixels));
        let all = scored + u128::from(self.ignored);
        let Some(pixels) = &self.pixels else {
            let sizes = u64::from(self.height) + u64::from(self.width);
            at_most("height and width of a confusion matrix", sizes, 0)?;
            return keep(all < u128::from(COUNT), "row.confusion", all, format_args!("up to {COUNT} pixels"));
        };
        let depth = pixels.space.as_ref().map_or(1, |space| space.depth);
        let size = u128::from(self.height) * u128::from(self.width) * u128::from(depth);
        keep(size > 0 && size < u128::from(COUNT), "height, width and depth", size, "1 pixel or more")?;
        keep(all == size, "confusion and ignored", all, format_args!("{size}, the pixels of the image"))?;
        // Both are below 2^63 now.
        pixels.check(protocol, scored as u64, size as u64)
    }
}

impl PixelRow {
    fn check(&self, protocol: &Segmentation, scored: u64, size: u64) -> Result<()> {
        let is_foreground = |class: u32| {
            (class as usize) < protocol.classes() && Some(class as usize) != protocol.labels.background
        };
        let asked = |measure, is_empty: bool, field: &str| {
            keep(is_empty || protocol.measures(measure), field, "counts", "none, as it is not measured")
        };
        asked(Measure::Boundary, self.band.is_empty(), "band")?;
        asked(Measure::Cheng, self.cheng.is_empty(), "cheng")?;
        asked(Measure::Contour, self.contour.is_empty(), "contour")?;
        bands("band", &self.band, size, is_foreground)?;
        bands("cheng", &self.cheng, size, is_foreground)?;
        for (class, contour) in &self.contour {
            keep(is_foreground(*class), "contour", class, "foreground classes")?;
            contour.check(size)?;
        }
        if let Some(calibration) = &self.calibration {
            calibration.check(protocol, scored).map_err(|error| error.at("calibration"))?;
        }
        let heads = protocol.heads.len();
        for (position, row) in &self.heads {
            let head = protocol.heads.get(*position as usize);
            keep(head.is_some(), "heads", position, format_args!("0 to {}", heads - 1))?;
            if let Some(head) = head {
                row.check(head, size).map_err(|error| error.at(format!("heads.{position}")))?;
            }
        }
        let ascending = self.missing_heads.windows(2).all(|pair| pair[0] < pair[1]);
        let known = self.missing_heads.last().is_none_or(|last| (*last as usize) < heads);
        let found = format_args!("{:?}", self.missing_heads).to_string();
        keep(ascending && known, "missing_heads", found, "heads of the protocol, each once")?;
        self.space.as_ref().map_or(Ok(()), |space| space.check(protocol, is_foreground))
    }
}

impl HeadRow {
    fn check(&self, head: &Head, size: u64) -> Result<()> {
        let channels = head.channels.len();
        cells("row.confusion", &self.confusion, channels, channels + 1)?;
        let all = total(self.confusion.cells().map(|(_, pixels)| pixels));
        keep(all <= u128::from(size), "row.confusion", all, format_args!("up to {size} pixels"))?;
        let is_foreground =
            |channel: u32| (channel as usize) < channels && Some(channel as usize) != head.rest;
        bands("band", &self.band, size, is_foreground)
    }
}

impl ContourCounts {
    fn check(&self, size: u64) -> Result<()> {
        at_most("contour.pred", self.pred, size)?;
        at_most("contour.truth", self.truth, size)?;
        at_most("contour.pred_matched", self.pred_matched, self.pred)?;
        at_most("contour.truth_matched", self.truth_matched, self.truth)
    }
}

impl CalibrationRow {
    fn check(&self, protocol: &Segmentation, scored: u64) -> Result<()> {
        let asked = |measure, length| if protocol.measures(measure) { length } else { 0 };
        keep(self.pixels == scored, "pixels", self.pixels, format_args!("{scored}, the scored pixels"))?;
        at_most("infinite", self.infinite, self.pixels)?;
        at_most("saturated", self.saturated, self.pixels)?;
        finite_sum("row.nll", &self.nll)?;
        // A pixel's distribution may sum to a little more than 1, and is compared with one class.
        sum("row.brier", &self.brier, self.pixels, 1.0 + protocol.classes() as f64)?;
        bins("bins", &self.bins, protocol.bins.count, self.pixels)?;
        long("classwise", self.classwise.len(), asked(Measure::Classwise, protocol.classes()))?;
        self.classwise.iter().try_for_each(|own| bins("classwise", own, protocol.bins.count, self.pixels))?;
        let steps = asked(Measure::Temperature, protocol.temperatures.len());
        long("temperature", self.temperature.len(), steps)?;
        // At another temperature a probability may be too small for a float.
        self.temperature.iter().try_for_each(|nll| number_sum("temperature", nll))
    }
}

impl Space {
    fn check(&self, protocol: &Segmentation, is_foreground: impl Fn(u32) -> bool) -> Result<()> {
        for step in self.spacing.into_iter().flatten() {
            keep(step > 0.0 && step.is_finite(), "spacing", step, "finite numbers above 0")?;
        }
        let Some(surface) = &protocol.surface else {
            return keep(self.surfaces.is_empty(), "surfaces", self.surfaces.len(), "none, as not measured");
        };
        for (class, row) in &self.surfaces {
            keep(is_foreground(*class), "surfaces", class, "foreground classes")?;
            let tolerance = surface.tolerance_of(&protocol.labels.global[*class as usize]);
            row.check(surface, tolerance.is_some()).map_err(|error| error.at(format!("surfaces.{class}")))?;
        }
        Ok(())
    }
}

impl SurfaceRow {
    fn check(&self, surface: &Surface, is_tolerant: bool) -> Result<()> {
        at_most("truth", self.truth, COUNT / 4)?;
        at_most("pred", self.pred, COUNT / 4)?;
        let both = self.truth > 0 && self.pred > 0;
        keep(self.apart.is_some() == both, "apart", self.apart.is_some(), format_args!("{both}"))?;
        let Some(apart) = &self.apart else { return Ok(()) };
        apart.check(surface)?;
        keep(apart.within.is_some() == is_tolerant, "within", apart.within.is_some(), is_tolerant)?;
        let sides = apart.within.into_iter().flatten().zip([self.truth, self.pred]);
        sides.into_iter().try_for_each(|(within, points)| at_most("within", within, points))
    }
}

impl Apart {
    fn check(&self, surface: &Surface) -> Result<()> {
        let sides = if surface.convention == Convention::Medpy { 1 } else { 2 };
        let asked = surface.percentiles().map(|percentile| percentile.is_some());
        long("row.hd95", self.hd95.len(), sides)?;
        keep(self.percentile.is_some() == asked[1], "percentile", self.percentile.is_some(), asked[1])?;
        if let Some(percentile) = &self.percentile {
            long("percentile", percentile.len(), sides)?;
        }
        let distances = self.hd95.iter().chain(self.percentile.iter().flatten()).chain([&self.farthest]);
        for squared in distances.flatten() {
            within("a squared distance", *squared, 0.0, f64::INFINITY)?;
        }
        let is_weighted = surface.convention == Convention::Deepmind;
        keep(self.weights.is_some() == is_weighted, "weights", self.weights.is_some(), is_weighted)?;
        let weights = self.weights.iter().flat_map(|weights| weights.all.iter().chain(&weights.within));
        self.sums.iter().chain(weights).try_for_each(|found| positive_sum("a sum of distances", found))
    }
}

fn cells(field: &str, confusion: &Confusion, truths: usize, preds: usize) -> Result<()> {
    for ((truth, pred), _) in confusion.cells() {
        let is_there = (truth as usize) < truths && (pred as usize) < preds;
        keep(
            is_there,
            field,
            format_args!("cell {truth}, {pred}"),
            format_args!("{truths} x {preds} cells"),
        )?;
    }
    Ok(())
}

fn bands(
    field: &str,
    bands: &Sparse<u32, BandCounts>,
    size: u64,
    is_foreground: impl Fn(u32) -> bool,
) -> Result<()> {
    for (class, band) in bands {
        keep(is_foreground(*class), field, class, "foreground classes")?;
        at_most(format_args!("{field}.{class}"), band.truth.max(band.pred), size)?;
        at_most(format_args!("{field}.{class}.both"), band.both, band.truth.min(band.pred))?;
    }
    Ok(())
}

/// Bins that hold each scored pixel once.
fn bins(field: &str, bins: &[BinRow], count: usize, pixels: u64) -> Result<()> {
    long(field, bins.len(), count)?;
    let held = total(bins.iter().map(|bin| bin.count));
    keep(held == u128::from(pixels), field, held, format_args!("{pixels}, the scored pixels"))?;
    for BinRow { count, correct, confidence } in bins {
        at_most(format_args!("{field}, correct"), *correct, *count)?;
        let most = (u128::from(*count) << CONFIDENCE_BITS) + (u128::from(*count) << ROUNDED_BITS);
        keep(
            *confidence <= most,
            format_args!("{field}, confidence"),
            confidence,
            format_args!("0 to {most}"),
        )?;
    }
    Ok(())
}
