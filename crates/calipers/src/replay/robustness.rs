//! Attacks read again from array files.

use calipers_core::{Error, Ledger, Result};
use calipers_metrics::robustness::protocol::Robustness;
use calipers_metrics::robustness::unit::Budget;

use super::Replay;
use crate::run::Silent;
use crate::sources::robustness::measure as measure_files;
use crate::sources::robustness::options::Options;

pub(super) fn measure(replay: &Replay, threads: usize) -> Result<Vec<Box<dyn Ledger>>> {
    let recorded = replay.recorded();
    let protocol: Robustness = replay.parameter()?;
    if protocol.model.is_some() {
        return Err(Error::value("features that a model computed are not computed again")
            .at("protocol.model")
            .advice("run `calipers robustness forward`, and verify the report of the array file it writes"));
    }
    let options = Options {
        inputs: recorded.given("input"),
        attack: recorded.text("attack"),
        budget: recorded.text("budget").map(|text| Budget::parse(&text)).transpose()?,
        protocol,
        per_node: false,
    };
    let measured = measure_files(&options, replay.again(), None, threads, &Silent)?;
    Ok(vec![Box::new(measured.accumulator)])
}
