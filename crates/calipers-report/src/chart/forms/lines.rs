//! Curves: straight or in steps, with bands, marks, and stretches that stand out.

use serde::Serialize;

use crate::chart::axis::Axis;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Canvas, Paint, Path};
use crate::chart::drawing::frame::{Entry, Frame, Sign};
use crate::chart::drawing::marker::marker;
use crate::chart::drawing::palette::Colour;

/// How often the sign of a curve stands on it, where others are near.
const SIGNS: usize = 5;
/// The most points drawn of one curve: more than a screen has columns.
const MOST_POINTS: usize = 1200;

/// Curves over one axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lines {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, the first one lowest.
    pub curves: Vec<Curve>,
    /// Values of y with a name: dashed lines across.
    pub levels: Vec<(f64, String)>,
    /// What the legend adds to the names of curves: colour, name, and whether it is a mark.
    pub signs: Vec<(Colour, String, Mark)>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The name in the legend; without one it is not there.
    pub name: Option<String>,
    /// What it is drawn with.
    pub colour: Colour,
    /// Its points in order of x; what is not finite is a gap.
    pub points: Vec<(f64, f64)>,
    /// How neighbouring points are joined.
    pub course: Course,
    /// The width of the pen.
    pub width: f64,
    /// How solid it is, 0 to 1.
    pub opacity: f64,
    /// Whether the area down to the axis is tinted.
    pub filled: bool,
    /// Around the curve: x, and from where to where.
    pub band: Vec<[f64; 3]>,
    /// Stretches of x that stand out: what is wrong there.
    pub stretches: Vec<(f64, f64)>,
    /// Points that stand out: place, sort, and what is said where the pointer rests.
    pub marks: Vec<(f64, f64, Mark, String)>,
    /// What is said where the pointer rests on the line.
    pub tip: String,
}

impl Curve {
    /// A solid curve through points.
    pub fn new(colour: Colour, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: None,
            colour,
            points,
            course: Course::Straight,
            width: 2.2,
            opacity: 1.0,
            filled: false,
            band: Vec::new(),
            stretches: Vec::new(),
            marks: Vec::new(),
            tip: String::new(),
        }
    }
}

/// How neighbouring points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Course {
    /// By straight lines.
    Straight,
    /// The value holds until the next point.
    Steps,
}

/// From so many rings on they are small, so that they do not become a band.
const CROWDED: usize = 12;

/// What a point that stands out looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A dot.
    Dot,
    /// A dot with a dark rim.
    Ring,
    /// A short upright stroke.
    Stroke,
    /// A wide pale line; only for stretches.
    Stretch,
}

impl Lines {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let named = self.curves.iter().filter_map(|curve| {
            let sign = if self.is_signed(curve) { Sign::Marked } else { Sign::Line };
            Some(Entry { name: curve.name.as_deref()?, colour: curve.colour, sign })
        });
        let signs = self.signs.iter().map(|(colour, name, mark)| Entry {
            name,
            colour: *colour,
            sign: match mark {
                Mark::Dot => Sign::Dot,
                Mark::Ring => Sign::Ring,
                Mark::Stroke => Sign::Stroke,
                Mark::Stretch => Sign::Line,
            },
        });
        let legend: Vec<Entry<'_>> = named.chain(signs).collect();
        let (mut canvas, frame) = Frame::new(&self.x, &self.y, [width, 300.0], &legend);
        let [_, _, _, bottom] = frame.edges();
        for curve in self.curves.iter().filter(|curve| curve.band.len() > 1) {
            let (lower, upper) = (curve.band.iter(), curve.band.iter().rev());
            let lower = lower.map(|[x, low, _]| frame.at(*x, *low));
            let mut band = Path::through(lower.chain(upper.map(|[x, _, high]| frame.at(*x, *high))));
            band.close();
            canvas.path(band, Paint::fill(curve.colour).faded(0.15), None);
        }
        for curve in &self.curves {
            let pieces: Vec<Vec<[f64; 2]>> = pieces(curve, |x, y| frame.at(x, y));
            let tip = (!curve.tip.is_empty()).then_some(curve.tip.as_str());
            for piece in &pieces {
                if curve.filled
                    && let (Some(first), Some(last)) = (piece.first(), piece.last())
                {
                    let mut area = Path::through(piece.iter().copied());
                    area.to([last[0], bottom]);
                    area.to([first[0], bottom]);
                    area.close();
                    canvas.path(area, Paint::fill(curve.colour).faded(0.16 * curve.opacity), tip);
                }
                let pen = Paint::line(curve.colour, curve.width).faded(curve.opacity);
                match piece.as_slice() {
                    [alone] => canvas.circle(*alone, 0.8 * curve.width, Paint::fill(curve.colour), tip),
                    piece => canvas.path(Path::through(piece.iter().copied()), pen, tip),
                }
            }
            for &(from, to) in &curve.stretches {
                let inside = |point: &&(f64, f64)| point.0 >= from && point.0 <= to && point.1.is_finite();
                let points: Vec<[f64; 2]> =
                    thinned(&curve.points.iter().filter(inside).copied().collect::<Vec<_>>())
                        .into_iter()
                        .map(|(x, y)| frame.at(x, y))
                        .collect();
                match points.as_slice() {
                    [alone] => canvas.circle(*alone, 2.6, Paint::fill(Colour::Bad), None),
                    points => canvas.path(
                        Path::through(points.iter().copied()),
                        Paint::line(Colour::Bad, curve.width + 0.6),
                        None,
                    ),
                }
            }
        }
        let rings = self.curves.iter().flat_map(|curve| &curve.marks);
        let crowded = rings.filter(|(_, _, mark, _)| *mark == Mark::Ring).count() > CROWDED;
        for (place, curve) in self.curves.iter().enumerate() {
            if self.is_signed(curve) && !curve.marks.iter().any(|(_, _, mark, _)| *mark == Mark::Dot) {
                self.signs_on(&mut canvas, &frame, place, curve);
            }
            for (x, y, mark, tip) in &curve.marks {
                let at = frame.at(*x, *y);
                match mark {
                    Mark::Dot => {
                        let paint = Paint::fill(curve.colour).outlined(Colour::Paper, 1.5);
                        marker(&mut canvas, curve.colour, at, 5.0, paint, Some(tip));
                    }
                    Mark::Ring => {
                        let (radius, rim) = if crowded { (3.2, 1.0) } else { (5.0, 1.6) };
                        let paint = Paint::fill(curve.colour).outlined(Colour::Ink, rim);
                        canvas.circle(at, radius, paint, Some(tip));
                    }
                    Mark::Stroke | Mark::Stretch => {
                        let ends = [[at[0], at[1] - 6.0], [at[0], at[1] + 6.0]];
                        canvas.path(Path::through(ends), Paint::line(curve.colour, 1.6), Some(tip));
                    }
                }
            }
        }
        // Last, so that nothing hides their names.
        let points: Vec<[f64; 2]> = self.inked(&frame);
        for (value, name) in &self.levels {
            frame.level(&mut canvas, *value, name, &points);
        }
        canvas.finish(&self.title, &self.description)
    }

    /// Where there is something of a curve, on paper: its points and what lies between them.
    fn inked(&self, frame: &Frame<'_>) -> Vec<[f64; 2]> {
        let between = |pair: &[[f64; 2]]| {
            let [from, to] = [pair[0], pair[pair.len() - 1]];
            (0..8)
                .map(move |k| f64::from(k) / 8.0)
                .map(move |t| std::array::from_fn(|i| from[i] + t * (to[i] - from[i])))
        };
        let of_curve = |curve: &Curve| -> Vec<[f64; 2]> {
            let pieces = pieces(curve, |x, y| frame.at(x, y));
            let drawn = pieces.iter().flat_map(|piece| piece.windows(2).flat_map(between));
            let marks = curve.marks.iter().map(|(x, y, ..)| frame.at(*x, *y));
            drawn.chain(marks).collect()
        };
        self.curves.iter().flat_map(of_curve).collect()
    }

    /// Whether curves also differ in the shape of their markers.
    fn is_signed(&self, curve: &Curve) -> bool {
        let named = self.curves.iter().filter(|curve| curve.name.is_some()).count();
        named > 1 && curve.name.is_some() && matches!(curve.colour, Colour::Series(_))
    }

    /// A few signs along a curve, each curve's at places of its own.
    fn signs_on(&self, canvas: &mut Canvas, frame: &Frame<'_>, place: usize, curve: &Curve) {
        let finite: Vec<&(f64, f64)> =
            curve.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        let offset = (place as f64 + 0.5) / self.curves.len() as f64;
        let paint = Paint::fill(curve.colour).outlined(Colour::Paper, 1.0).faded(curve.opacity);
        let mut before = None;
        for k in 0..SIGNS {
            let at = ((k as f64 + offset) / SIGNS as f64 * finite.len() as f64) as usize;
            if let Some((x, y)) = finite.get(at)
                && before != Some(at)
            {
                marker(canvas, curve.colour, frame.at(*x, *y), 4.5, paint, None);
            }
            before = Some(at);
        }
    }
}

/// The parts of a curve between its gaps, on paper.
fn pieces(curve: &Curve, at: impl Fn(f64, f64) -> [f64; 2]) -> Vec<Vec<[f64; 2]>> {
    let mut pieces = Vec::new();
    for part in curve.points.split(|(x, y)| !x.is_finite() || !y.is_finite()) {
        let mut piece: Vec<[f64; 2]> = Vec::new();
        for (x, y) in thinned(part) {
            let point = at(x, y);
            if curve.course == Course::Steps
                && let Some(before) = piece.last().copied()
            {
                piece.push([point[0], before[1]]);
            }
            piece.push(point);
        }
        if !piece.is_empty() {
            pieces.push(piece);
        }
    }
    pieces
}

/// At most 1,200 points: of each stretch its first, lowest, highest and last, so that no peak is
/// lost.
pub fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let mut kept = Vec::with_capacity(MOST_POINTS);
    for part in points.chunks(points.len().div_ceil(MOST_POINTS / 4)) {
        let by_height = |a: &usize, b: &usize| part[*a].1.total_cmp(&part[*b].1);
        let mut places = [
            0,
            (0..part.len()).min_by(by_height).unwrap_or(0),
            (0..part.len()).max_by(by_height).unwrap_or(0),
            part.len() - 1,
        ];
        places.sort_unstable();
        let mut before = usize::MAX;
        for place in places {
            if place != before {
                kept.push(part[place]);
            }
            before = place;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(points: Vec<(f64, f64)>) -> Lines {
        Lines {
            title: "t".into(),
            description: "d".into(),
            x: Axis::around("epoch", points.iter().map(|p| p.0)),
            y: Axis::around("value", points.iter().map(|p| p.1)),
            curves: vec![Curve { name: Some("<b>".into()), ..Curve::new(Colour::Series(0), points) }],
            levels: vec![(0.5, "threshold".into())],
            signs: Vec::new(),
        }
    }

    #[test]
    fn no_peak_of_a_long_curve_is_lost_and_its_text_stays_short() {
        let mut points: Vec<(f64, f64)> = (0..1_000_000).map(|i| (f64::from(i), 0.0)).collect();
        points[777_777].1 = 9.0;
        assert!(thinned(&points).iter().any(|point| point.1 > 8.0));
        assert!(thinned(&points).len() <= MOST_POINTS);
        assert!(lines(points).draw(720.0).to_string().len() < 40_000);
    }

    #[test]
    fn a_gap_parts_the_curve_and_a_lone_point_is_a_dot() {
        let nan = f64::NAN;
        let curve = Curve::new(Colour::Ink, vec![(0.0, 1.0), (1.0, nan), (2.0, 1.0), (3.0, 2.0), (4.0, nan)]);
        let parts: Vec<usize> = pieces(&curve, |x, y| [x, y]).iter().map(Vec::len).collect();
        assert_eq!(parts, [1, 2]);
    }

    #[test]
    fn steps_hold_their_value_until_the_next_point() {
        let curve = Curve { course: Course::Steps, ..Curve::new(Colour::Ink, vec![(0.0, 1.0), (2.0, 0.5)]) };
        assert_eq!(pieces(&curve, |x, y| [x, y]), [[[0.0, 1.0], [2.0, 1.0], [2.0, 0.5]]]);
    }
}
