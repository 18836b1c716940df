//! How often values fall where.

use serde::Serialize;

use crate::chart::axis::Axis;
use crate::chart::drawing::Drawing;
use crate::chart::drawing::canvas::{Paint, Path};
use crate::chart::drawing::frame::{Entry, Frame, Sign};
use crate::chart::drawing::palette::Colour;

/// Counts over bins that touch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// What a screen reader calls it.
    pub title: String,
    /// What a screen reader says about it.
    pub description: String,
    /// The axis of the values.
    pub x: Axis,
    /// What is counted.
    pub counted: String,
    /// The ends of the bins: one more than there are bins.
    pub edges: Vec<f64>,
    /// Name, colour and counts; the first is filled, the others are outlines over it.
    pub counts: Vec<(String, Colour, Vec<u64>)>,
    /// Values with a name: dashed lines down.
    pub posts: Vec<(f64, String)>,
}

/// The ends of about `count` equal bins with round ends around all finite values.
pub fn bins(axis: &Axis, count: usize) -> Vec<f64> {
    let wide = (axis.high - axis.low) / count as f64;
    (0..=count).map(|i| if i == count { axis.high } else { axis.low + wide * i as f64 }).collect()
}

/// How many finite values fall into each bin; the last bin holds its upper end, and values beyond
/// the ends fall into the first and the last bin.
pub fn counted(values: impl IntoIterator<Item = f64>, edges: &[f64]) -> Vec<u64> {
    let last = edges.len().saturating_sub(2);
    let mut counts = vec![0; last + 1];
    for value in values.into_iter().filter(|value| value.is_finite()) {
        counts[edges.partition_point(|edge| *edge <= value).saturating_sub(1).min(last)] += 1;
    }
    counts
}

impl Histogram {
    /// The drawing, as wide as given.
    pub(crate) fn draw(&self, width: f64) -> Drawing {
        let most = self.counts.iter().flat_map(|(_, _, counts)| counts).copied().max().unwrap_or(0);
        // The words of each post have a line above the highest bar.
        let room = 1.0 + 0.12 * self.posts.len() as f64;
        let y = Axis::around(self.counted.clone(), [0.0, (most as f64).max(1.0) * room]);
        let entry = |(i, (name, colour, _)): (usize, &'_ (String, Colour, Vec<u64>))| {
            (name.clone(), *colour, if i == 0 { Sign::Block } else { Sign::Line })
        };
        let entries: Vec<(String, Colour, Sign)> = self.counts.iter().enumerate().map(entry).collect();
        let legend: Vec<Entry<'_>> = if entries.len() > 1 {
            entries.iter().map(|(name, colour, sign)| Entry { name, colour: *colour, sign: *sign }).collect()
        } else {
            Vec::new()
        };
        let (mut canvas, frame) = Frame::new(&self.x, &y, [width, 260.0], &legend);
        let [_, _, _, bottom] = frame.edges();
        for (i, (name, colour, counts)) in self.counts.iter().enumerate() {
            if i == 0 {
                for (ends, &count) in self.edges.windows(2).zip(counts).filter(|(_, count)| **count > 0) {
                    let (from, to) = (frame.at_x(ends[0]), frame.at_x(ends[1]));
                    let top = frame.at_y(count as f64);
                    let gap = if to - from > 4.0 { 0.75 } else { 0.0 };
                    let place = [from + gap, top, to - from - 2.0 * gap, bottom - top];
                    let (low, high) = (crate::number::rounded(ends[0]), crate::number::rounded(ends[1]));
                    let tip = format!("{name}: {count} from {low} to {high}");
                    canvas.rect(place, 1.5, Paint::fill(*colour).faded(0.85), Some(&tip));
                }
            } else {
                let mut outline = Path::default();
                outline.start([frame.at_x(self.edges[0]), bottom]);
                for (ends, &count) in self.edges.windows(2).zip(counts) {
                    outline.to(frame.at(ends[0], count as f64));
                    outline.to(frame.at(ends[1], count as f64));
                }
                outline.to([frame.at_x(self.edges[self.edges.len() - 1]), bottom]);
                canvas.path(outline, Paint::line(*colour, 2.2), Some(name));
            }
        }
        for (line, (value, name)) in self.posts.iter().enumerate() {
            frame.post(&mut canvas, *value, name, line);
        }
        canvas.finish(&self.title, &self.description)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_is_counted_once() {
        let edges = bins(&Axis::share(""), 4);
        assert_eq!(edges, [0.0, 0.25, 0.5, 0.75, 1.0]);
        let values = [0.0, 0.25, 0.2499, 1.0, 0.99, 1.7, -3.0, f64::NAN, 0.5];
        assert_eq!(counted(values, &edges), [3, 1, 1, 3]);
    }
}
