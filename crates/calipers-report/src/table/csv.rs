//! A report as CSV: one line per number.

use calipers_core::Report;
use csv::Writer;

use crate::leaf::{Leaf, visit_with_bounds};
use crate::number::shortest;

/// `id,value,reason`, one line per number; values inside a metric are lines of their own under the
/// id and the path below it. Intervals add the columns `low,high`, several reports the column
/// `report`, counted from 1.
pub fn write(reports: &[Report]) -> String {
    let with_intervals = reports.iter().any(|report| report.intervals.is_some());
    let several = reports.len() > 1;
    let mut lines = Lines::new();
    let mut heading = vec!["id", "value", "reason"];
    heading.extend(with_intervals.then_some(["low", "high"]).into_iter().flatten());
    heading.extend(several.then_some("report"));
    lines.push(heading);
    for (i, report) in reports.iter().enumerate() {
        for (id, value) in &report.metrics {
            let bounds = report.intervals.as_ref().and_then(|intervals| intervals.get(id));
            visit_with_bounds(id, value, bounds, &mut |path, leaf, interval| {
                let (value, reason) = match leaf {
                    Leaf::Number(x) => (shortest(x), String::new()),
                    Leaf::Count(n) => (n.to_string(), String::new()),
                    Leaf::Undefined(reason) => (String::new(), guarded(reason)),
                };
                let mut line = vec![guarded(path), value, reason];
                if with_intervals {
                    let bound = |k: usize| interval.map(|bounds| shortest(bounds[k])).unwrap_or_default();
                    line.extend([bound(0), bound(1)]);
                }
                line.extend(several.then(|| (i + 1).to_string()));
                lines.push(line);
            });
        }
    }
    lines.finish()
}

/// Text that a spreadsheet cannot take for a formula.
pub(crate) fn guarded(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\0']);
    if formula { format!("'{text}") } else { text.into() }
}

/// CSV text under construction.
pub(crate) struct Lines(Writer<Vec<u8>>);

impl Lines {
    pub(crate) fn new() -> Self {
        Self(Writer::from_writer(Vec::new()))
    }

    pub(crate) fn push<T: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.0.write_record(cells).expect("every line has as many cells as the heading");
    }

    pub(crate) fn finish(self) -> String {
        let bytes = self.0.into_inner().expect("memory does not fail to be written to");
        String::from_utf8(bytes).expect("every cell is text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use calipers_core::Value;

    #[test]
    fn every_number_has_its_line_and_every_gap_its_reason() {
        assert_eq!(
            write(&[fixture::small()]),
            "id,value,reason\n\
             segmentation.miou,0.4365,\n\
             segmentation.iou.sky,0.91,\n\
             segmentation.iou.car,,class occurs in neither truth nor prediction\n\
             segmentation.pixels,170141183460469231731687303715884105727,\n\
             segmentation.bins.0,1.0,\n\
             segmentation.bins.1,,\n"
        );
    }

    #[test]
    fn intervals_and_several_reports_add_columns() {
        let mut report = fixture::small();
        report.metrics.truncate(1);
        report.intervals = Some(fixture::intervals(&[("segmentation.miou", [0.4, 0.5])]));
        let text = write(&[report.clone(), report]);
        let expected = "id,value,reason,low,high,report\n\
                        segmentation.miou,0.4365,,0.4,0.5,1\n\
                        segmentation.miou,0.4365,,0.4,0.5,2\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn hostile_text_is_no_formula_and_stays_in_its_cell() {
        let mut report = fixture::small();
        report.metrics = vec![
            ("=cmd()".into(), Value::Count(-5)),
            ("f.x".into(), Value::PerLabel(vec![("a\"b,\nc".into(), Value::undefined("@sum(1)"))])),
        ];
        assert_eq!(write(&[report]), "id,value,reason\n'=cmd(),-5,\n\"f.x.a\"\"b,\nc\",,'@sum(1)\n");
    }
}
