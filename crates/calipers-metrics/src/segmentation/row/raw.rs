//! Two maps of bytes counted as they are: the pairs of raw ids are named afterwards, without translating a map.

use std::collections::BTreeMap;

use crate::segmentation::boundary::boundaries;
use crate::segmentation::labels::{ClassId, Legend, Meaning};
use crate::segmentation::overlap::{Confusion, confusion_u8};
use crate::segmentation::protocol::{Head, Measure, Segmentation};
use crate::segmentation::row::PixelRow;
use crate::segmentation::surface::Grid;
use crate::segmentation::unit::{LabelMap, MapData};

/// What the pairs of raw ids say about two good maps.
pub(super) struct RawCount {
    pub(super) confusion: Confusion,
    pub(super) ignored: u64,
    /// Whether every id that is read is the number of its class, as bands take maps.
    are_classes: bool,
}

impl RawCount {
    /// `None` for other maps than of bytes, and where an id is bad: its place has to be found.
    pub(super) fn new(
        protocol: &Segmentation,
        head: &Head,
        truth: &LabelMap<'_>,
        pred: &LabelMap<'_>,
    ) -> Option<Self> {
        let (MapData::U8(truth), MapData::U8(pred)) = (truth.data, pred.data) else { return None };
        let classes = protocol.classes();
        let (of_truth, of_pred) = (Legend::truth(protocol), Legend::scored(protocol, head));
        let of_void = protocol.conventions.keep_void_in_bands.then(|| Legend::unscored(protocol, head));
        let (mut confusion, mut ignored) = (BTreeMap::new(), 0);
        let mut are_classes = classes <= u8::MOST;
        for ((truth, pred), pixels) in confusion_u8(truth, pred) {
            match of_truth.meaning(truth.into()) {
                Meaning::Class(class) => {
                    let predicted = predicted_class(&of_pred, pred, classes)?;
                    *confusion.entry((class as u32, predicted as u32)).or_default() += pixels;
                    are_classes &= usize::from(truth) == class && is_class(pred, predicted, classes);
                }
                Meaning::Void => {
                    ignored += pixels;
                    are_classes &= truth == u8::VOID;
                    if let Some(legend) = &of_void {
                        are_classes &= is_class(pred, predicted_class(legend, pred, classes)?, classes);
                    }
                }
                Meaning::NoPrediction | Meaning::Bad => return None,
            }
        }
        Some(Self { confusion: confusion.into(), ignored, are_classes })
    }

    /// What depends on places, where nothing does or where the maps need no translation for it.
    pub(super) fn pixels(
        &self,
        protocol: &Segmentation,
        grid: &Grid,
        truth: &LabelMap<'_>,
        pred: &LabelMap<'_>,
    ) -> Option<PixelRow> {
        let measures = |wanted: &[Measure]| wanted.iter().any(|measure| protocol.measures(*measure));
        let measures_bands = !grid.is_volume() && measures(&[Measure::Boundary]);
        if measures(&[Measure::Surface]) || !grid.is_volume() && measures(&[Measure::Cheng, Measure::Contour])
        {
            return None;
        }
        match (truth.data, pred.data) {
            _ if !measures_bands => Some(PixelRow::default()),
            (MapData::U8(truth_ids), MapData::U8(pred_ids)) if self.are_classes => {
                Some(boundaries(protocol, truth, truth_ids, pred_ids))
            }
            _ => None,
        }
    }
}

/// The class that a predicted id stands for, one past the last for no prediction; `None` for a bad id.
fn predicted_class(legend: &Legend, id: u8, classes: usize) -> Option<usize> {
    match legend.meaning(id.into()) {
        Meaning::Class(class) => Some(class),
        Meaning::NoPrediction => Some(classes),
        Meaning::Void | Meaning::Bad => None,
    }
}

/// Whether a predicted id is the number of its class; all numbers behind the last class are no prediction.
fn is_class(id: u8, class: usize, classes: usize) -> bool {
    usize::from(id).min(classes) == class
}
