//! Scores label maps that a program holds in memory, and prints the report.
//!
//! `cargo run -p calipers --example label_maps`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use calipers::prelude::*;
use calipers::registry;
use calipers::report::Amount;
use calipers::report::terminal::{self, Style};
use segmentation::overlap::MIOU;
use segmentation::{LabelMap, MapData, Prediction, Preset, Unit};

const SIDE: usize = 32;

/// A disc of class 1 on class 0, around a centre in the given column.
fn disc(centre: usize) -> Vec<u8> {
    let inside =
        |at: usize| (at / SIDE).abs_diff(SIDE / 2).pow(2) + (at % SIDE).abs_diff(centre).pow(2) <= 64;
    (0..SIDE * SIDE).map(|at| u8::from(inside(at))).collect()
}

/// Runs the example.
pub(crate) fn main() -> Result<()> {
    let protocol = Segmentation::new(Preset::Strict).with_classes(["table", "coin"])?;
    let mut images = Accumulator::new(protocol);
    for shift in 0..4 {
        let (truth, pred) = (disc(16), disc(16 + shift));
        let map = |ids| LabelMap { height: SIDE, width: SIDE, data: MapData::U8(ids) };
        let unit = Unit::Pixels { truth: map(&truth), pred: Prediction::Labels(map(&pred)) };
        images.update(format!("shifted by {shift}"), unit)?;
    }

    // One number by its constant, and the whole report as the terminal shows it.
    println!("mIoU {:?}", images.value(&MIOU).as_f64());
    let report = images.finish();
    let metrics = registry::metrics_of(&report.protocol);
    println!(
        "{}",
        terminal::write(&[report], &[metrics], Style { colour: false, width: 100 }, Amount::Headline)
    );
    Ok(())
}
