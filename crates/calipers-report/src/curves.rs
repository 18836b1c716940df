//! Small curves for the terminal: one line of bars a run, and what happened under it.

use crate::sparkline::bar;
use crate::terminal::Style;
use crate::text::{Paint, columns, left, short};

/// The curves of one configuration, drawn to one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its heading.
    pub title: String,
    /// The value at which a run saturates; part of the scale.
    pub threshold: f64,
    /// Its runs.
    pub curves: Vec<Curve>,
}

/// One run's curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Which run it is.
    pub label: String,
    /// Its values in order.
    pub values: Vec<f64>,
    /// The position at which it first saturates.
    pub saturation: Option<usize>,
    /// The positions after that which fell back.
    pub broken: Vec<usize>,
    /// What to say beside it.
    pub note: String,
}

const MOST_BARS: usize = 48;
const LABEL: usize = 16;

/// Every panel under its heading, and below the last one what the marks mean.
pub fn write(panels: &[Panel], style: Style) -> String {
    let mut text = String::new();
    for panel in panels {
        text.push_str(&Paint::Bold.on(&short(&panel.title, style.width), style.colour));
        text.push('\n');
        panel.draw(style, &mut text);
    }
    if !panels.is_empty() {
        text.push_str(&Paint::Dim.on("  ^ first saturation   x broken afterwards", style.colour));
        text.push('\n');
    }
    text
}

impl Panel {
    fn draw(&self, style: Style, text: &mut String) {
        let values = || self.curves.iter().flat_map(|curve| &curve.values).copied().filter(|x| x.is_finite());
        let (low, high) =
            values().fold((self.threshold, self.threshold), |(low, high), x| (low.min(x), high.max(x)));
        let labels = self.curves.iter().map(|curve| columns(&short(&curve.label, LABEL))).max().unwrap_or(0);
        let longest = self.curves.iter().map(|curve| curve.values.len()).max().unwrap_or(0);
        let room = style.width.saturating_sub(labels + 40).clamp(8, MOST_BARS);
        for curve in &self.curves {
            // Runs of one panel share their axis, so that a shorter run has a shorter line.
            let bars = if longest <= room {
                curve.values.len()
            } else {
                (curve.values.len() * room).div_ceil(longest)
            };
            let label = left(&short(&curve.label, LABEL), labels);
            let (line, marks) = curve.bars(bars, low, high, style.colour);
            let note = short(&curve.note, style.width.saturating_sub(labels + bars + 6));
            text.push_str(&format!("  {label}  {line}  {}\n", Paint::Dim.on(&note, style.colour)));
            if !marks.trim().is_empty() {
                text.push_str(&format!("  {}  {}\n", " ".repeat(labels), marks.trim_end()));
            }
        }
    }
}

impl Curve {
    /// The bars and the marks below them. Each bar stands for the last value of its stretch.
    fn bars(&self, bars: usize, low: f64, high: f64, colour: bool) -> (String, String) {
        let (mut line, mut marks) = (String::new(), String::new());
        for i in 0..bars {
            let stretch = i * self.values.len() / bars..(i + 1) * self.values.len() / bars;
            let value = self.values[stretch.clone()].last().copied().filter(|x| x.is_finite());
            let drawn = value.map_or('·', |x| bar(x, low, high)).to_string();
            let saturates = self.saturation.is_some_and(|at| stretch.contains(&at));
            let breaks = self.broken.iter().any(|at| stretch.contains(at));
            let after = self.saturation.is_some_and(|at| stretch.end > at);
            let paint = match (breaks, after) {
                (true, _) => Paint::Yellow,
                (false, true) => Paint::Green,
                (false, false) => Paint::Plain,
            };
            line.push_str(&paint.on(&drawn, colour));
            marks.push(match (saturates, breaks) {
                (true, _) => '^',
                (false, true) => 'x',
                (false, false) => ' ',
            });
        }
        (line, marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style { colour: false, width: 80 };

    fn curve(values: &[f64], saturation: Option<usize>, broken: &[usize]) -> Curve {
        let note = format!("{} evaluations", values.len());
        Curve { label: "fold 0".into(), values: values.to_vec(), saturation, broken: broken.to_vec(), note }
    }

    #[test]
    fn saturation_and_broken_points_stand_under_their_bars() {
        let panel = Panel {
            title: "cfg".into(),
            threshold: 0.9,
            curves: vec![curve(&[0.0, 0.95, 0.5, 1.0], Some(1), &[2]), curve(&[0.0, f64::NAN], None, &[])],
        };
        let expected = "cfg\n  fold 0  ▁█▅█  4 evaluations\n           ^x\n  fold 0  ▁·  2 evaluations\n  ^ first saturation   x broken afterwards\n";
        assert_eq!(write(&[panel], PLAIN), expected);
        assert_eq!(write(&[], PLAIN), "");
    }

    #[test]
    fn a_long_run_keeps_its_marks_and_a_half_as_long_one_half_the_line() {
        let long: Vec<f64> = (0..1000).map(f64::from).collect();
        let panel = Panel {
            title: "cfg".into(),
            threshold: 900.0,
            curves: vec![curve(&long, Some(901), &[950]), curve(&long[..500], None, &[])],
        };
        let text = write(&[panel], PLAIN);
        let lines: Vec<&str> = text.lines().collect();
        let bars = |line: &str| line.chars().filter(|c| ('▁'..='█').contains(c)).count();
        assert!(lines[2].contains('^') && lines[2].contains('x'), "{text}");
        assert_eq!(bars(lines[1]), 2 * bars(lines[3]), "{text}");
    }

    #[test]
    fn hostile_labels_cannot_move_the_cursor() {
        let mut bad = curve(&[1.0], None, &[]);
        bad.label = "\u{1b}[2J".into();
        let text = write(&[Panel { title: "\u{7}".into(), threshold: 0.0, curves: vec![bad] }], PLAIN);
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
    }
}
