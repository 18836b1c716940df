//! Pictures of segmentations: where classes are mixed up, how well each is met, how honest the
//! confidence is, and the images that went worst and best.

mod class_colours;
mod confusion;
mod images;
mod overlap;
mod photo;
mod pixels;
mod surfaces;

use calipers_core::Accumulator;
use calipers_core::resample::Intervals;
use calipers_metrics::segmentation::Segmentation;
use calipers_metrics::segmentation::probability::{
    ECE, RELIABILITY_ACCURACY, RELIABILITY_CONFIDENCE, RELIABILITY_COUNT,
};
use calipers_report::chart::reliability::{Bin, Reliability};
use calipers_report::chart::{Art, Chart, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;

use super::readings::{missing, over_all, reason, series, table};
use crate::replay::Evidence;

/// The pictures of the family.
pub(crate) fn of(
    rows: &Accumulator<Segmentation>,
    evidence: &Evidence,
    intervals: Option<&Intervals>,
) -> Vec<Picture> {
    let mut pictures = vec![confusion::picture(rows), overlap::picture(rows, intervals), reliability(rows)];
    pictures.extend(surfaces::pictures(rows, evidence));
    pictures.extend(images::pictures(rows, evidence));
    pictures
}

fn reliability(rows: &Accumulator<Segmentation>) -> Picture {
    const SLUG: &str = "reliability";
    const TITLE: &str = "Reliability diagram";
    let [counts, confidences, accuracies] =
        [RELIABILITY_COUNT, RELIABILITY_CONFIDENCE, RELIABILITY_ACCURACY].map(|line| over_all(rows, &line));
    let (Some(counts), Some(confidences), Some(accuracies)) =
        (series(&counts), series(&confidences), series(&accuracies))
    else {
        return missing(SLUG, TITLE, reason(&counts));
    };
    let finite = |x: f64| Some(x).filter(|x| x.is_finite());
    let bins: Vec<Bin> = counts
        .iter()
        .zip(confidences.iter().zip(&accuracies))
        .map(|(&count, (&confidence, &accuracy))| Bin {
            count,
            confidence: finite(confidence),
            accuracy: finite(accuracy),
        })
        .collect();
    let note = over_all(rows, &ECE).as_f64().map_or(String::new(), |ece| format!("ECE {}", rounded(ece)));
    let data = bins.iter().enumerate().map(|(i, bin)| {
        let edge = |k: usize| Cell::Number(k as f64 / bins.len() as f64);
        vec![edge(i), edge(i + 1), Cell::Number(bin.count), bin.confidence.into(), bin.accuracy.into()]
    });
    let data = table(&["from", "to", "pixels", "confidence", "accuracy"], data);
    let drawing = Reliability {
        title: TITLE.into(),
        description: format!("The share of right pixels in {} bins of confidence. {note}", bins.len()),
        bins,
        note,
        counted: "pixels".into(),
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: "How often the prediction is right at each confidence, and below how many pixels have it. \
                  Where bars end below the diagonal the model is surer than it should be."
            .into(),
        art: Art::Chart(Chart::Reliability(drawing)),
        data: vec![("reliability".into(), data)],
        unit: None,
    }
}
