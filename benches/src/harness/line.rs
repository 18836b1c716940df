//! One line of the result: two times, their ratio, and what the ratio should be.

use std::fmt;

/// What the ratio should be.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// At least this large.
    AtLeast(f64),
    /// At most this large.
    AtMost(f64),
    /// Only shown.
    None,
}

/// One measurement.
pub(crate) struct Line {
    /// What was done.
    pub(crate) job: String,
    /// Our side, with its unit.
    pub(crate) ours: String,
    /// What it is compared with, with its unit.
    pub(crate) against: String,
    /// The number the goal speaks about.
    pub(crate) ratio: f64,
    /// What that number should be.
    pub(crate) goal: Goal,
}

/// The first lines of the table.
pub(crate) const HEAD: &str =
    "| job | Calipers | compared with | ratio | goal | met |\n|---|--:|--:|--:|--:|---|";

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, ours, against, ratio, goal } = self;
        let ratio_text = if *ratio >= 100.0 { format!("{ratio:.0}") } else { format!("{ratio:.2}") };
        let (goal, met) = match *goal {
            Goal::AtLeast(bound) => (format!("≥ {bound}"), yes_or_no(*ratio >= bound)),
            Goal::AtMost(bound) => (format!("≤ {bound}"), yes_or_no(*ratio <= bound)),
            Goal::None => (String::new(), ""),
        };
        write!(f, "| {job} | {ours} | {against} | {ratio_text} | {goal} | {met} |")
    }
}

fn yes_or_no(met: bool) -> &'static str {
    if met { "yes" } else { "**no**" }
}

/// Seconds with a fitting unit.
pub(crate) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    if value < 10.0 { format!("{value:.2} {unit}") } else { format!("{value:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ratio: f64, goal: Goal) -> String {
        Line { job: "sum".into(), ours: duration(2e-3), against: duration(0.5), ratio, goal }.to_string()
    }

    #[test]
    fn a_missed_goal_is_said() {
        assert_eq!(line(250.0, Goal::AtLeast(300.0)), "| sum | 2.00 ms | 500 ms | 250 | ≥ 300 | **no** |");
        assert_eq!(line(1.1, Goal::AtMost(1.15)), "| sum | 2.00 ms | 500 ms | 1.10 | ≤ 1.15 | yes |");
        assert_eq!(line(7.0, Goal::None), "| sum | 2.00 ms | 500 ms | 7.00 |  |  |");
    }
}
