//! What is kept of the surfaces of one unit, and how it is measured.

use calipers_core::{CompactSum, ExactSum};
use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::nearest::Search;
use super::percent::Percent;
use super::points::{Points, points, weights};
use super::settings::{Convention, Surface};
use crate::segmentation::labels::ClassId;
use crate::segmentation::protocol::Segmentation;
use crate::segmentation::row::sparse::Sparse;

/// Within the tolerance T are squared distances up to T T times this: a spacing that was stored in single
/// precision does no harm.
const SLACK: f64 = 1.0 + 1e-6;
/// Weights reach a share of all where they come this near: sums of floats stay below exact ones.
const WEIGHT_SLACK: f64 = 1.0 - 1e-9;

/// How one unit lies in space, and its surfaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// The number of slices; 1 for an image.
    pub depth: u32,
    /// How far elements are apart along slices, rows and columns; `None` where it is not known.
    pub spacing: Option<[f64; 3]>,
    /// The surfaces of each foreground class, where there is any.
    pub surfaces: Sparse<u32, SurfaceRow>,
}

/// The surfaces of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurfaceRow {
    /// Points of the true surface.
    pub truth: u64,
    /// Points of the predicted surface.
    pub pred: u64,
    /// Their distances, where both are there.
    pub apart: Option<Box<Apart>>,
}

/// The distances between two surfaces. Of two, the first is from the truth, the second from the prediction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Apart {
    /// The largest squared distance.
    pub farthest: [f64; 2],
    /// The squared distances around the 95th percentile, of each direction or of both together.
    pub hd95: Box<[[f64; 2]]>,
    /// The same around the percentile that was asked for.
    pub percentile: Option<Box<[[f64; 2]]>>,
    /// The sum of distances, each times its weight.
    pub sums: [CompactSum; 2],
    /// Points within the tolerance; none without one.
    pub within: Option<[u64; 2]>,
    /// The weights of the points, where they are not all 1.
    pub weights: Option<Weights>,
}

/// Sums of weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// Of all points.
    pub all: [CompactSum; 2],
    /// Of those within the tolerance.
    pub within: [CompactSum; 2],
}

impl Space {
    /// What no prediction can change.
    pub(crate) fn truth(&self) -> (u32, Option<[u64; 3]>, Vec<(u32, u64)>) {
        let surfaces = self.surfaces.iter().map(|(class, surfaces)| (*class, surfaces.truth));
        let spacing = self.spacing.map(|spacing| spacing.map(f64::to_bits));
        (self.depth, spacing, surfaces.filter(|(_, points)| *points > 0).collect())
    }
}

/// The distances of one direction.
struct Directed {
    /// Squared distances, ascending where there are weights.
    squared: Vec<f64>,
    /// The weight of each; empty where all are 1.
    weights: Vec<f64>,
}

/// The surfaces of the foreground classes of two maps. Void is [`ClassId::VOID`] in the truth; what is
/// predicted there is not read.
pub(crate) fn surfaces<T: ClassId>(
    protocol: &Segmentation,
    surface: &Surface,
    grid: &Grid,
    truth: &[T],
    pred: &[T],
) -> Sparse<u32, SurfaceRow> {
    let masked: Vec<T>;
    let pred = if protocol.conventions.keep_void_in_bands {
        let mask = |(truth, pred): (&T, &T)| if *truth == T::VOID { T::VOID } else { *pred };
        masked = truth.iter().zip(pred).map(mask).collect();
        &masked
    } else {
        pred
    };
    let foreground: Vec<usize> = protocol.foreground().collect();
    let wanted = |class: usize| foreground.binary_search(&class).is_ok();
    let of = |map| points(map, grid, protocol.classes(), &wanted, surface.convention);
    let (truth, pred) = (of(truth), of(pred));
    let spacing = grid.spacing().unwrap_or([1.0; 3]);
    let of_codes = weights(spacing, grid.is_volume());
    let mut search = Search::new(truth.axes, spacing);
    let mut rows = Vec::new();
    for class in foreground {
        let sides = [(&truth, &pred), (&pred, &truth)];
        let [of_truth, of_pred] = [&truth, &pred].map(|points| points.places[class].len());
        if of_truth + of_pred == 0 {
            continue;
        }
        let mut directed = |(from, to): (&Points, &Points)| {
            let squared = search.squared_distances(&from.places[class], &to.places[class]);
            let weights = from.codes[class].iter().map(|code| of_codes[usize::from(*code)]);
            Directed::new(squared, weights.collect())
        };
        let apart = (of_truth > 0 && of_pred > 0).then(|| {
            let tolerance = surface.tolerance_of(&protocol.labels.global[class]);
            Box::new(apart(sides.map(&mut directed), surface, tolerance))
        });
        rows.push((class as u32, SurfaceRow { truth: of_truth as u64, pred: of_pred as u64, apart }));
    }
    rows.into_iter().collect()
}

fn apart(mut directed: [Directed; 2], surface: &Surface, tolerance: Option<f64>) -> Apart {
    let near = tolerance.map(|tolerance| tolerance * tolerance * SLACK);
    let farthest = directed.each_ref().map(|one| one.squared.iter().copied().fold(0.0, f64::max));
    let sums = directed.each_ref().map(Directed::sum);
    let within = near.map(|near| directed.each_ref().map(|one| one.within(near)));
    let weights = (surface.convention == Convention::Deepmind).then(|| Weights {
        all: directed.each_ref().map(|one| one.weights.iter().copied().collect()),
        within: directed.each_ref().map(|one| {
            let within = one.squared.iter().zip(&one.weights);
            within
                .filter(|(squared, _)| near.is_some_and(|near| **squared <= near))
                .map(|(_, w)| *w)
                .collect()
        }),
    });
    let [hd95, percentile] = match surface.convention {
        Convention::Strict | Convention::Monai => surface.percentiles().map(|percent| {
            percent.map(|percent| directed.each_mut().map(|one| around(&mut one.squared, percent)).into())
        }),
        Convention::Medpy => {
            let [mut pooled, more] = directed.map(|one| one.squared);
            pooled.extend(more);
            surface.percentiles().map(|percent| percent.map(|percent| [around(&mut pooled, percent)].into()))
        }
        Convention::Deepmind => surface.percentiles().map(|percent| {
            percent.map(|percent| directed.each_ref().map(|one| [one.reached(percent); 2]).into())
        }),
    };
    Apart { farthest, hd95: hd95.unwrap_or_default(), percentile, sums, within, weights }
}

impl Directed {
    fn new(squared: Vec<f64>, weights: Vec<f64>) -> Self {
        if weights.is_empty() {
            return Self { squared, weights };
        }
        let mut both: Vec<(f64, f64)> = squared.into_iter().zip(weights).collect();
        both.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (squared, weights) = both.into_iter().unzip();
        Self { squared, weights }
    }

    /// The sum of distances, each times its weight.
    fn sum(&self) -> CompactSum {
        let mut terms: Vec<f64> = self.squared.iter().map(|squared| squared.sqrt()).collect();
        terms.iter_mut().zip(&self.weights).for_each(|(term, weight)| *term *= weight);
        let mut sum = ExactSum::new();
        sum.add_slice(&terms);
        sum.into()
    }

    fn within(&self, near: f64) -> u64 {
        self.squared.iter().filter(|squared| **squared <= near).count() as u64
    }

    /// The squared distance at which the weights of the distances up to it reach a share of all.
    fn reached(&self, percent: Percent) -> f64 {
        let all: ExactSum = self.weights.iter().copied().collect();
        let needed = all.value() * percent.share() * WEIGHT_SLACK;
        let mut reached = 0.0;
        let at = self.weights.iter().position(|weight| {
            reached += weight;
            reached >= needed
        });
        let last = self.squared.len() - 1;
        self.squared[at.unwrap_or(last)]
    }
}

/// The two values around a percentile; the second is the first where the percentile falls on it.
fn around(values: &mut [f64], percent: Percent) -> [f64; 2] {
    let (place, way) = percent.place(values.len() as i128);
    let (_, below, above) = values.select_nth_unstable_by(place as usize, f64::total_cmp);
    let below = *below;
    let above = above.iter().copied().min_by(f64::total_cmp).filter(|_| way > 0.0);
    [below, above.unwrap_or(below)]
}
