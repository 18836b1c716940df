//! Truth and prediction of one image as classes, for pictures.

use calipers_core::{Error, Result};

use crate::segmentation::labels::{ClassId, predicted_classes, truth_classes};
use crate::segmentation::probability::measure_scores;
use crate::segmentation::protocol::Segmentation;
use crate::segmentation::unit::{Prediction, Unit};

/// Truth and prediction in global classes, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassMaps {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The true class of each pixel; none where it is not scored.
    pub truth: Vec<Option<u16>>,
    /// The predicted class of each pixel; none where it is not scored or nothing was predicted.
    pub prediction: Vec<Option<u16>>,
}

/// Truth and decision of every element of a unit, all slices one below the other.
pub(crate) struct Decided {
    pub(crate) truth: Vec<u16>,
    pub(crate) pred: Vec<u16>,
    pub(crate) width: usize,
    /// The rows of a slice.
    pub(crate) height: usize,
    classes: usize,
}

/// The classes that the rows of a unit are counted from.
pub(crate) fn decided(protocol: &Segmentation, unit: &Unit<'_>) -> Result<Decided> {
    let (Unit::Pixels { truth, pred } | Unit::Spatial { truth, pred, .. }) = unit else {
        return Err(Error::value("a confusion matrix holds no pixels"));
    };
    truth.check("truth")?;
    let classes = truth_classes::<u16>(protocol, truth)?;
    let predicted = match (pred, protocol.heads.as_slice()) {
        (Prediction::Labels(pred), [head, ..]) => {
            pred.check_against(truth)?;
            predicted_classes(protocol, head, pred, &classes)?
        }
        (Prediction::Labels(_), []) => return Err(Error::value("there is no head")),
        (Prediction::Scores(arrays), _) => {
            measure_scores(protocol, arrays, &classes, truth.width, truth.height)?.pred
        }
    };
    let height = match unit {
        Unit::Spatial { grid, .. } => grid.axes()[1],
        _ => truth.height,
    };
    Ok(Decided { truth: classes, pred: predicted, width: truth.width, height, classes: protocol.classes() })
}

impl Decided {
    /// How many slices there are.
    pub(crate) fn slices(&self) -> usize {
        self.truth.len() / (self.height * self.width).max(1)
    }

    /// The classes of one slice.
    pub(crate) fn maps(&self, slice: usize) -> ClassMaps {
        let length = self.height * self.width;
        let class = |id: &u16| (*id != u16::VOID && id.index() < self.classes).then_some(*id);
        // What is predicted where nothing is scored would look like an error.
        let scored = |(pred, truth): (&u16, &u16)| class(truth).and(class(pred));
        let (truth, pred) = (&self.truth[slice * length..][..length], &self.pred[slice * length..][..length]);
        ClassMaps {
            width: self.width,
            height: self.height,
            truth: truth.iter().map(class).collect(),
            prediction: pred.iter().zip(truth).map(scored).collect(),
        }
    }
}

/// The class maps that the rows of a unit are counted from; of a volume the slice with the most mistakes.
pub fn class_maps(protocol: &Segmentation, unit: &Unit<'_>) -> Result<ClassMaps> {
    let decided = decided(protocol, unit)?;
    let slice = decided.height * decided.width;
    let mistakes = |at: &usize| {
        let range = at * slice..(at + 1) * slice;
        let both = decided.truth[range.clone()].iter().zip(&decided.pred[range]);
        both.filter(|(truth, pred)| **truth != u16::VOID && truth != pred).count()
    };
    // Of equal ones the first.
    let worst = (0..decided.slices()).rev().max_by_key(mistakes).unwrap_or(0);
    Ok(decided.maps(worst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segmentation::protocol::config::Config;
    use calipers_core::NumberSlice;

    use crate::segmentation::surface::Grid;
    use crate::segmentation::unit::{LabelMap, MapData, ScoreArray};

    fn protocol(kind: &str) -> Segmentation {
        let config = serde_json::json!({"labels": {"original": 3, "ignore": [255]}, "kind": kind});
        serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
    }

    #[test]
    fn label_maps_and_scores_give_the_same_classes_and_void_stays_empty() {
        let truth = LabelMap { height: 1, width: 4, data: MapData::U8(&[0, 1, 255, 2]) };
        let pred = LabelMap { height: 1, width: 4, data: MapData::U8(&[0, 2, 1, 1]) };
        let labels = Unit::Pixels { truth, pred: Prediction::Labels(pred) };
        let maps = class_maps(&protocol("labels"), &labels).unwrap();
        assert_eq!(maps.truth, [Some(0), Some(1), None, Some(2)]);
        assert_eq!(maps.prediction, [Some(0), Some(2), None, Some(1)]);
        let logits = [9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 0.0, 9.0, 0.0, 0.0];
        let scores = ScoreArray { shape: [3, 1, 4], data: NumberSlice::F32(&logits) };
        let scores = Unit::Pixels { truth, pred: Prediction::Scores(vec![Some(scores)]) };
        assert_eq!(class_maps(&protocol("logits"), &scores).unwrap(), maps);
        let matrix = Unit::Confusion { rows: 1, columns: 1, counts: &[1] };
        assert!(class_maps(&protocol("labels"), &matrix).is_err());
    }

    #[test]
    fn of_a_volume_the_slice_with_the_most_mistakes_is_given() {
        let grid = Grid::new(&[3, 1, 2], None).unwrap();
        assert_eq!(grid.axes(), [1, 3, 2]);
        let grid = Grid::new(&[3, 2, 2], None).unwrap();
        let map = |ids| LabelMap { height: 6, width: 2, data: MapData::U8(ids) };
        let truth = map(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
        let pred = Prediction::Labels(map(&[0, 0, 0, 1, 1, 0, 0, 1, 2, 2, 2, 2]));
        let maps = class_maps(&protocol("labels"), &Unit::Spatial { grid, truth, pred }).unwrap();
        assert_eq!((maps.width, maps.height), (2, 2));
        assert_eq!(maps.truth, [Some(1); 4]);
        assert_eq!(maps.prediction, [Some(1), Some(0), Some(0), Some(1)]);
    }
}
