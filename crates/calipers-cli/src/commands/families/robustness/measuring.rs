//! The options that say how pairs are measured, wherever their features come from.

use calipers::metrics::robustness::{Features, Nodes, Options, Preset};
use clap::Args;

use crate::options::{named, whole};

#[derive(Args, Debug)]
#[command(next_help_heading = "Measuring")]
pub(super) struct Measuring {
    /// Which conventions: exact ones, or those of published code [default: strict]
    #[arg(long, value_name = "NAME",
        value_parser = named::<Preset>(&["strict", "document", "rung-fork"]))]
    preset: Option<Preset>,
    /// Number of bins of histograms [default: 50]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>("1 to 100000"))]
    bins: Option<u64>,
    /// The range of every histogram [default: that of the differences, unit by unit]
    #[arg(long, value_name = "LO,HI", value_parser = range, allow_hyphen_values = true)]
    hist_range: Option<[f64; 2]>,
    /// The nodes that the bias is summed over [default: all]
    #[arg(long, value_name = "WHICH", value_parser = named::<Nodes>(&["all", "test", "not-train"]))]
    nodes: Option<Nodes>,
    /// What standard deviations subtract from the number of repetitions [default: 1; 0 in rung-fork]
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = whole::<u64>("from 0 on"))]
    ddof: Option<u64>,
    /// Edges with a difference of at least Y count as pruned
    #[arg(long, value_name = "Y", allow_negative_numbers = true)]
    cutoff: Option<f64>,
    /// What the features are [default: logits]
    #[arg(long, value_name = "WHAT", value_parser = named::<Features>(&["logits", "other"]))]
    features: Option<Features>,
}

impl Measuring {
    /// The parameters as they were given.
    pub(super) fn options(&self) -> Options {
        let Self { preset, bins, hist_range, nodes, ddof, cutoff, features } = *self;
        Options { preset, bins, hist_range, nodes, ddof, cutoff, features, model_name: None }
    }
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let ends = text
        .split_once(',')
        .and_then(|(low, high)| Some([low.trim().parse().ok()?, high.trim().parse().ok()?]));
    ends.ok_or_else(|| "a range is written LO,HI".into())
}
