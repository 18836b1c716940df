//! Means over images, beside the numbers of all pixels together.

use super::agreement::pixel_accuracy;
use super::classes::{iou, miou};
use super::totals::Overlap;
use crate::segmentation::metrics::*;

/// The columns of the means, two each.
const OWN_MIOU: usize = 0;
const OWN_ACCURACY: usize = 2;

const BY_CLASS: Line = Line {
    group: "images",
    better: higher,
    range: SHARE,
    undefined: reasons!(overlap, "no unit with a defined value"),
    ..Line::DEFAULTS
};
const IMAGE_MEAN: Line = Line { per_unit: true, ..BY_CLASS };

pub(crate) const METRICS: &[Line] = &[MIOU_IMAGE, PIXEL_ACCURACY_IMAGE, IOU_IMAGE];

fn add_values(protocol: &Segmentation, row: &Row, terms: &mut Terms<'_>) {
    if !protocol.measures(Measure::Overlap) {
        return;
    }
    let image = Overlap::of_image(protocol, row);
    if image.scored_pixels() > 0 {
        add_own(terms, OWN_MIOU, &miou(&image));
        add_own(terms, OWN_ACCURACY, &pixel_accuracy(&image));
    }
}

fn add_ious(protocol: &Segmentation, row: &Row, terms: &mut Terms<'_>) {
    if !protocol.measures(Measure::Overlap) {
        return;
    }
    let image = Overlap::of_image(protocol, row);
    image.all_classes().for_each(|class| add_own(terms, 2 * class, &iou(&image, class)));
}

fn mean(protocol: &Segmentation, sums: &Sums<'_, Row>, column: usize) -> Reading {
    requested(protocol, Measure::Overlap)?;
    mean_of_images(sums, column)
}

/// The mean of the images' own mean intersections over union.
pub(crate) const MIOU_IMAGE: Line = Line {
    id: "miou_image",
    measures: "mIoU with each image counting the same.",
    formula: "Mean over the units with a scored pixel of the unit's own miou.",
    differs: "A class that is small in most images weighs more here than in miou.",
    reference: "Csurka, Larlus and Perronnin, What is a good evaluation measure for semantic segmentation?, \
                BMVC 2013",
    example: ("images", "0.625"),
    number: Number::pooled(add_values, |protocol, sums| number(mean(protocol, sums, OWN_MIOU))),
    ..IMAGE_MEAN
};

const PIXEL_ACCURACY_IMAGE: Line = Line {
    id: "pixel_accuracy_image",
    measures: "Pixel accuracy with each image counting the same.",
    formula: "Mean over the units with a scored pixel of the unit's own pixel_accuracy.",
    differs: "Equal to pixel_accuracy when all images have as many scored pixels.",
    example: ("images", "0.75"),
    number: Number::pooled(add_values, |protocol, sums| number(mean(protocol, sums, OWN_ACCURACY))),
    ..IMAGE_MEAN
};

const IOU_IMAGE: Line = Line {
    id: "iou_image",
    measures: "The IoU of each class with each image counting the same.",
    formula: "Mean of the class's iou over the units where it is defined.",
    differs: "An image where the class is in neither map is left out; one where it is only predicted counts \
              as 0.",
    example: ("images", r#"{"wall": 0.75, "door": 0.0}"#),
    // Terms of its own, so that resamples of the single numbers above need no columns of classes.
    number: Number::pooled(add_ious, |protocol, sums| {
        let names = protocol.labels.global.iter().enumerate();
        per_label(
            requested(protocol, Measure::Overlap)
                .map(|()| names.map(|(class, name)| (name.as_str(), mean_of_images(sums, 2 * class)))),
        )
    }),
    ..BY_CLASS
};

#[cfg(test)]
mod tests {
    use calipers_core::{Rows, UnitId, Value};

    use super::*;
    use crate::segmentation::protocol::config::Config;

    fn image(cells: &[((u32, u32), u64)]) -> Row {
        let confusion = cells.iter().copied().collect();
        Row { height: 0, width: 0, ignored: 0, confusion, pixels: None }
    }

    /// An image with two classes, one with the third, which nobody predicts, and one that is void.
    fn images() -> Vec<(UnitId, Row)> {
        let images = [image(&[((0, 0), 5), ((0, 1), 2), ((1, 1), 4)]), image(&[((2, 0), 3)]), image(&[])];
        ["a", "b", "c"].map(UnitId::from).into_iter().zip(images).collect()
    }

    fn protocol(preset: &str) -> Segmentation {
        let config = serde_json::json!({"preset": preset, "labels": {"original": ["x", "y", "z"]}});
        serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
    }

    #[test]
    fn a_mean_is_that_of_images_that_are_read_alone() {
        for protocol in ["strict", "document", "coral-mtl"].map(protocol) {
            let images = images();
            let rows = Rows::new(images.iter().map(|(id, row)| (id, row)).collect());
            for metric in [MIOU_IMAGE, PIXEL_ACCURACY_IMAGE] {
                let alone = (0..images.len())
                    .filter_map(|image| metric.read(&protocol, &rows.single(image)).as_f64());
                let (sum, count) = alone.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
                assert_eq!(metric.read(&protocol, &rows), Value::Number(sum / count));
            }
            assert_eq!(
                MIOU_IMAGE.read(&protocol, &rows.single(2)).reason(),
                Some("no unit with a defined value")
            );
        }
    }

    #[test]
    fn a_class_has_the_mean_of_the_images_it_occurs_in() {
        let images = images();
        let rows = Rows::new(images.iter().map(|(id, row)| (id, row)).collect());
        let ious = [("x", (5.0 / 7.0) / 2.0), ("y", 4.0 / 6.0), ("z", 0.0)];
        let expected = ious.map(|(name, iou)| (name.into(), Value::Number(iou)));
        assert_eq!(IOU_IMAGE.read(&protocol("strict"), &rows), Value::PerLabel(expected.into()));
    }
}
