//! Reports back from their JSON, read and checked in one place whoever asks for them.

use std::collections::BTreeSet;

use calipers_core::check::{keep, name};
use calipers_core::{Error, Report, Result};
use calipers_report::json;

use crate::registry;

/// The reports of a text, at least one; `source` names it in messages. A report of this version has the
/// parameters and ids that this version writes. One of another version may have others, and one without any
/// parameters has nothing that could be wrong.
pub fn read(text: &[u8], source: &str) -> Result<Vec<Report>> {
    let read = || {
        let reports = json::read(text)?;
        let nothing = || Error::value("there is no report in the file").found("an empty list");
        let first = reports.first().ok_or_else(nothing)?;
        let several = reports.len() > 1;
        let place = |at: usize| if several { format!("report {}", at + 1) } else { "report".into() };
        let family = first.protocol.get("name").and_then(|name| name.as_str()).unwrap_or_default();
        keep(!family.is_empty(), "protocol.name", "nothing", "the name of a family")?;
        for (at, report) in reports.iter().enumerate() {
            check(report).map_err(|error| error.at(place(at)).as_format())?;
        }
        Ok(reports)
    };
    read().map_err(|error: Error| error.in_file(source))
}

fn check(report: &Report) -> Result<()> {
    let paths: BTreeSet<&str> = report.inputs.iter().map(|(path, _)| path).collect();
    paths.iter().try_for_each(|path| name("inputs", path))?;
    report.left_out.iter().try_for_each(|(unit, _)| name("left_out", unit))?;
    let says_nothing = report.protocol.len() < 2;
    if report.version != env!("CARGO_PKG_VERSION") || says_nothing {
        return Ok(());
    }
    let infos = registry::described(&report.protocol)?;
    let known: BTreeSet<&str> = infos.iter().map(|info| info.id.as_str()).collect();
    let ids = report.metrics.iter().map(|(id, _)| id.as_str());
    let bounds = report.intervals.iter().flat_map(|intervals| &intervals.bounds);
    for id in ids.chain(bounds.map(|(id, _)| id.as_str())) {
        keep(known.contains(id), "metrics", id, "the ids of the family")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use calipers_core::{Accumulator, Ledger};
    use calipers_metrics::segmentation::Segmentation;

    use super::*;

    fn text() -> String {
        json::write(&[Accumulator::new(Segmentation::default()).report()])
    }

    fn refusal(from: &str, to: &str) -> String {
        let text = text();
        assert!(text.contains(from), "{from} in {text}");
        read(text.replace(from, to).as_bytes(), "r.json").unwrap_err().to_string()
    }

    #[test]
    fn a_report_whose_parameters_no_run_has_is_refused_with_the_parameter() {
        assert_eq!(read(text().as_bytes(), "r.json").unwrap().len(), 1);
        let said = refusal("\"background\": null", "\"background\": 7");
        for word in ["r.json", "protocol, labels.background", "7", "0 to 1"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(refusal("segmentation.miou", "segmentation.miuo").contains("miuo"));
        assert!(refusal("\"name\": \"segmentation\"", "\"name\": \"segments\"").contains("segments"));
        assert!(read(b"[]", "r.json").unwrap_err().to_string().contains("no report"));
    }

    #[test]
    fn a_report_of_another_version_may_have_other_parameters() {
        let version = format!("\"calipers\": \"{}\"", env!("CARGO_PKG_VERSION"));
        let older = text()
            .replace(&version, "\"calipers\": \"0.0.1\"")
            .replace("segmentation.miou", "segmentation.old");
        assert_eq!(read(older.as_bytes(), "r.json").unwrap()[0].version, "0.0.1");
    }
}
