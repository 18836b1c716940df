//! The part `images`: classes counted where the truth has them, and the worst images beside the mean.

use calipers_core::exact::exact_mean;
use calipers_core::{ExactSum, IntervalRule, Number, Sums, Terms, Value};

use super::classes::{iou, miou};
use super::totals::Overlap;
use crate::line::{SHARE, higher};
use crate::reading::{Reading, Reason, number, per_label};
use crate::segmentation::metrics::Line;
use crate::segmentation::protocol::{Measure, Segmentation};
use crate::segmentation::row::Row;
use crate::segmentation::surface::Percent;

/// The columns: how often each value occurs. Of units over their classes in the truth, over their classes
/// in either map, then of each class.
const UNITS: usize = 0;
const OWN_MIOUS: usize = 1;
const CLASSES: usize = 2;

/// The shares whose mean the `qbar` numbers are.
const TENTHS: [u8; 10] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

const WANG: &str = "Wang et al., Revisiting evaluation metrics for semantic segmentation, NeurIPS 2023 Datasets \
                    and Benchmarks";

const IMAGES: Line = Line {
    group: "images",
    better: higher,
    range: SHARE,
    undefined: "\"no unit with a defined value\".",
    reference: WANG,
    presets: |protocol| protocol.measures(Measure::Images),
    ..Line::DEFAULTS
};
const OF_CLASSES: Line =
    Line { undefined: "\"no class with a defined value\".", interval: IntervalRule::OverLabels, ..IMAGES };
const PERCENTILE: Line = Line {
    formula: "Of the units' own miou, the numbers whose mean is miou_image: h = (n - 1) P / 100, linear between \
              the sorted values around h.",
    reference: "Calipers",
    interval: IntervalRule::OrderStatistic,
    ..IMAGES
};

pub(crate) const METRICS: &[Line] = &[
    MIOU_I,
    IOU_C,
    MIOU_C,
    MIOU_I_Q,
    MIOU_C_Q,
    MIOU_I_QBAR,
    MIOU_C_QBAR,
    MIOU_IMAGE_P5,
    MIOU_IMAGE_P25,
    MIOU_IMAGE_P50,
    MIOU_IMAGE_P75,
    MIOU_IMAGE_P95,
];

/// Sorted values, each as often as it occurs.
struct Sorted<'s>(&'s [(u64, u64)]);

fn add_row(protocol: &Segmentation, row: &Row, terms: &mut Terms<'_>) {
    let image = Overlap::of_image(protocol, row);
    let own = |class: usize| (image.truth(class) > 0).then(|| iou(&image, class).ok()).flatten();
    // The bits of numbers that are not negative are ordered as the numbers are.
    let mut add = |column: usize, value: f64| terms.value(column, value.to_bits());
    image.all_classes().for_each(|class| _ = own(class).map(|iou| add(CLASSES + class, iou)));
    _ = exact_mean(image.means().filter_map(own)).map(|mean| add(UNITS, mean));
    if image.scored_pixels() > 0 {
        _ = miou(&image).map(|miou| add(OWN_MIOUS, miou));
    }
}

impl<'s> Sorted<'s> {
    fn of(sums: &'s Sums<'_, Row>, column: usize) -> Option<Self> {
        let values = Self(sums.values(column));
        (values.count() > 0).then_some(values)
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The mean of the lowest ones, at least one, by their share of all.
    fn worst(&self, share: Percent) -> f64 {
        let wanted = (share.of(self.count().into()) as u64).max(1);
        let (mut sum, mut left) = (ExactSum::new(), wanted);
        for (bits, count) in self.0 {
            let taken = left.min(*count);
            (0..taken).for_each(|_| sum.add(f64::from_bits(*bits)));
            left -= taken;
        }
        sum.over(wanted)
    }

    fn mean(&self) -> f64 {
        self.worst(Percent::whole(100))
    }

    /// The mean over ten shares of the mean of the worst ones.
    fn qbar(&self) -> f64 {
        exact_mean(TENTHS.map(|share| self.worst(Percent::whole(share)))).unwrap_or(0.0)
    }

    fn at(&self, position: u64) -> f64 {
        let mut before = 0;
        let found = self.0.iter().find(|(_, count)| {
            before += count;
            before > position
        });
        found.or(self.0.last()).map_or(0.0, |(bits, _)| f64::from_bits(*bits))
    }

    fn percentile(&self, percent: u8) -> f64 {
        let (place, way) = Percent::whole(percent).place(self.count().into());
        let (below, above) = (self.at(place as u64), self.at(place as u64 + 1));
        if way > 0.0 { below + (above - below) * way } else { below }
    }
}

fn of_units(sums: &Sums<'_, Row>, column: usize, read: impl Fn(&Sorted<'_>) -> f64) -> Value {
    number(Sorted::of(sums, column).map(|values| read(&values)).ok_or("no unit with a defined value".into()))
}

fn of_classes(protocol: &Segmentation, sums: &Sums<'_, Row>, read: impl Fn(&Sorted<'_>) -> f64) -> Value {
    let values = protocol.means().filter_map(|class| Sorted::of(sums, CLASSES + class));
    number(exact_mean(values.map(|values| read(&values))).ok_or("no class with a defined value".into()))
}

fn worst_share(protocol: &Segmentation) -> Percent {
    let written = protocol.images.and_then(|images| Percent::new(images.worst));
    written.unwrap_or(Percent::whole(5))
}

/// The mean over ten shares of the mean over classes.
fn qbar_of_classes(protocol: &Segmentation, sums: &Sums<'_, Row>) -> Reading {
    let classes: Vec<Sorted<'_>> =
        protocol.means().filter_map(|class| Sorted::of(sums, CLASSES + class)).collect();
    let at = |share: u8| exact_mean(classes.iter().map(|class| class.worst(Percent::whole(share))));
    exact_mean(TENTHS.into_iter().filter_map(at)).ok_or("no class with a defined value".into())
}

fn each_class<'p>(
    protocol: &'p Segmentation,
    sums: &Sums<'_, Row>,
) -> impl Iterator<Item = (&'p str, Reading)> {
    let values: Vec<Reading> = (0..protocol.classes())
        .map(|class| {
            let values = Sorted::of(sums, CLASSES + class);
            values.map(|values| values.mean()).ok_or(Reason::from("class does not occur in truth"))
        })
        .collect();
    protocol.labels.global.iter().map(String::as_str).zip(values)
}

/// What is read from the values of units.
const fn pooled(read: fn(&Segmentation, &Sums<'_, Row>) -> Value) -> Number<Segmentation> {
    Number::pooled(add_row, read)
}

const MIOU_I: Line = Line {
    id: "miou_i",
    measures: "mIoU with each image counting the same, over the classes that its truth has (mIoU^I).",
    formula: "IoU of a class in a unit: none where the class is not in the unit's truth. Mean over units of the \
              unit's mean over its classes.",
    differs: "miou_image counts an invented class as 0, this number leaves it out.",
    example: ("worst-images", "0.7666666666666667"),
    number: pooled(|_, sums| of_units(sums, UNITS, |values| values.mean())),
    ..IMAGES
};

const IOU_C: Line = Line {
    id: "iou_c",
    measures: "The IoU of each class with each image counting the same that has the class.",
    formula: "Mean over the units with the class in truth of the unit's IoU of the class.",
    undefined: "\"class does not occur in truth\".",
    differs: "iou_image also takes units where the class is only predicted, as 0.",
    example: ("worst-images", r#"{"wall": 0.8111111111111111, "door": 0.6666666666666666}"#),
    number: pooled(|protocol, sums| per_label(Ok(each_class(protocol, sums)))),
    ..IMAGES
};

const MIOU_C: Line = Line {
    id: "miou_c",
    measures: "mIoU with each class counting the same, and within it each image (mIoU^C).",
    formula: "Mean of iou_c over the classes of the means.",
    differs: "iou_image also takes units where the class is only predicted, as 0.",
    example: ("worst-images", "0.7388888888888889"),
    number: pooled(|protocol, sums| of_classes(protocol, sums, |values| values.mean())),
    ..OF_CLASSES
};

const MIOU_I_Q: Line = Line {
    id: "miou_i_q",
    measures: "miou_i of the worst images.",
    formula: "Mean of the max(1, floor(Q n / 100)) lowest of the n unit values of miou_i; Q is images.worst, per \
              cent.",
    differs: "Q is the decimal number as written: the published code takes 28 of 100 units for 29 %, here 29.",
    example: ("worst-images", "0.4666666666666667"),
    number: pooled(|protocol, sums| of_units(sums, UNITS, |values| values.worst(worst_share(protocol)))),
    ..IMAGES
};

const MIOU_C_Q: Line = Line {
    id: "miou_c_q",
    measures: "miou_c of the worst images of each class.",
    formula: "As miou_i_q within each class, then the mean over the classes of the means.",
    example: ("worst-images", "0.4666666666666667"),
    number: pooled(|protocol, sums| of_classes(protocol, sums, |values| values.worst(worst_share(protocol)))),
    ..OF_CLASSES
};

const MIOU_I_QBAR: Line = Line {
    id: "miou_i_qbar",
    measures: "miou_i of the worst images, whatever share of them is asked for.",
    formula: "Mean of the ten values of miou_i_q with Q = 10, 20, .., 100.",
    example: ("worst-images", "0.5516666666666666"),
    number: pooled(|_, sums| of_units(sums, UNITS, |values| values.qbar())),
    ..IMAGES
};

const MIOU_C_QBAR: Line = Line {
    id: "miou_c_qbar",
    measures: "miou_c of the worst images of each class, whatever share of them is asked for.",
    formula: "Mean of the ten values of miou_c_q with Q = 10, 20, .., 100.",
    example: ("worst-images", "0.5113888888888889"),
    number: pooled(|protocol, sums| number(qbar_of_classes(protocol, sums))),
    ..OF_CLASSES
};

const MIOU_IMAGE_P5: Line = Line {
    id: "miou_image_p5",
    measures: "The mIoU that 5 % of the images stay below.",
    example: ("worst-images", "0.4216666666666667"),
    number: pooled(|_, sums| of_units(sums, OWN_MIOUS, |values| values.percentile(5))),
    ..PERCENTILE
};

const MIOU_IMAGE_P25: Line = Line {
    id: "miou_image_p25",
    measures: "The mIoU that a quarter of the images stays below.",
    example: ("worst-images", "0.44166666666666665"),
    number: pooled(|_, sums| of_units(sums, OWN_MIOUS, |values| values.percentile(25))),
    ..PERCENTILE
};

const MIOU_IMAGE_P50: Line = Line {
    id: "miou_image_p50",
    measures: "The mIoU of the image in the middle.",
    example: ("worst-images", "0.4666666666666667"),
    number: pooled(|_, sums| of_units(sums, OWN_MIOUS, |values| values.percentile(50))),
    ..PERCENTILE
};

const MIOU_IMAGE_P75: Line = Line {
    id: "miou_image_p75",
    measures: "The mIoU that three quarters of the images stay below.",
    example: ("worst-images", "0.7333333333333333"),
    number: pooled(|_, sums| of_units(sums, OWN_MIOUS, |values| values.percentile(75))),
    ..PERCENTILE
};

const MIOU_IMAGE_P95: Line = Line {
    id: "miou_image_p95",
    measures: "The mIoU that 95 % of the images stay below.",
    example: ("worst-images", "0.9466666666666667"),
    number: pooled(|_, sums| of_units(sums, OWN_MIOUS, |values| values.percentile(95))),
    ..PERCENTILE
};
