//! What a terminal shows above a training report: which run became which unit, and the curves.

use std::collections::BTreeSet;
use std::fmt::Write;

use calipers::core::error::printable;
use calipers::metrics::training::Training;
use calipers::report::curves::{self, Curve, Panel};
use calipers::report::terminal::Style;
use calipers::sources::training::Measured;
use calipers::sources::training::points::sketch::Sketch;
use calipers::sources::training::runs::claims::Claim;

/// The most runs and the most characters of a cell that are shown.
const MOST_RUNS: usize = 20;
const MOST_CHARS: usize = 40;

/// How many runs are shown one by one before the numbers.
const FEW_RUNS: usize = 6;

/// The assignment of runs and the curves of the first of them; of many runs how many there are, unless all
/// are to be seen.
pub(crate) fn write(measured: &Measured, style: Style, all: bool) -> String {
    if all || measured.runs.len() <= FEW_RUNS {
        return format!("{}\n{}\n", assignment(&measured.runs), curves(measured, style));
    }
    let groups: BTreeSet<&str> = measured.runs.iter().map(|run| run.group.as_str()).collect();
    let groups = match groups.len() {
        1 => "1 group".to_owned(),
        several => format!("{several} groups"),
    };
    format!("{} runs of {groups}; --all lists them and draws their curves\n\n", measured.runs.len())
}

/// The curves of the first runs, by metric and configuration.
pub(crate) fn curves(measured: &Measured, style: Style) -> String {
    let protocols: Vec<&Training> =
        measured.accumulators.iter().map(|accumulator| accumulator.protocol()).collect();
    curves::write(&panels(&measured.sketches, &protocols), style)
}

/// One line per run: group, fold, run, file, logged values.
fn assignment(runs: &[Claim]) -> String {
    let head = ["group", "fold", "run", "file", "values"].map(String::from);
    let line = |claim: &Claim| {
        let [group, fold, run, file] =
            [&claim.group, &claim.fold, &claim.run, &claim.file].map(|text| cell(text));
        [group, fold, run, file, claim.values.to_string()]
    };
    let lines: Vec<[String; 5]> =
        std::iter::once(head).chain(runs.iter().take(MOST_RUNS).map(line)).collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for line in &lines {
        let [group, fold, run, file, values] = line;
        let [w0, w1, w2, w3, w4] = widths;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{group:<w0$}  {fold:<w1$}  {run:<w2$}  {file:<w3$}  {values:>w4$}");
    }
    if runs.len() > MOST_RUNS {
        let _ = writeln!(text, "and {} more", runs.len() - MOST_RUNS);
    }
    text
}

/// Text from a file made safe to print; of a long one the end, which tells files apart.
fn cell(text: &str) -> String {
    let safe = printable(text);
    let long = safe.chars().count();
    if long <= MOST_CHARS {
        return safe;
    }
    std::iter::once('…').chain(safe.chars().skip(long + 1 - MOST_CHARS)).collect()
}

/// One panel for each metric and configuration.
fn panels(sketches: &[Sketch], protocols: &[&Training]) -> Vec<Panel> {
    let mut panels: Vec<((usize, &str), Panel)> = Vec::new();
    for sketch in sketches {
        let key = (sketch.metric, sketch.group.as_str());
        let at = panels.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let protocol = protocols[sketch.metric];
            let title = format!("{} of {}, threshold {}", protocol.label, sketch.group, protocol.threshold);
            panels.push((key, Panel { title, threshold: protocol.threshold, curves: Vec::new() }));
            panels.len() - 1
        });
        panels[at].1.curves.push(Curve {
            label: sketch.fold.clone(),
            values: sketch.values.clone(),
            saturation: sketch.saturation,
            broken: sketch.broken.clone(),
            note: format!("{} point{}", sketch.points, if sketch.points == 1 { "" } else { "s" }),
        });
    }
    panels.into_iter().map(|(_, panel)| panel).collect()
}
