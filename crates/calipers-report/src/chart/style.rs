//! What a figure is made for: its colours, and how large its words are in print.

use std::str::FromStr;

use calipers_core::{Error, Result};

use super::drawing::palette::Ground;

/// Points per inch.
const INCH: f64 = 72.0;
/// The units of length, in points.
const LENGTHS: [(&str, f64); 4] = [("in", INCH), ("cm", INCH / 2.54), ("mm", INCH / 25.4), ("pt", 1.0)];
/// The narrowest drawing whose words have room, in units.
const NARROWEST: f64 = 240.0;
/// The widest drawing, in units.
const WIDEST: f64 = 4000.0;

/// What a figure is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// A paper: words of 7 points on white, as wide as a column.
    #[default]
    Paper,
    /// Slides: words of 14 points on white.
    Slides,
    /// Dark slides and screens: words of 14 points on nearly black.
    Dark,
}

impl Style {
    /// Every style by its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("paper", Self::Paper), ("slides", Self::Slides), ("dark", Self::Dark)];

    /// The paper on which it is drawn.
    pub(crate) fn ground(self) -> Ground {
        match self {
            Self::Paper | Self::Slides => Ground::Light,
            Self::Dark => Ground::Dark,
        }
    }

    /// Points for each unit of a drawing, whose words are 12 units high.
    pub(crate) fn points(self) -> f64 {
        match self {
            Self::Paper => 7.0 / 12.0,
            Self::Slides | Self::Dark => 14.0 / 12.0,
        }
    }

    /// Pixels for each point of a PNG file.
    pub(crate) fn pixels(self) -> f64 {
        match self {
            Self::Paper => 300.0 / INCH,
            Self::Slides | Self::Dark => 150.0 / INCH,
        }
    }

    /// The default width of a figure in points: a column or a page of a paper, or a slide.
    fn usual(self, wide: bool) -> f64 {
        match (self, wide) {
            (Self::Paper, false) => 3.3 * INCH,
            (Self::Paper, true) => 6.8 * INCH,
            (Self::Slides | Self::Dark, false) => 8.0 * INCH,
            (Self::Slides | Self::Dark, true) => 12.0 * INCH,
        }
    }

    /// The width of a drawing in units: the width that is asked for in points, or the usual one.
    pub(crate) fn units(self, asked: Option<f64>, wide: bool) -> Result<f64> {
        let units = asked.unwrap_or(self.usual(wide)) / self.points();
        if (NARROWEST..=WIDEST).contains(&units) {
            return Ok(units);
        }
        let inches = |units: f64| units * self.points() / INCH;
        Err(Error::usage("the figure is too narrow for its words, or too wide")
            .found(format!("{:.2}in", asked.unwrap_or_default() / INCH))
            .allowed(format!("{:.1}in to {:.0}in in this style", inches(NARROWEST), inches(WIDEST))))
    }
}

impl FromStr for Style {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, style)| style).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            Error::usage("no such style").found(name).allowed(names)
        })
    }
}

/// A length such as `3.3in`, in points.
pub fn points(length: &str) -> Result<f64> {
    let length = length.trim();
    let parsed = LENGTHS.iter().find_map(|(unit, points)| {
        let number: f64 = length.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some(number * points).filter(|points| points.is_finite() && *points > 0.0)
    });
    parsed.ok_or_else(|| {
        Error::usage("not a width")
            .found(length)
            .allowed("a number with its unit: in, cm, mm or pt, such as 3.3in")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_a_unit() {
        let found = ["3.3in", "8.382cm", "83.82 mm", " 237.6pt"].map(|text| points(text).unwrap());
        assert!(found.iter().all(|points| (points - 237.6).abs() < 1e-9), "{found:?}");
        for text in ["3.3", "in", "-1in", "0cm", "NaNpt", "infin", "1e999pt", "3.3ft", ""] {
            assert!(points(text).unwrap_err().to_string().contains("3.3in"), "{text}");
        }
    }

    #[test]
    fn words_of_a_paper_are_large_enough_and_a_figure_has_room_for_them() {
        // The smallest words of any form are 11.5 units high.
        assert!(11.5 * Style::Paper.points() >= 6.5);
        for (_, style) in Style::ALL {
            for wide in [false, true] {
                assert!(style.units(None, wide).unwrap() > 300.0);
            }
            assert!(style.units(Some(20.0), false).is_err() && style.units(Some(1e6), false).is_err());
        }
    }
}
