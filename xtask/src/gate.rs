//! What a change must pass.

use crate::step::{Outcome, cargo, is_there, step};
use crate::{browser, docs, fuzz, generate, golden, python};

/// Formatting and lints.
pub(crate) fn check() -> Outcome {
    step("formatting", &mut cargo("fmt --all --check"))?;
    step("lints", &mut cargo("clippy --workspace --all-targets --locked -- -D warnings"))
}

/// Everything. Without `compat`, what needs torch is left out.
pub(crate) fn test(compat: bool) -> Outcome {
    // The extension module is part of the workspace, and building it asks Python how.
    python::interpreter()?;
    check()?;
    tests()?;
    step("examples in the docs", &mut cargo("test --doc --workspace --locked"))?;
    step("docs", cargo("doc --workspace --no-deps --locked").env("RUSTDOCFLAGS", "-D warnings"))?;
    step("release binary", &mut cargo("build --release --locked --package calipers-cli"))?;
    generate::compare()?;
    golden::compare()?;
    python::test(compat)?;
    // Its code blocks are among the tests of the package.
    docs::site()?;
    browser::test()?;
    fuzzing()?;
    println!("==> all passed");
    Ok(())
}

/// The tests, through cargo-nextest where it is installed: it runs them in parallel over all crates.
/// All of them run whatever fails, so that one run tells everything there is to mend.
fn tests() -> Outcome {
    if is_there("cargo-nextest", "--version") {
        step("tests", &mut cargo("nextest run --workspace --locked --no-fail-fast"))
    } else {
        println!("    cargo-nextest is not installed: running the same tests with cargo test");
        step("tests", &mut cargo("test --workspace --locked --no-fail-fast --lib --bins --tests"))
    }
}

/// A moment of fuzzing for every parser. libFuzzer is C++ and the only thing here that is.
fn fuzzing() -> Outcome {
    if is_there("c++", "--version") {
        fuzz::check()
    } else {
        println!("    there is no C++ compiler: the fuzz targets are left out");
        Ok(())
    }
}
