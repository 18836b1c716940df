//! How well each class is met: bars of intersection over union with intervals over images.

use calipers_core::resample::{Bounds, Intervals};
use calipers_core::{Accumulator, Value};
use calipers_metrics::segmentation::Segmentation;
use calipers_metrics::segmentation::overlap::{IOU, MIOU};
use calipers_report::chart::bars::{Bar, Bars};
use calipers_report::chart::{Art, Axis, Chart, Colour, Picture};
use calipers_report::grid::Cell;
use calipers_report::number::rounded;
use calipers_report::sampling;

use super::super::readings::{missing, over_all, reason, table, words};
use super::class_colours::ClassColours;

/// The most classes that are drawn.
const MOST: usize = 40;
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
pub(super) fn picture(rows: &Accumulator<Segmentation>, intervals: Option<&Intervals>) -> Picture {
    let values = match over_all(rows, &IOU) {
        Value::PerLabel(values) => values,
        other => return missing(SLUG, TITLE, reason(&other)),
    };
    let bounds = intervals.and_then(|intervals| intervals.get(&IOU.full_id()));
    let mut met: Vec<Met<'_>> = values
        .iter()
        .enumerate()
        .map(|(class, (name, value))| Met {
            class,
            name,
            iou: value.as_f64().ok_or_else(|| reason(value)),
            interval: bounds.and_then(|bounds| bounds.below(name)).and_then(Bounds::single),
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
    let drawn = met.len();
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
        description: format!("{drawn} of {all} classes, best first"),
        axis: Axis::share("intersection over union"),
        bars: bars.collect(),
        reference: over_all(rows, &MIOU).as_f64().map(|miou| (miou, format!("mean {}", rounded(miou)))),
    };
    let left_out = match all - drawn {
        0 => String::new(),
        n => format!(" The {drawn} lowest of {all} classes are drawn; {n} are left out."),
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "{}The colours are those of the image panels.{left_out}",
            intervals.map(|intervals| format!("{} ", sampling::words(&intervals.drawn))).unwrap_or_default()
        ),
        art: Art::Chart(Chart::Bars(drawing)),
        data: vec![(SLUG.into(), data)],
        unit: None,
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
