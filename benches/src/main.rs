//! Calipers against what people use today: `cargo xtask bench [NAME...]`.
//!
//! Both sides work on the same data, by turns, on one thread; times are CPU times, the best of
//! several. Nothing is asserted: the table says what was measured and which goals were met.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a terminal program")]

mod compare;
mod exact_sum;
/// How both sides are timed, and what the table says.
mod harness {
    pub(crate) mod clock;
    pub(crate) mod line;
    pub(crate) mod npy;
    pub(crate) mod peer;
    pub(crate) mod program;
}
/// Graphs with scores: the metric set, and what it is made of.
mod independent_set {
    pub(crate) mod edge_pass;
    pub(crate) mod extras;
    pub(crate) mod greedy;
    pub(crate) mod instances;
    pub(crate) mod large;
    pub(crate) mod linearity;
    pub(crate) mod metric_set;
    pub(crate) mod scoring;
}
mod intervals;
mod robustness;
mod rung;
mod scale;
mod segmentation;
mod threads;
mod training;
mod units;

use std::process::ExitCode;

use harness::line::{HEAD, Line};

/// What a bench ends with.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// One bench: its name, and whether it runs when none is named.
struct Bench {
    name: &'static str,
    unasked: bool,
    run: fn(&mut dyn FnMut(Line)) -> Outcome,
}

const BENCHES: &[Bench] = &[
    Bench { name: "exact_sum", unasked: true, run: exact_sum::run },
    Bench { name: "metric_set", unasked: true, run: independent_set::metric_set::run },
    Bench { name: "published", unasked: false, run: independent_set::metric_set::run_published },
    Bench { name: "extras", unasked: true, run: independent_set::extras::run },
    Bench { name: "greedy", unasked: true, run: independent_set::greedy::run },
    Bench { name: "edge_pass", unasked: true, run: independent_set::edge_pass::run },
    Bench { name: "linearity", unasked: true, run: independent_set::linearity::run },
    Bench { name: "threads", unasked: true, run: threads::run },
    Bench { name: "large", unasked: false, run: independent_set::large::run },
    Bench { name: "segmentation_confusion", unasked: true, run: segmentation::confusion::run },
    Bench { name: "segmentation_bands", unasked: true, run: segmentation::bands::run },
    Bench { name: "segmentation_probabilities", unasked: true, run: segmentation::probabilities::run },
    Bench { name: "segmentation_fusion", unasked: true, run: segmentation::fusion::run },
    Bench { name: "segmentation_published", unasked: false, run: segmentation::run_published },
    Bench { name: "segmentation_python", unasked: false, run: segmentation::from_python::run },
    Bench { name: "segmentation_png", unasked: true, run: segmentation::files::run },
    Bench { name: "segmentation_threads", unasked: true, run: segmentation::files::run_threads },
    Bench { name: "training", unasked: true, run: training::run },
    Bench { name: "robustness", unasked: true, run: robustness::run },
    Bench { name: "compare", unasked: true, run: compare::run },
    Bench { name: "intervals", unasked: true, run: intervals::run },
    Bench { name: "report", unasked: true, run: intervals::run_report },
    Bench { name: "rung", unasked: true, run: rung::run },
    Bench { name: "scale", unasked: false, run: scale::run },
    Bench { name: "scale_ten_million", unasked: false, run: scale::run_ten_million },
    Bench { name: "segmentation_surfaces", unasked: false, run: segmentation::surfaces::run },
    Bench { name: "segmentation_small", unasked: false, run: segmentation::files::run_small },
];

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = names.iter().find(|name| !BENCHES.iter().any(|bench| bench.name == **name)) {
        let known: Vec<_> = BENCHES.iter().map(|bench| bench.name).collect();
        eprintln!("no bench {unknown}; there are {}", known.join(", "));
        return ExitCode::FAILURE;
    }
    let chosen = BENCHES.iter().filter(|bench| {
        if names.is_empty() { bench.unasked } else { names.iter().any(|name| name == bench.name) }
    });
    println!("{HEAD}");
    for bench in chosen {
        if let Err(error) = (bench.run)(&mut |line| println!("{line}")) {
            eprintln!("{}: {error}", bench.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
