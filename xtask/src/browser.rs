//! The pages, driven in a headless browser.

use std::process::Command;

use crate::python;
use crate::step::{Outcome, cargo, is_there, output_of, step};

const REQUIREMENTS: &[&str] = &["python/requirements-test.txt", "python/requirements-browser.txt"];

/// Drives the pages of the release binary. Without Chromium, and without the right to install it,
/// they are left out.
pub(crate) fn test() -> Outcome {
    if !chromium() {
        println!("    there is no chromium: the pages are not opened in a browser");
        return Ok(());
    }
    step("release binary", &mut cargo("build --release --locked --package calipers-cli"))?;
    let python = python::environment(REQUIREMENTS)?;
    step("pages in a browser", &mut python::module(&python, "pytest python/tests/browser"))
}

/// Whether the browser is there, if need be after installing Debian's package.
fn chromium() -> bool {
    let there = || is_there("chromium", "--version");
    let root = || output_of(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0");
    if there() || !root() || !is_there("apt-get", "--version") {
        return there();
    }
    let update = step("package lists", Command::new("apt-get").args(["update", "-q"]));
    let install = || step("chromium", Command::new("apt-get").args(["install", "-y", "-q", "chromium"]));
    update.and_then(|()| install()).is_ok() && there()
}
