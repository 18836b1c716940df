//! Explanations: read again, whole or one unit.

use calipers_core::resample::Intervals;
use calipers_core::{Accumulator, Result};
use calipers_metrics::explanation::Explanation;
use calipers_metrics::explanation::{MaskValues, mask_edges, mask_values};
use calipers_report::chart::Picture;
use calipers_sources::explanation::{Options, Units, measure};
use calipers_sources::run::Work;

use crate::pictures;
use crate::registry::Registered;
use crate::replay::{Evidence, Replay};

/// The units, to be read one by one.
pub fn units(replay: &Replay) -> Result<Units> {
    Units::find(&options(replay)?, replay.again())
}

/// The masks of the unit of that name, by type; none without masks.
pub fn unit(units: &Units, name: &str) -> Result<Vec<MaskValues>> {
    units.with(name, |evidence| Ok(mask_values(&evidence)))
}

/// The edges that the masks of the unit of that name lie on; none where it came without.
pub fn edges(units: &Units, name: &str) -> Result<Option<Vec<(u32, u32)>>> {
    units.with(name, |evidence| mask_edges(&evidence))
}

impl Registered for Explanation {
    const SUMMARY: &'static str = "explanations of graph neural networks";

    const CHOSEN_METRICS: bool = true;

    fn measure_again(replay: &Replay, threads: usize) -> Result<Vec<Accumulator<Self>>> {
        Ok(vec![measure(&options(replay)?, replay.again(), &Work::quiet(threads))?])
    }

    fn pictures(rows: &Accumulator<Self>, evidence: &Evidence, _: Option<&Intervals>) -> Vec<Picture> {
        pictures::explanation::of(rows, evidence)
    }
}

fn options(replay: &Replay) -> Result<Options> {
    Ok(Options { inputs: replay.recorded().given("input"), protocol: replay.parameter()? })
}
