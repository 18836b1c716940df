//! The figures of the family pages, drawn by the program from the data of its own demo.

use std::fs;

use super::Generated;
use crate::step::{Outcome, output_of, program, root};

const DEMO: &str = "target/docs/demo";
const PICTURES: &str = "docs/pictures";

/// Which report of the demo, and which of its figures.
const FIGURES: [(u32, &str); 11] = [
    (1, "ratios"),
    (1, "graphs-1"),
    (3, "confusion"),
    (3, "reliability"),
    (3, "worst-images-1"),
    (4, "fidelity-curve"),
    (4, "masks"),
    (5, "configurations"),
    (5, "survival"),
    (7, "bias-curve"),
    (7, "edge-differences-at-0-4"),
];

/// Every figure as SVG: equal demos give equal bytes.
pub(super) fn drawn() -> Outcome<Vec<Generated>> {
    let folder = root().join(DEMO);
    let _ = fs::remove_dir_all(&folder);
    output_of(program()?.arg("demo").arg("--out").arg(&folder))?;
    let report = folder.join("report.json");
    let draw = |(number, figure): (u32, &str)| {
        let mut plot = program()?;
        plot.arg("plot").arg(&report).args([figure, "--report", &number.to_string(), "-o", "-"]);
        let svg = output_of(plot.arg("--quiet"))?;
        Ok(Generated::new(format!("{PICTURES}/{figure}.svg"), svg))
    };
    FIGURES.into_iter().map(draw).collect()
}
