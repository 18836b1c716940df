//! `calipers demo`: a data set of every family, made on the spot and scored.

use std::path::PathBuf;

use calipers::metrics::independent_set::{Decoder, IndependentSet};
use calipers::sources::independent_set::options::Options;
use calipers::{Ledger, Result, demo, sources};
use clap::Args;

use crate::options::{Output, Work};
use crate::progress::Bar;
use crate::{Outcome, emit};

/// Make a small data set of every family and score it
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Where the data set and report.json are written
    #[arg(long, value_name = "DIR", default_value = "calipers-demo")]
    out: PathBuf,
    /// Seed of the data set
    #[arg(long, value_name = "K", default_value_t = 0)]
    seed: u64,
}

impl Demo {
    pub(crate) fn run(self) -> Result<Outcome> {
        let folder = self.out.join("independent_set");
        demo::independent_set::write(&folder, self.seed)?;
        let protocol = IndependentSet {
            decoders: vec![Decoder::ScoreDegree, Decoder::Swap, Decoder::Ils],
            ils_iterations: 2_000,
            seed: self.seed,
            ..IndependentSet::default()
        };
        let options = Options { inputs: vec![folder.clone()], protocol, ..Options::default() };
        let work = Work { shard: None, threads: None };
        let progress = Bar::new(&Output::default());
        let accumulator = sources::independent_set::measure(&options, None, work.threads(), &progress)?;
        let ledgers: Vec<Box<dyn Ledger>> = vec![Box::new(accumulator)];
        let report = self.out.join("report.json");
        let reports: Vec<_> = ledgers.iter().map(|ledger| ledger.report()).collect();
        calipers::output::write(&report, calipers::report::json::write_array(&reports).as_bytes())?;
        let outcome = emit::ledgers(&ledgers, &Output { confidence: 0.95, ..Output::default() }, self.seed)?;
        emit::say(&format!(
            "\nThe data is in {folder}, the report in {report}. Try next:\n  \
             calipers independent-set {folder} --per-unit graphs.csv\n  \
             calipers show {report} --markdown\n  \
             calipers explain certified_ratio\n",
            folder = folder.display(),
            report = report.display(),
        ))?;
        Ok(outcome)
    }
}
