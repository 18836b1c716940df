//! Segmentations from arrays in memory: what a binding passes.

use calipers_core::{Accumulator, Error, Result};
use calipers_io::array::Array;
use calipers_metrics::segmentation::{Grid, Kind, Layout, Prediction, ScoreArray, Segmentation, Unit, heads};

use super::label_map::MapBuffer;
use super::scores::Scores;
use super::{confusion, on_grid};

/// Measures one image. `preds` holds the array of each head in the protocol's order, `None` for one
/// that is missing.
pub fn measure(
    protocol: &Segmentation,
    name: &str,
    truth: Array,
    preds: &[Option<Array>],
    spacing: Option<&[f64]>,
) -> Result<Accumulator<Segmentation>> {
    let mut accumulator = Accumulator::new(protocol.clone());
    measure_into(&mut accumulator, &mut Buffers::default(), name, truth, preds, spacing)?;
    Ok(accumulator)
}

/// Where label maps are opened, one image after the other.
#[derive(Default)]
pub struct Buffers {
    truth: MapBuffer,
    pred: MapBuffer,
}

/// Measures one image more.
pub fn measure_into(
    accumulator: &mut Accumulator<Segmentation>,
    buffers: &mut Buffers,
    name: &str,
    truth: Array,
    preds: &[Option<Array>],
    spacing: Option<&[f64]>,
) -> Result<()> {
    buffers.truth.take(truth).map_err(|error| error.at(format!("unit {name}, truth")))?;
    let grid = buffers.truth.grid(spacing).map_err(|error| error.at(format!("unit {name}")))?;
    let truth = on_grid(buffers.truth.map(), &grid);
    if accumulator.protocol().heads.iter().any(|head| head.kind == Kind::Labels) {
        let pred = preds.iter().flatten().next().ok_or_else(|| no_prediction(name))?;
        buffers.pred.take(pred.clone()).map_err(|error| error.at(format!("unit {name}, pred")))?;
        let size = buffers.pred.grid(None).and_then(|own| own.check_size(&grid));
        size.map_err(|error| error.at(format!("unit {name}")))?;
        let pred = Prediction::Labels(on_grid(buffers.pred.map(), &grid));
        return accumulator.update(name, Unit::Spatial { grid, truth, pred });
    }
    let opened = opened(accumulator.protocol(), preds, Some(&grid));
    let scores = opened.map_err(|error| error.at(format!("unit {name}")))?;
    let pred = Prediction::Scores(views(&scores));
    accumulator.update(name, Unit::Spatial { grid, truth, pred })
}

/// Measures one confusion matrix.
pub fn measure_confusion(
    protocol: &Segmentation,
    name: &str,
    matrix: &Array,
) -> Result<Accumulator<Segmentation>> {
    let mut accumulator = Accumulator::new(protocol.clone());
    let matrix = confusion::from_array(matrix).map_err(|error| error.at(format!("unit {name}")))?;
    let (rows, columns, counts) = (matrix.rows, matrix.columns, matrix.counts.as_slice());
    accumulator.update(name, Unit::Confusion { rows, columns, counts })?;
    Ok(accumulator)
}

/// The probability of every global class at every pixel: classes, height and width, and the values
/// class by class and row by row.
pub fn fuse(protocol: &Segmentation, preds: &[Option<Array>]) -> Result<([usize; 3], Vec<f64>)> {
    let scores = opened(protocol, preds, None)?;
    let views = views(&scores);
    let sized = views.iter().zip(&protocol.heads).find_map(|(view, head)| Some((view.as_ref()?, head)));
    let (view, head) = sized.ok_or_else(|| Error::value("no head is given"))?;
    if protocol.heads.iter().any(|head| head.kind == Kind::Labels) {
        return Err(Error::value("label maps hold no probabilities")
            .at(format!("head {}", head.name))
            .found("labels")
            .allowed("logits, log-probs, probs"));
    }
    let [a, b, c] = view.shape;
    let (height, width) = match head.layout {
        Layout::Chw => (b, c),
        Layout::Hwc => (a, b),
    };
    if height == 0 || width == 0 {
        return Err(Error::value("the scores have no pixels").found(format!("{a} x {b} x {c}")));
    }
    let probabilities = heads::fuse(protocol, &views, width, height)?;
    Ok(([protocol.classes(), height, width], probabilities))
}

fn opened<'a>(
    protocol: &Segmentation,
    preds: &'a [Option<Array>],
    grid: Option<&Grid>,
) -> Result<Vec<Option<Scores<'a>>>> {
    let scores = preds.iter().zip(&protocol.heads).map(|(array, head)| {
        let open = |array| match grid {
            Some(grid) => Scores::on(array, head.layout, grid),
            None => Scores::new(array),
        };
        let scores = array.as_ref().map(open).transpose();
        scores.map_err(|error: Error| error.at(format!("head {}", head.name)))
    });
    scores.collect()
}

fn views<'a>(scores: &'a [Option<Scores<'_>>]) -> Vec<Option<ScoreArray<'a>>> {
    scores.iter().map(|head| head.as_ref().map(Scores::view)).collect()
}

fn no_prediction(name: &str) -> Error {
    Error::value("there is no prediction").at(format!("unit {name}"))
}
