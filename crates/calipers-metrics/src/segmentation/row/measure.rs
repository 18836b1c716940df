//! One unit into its row.

use calipers_core::{Error, Result};

use crate::segmentation::boundary::{boundaries, channel_bands};
use crate::segmentation::labels::{ClassId, head_truth, predicted_classes, truth_classes};
use crate::segmentation::overlap::{Confusion, CountPairs, Joint, regroup};
use crate::segmentation::probability::{ScoreOutcome, measure_scores};
use crate::segmentation::protocol::{Head, Kind, Segmentation, Space};
use crate::segmentation::row::raw::RawCount;
use crate::segmentation::row::sparse::Sparse;
use crate::segmentation::row::{HeadRow, PixelRow, Row};
use crate::segmentation::surface::{Grid, Space as Placed, surfaces};
use crate::segmentation::unit::{LabelMap, Prediction, ScoreArray, Unit};

/// Counts and sums everything that the protocol asks of a unit.
pub fn measure(protocol: &Segmentation, unit: &Unit<'_>) -> Result<Row> {
    let (grid, truth, pred) = match unit {
        Unit::Confusion { rows, columns, counts } => return regroup(protocol, *rows, *columns, counts),
        Unit::Pixels { truth, pred } => (Grid::image(truth.height, truth.width), truth, pred),
        Unit::Spatial { grid, truth, pred } => (*grid, truth, pred),
    };
    truth.check("truth")?;
    if (grid.rows(), grid.axes()[2]) != (truth.height, truth.width) {
        return Err(Error::value("the grid is not that of the truth")
            .found(format!("{} rows of {}", grid.rows(), grid.axes()[2]))
            .allowed(format!("{} rows of {}", truth.height, truth.width)));
    }
    measure_on(protocol, &grid, truth, pred).map_err(|error| grid.placed(error))
}

fn measure_on(
    protocol: &Segmentation,
    grid: &Grid,
    truth: &LabelMap<'_>,
    pred: &Prediction<'_>,
) -> Result<Row> {
    let channels = protocol.heads.iter().map(|head| head.channels.len()).max().unwrap_or(0);
    match protocol.classes().max(channels) {
        most if most <= u8::MOST => measure_pixels::<u8>(protocol, grid, truth, pred),
        most if most <= u16::MOST => measure_pixels::<u16>(protocol, grid, truth, pred),
        most => Err(Error::value("there are more classes than an image can hold")
            .found(most)
            .allowed(format!("up to {}", u16::MOST))),
    }
}

fn measure_pixels<T: CountPairs>(
    protocol: &Segmentation,
    grid: &Grid,
    truth: &LabelMap<'_>,
    pred: &Prediction<'_>,
) -> Result<Row> {
    match pred {
        Prediction::Labels(pred) => measure_labels::<T>(protocol, grid, truth, pred),
        Prediction::Scores(arrays) => measure_arrays::<T>(protocol, grid, truth, arrays),
    }
}

fn measure_labels<T: CountPairs>(
    protocol: &Segmentation,
    grid: &Grid,
    truth: &LabelMap<'_>,
    pred: &LabelMap<'_>,
) -> Result<Row> {
    let head = match &protocol.heads[..] {
        [head] if head.kind == Kind::Labels => head,
        _ => {
            return Err(Error::value("the prediction is a label map, but its kind is scores")
                .advice("say what the prediction is: --kind labels, with a single head"));
        }
    };
    pred.check_against(truth)?;
    let raw = RawCount::new(protocol, head, truth, pred);
    if let Some(pixels) = raw.as_ref().and_then(|raw| raw.pixels(protocol, grid, truth, pred))
        && let Some(RawCount { confusion, ignored, .. }) = raw
    {
        return row(grid, confusion, ignored, pixels_in_space(protocol, grid, pixels));
    }
    let classes = truth_classes::<T>(protocol, truth)?;
    let predicted = predicted_classes(protocol, head, pred, &classes)?;
    let (confusion, ignored) = match raw {
        Some(RawCount { confusion, ignored, .. }) => (confusion, ignored),
        None => scored(T::count_pairs(&classes, &predicted, protocol.classes())),
    };
    row(grid, confusion, ignored, placed(protocol, grid, truth, &classes, &predicted))
}

fn measure_arrays<T: CountPairs>(
    protocol: &Segmentation,
    grid: &Grid,
    truth: &LabelMap<'_>,
    arrays: &[Option<ScoreArray<'_>>],
) -> Result<Row> {
    if protocol.heads.iter().any(|head| head.kind == Kind::Labels) {
        return Err(Error::value("the prediction holds scores, but its kind is labels")
            .advice("say what the scores are: --kind logits, --kind log-probs or --kind probs"));
    }
    let classes = truth_classes::<T>(protocol, truth)?;
    let ScoreOutcome { pred, calibration, looks_like_probabilities, head_preds } =
        measure_scores(protocol, arrays, &classes, truth.width, truth.height)?;
    let (confusion, ignored) = scored(T::count_pairs(&classes, &pred, protocol.classes()));
    let mut pixels = placed(protocol, grid, truth, &classes, &pred);
    pixels.calibration = calibration.map(Box::new);
    pixels.looks_like_probabilities = looks_like_probabilities;
    let lacking = |&position: &usize| arrays.get(position).is_none_or(Option::is_none);
    pixels.missing_heads =
        (0..protocol.heads.len()).filter(lacking).map(|position| position as u32).collect();
    if protocol.truth_space == Space::Original {
        let present = protocol.heads.iter().zip(&head_preds).enumerate();
        pixels.heads = present
            .filter_map(|(position, (head, pred))| Some((position as u32, head, pred.as_ref()?)))
            .map(|(position, head, pred)| (position, head_row(protocol, grid, head, truth, pred)))
            .collect();
    }
    row(grid, confusion, ignored, pixels)
}

/// One head in its own channels.
fn head_row<T: CountPairs>(
    protocol: &Segmentation,
    grid: &Grid,
    head: &Head,
    truth: &LabelMap<'_>,
    pred: &[T],
) -> HeadRow {
    let channels = head_truth::<T>(head, truth);
    let (confusion, _) = scored(T::count_pairs(&channels, pred, head.channels.len()));
    let band = match grid.is_volume() {
        true => Sparse::default(),
        false => channel_bands(protocol, head, truth, &channels, pred),
    };
    HeadRow { confusion, band }
}

/// The pairs at scored pixels, and how many pixels are not scored.
fn scored<T: ClassId>(joint: Joint<T>) -> (Confusion, u64) {
    let (void, scored): (Vec<_>, Vec<_>) = joint.into_iter().partition(|((truth, _), _)| *truth == T::VOID);
    let cells = scored
        .into_iter()
        .map(|((truth, pred), pixels)| ((truth.index() as u32, pred.index() as u32), pixels));
    (cells.collect(), void.into_iter().map(|(_, pixels)| pixels).sum())
}

/// What depends on where pixels lie: bands and contours of images, surfaces of images and volumes.
fn placed<T: ClassId>(
    protocol: &Segmentation,
    grid: &Grid,
    size: &LabelMap<'_>,
    truth: &[T],
    pred: &[T],
) -> PixelRow {
    let bands = match grid.is_volume() {
        true => PixelRow::default(),
        false => boundaries(protocol, size, truth, pred),
    };
    let mut pixels = pixels_in_space(protocol, grid, bands);
    if let (Some(surface), Some(space)) = (&protocol.surface, &mut pixels.space) {
        space.surfaces = surfaces(protocol, surface, grid, truth, pred);
    }
    pixels
}

/// How the unit lies in space, where that is more than the size of an image.
fn pixels_in_space(protocol: &Segmentation, grid: &Grid, pixels: PixelRow) -> PixelRow {
    let is_kept = grid.is_volume() || protocol.surface.is_some();
    let space = is_kept.then(|| {
        // The slices fit: their rows are elements in memory.
        let depth = u32::try_from(grid.axes()[0]).unwrap_or(u32::MAX);
        Box::new(Placed { depth, spacing: grid.spacing(), surfaces: Sparse::default() })
    });
    PixelRow { space, ..pixels }
}

fn row(grid: &Grid, confusion: Confusion, ignored: u64, pixels: PixelRow) -> Result<Row> {
    let side = |length: usize| {
        u32::try_from(length).map_err(|_| {
            Error::value("the image is too long")
                .found(format!("{length} pixels"))
                .allowed(format!("up to {}", u32::MAX))
        })
    };
    let [_, height, width] = grid.axes();
    Ok(Row { height: side(height)?, width: side(width)?, ignored, confusion, pixels: Some(pixels) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use calipers_core::SplitMix64;
    use serde_json::json;

    use super::*;
    use crate::segmentation::protocol::config::Config;
    use crate::segmentation::unit::MapData;
    use calipers_core::NumberSlice;

    fn protocol(config: serde_json::Value) -> Segmentation {
        serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
    }

    /// Three originals in two global classes; 255 is ignored.
    fn animals(preset: &str, measure: serde_json::Value) -> Segmentation {
        protocol(json!({
            "preset": preset,
            "measure": measure,
            "labels": {"original": ["none", "cat", "dog"], "global": ["none", "animal"],
                       "groups": {"animal": ["cat", "dog"]}, "ignore": [255], "background": "none"},
        }))
    }

    fn map<'a>(width: usize, data: MapData<'a>) -> LabelMap<'a> {
        let length = match data {
            MapData::U8(ids) => ids.len(),
            MapData::U16(ids) => ids.len(),
            MapData::I64(ids) => ids.len(),
        };
        LabelMap { height: length / width, width, data }
    }

    fn labels(protocol: &Segmentation, width: usize, truth: MapData<'_>, pred: MapData<'_>) -> Result<Row> {
        let pred = Prediction::Labels(map(width, pred));
        measure(protocol, &Unit::Pixels { truth: map(width, truth), pred })
    }

    fn bytes(protocol: &Segmentation, width: usize, truth: &[u8], pred: &[u8]) -> Result<Row> {
        labels(protocol, width, MapData::U8(truth), MapData::U8(pred))
    }

    fn refusal(protocol: &Segmentation, truth: &[u8], pred: &[u8]) -> String {
        bytes(protocol, 2, truth, pred).unwrap_err().to_string()
    }

    fn cells(row: &Row) -> Vec<((u32, u32), u64)> {
        row.confusion.cells().collect()
    }

    #[test]
    fn every_pixel_type_and_every_path_gives_the_pixel_by_pixel_count() {
        let mut draws = SplitMix64::new(7);
        let mut draw = |ids: &[u8]| -> Vec<u8> {
            let pick = |_| ids[(draws.next_u64() % ids.len() as u64) as usize];
            (0..15 * 11).map(pick).collect()
        };
        let (truth, pred) = (draw(&[0, 1, 2, 255]), draw(&[0, 1, 2]));
        let (mut expected, mut ignored) = (BTreeMap::new(), 0);
        for (&truth, &pred) in truth.iter().zip(&pred) {
            match truth {
                255 => ignored += 1,
                _ => *expected.entry((u32::from(truth > 0), u32::from(pred > 0))).or_default() += 1,
            }
        }
        let wide = |ids: &[u8]| ids.iter().map(|&id| u16::from(id)).collect::<Vec<_>>();
        let signed = |ids: &[u8]| ids.iter().map(|&id| i64::from(id)).collect::<Vec<_>>();
        let (wide, signed) = ((wide(&truth), wide(&pred)), (signed(&truth), signed(&pred)));
        for what in [json!(["overlap"]), json!("all")] {
            let animals = animals("strict", what);
            let rows = [
                bytes(&animals, 15, &truth, &pred),
                labels(&animals, 15, MapData::U16(&wide.0), MapData::U8(&pred)),
                labels(&animals, 15, MapData::I64(&signed.0), MapData::I64(&signed.1)),
                labels(&animals, 15, MapData::U8(&truth), MapData::U16(&wide.1)),
            ]
            .map(Result::unwrap);
            assert!(rows.iter().all(|row| *row == rows[0]));
            assert_eq!((&rows[0].confusion, rows[0].ignored), (&expected.clone().into(), ignored));
            assert_eq!((rows[0].height, rows[0].width), (11, 15));
        }
    }

    #[test]
    fn more_than_254_classes_are_counted_alike() {
        let many = protocol(json!({"measure": ["overlap"], "labels":
            {"original": (0..300).map(|id| id.to_string()).collect::<Vec<_>>(), "ignore": [999]}}));
        let row =
            labels(&many, 2, MapData::U16(&[299, 0, 255, 999]), MapData::U16(&[299, 254, 255, 7])).unwrap();
        assert_eq!(cells(&row), [((0, 254), 1), ((255, 255), 1), ((299, 299), 1)]);
        assert_eq!(row.ignored, 1);
    }

    #[test]
    fn predictions_at_ignored_pixels_are_never_read() {
        for what in [json!(["overlap"]), json!("all")] {
            let row = |pred| bytes(&animals("strict", what.clone()), 2, &[0, 255, 1, 2], pred).unwrap();
            assert_eq!(row(&[0, 77, 1, 2]), row(&[0, 2, 1, 2]));
        }
    }

    #[test]
    fn bands_that_keep_void_read_predictions_there() {
        for what in [json!(["overlap"]), json!("all")] {
            let animals = animals("coral-mtl", what);
            let text = refusal(&animals, &[0, 255, 1, 2], &[0, 77, 1, 2]);
            assert!(text.contains("77") && text.contains("x = 1, y = 0"), "{text}");
            assert!(bytes(&animals, 2, &[0, 255, 1, 2], &[0, 255, 1, 2]).is_ok());
        }
        let row = |pred| bytes(&animals("coral-mtl", json!("all")), 2, &[0, 255, 1, 0], pred).unwrap();
        assert_ne!(row(&[0, 1, 1, 0]).pixels, row(&[0, 0, 1, 0]).pixels);
    }

    #[test]
    fn an_ignored_value_at_a_scored_pixel_is_an_error_or_no_prediction() {
        for what in [json!(["overlap"]), json!("all")] {
            let text = refusal(&animals("strict", what.clone()), &[0, 1, 1, 255], &[0, 255, 255, 255]);
            for word in ["ignored value", "255; such values are at 2", "x = 1, y = 0", "--unpredicted wrong"]
            {
                assert!(text.contains(word), "{word}: {text}");
            }
            for preset in ["cityscapes", "mmseg", "torchmetrics-jaccard"] {
                let row =
                    bytes(&animals(preset, what.clone()), 2, &[0, 1, 1, 255], &[0, 255, 1, 255]).unwrap();
                assert_eq!(cells(&row), [((0, 0), 1), ((1, 1), 1), ((1, 2), 1)]);
            }
        }
    }

    #[test]
    fn an_unknown_predicted_id_is_wrong_only_where_the_preset_says_so() {
        for what in [json!(["overlap"]), json!("all")] {
            for preset in ["strict", "cityscapes", "torchmetrics-jaccard", "document", "coral-mtl"] {
                let text = refusal(&animals(preset, what.clone()), &[0, 1, 1, 255], &[0, 1, 7, 255]);
                for word in ["unknown id", "id 7", "x = 0, y = 1", "original ids 0 to 2", "--space"] {
                    assert!(text.contains(word), "{word}: {text}");
                }
            }
            let row = bytes(&animals("mmseg", what), 2, &[0, 1, 1, 255], &[0, 1, 7, 255]).unwrap();
            assert_eq!(cells(&row), [((0, 0), 1), ((1, 1), 1), ((1, 2), 1)]);
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_named() {
        let animals = animals("strict", json!("all"));
        let truth = map(2, MapData::U8(&[0, 1, 2, 0]));
        let measured = |truth, pred| {
            measure(&animals, &Unit::Pixels { truth, pred: Prediction::Labels(pred) })
                .unwrap_err()
                .to_string()
        };
        let text = measured(truth, map(3, MapData::U8(&[0; 6])));
        assert!(text.contains("2 x 3") && text.contains("2 x 2"), "{text}");
        let empty = LabelMap { height: 0, width: 0, data: MapData::U8(&[]) };
        let text = measured(empty, empty);
        assert!(text.contains("0 x 0"), "{text}");
        let text = measured(LabelMap { height: 3, ..truth }, truth);
        assert!(text.contains("4 values") && text.contains("3 x 2"), "{text}");
    }

    #[test]
    fn a_prediction_of_another_kind_is_refused() {
        let truth = map(1, MapData::U8(&[0]));
        let scores = ScoreArray { shape: [2, 1, 1], data: NumberSlice::F32(&[0.0, 1.0]) };
        let of_scores = protocol(json!({"kind": "logits", "labels": {"original": ["a", "b"]}}));
        let of_labels = protocol(json!({"labels": {"original": ["a", "b"]}}));
        let refused =
            |protocol, pred| measure(protocol, &Unit::Pixels { truth, pred }).unwrap_err().to_string();
        let text = refused(&of_labels, Prediction::Scores(vec![Some(scores)]));
        assert!(text.contains("--kind logits"), "{text}");
        let text = refused(&of_scores, Prediction::Labels(truth));
        assert!(text.contains("--kind labels"), "{text}");
    }

    #[test]
    fn heads_are_counted_in_their_own_channels_without_what_they_cannot_predict() {
        let two = protocol(json!({
            "labels": {"original": ["a", "b", "c"], "ignore": [9]},
            "heads": [{"name": "fine", "channels": ["a", "b", "c"]},
                      {"name": "coarse", "channels": ["x", "b"], "groups": {"x": ["a"]}, "absent": ["c"]}],
        }));
        // Both heads are sure of a at the first pixel and of b at all others.
        let fine = [9.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 0.0, 0.0, 0.0, 0.0];
        let coarse = [9.0, 0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0];
        let unit = |coarse| Unit::Pixels {
            truth: map(4, MapData::U8(&[0, 1, 2, 9])),
            pred: Prediction::Scores(vec![
                Some(ScoreArray { shape: [3, 1, 4], data: NumberSlice::F64(&fine) }),
                coarse,
            ]),
        };
        let coarse = ScoreArray { shape: [2, 1, 4], data: NumberSlice::F64(&coarse) };
        let row = measure(&two, &unit(Some(coarse))).unwrap();
        assert_eq!(cells(&row), [((0, 0), 1), ((1, 1), 1), ((2, 1), 1)]);
        let pixels = row.pixels.unwrap();
        let heads: Vec<_> = pixels.heads.values().map(|head| head.confusion.clone()).collect();
        let expected = [
            Confusion::from_iter([((0, 0), 1), ((1, 1), 1), ((2, 1), 1)]),
            Confusion::from_iter([((0, 0), 1), ((1, 1), 1)]),
        ];
        assert_eq!(heads, expected);
        assert!(pixels.missing_heads.is_empty());

        let text = measure(&two, &unit(None)).unwrap_err().to_string();
        assert!(text.contains("coarse"), "{text}");
        let mut lenient = two;
        lenient.labels.missing_heads = crate::segmentation::protocol::MissingHeads::Marginalise;
        let pixels = measure(&lenient, &unit(None)).unwrap().pixels.unwrap();
        assert_eq!((&*pixels.missing_heads, pixels.heads.len()), (&[1][..], 1));
    }
}
