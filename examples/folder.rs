//! Measures a folder of graphs with scores on two threads, and writes the table of units.
//!
//! `cargo run -p calipers --example folder`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use std::env::temp_dir;
use std::{fs, process};

use calipers::demo;
use calipers::prelude::*;
use calipers::report::per_unit;
use calipers::sources::independent_set::measure;
use calipers::sources::independent_set::options::Options;
use independent_set::Preset;

/// Runs the example.
pub(crate) fn main() -> Result<()> {
    // Forty graphs made from a seed; your own folder goes here.
    let folder = temp_dir().join(format!("calipers-example-{}", process::id()));
    demo::independent_set::write(&folder, 0)?;

    let protocol = IndependentSet::new(Preset::Strict);
    let options = Options { inputs: vec![folder.clone()], protocol, ..Options::default() };
    let graphs = measure(&options, Inputs::default(), &Work::quiet(2))?;
    print!("{}", per_unit::csv(&graphs.per_unit()));
    println!("{} graphs from {} files", graphs.len(), graphs.finish().inputs.iter().count());
    fs::remove_dir_all(&folder).map_err(|error| Error::io(error.to_string()).in_file(folder.display()))
}
