//! How well each class is met: bars of intersection over union with intervals over images.

use calipers_core::resample::{Bootstrap, percentile_interval};
use calipers_core::{Accumulator, Value};
use calipers_metrics::segmentation::Segmentation;
use calipers_metrics::segmentation::overlap::{IOU, MIOU};
use calipers_report::chart::bars::{Bar, Bars};
use calipers_report::chart::{Art, Axis, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;

use super::super::readings::{missing, over_all, reason, table, words};
use super::class_colours::ClassColours;

/// The most classes that are drawn.
const MOST: usize = 40;
const RESAMPLING: Bootstrap = Bootstrap { resamples: 2000, confidence: 0.95, seed: 0 };
const SLUG: &str = IOU.id;
const TITLE: &str = "Intersection over union by class";

/// One class as it is drawn.
struct Met<'a> {
    class: usize,
    name: &'a str,
    iou: Result<f64, String>,
    interval: Option<[f64; 2]>,
}

/// The picture.
pub(super) fn picture(rows: &Accumulator<Segmentation>) -> Picture {
    let values = match over_all(rows, &IOU) {
        Value::PerLabel(values) => values,
        other => return missing(SLUG, TITLE, reason(&other)),
    };
    let mut met: Vec<Met<'_>> = values
        .iter()
        .enumerate()
        .map(|(class, (name, value))| Met {
            class,
            name,
            iou: value.as_f64().ok_or_else(|| reason(value)),
            interval: None,
        })
        .collect();
    // The worst last, so that the best stand on top; classes without a value at the very end.
    let height = |class: &Met<'_>| class.iou.as_ref().copied().unwrap_or(-1.0);
    met.sort_by(|a, b| height(b).total_cmp(&height(a)));
    let (all, defined) = (met.len(), met.iter().filter(|class| class.iou.is_ok()).count());
    if all > MOST {
        met.truncate(defined);
        met.drain(..met.len().saturating_sub(MOST));
    }
    let classes: Vec<usize> = met.iter().map(|class| class.class).collect();
    for (class, interval) in met.iter_mut().zip(intervals(rows, &classes)) {
        class.interval = interval.filter(|_| class.iou.is_ok());
    }
    let data = met.iter().map(|class| {
        let bound = |k: usize| Cell::from(class.interval.map(|bounds| bounds[k]));
        let (value, why) = match &class.iou {
            Ok(iou) => (Cell::Number(*iou), Cell::Empty),
            Err(why) => (Cell::Empty, words(why)),
        };
        vec![words(class.name), value, bound(0), bound(1), why]
    });
    let data = table(&["class", IOU.id, "low", "high", "reason"], data);
    let colours = ClassColours::new(rows);
    let bars = met.into_iter().map(|class| Bar {
        tip: tip(&class),
        name: class.name.to_owned(),
        value: class.iou,
        interval: class.interval,
        colour: Colour::Fixed(colours.of(class.class)),
    });
    let drawing = Bars {
        title: TITLE.into(),
        description: format!("{} of {all} classes, best first", classes.len()),
        axis: Axis::share("intersection over union"),
        bars: bars.collect(),
        reference: over_all(rows, &MIOU).as_f64().map(|miou| (miou, format!("mean {}", rounded(miou)))),
    };
    let left_out = match all - classes.len() {
        0 => String::new(),
        n => format!(" The {} lowest of {all} classes are drawn; {n} are left out.", classes.len()),
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "Lines are 95 % intervals from {} resamples of the images. The colours are those of the image \
             panels.{left_out}",
            RESAMPLING.resamples
        ),
        art: Art::Svg(drawing.draw()),
        data: vec![(SLUG.into(), data)],
    }
}

fn tip(class: &Met<'_>) -> String {
    match (&class.iou, class.interval) {
        (Ok(iou), Some([low, high])) => {
            format!("{}: {} [{}, {}]", class.name, rounded(*iou), rounded(low), rounded(high))
        }
        (Ok(iou), None) => format!("{}: {}", class.name, rounded(*iou)),
        (Err(why), _) => format!("{}: {why}", class.name),
    }
}

/// The interval of each class over resamples of the units; none where the class is missing from
/// more than a tenth of them.
fn intervals(rows: &Accumulator<Segmentation>, classes: &[usize]) -> Vec<Option<[f64; 2]>> {
    let mut place = vec![usize::MAX; rows.protocol().classes() + 1];
    for (i, class) in classes.iter().enumerate() {
        place[*class] = i;
    }
    // For each unit: class drawn, pixels in both maps, pixels in either.
    let units: Vec<Vec<(usize, f64, f64)>> = rows
        .rows()
        .iter()
        .map(|row| {
            let mut counts = vec![(0u64, 0u64); classes.len()];
            for ((truth, pred), count) in row.confusion.cells() {
                let (t, p) = (place[truth as usize], place[pred as usize]);
                if truth == pred {
                    if let Some(cell) = counts.get_mut(t) {
                        cell.0 += count;
                        cell.1 += count;
                    }
                } else {
                    for at in [t, p] {
                        if let Some(cell) = counts.get_mut(at) {
                            cell.1 += count;
                        }
                    }
                }
            }
            let met = counts.into_iter().enumerate().filter(|(_, (_, either))| *either > 0);
            met.map(|(class, (both, either))| (class, both as f64, either as f64)).collect()
        })
        .collect();
    let mut values: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLING.resamples as usize); classes.len()];
    for block in RESAMPLING.blocks() {
        for weights in RESAMPLING.draw(units.len(), &block).each() {
            let mut sums = vec![(0.0, 0.0); classes.len()];
            for (unit, weight) in units.iter().zip(weights).filter(|(_, weight)| **weight > 0) {
                for (class, both, either) in unit {
                    sums[*class].0 += f64::from(*weight) * both;
                    sums[*class].1 += f64::from(*weight) * either;
                }
            }
            for (values, (both, either)) in values.iter_mut().zip(sums) {
                if either > 0.0 {
                    values.push(both / either);
                }
            }
        }
    }
    let enough = (0.9 * f64::from(RESAMPLING.resamples)).ceil() as usize;
    values
        .into_iter()
        .map(
            |values| {
                if values.len() < enough { None } else { percentile_interval(values, RESAMPLING.confidence) }
            },
        )
        .collect()
}
