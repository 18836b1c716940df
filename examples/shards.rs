//! Four threads measure a share of the runs each. The merged report has the bytes of one run.
//!
//! `cargo run -p calipers --example shards`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::thread;

use calipers::prelude::*;
use calipers::report::json;
use training::{Curve, Preset, Sample};

/// What fold `fold` logged after each epoch: a metric that rises, faster in some folds than in others.
fn logged(fold: usize) -> Vec<f64> {
    (1..=12).map(|epoch| 1.0 - 1.0 / f64::from(epoch * (1 + fold as u32 % 3))).collect()
}

/// Measures some folds.
fn measured(folds: impl Iterator<Item = usize>) -> Result<Accumulator<Training>> {
    let protocol = Training { metric: "val_F1".into(), threshold: 0.9, ..Training::new(Preset::Strict) };
    let mut runs = Accumulator::new(protocol);
    for fold in folds {
        let (name, samples) = (fold.to_string(), Sample::series(&logged(fold)));
        let curve = Curve::new("baseline", &name, &samples);
        runs.update(curve.name(), curve)?;
    }
    Ok(runs)
}

/// Runs the example.
pub(crate) fn main() -> Result<()> {
    let shares = thread::scope(|scope| {
        let share = |first| scope.spawn(move || measured((first..20).step_by(4)));
        let workers = [share(0), share(1), share(2), share(3)];
        workers.map(|worker| worker.join().expect("no worker panics"))
    });

    let mut merged = Accumulator::new(measured(std::iter::empty())?.protocol().clone());
    for share in shares {
        let share = share?;
        // A share that arrives twice, as when a task is tried again, changes nothing.
        merged.merge(share.clone())?;
        merged.merge(share)?;
    }
    let whole = measured(0..20)?;
    assert_eq!(json::write(&[merged.finish()]), json::write(&[whole.finish()]));
    println!("{}", json::write(&[merged.finish()]));
    Ok(())
}
