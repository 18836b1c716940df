//! Means over images of what their own confusion matrices say, all of them from one pass.

use calipers_core::Rows;

use super::overlap_reading::Overlap;
use super::protocol::Segmentation;
use super::reading::{Mean, NO_UNIT, Reading};
use super::row::Row;

/// The means of the numbers that are read image by image.
pub(crate) struct ImageMeans {
    miou: Mean,
    pixel_accuracy: Mean,
    /// By class.
    ious: Vec<Mean>,
}

/// The means of the images so far, and the memory that the next image needs.
struct Pass {
    means: ImageMeans,
    image: Overlap,
    ious: Vec<Reading>,
}

impl ImageMeans {
    /// Reads every row alone.
    pub(crate) fn new(protocol: &Segmentation, rows: &Rows<'_, Row>) -> Self {
        rows.folded(
            || Pass::new(protocol),
            |pass, row, times| (0..times).for_each(|_| pass.add(row)),
            |pass, other| pass.means.merge(&other.means),
        )
        .means
    }

    fn merge(&mut self, other: &Self) {
        self.miou.merge(&other.miou);
        self.pixel_accuracy.merge(&other.pixel_accuracy);
        self.ious.iter_mut().zip(&other.ious).for_each(|(ours, theirs)| ours.merge(theirs));
    }

    /// The mean over the images with a scored pixel of an image's own intersection over union.
    pub(crate) fn miou(&self) -> Reading {
        self.miou.value(NO_UNIT)
    }

    /// The mean over the images with a scored pixel of an image's own accuracy.
    pub(crate) fn pixel_accuracy(&self) -> Reading {
        self.pixel_accuracy.value(NO_UNIT)
    }

    /// Each class's mean over the images where its intersection over union is defined.
    pub(crate) fn ious(&self) -> impl Iterator<Item = Reading> {
        self.ious.iter().map(|mean| mean.value(NO_UNIT))
    }
}

impl Pass {
    fn new(protocol: &Segmentation) -> Self {
        let (miou, pixel_accuracy) = (Mean::default(), Mean::default());
        let means = ImageMeans { miou, pixel_accuracy, ious: vec![Mean::default(); protocol.classes()] };
        Self { means, image: Overlap::of(protocol, []), ious: Vec::with_capacity(protocol.classes()) }
    }

    fn add(&mut self, row: &Row) {
        let Self { means, image, ious } = self;
        image.set(&row.confusion);
        ious.clear();
        ious.extend((0..means.ious.len()).map(|class| image.iou(class)));
        if image.scored_pixels() > 0 {
            means.miou.add(&image.mean_of(|class| ious[class].clone()));
            means.pixel_accuracy.add(&image.pixel_accuracy());
        }
        means.ious.iter_mut().zip(ious).for_each(|(mean, iou)| mean.add(iou));
    }
}

#[cfg(test)]
mod tests {
    use calipers_core::UnitId;

    use super::super::config::Config;
    use super::super::overlap_reading::{miou_over_units, pixel_accuracy_over_units};
    use super::super::reading::mean;
    use super::*;

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
    fn one_pass_gives_the_means_of_images_that_are_read_alone() {
        for protocol in ["strict", "document", "coral-mtl"].map(protocol) {
            let images = images();
            let rows = Rows::new(images.iter().map(|(id, row)| (id, row)).collect());
            let means = ImageMeans::new(&protocol, &rows);
            let alone = |read: fn(&Segmentation, &Rows<'_, Row>) -> Reading| {
                mean((0..images.len()).map(|image| read(&protocol, &rows.single(image))), NO_UNIT)
            };
            assert_eq!(means.miou(), alone(miou_over_units));
            assert_eq!(means.pixel_accuracy(), alone(pixel_accuracy_over_units));
            assert_eq!(miou_over_units(&protocol, &rows), means.miou());
        }
    }

    #[test]
    fn a_class_has_the_mean_of_the_images_it_occurs_in() {
        let images = images();
        let rows = Rows::new(images.iter().map(|(id, row)| (id, row)).collect());
        let ious: Vec<Reading> = ImageMeans::new(&protocol("strict"), &rows).ious().collect();
        assert_eq!(ious, [Ok((5.0 / 7.0) / 2.0), Ok(4.0 / 6.0), Ok(0.0)]);
    }
}
