//! A curve small enough to be drawn.

use calipers_metrics::training::{Row, Sample, Training};
use serde::{Deserialize, Serialize};

/// The most points a sketch keeps.
const MOST_POINTS: usize = 1000;

/// The curve of one metric in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sketch {
    /// Which metric it is, by position on the command line.
    pub metric: usize,
    /// The configuration of the run.
    pub group: String,
    /// Which fold of it the run is.
    pub fold: String,
    /// Where each point stands, ascending.
    pub x: Vec<f64>,
    /// The values in order of x; NaN where none is finite.
    pub values: Vec<f64>,
    /// The position of the first saturation.
    pub saturation: Option<usize>,
    /// The positions after it that broke, ascending.
    pub broken: Vec<usize>,
    /// How many points the run has.
    pub points: u64,
}

impl Sketch {
    /// The sketch of a measured run.
    pub fn new(metric: usize, protocol: &Training, samples: &[Sample], row: &Row) -> Self {
        let mut points: Vec<(f64, f64)> =
            samples.iter().map(|sample| (sample.x + 0.0, sample.value / protocol.scale)).collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // One bar cannot show two values: the later one stands.
        points.reverse();
        points.dedup_by_key(|(x, _)| x.to_bits());
        points.reverse();
        let kept = points.len().min(MOST_POINTS);
        let stretch = |i: usize| i * points.len() / kept..(i + 1) * points.len() / kept;
        let (mut x, mut values, mut saturation, mut broken) = (Vec::new(), Vec::new(), None, Vec::new());
        for i in 0..kept {
            let part = &points[stretch(i)];
            let last = part.last().copied().unwrap_or((f64::NAN, f64::NAN));
            x.push(last.0);
            values.push(last.1);
            let Some(aftermath) = &row.strict else { continue };
            if part.iter().any(|(x, _)| x.to_bits() == (aftermath.x + 0.0).to_bits()) {
                saturation = Some(i);
            }
            let in_break =
                |x: f64| aftermath.breaks.iter().any(|stretch| stretch.x.0 <= x && x <= stretch.x.1);
            if part.iter().any(|(x, _)| in_break(*x)) {
                broken.push(i);
            }
        }
        let (group, fold) = (row.group.clone(), row.fold.clone());
        Self { metric, group, fold, x, values, saturation, broken, points: row.points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_core::Protocol;
    use calipers_metrics::training::Curve;

    fn sketch(values: &[f64]) -> Sketch {
        let samples = Sample::series(values);
        let protocol = Training::default();
        let row = protocol.measure("", Curve::new("g", "f", &samples)).unwrap();
        Sketch::new(0, &protocol, &samples, &row)
    }

    #[test]
    fn a_short_curve_is_kept_whole_with_its_marks() {
        let sketch = sketch(&[0.1, 0.95, 0.5, 0.97]);
        assert_eq!(sketch.values, [0.1, 0.95, 0.5, 0.97]);
        assert_eq!(sketch.x, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!((sketch.saturation, sketch.broken), (Some(1), vec![2]));
    }

    #[test]
    fn a_long_curve_is_thinned_without_losing_its_marks() {
        let mut values = vec![0.2; 1000];
        values.extend([0.95, 0.1]);
        values.extend(vec![0.96; 998]);
        let sketch = sketch(&values);
        assert_eq!(sketch.values.len(), MOST_POINTS);
        assert_eq!((sketch.saturation, sketch.broken, sketch.points), (Some(500), vec![500], 2000));
    }
}
