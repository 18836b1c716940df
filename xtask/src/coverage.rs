//! How often intervals hold what they claim: the campaign behind docs/coverage.md.

use std::process::Command;

use crate::step::{Outcome, cargo, root, step};

/// Builds the campaign and runs it with these options; fails when a goal is missed.
pub(crate) fn measure(options: &[&str]) -> Outcome {
    step("release build", &mut cargo("build --release --locked --package calipers-coverage"))?;
    let mut campaign = Command::new(root().join("target/release/calipers-coverage"));
    step("coverage of intervals", campaign.current_dir(root()).args(options))
}
