//! A run folder of MLflow's file store: one file per metric, one line per value.

mod meta;
pub(super) mod points;

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use self::points::{Metric, Point};
use super::{Field, Origin, Places, Run, Table, Wanted};
use crate::text::{self, Line, Lines};

/// The tag that holds the name of a run.
pub const RUN_NAME: &str = "mlflow.runName";

/// The tag that holds the identifier of the run that a run was started in.
pub const PARENT: &str = "mlflow.parentRunId";

/// The name that the `meta.yaml` of an experiment gives it.
pub fn experiment_name(meta: &[u8]) -> Option<String> {
    meta::scalar(&String::from_utf8_lossy(meta), "name").ok().flatten()
}

/// The name that the `meta.yaml` of a run gives it.
pub fn run_name(meta: &[u8]) -> Option<String> {
    meta::scalar(&String::from_utf8_lossy(meta), "run_name").ok().flatten()
}

/// Whether `meta.yaml` describes a run that was not deleted.
pub fn is_active(meta: &[u8]) -> bool {
    let stage = meta::scalar(&String::from_utf8_lossy(meta), "lifecycle_stage");
    !matches!(stage, Ok(Some(stage)) if stage == "deleted")
}

/// Reads a run folder from its files, each with its path below the folder and `/` between names:
/// `meta.yaml`, `metrics/val/F1`, `tags/config`, `params/fold`.
///
/// There is one row for each line of each wanted metric, and the columns `step` and `timestamp`
/// besides those of the metrics; a line without a step has step 0.
pub fn read(files: &[(&str, &[u8])], wanted: &Wanted) -> Result<Table> {
    let mut keys = Vec::new();
    let mut metrics = Vec::new();
    let mut lines = Vec::new();
    for (path, bytes) in files {
        let Some(key) = path.strip_prefix("metrics/") else { continue };
        keys.push(key.to_owned());
        if let Some(wanted) = points::place(wanted, key) {
            metrics.push(metric(wanted, path, bytes, &mut lines));
        }
    }
    let (rows, numbers) = points::columns(wanted, metrics)?;
    Ok(Table {
        origin: Origin::Mlflow,
        run: run(files, wanted)?,
        keys,
        before: 0,
        rows,
        numbers,
        texts: Vec::new(),
        places: Places::Lines(lines),
        cut_at: None,
    })
}

/// The points of one metric file up to the first line that cannot be read; notes the line of each.
fn metric(wanted: usize, path: &str, bytes: &[u8], lines: &mut Vec<u64>) -> Metric {
    let mut metric = Metric { wanted, ..Metric::default() };
    for line in Lines::new(bytes) {
        match line.and_then(|line| Ok((line.number, point(&line)?))) {
            Ok((_, None)) => {}
            Ok((number, Some(point))) => {
                metric.points.push(point);
                lines.push(number);
            }
            Err(error) => {
                metric.unreadable = Some(error.at(path));
                break;
            }
        }
    }
    metric
}

/// The point of a line; a blank line has none.
fn point(line: &Line<'_>) -> Result<Option<Point>> {
    let words: Vec<&[u8]> =
        line.text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let place = format!("line {}", line.number);
    let (timestamp, value, step) = match words[..] {
        [] => return Ok(None),
        [timestamp, value] => (timestamp, value, &b"0"[..]),
        [timestamp, value, step] => (timestamp, value, step),
        _ => {
            return Err(Error::format("the line does not have two or three fields")
                .at(place)
                .found(format_args!("{} fields: {}", words.len(), text::shown(line.text)))
                .allowed("`timestamp value` or `timestamp value step`"));
        }
    };
    let bad = |what: &str, word: &[u8], allowed: &str| {
        Error::format(format!("the {what} is not a number"))
            .at(&place)
            .found(text::shown(word))
            .allowed(allowed)
    };
    let whole = "a whole number of at most 64 bits";
    Ok(Some(Point {
        timestamp: parsed(timestamp).ok_or_else(|| bad("timestamp", timestamp, whole))?,
        value: parsed(value).ok_or_else(|| bad("value", value, "a decimal number, nan, inf or -inf"))?,
        step: parsed(step).ok_or_else(|| bad("step", step, whole))?,
    }))
}

fn parsed<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// What the folder says about the run; a wanted name is looked for among the tags, then the params.
fn run(files: &[(&str, &[u8])], wanted: &Wanted) -> Result<Run> {
    let text = |path: &str| -> Result<Option<&str>> {
        let Some((path, bytes)) = files.iter().find(|(file, _)| *file == path) else { return Ok(None) };
        let text = std::str::from_utf8(text::without_mark(bytes)).map_err(|error| {
            let at = error.valid_up_to();
            Error::format("the text is not UTF-8")
                .at(format_args!("{path}, byte {at}"))
                .found(format_args!("0x{:02x}", text::without_mark(bytes)[at]))
                .advice("save the file as UTF-8")
        })?;
        Ok(Some(text))
    };
    let meta = text("meta.yaml")?.unwrap_or_default();
    let scalar = |key: &str| meta::scalar(meta, key).map_err(|error| error.at("meta.yaml"));
    let label = |path: String| -> Result<Option<String>> {
        let text = text(&path)?.map(|text| text.trim_end_matches(['\r', '\n']).to_owned());
        Ok(text.filter(|text| !text.is_empty()))
    };
    let mut labels = BTreeMap::new();
    // A tag stands before a parameter of the same name.
    for part in ["params/", "tags/"] {
        for (path, _) in files {
            let Some(key) = path.strip_prefix(part).filter(|key| wanted.label(key)) else { continue };
            if let Some(found) = label((*path).to_owned())? {
                labels.insert(key.to_owned(), found);
            }
        }
    }
    let mut fields = BTreeMap::new();
    for (field, found) in [
        (Field::ExperimentId, scalar("experiment_id")?),
        (Field::Status, scalar("status")?.map(|status| status_name(&status))),
        (Field::Parent, label(format!("tags/{PARENT}"))?),
    ] {
        if let Some(found) = found {
            fields.insert(field, found);
        }
    }
    let began = scalar("start_time")?.and_then(|time| time.parse::<f64>().ok()).map(|time| time / 1e3);
    let id = match scalar("run_id")? {
        Some(id) => Some(id),
        None => scalar("run_uuid")?,
    };
    let name = match scalar("run_name")? {
        Some(name) => Some(name),
        None => label(format!("tags/{RUN_NAME}"))?,
    };
    Ok(Run { name: name.or_else(|| id.clone()), id, fields, labels, began, ..Run::default() })
}

/// The word for a status, which the file store writes as a number.
fn status_name(number: &str) -> String {
    let known = ["RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"];
    let at = number.parse::<usize>().ok().and_then(|number| known.get(number.checked_sub(1)?));
    at.map_or(number, |word| *word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const F1: &str = "metrics/val/F1";

    fn wanted(numbers: &[&str], texts: &[&str]) -> Wanted {
        let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        Wanted { numbers: owned(numbers), texts: owned(texts), ..Wanted::default() }
    }

    fn f1(lines: &str) -> Table {
        read(&[(F1, lines.as_bytes())], &wanted(&["val/F1", "step", "timestamp"], &[])).unwrap()
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    fn unreadable(lines: &str) -> Error {
        f1(lines).number("val/F1").unwrap().unreadable.clone().unwrap()
    }

    #[test]
    fn lines_of_two_and_three_fields_are_points() {
        let table = f1("1700 0.5\n1701 0.91 1\r\n1702 nan 2\n\n1703 -inf -3\n1704 Infinity 4");
        let values = &table.number("val/F1").unwrap().values;
        assert_eq!(bits(&values[..2]), bits(&[0.5, 0.91]));
        assert!(values[2].is_nan());
        assert_eq!(bits(&values[3..]), bits(&[f64::NEG_INFINITY, f64::INFINITY]));
        assert_eq!(bits(&table.number("step").unwrap().values), bits(&[0.0, 1.0, 2.0, -3.0, 4.0]));
        assert_eq!(table.number("timestamp").unwrap().rows, [0, 1, 2, 3, 4]);
        assert_eq!((table.rows, table.places.of(3)), (5, "line 5".into()));
    }

    #[test]
    fn lines_of_one_and_four_fields_are_errors_with_their_place() {
        for lines in ["1 0.5 0\n2\n3 0.7 2", "1 0.5 0\n2 0.6 1 9\n"] {
            let error = unreadable(lines);
            assert_eq!(error.place(), Some("metrics/val/F1, line 2"));
            assert!(error.to_string().contains("fields"), "{error}");
        }
    }

    #[test]
    fn words_that_are_no_numbers_are_shown() {
        for (lines, word) in
            [("x 0.5 0", "`x`"), ("1 0,5 0", "`0,5`"), ("1 0.5 1.5", "`1.5`"), ("1 \u{fffd} 0", "\u{fffd}")]
        {
            assert!(unreadable(lines).to_string().contains(word), "{lines}");
        }
        assert!(unreadable("99999999999999999999 0.5 0").to_string().contains("timestamp"));
    }

    #[test]
    fn a_bad_metric_does_not_spoil_another() {
        let files: &[(&str, &[u8])] = &[("metrics/acc", b"1 oops 0\n"), (F1, b"1 0.5 0\n2 0.6 1\n")];
        let table = read(files, &wanted(&["val/F1", "step", "acc"], &[])).unwrap();
        assert_eq!(bits(&table.number("val/F1").unwrap().values), bits(&[0.5, 0.6]));
        assert!(table.number("acc").unwrap().unreadable.is_some());
        assert_eq!(table.keys, ["acc", "val/F1"]);
        let order: Vec<_> = table.numbers.iter().map(|column| column.key.as_str()).collect();
        assert_eq!(order, ["val/F1", "step", "acc"]);
    }

    #[test]
    fn rows_of_several_metrics_follow_each_other() {
        let files: &[(&str, &[u8])] =
            &[("metrics/a", b"1 0.5 0\n2 0.6 1\n"), ("metrics/b", b"3 7 5"), ("metrics/c", b"")];
        let table = read(files, &wanted(&["b", "a", "step", "c", "d"], &[])).unwrap();
        assert_eq!(table.number("a").unwrap().rows, [0, 1]);
        assert_eq!(table.number("b").unwrap().rows, [2]);
        assert_eq!(bits(&table.number("step").unwrap().values), bits(&[0.0, 1.0, 5.0]));
        assert!(table.number("c").unwrap().rows.is_empty() && table.number("d").is_none());
        assert_eq!(table.places.of(2), "line 1");
    }

    #[test]
    fn a_metric_called_step_does_not_hide_the_steps() {
        let table = read(&[("metrics/step", b"1 0.5 7\n")], &wanted(&["step"], &[])).unwrap();
        assert_eq!((table.rows, table.keys.as_slice()), (0, &["step".to_owned()][..]));
    }

    #[test]
    fn the_run_is_named_by_meta_then_tag_then_id() {
        let run = |meta: &str, tag: &[u8]| {
            let files: &[(&str, &[u8])] = &[("meta.yaml", meta.as_bytes()), ("tags/mlflow.runName", tag)];
            read(files, &Wanted::default()).unwrap().run
        };
        assert_eq!(run("run_id: abc\nrun_name: one\n", b"two").name.as_deref(), Some("one"));
        assert_eq!(run("run_id: abc\nrun_name: ''\n", b"two\n").name.as_deref(), Some("two"));
        assert_eq!(run("run_uuid: abc\n", b"").name.as_deref(), Some("abc"));
        assert_eq!(run("run_uuid: abc\n", b"").id.as_deref(), Some("abc"));
        assert_eq!(run("", b""), Run::default());
    }

    #[test]
    fn labels_come_from_tags_before_params() {
        let files: &[(&str, &[u8])] = &[
            ("params/fold", b"3"),
            ("tags/config", b"cfgA"),
            ("params/config", b"other"),
            ("tags/a/b", b"deep\n"),
        ];
        let labels = read(files, &wanted(&[], &["fold", "config", "a/b", "gone"])).unwrap().run.labels;
        let want = [("a/b", "deep"), ("config", "cfgA"), ("fold", "3")];
        assert!(labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).eq(want));
    }

    #[test]
    fn text_that_is_not_utf_8_is_refused_by_file_and_byte() {
        let files: &[(&str, &[u8])] = &[("tags/config", b"ab\xff")];
        let error = read(files, &wanted(&[], &["config"])).unwrap_err();
        assert_eq!(error.place(), Some("tags/config, byte 2"));
    }

    #[test]
    fn only_deleted_runs_are_not_active() {
        assert!(!is_active(b"lifecycle_stage: deleted\nrun_id: x\n"));
        assert!(!is_active(b"lifecycle_stage: 'deleted'\n"));
        assert!(is_active(b"lifecycle_stage: active\n"));
        assert!(is_active(b"run_id: x\n") && is_active(b"\xff"));
    }
}
