//! Explanations read again, whole or one unit.

use calipers_core::{Ledger, Result};
use calipers_metrics::explanation::mask_values::{MaskValues, mask_values};
use calipers_sources::explanation::{Options, measure_from, with_unit};
use calipers_sources::run::Silent;

use super::Replay;

/// The masks of the unit of that name, by type; none without masks.
pub fn unit(replay: &Replay, name: &str) -> Result<Vec<MaskValues>> {
    with_unit(&options(replay)?, &replay.again(), name, |evidence| Ok(mask_values(&evidence)))
}

pub(super) fn measure(replay: &Replay, threads: usize) -> Result<Vec<Box<dyn Ledger>>> {
    let measured = measure_from(&options(replay)?, replay.again(), None, threads, &Silent)?;
    Ok(vec![Box::new(measured)])
}

fn options(replay: &Replay) -> Result<Options> {
    Ok(Options { inputs: replay.recorded().given("input"), protocol: replay.parameter()? })
}
