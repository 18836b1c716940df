//! From the surfaces of units to numbers: each unit's own value, then means over units and classes.

use calipers_core::exact::{exact_mean, rounded_quotient};
use calipers_core::{CompactSum, ExactSum, Sums, Terms, Value};

use super::percent::Percent;
use super::row::{Apart, Space, SurfaceRow};
use super::settings::{Absent, Convention, Missing, MissingRule, Surface};
use crate::reading::{Reading, Reason, number, per_label};
use crate::segmentation::overlap::Overlap;
use crate::segmentation::protocol::{Measure, Segmentation};
use crate::segmentation::row::Row;
use crate::segmentation::row::evidence::{FIRST, has_pixels, pixels, requested};

/// A number of one unit and one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dice,
    Largest,
    At95,
    AtPercentile,
    FromTruth,
    FromPred,
    MeanOfAll,
    MeanOfMeans,
    Within,
}

/// The columns of a number: of whole units, then of each class.
const UNITS: usize = FIRST;
const FAR_UNITS: usize = FIRST + 2;
const CLASSES: usize = FIRST + 3;
const PER_CLASS: usize = 4;
/// The columns of a class.
const SUM: usize = 0;
const COUNT: usize = 1;
const INFINITE: usize = 2;
const ONE_SIDED: usize = 3;

/// A unit's own value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Own {
    Number(f64),
    Infinite,
    None,
}

/// What the protocol says of surfaces; what it does not say is strict.
fn settings(protocol: &Segmentation) -> &Surface {
    protocol.surface.as_ref().unwrap_or(const { &Surface::STRICT })
}

/// Whether a class has such a number at all: without a tolerance nothing is within it.
fn is_read(protocol: &Segmentation, class: usize, kind: Kind) -> bool {
    kind != Kind::Within || settings(protocol).tolerance_of(&protocol.labels.global[class]).is_some()
}

/// Adds a unit's own values.
pub(super) fn add<'r>(protocol: &Segmentation, row: &'r Row, terms: &mut Terms<'r>, kind: Kind) {
    let pixels = pixels(row, terms);
    if pixels.is_none() && kind != Kind::Dice {
        return;
    }
    let space = pixels.and_then(|pixels| pixels.space.as_deref());
    let image = (kind == Kind::Dice).then(|| Overlap::of_image(protocol, row));
    let (mut own, mut count, mut is_far) = (ExactSum::new(), 0, false);
    for class in protocol.foreground().filter(|class| is_read(protocol, *class, kind)) {
        let first = CLASSES + PER_CLASS * class;
        let surfaces = space.and_then(|space| space.surfaces.get(&(class as u32)));
        let value = match &image {
            Some(image) => dice(settings(protocol), image, class),
            None => distance(settings(protocol), row, space, surfaces, kind),
        };
        match value {
            Own::Number(number) => {
                terms.number(first + SUM, number);
                terms.whole(first + COUNT, 1);
                own.add(number);
                count += 1;
            }
            Own::Infinite => {
                terms.whole(first + INFINITE, 1);
                is_far = true;
            }
            Own::None => {}
        }
        terms.whole(first + ONE_SIDED, surfaces.is_some_and(|surfaces| surfaces.apart.is_none()));
    }
    if count > 0 {
        terms.number(UNITS + SUM, own.over(count));
        terms.whole(UNITS + COUNT, 1);
    }
    terms.whole(FAR_UNITS, is_far);
}

fn dice(surface: &Surface, image: &Overlap, class: usize) -> Own {
    match (image.truth(class) + image.pred(class), surface.absent) {
        (0, Absent::Undefined) => Own::None,
        (0, Absent::Perfect) => Own::Number(1.0),
        (both, _) => Own::Number(rounded_quotient(2 * image.hits(class), both)),
    }
}

fn distance(
    surface: &Surface,
    row: &Row,
    space: Option<&Space>,
    surfaces: Option<&SurfaceRow>,
    kind: Kind,
) -> Own {
    let Some(surfaces) = surfaces else {
        return match (surface.absent, kind) {
            (Absent::Undefined, _) => Own::None,
            (Absent::Perfect, Kind::Within) => Own::Number(1.0),
            (Absent::Perfect, _) => Own::Number(0.0),
        };
    };
    let Some(apart) = &surfaces.apart else {
        return if kind == Kind::Within { Own::Number(0.0) } else { one_sided(surface, row, space, kind) };
    };
    let counts = [surfaces.truth, surfaces.pred];
    let means = || [0, 1].map(|side| apart.sums[side].to_sum().value() / apart.weight(side, counts));
    let value = match kind {
        Kind::Largest => Some(apart.farthest[0].max(apart.farthest[1]).sqrt()),
        Kind::At95 => percentile(&apart.hd95, counts, surface.percentiles()[0]),
        Kind::AtPercentile => {
            apart.percentile.as_ref().and_then(|values| percentile(values, counts, surface.percentiles()[1]))
        }
        Kind::FromTruth => Some(means()[0]),
        Kind::FromPred => Some(means()[1]),
        Kind::MeanOfMeans => Some((means()[0] + means()[1]) / 2.0),
        Kind::MeanOfAll => Some(merged(&apart.sums) / apart.all_weight(counts)),
        Kind::Within => apart.within.map(|[from_truth, from_pred]| match &apart.weights {
            None => rounded_quotient((from_truth + from_pred).into(), (counts[0] + counts[1]).into()),
            Some(weights) => merged(&weights.within) / apart.all_weight(counts),
        }),
        Kind::Dice => None,
    };
    value.map_or(Own::None, Own::Number)
}

fn one_sided(surface: &Surface, row: &Row, space: Option<&Space>, kind: Kind) -> Own {
    match surface.missing {
        Missing::Distance(distance) => Own::Number(distance),
        Missing::Rule(MissingRule::Diagonal) => Own::Number(diagonal(row, space)),
        // A percentile of infinities is no number in that library, and its means leave it out.
        Missing::Rule(MissingRule::Undefined)
            if surface.convention == Convention::Monai && matches!(kind, Kind::At95 | Kind::AtPercentile) =>
        {
            Own::None
        }
        Missing::Rule(MissingRule::Undefined) if surface.convention.is_infinite_without() => Own::Infinite,
        Missing::Rule(MissingRule::Undefined) => Own::None,
    }
}

/// The length of the diagonal of the whole unit.
fn diagonal(row: &Row, space: Option<&Space>) -> f64 {
    let spacing = space.and_then(|space| space.spacing).unwrap_or([1.0; 3]);
    let slices = space.map_or(1, |space| space.depth);
    // An image has no third axis.
    let slices = if slices > 1 { slices } else { 0 };
    let lengths = [slices, row.height, row.width].into_iter().zip(spacing);
    lengths.map(|(length, step)| (f64::from(length) * step).powi(2)).sum::<f64>().sqrt()
}

impl SurfaceRow {
    /// The Hausdorff distances from truth and from prediction: the largest distances or, where one is asked
    /// for, those at the percentile. None unless both have a surface, or directions are not kept apart.
    pub fn hausdorff(&self, surface: &Surface) -> Option<[f64; 2]> {
        let apart = self.apart.as_ref()?;
        let [_, asked] = surface.percentiles();
        let (Some(values), Some(percent)) = (&apart.percentile, asked) else {
            return Some(apart.farthest.map(f64::sqrt));
        };
        let &[from_truth, from_pred] = &**values else { return None };
        let counts = [self.truth, self.pred];
        Some(
            [(from_truth, counts[0]), (from_pred, counts[1])]
                .map(|(values, count)| between(values, percent, count)),
        )
    }
}

impl Apart {
    fn weight(&self, side: usize, counts: [u64; 2]) -> f64 {
        self.weights.as_ref().map_or(counts[side] as f64, |weights| weights.all[side].value())
    }

    fn all_weight(&self, counts: [u64; 2]) -> f64 {
        self.weights.as_ref().map_or((counts[0] + counts[1]) as f64, |weights| merged(&weights.all))
    }
}

fn merged(sums: &[CompactSum; 2]) -> f64 {
    let mut all = sums[0].to_sum();
    sums[1].add_to(&mut all);
    all.value()
}

/// The larger of the percentiles of two directions, or that of both together.
fn percentile(values: &[[f64; 2]], counts: [u64; 2], percent: Option<Percent>) -> Option<f64> {
    let percent = percent?;
    let count = |at: usize| if values.len() == 1 { counts[0] + counts[1] } else { counts[at] };
    let each = values.iter().enumerate().map(|(at, values)| between(*values, percent, count(at)));
    each.reduce(f64::max)
}

/// The percentile of so many distances, from the squared ones around it.
fn between(values: [f64; 2], percent: Percent, count: u64) -> f64 {
    let (_, way) = percent.place(count.into());
    let [below, above] = values.map(f64::sqrt);
    below + (above - below) * way
}

/// Whether the rows hold what the number is read from.
fn is_there(protocol: &Segmentation, sums: &Sums<'_, Row>, kind: Kind) -> Result<(), Reason> {
    match kind {
        Kind::Dice => requested(protocol, Measure::Surface),
        _ => has_pixels(protocol, sums, Measure::Surface),
    }
}

fn infinite(units: i128) -> Reason {
    format!("infinite: {units} unit(s) have a surface in only one of truth and prediction").into()
}

fn of_class(protocol: &Segmentation, sums: &Sums<'_, Row>, class: usize, kind: Kind) -> Reading {
    let first = CLASSES + PER_CLASS * class;
    let [units, far, one_sided] = [COUNT, INFINITE, ONE_SIDED].map(|column| sums.whole(first + column));
    match kind {
        _ if !is_read(protocol, class, kind) => Err("no tolerance is given".into()),
        _ if far > 0 => Err(infinite(far)),
        _ if units > 0 => Ok(sums.number_over(first + SUM, units)),
        Kind::Dice => Err("class occurs in neither truth nor prediction".into()),
        _ if one_sided > 0 => Err("no unit has a surface in both truth and prediction".into()),
        _ => Err("no surface in truth or prediction".into()),
    }
}

/// The number of each class: the mean over the units that have one.
pub(super) fn by_class(protocol: &Segmentation, sums: &Sums<'_, Row>, kind: Kind) -> Value {
    let classes = protocol.foreground_names();
    let read = is_there(protocol, sums, kind);
    per_label(read.map(|()| classes.map(|(class, name)| (name, of_class(protocol, sums, class, kind)))))
}

/// The mean over classes.
pub(super) fn mean(protocol: &Segmentation, sums: &Sums<'_, Row>, kind: Kind) -> Value {
    number(is_there(protocol, sums, kind).and_then(|()| mean_of_classes(protocol, sums, kind)))
}

fn mean_of_classes(protocol: &Segmentation, sums: &Sums<'_, Row>, kind: Kind) -> Reading {
    let classes: Vec<usize> = protocol.foreground().filter(|class| is_read(protocol, *class, kind)).collect();
    if classes.is_empty() && kind == Kind::Within {
        return Err("no tolerance is given".into());
    }
    match sums.whole(FAR_UNITS) {
        0 => {}
        far => return Err(infinite(far)),
    }
    let by_unit = sums.whole(UNITS + COUNT);
    if settings(protocol).convention == Convention::Monai && by_unit > 0 {
        return Ok(sums.number_over(UNITS + SUM, by_unit));
    }
    let values = classes.into_iter().filter_map(|class| of_class(protocol, sums, class, kind).ok());
    exact_mean(values).ok_or("no class with a defined value".into())
}
