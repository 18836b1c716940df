//! Reports: an error, or text that reads back to the same report.

#![no_main]

use calipers::report::{Amount, json, markdown};
use calipers::{pages, registry, reports};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(found) = reports::read(bytes, "fuzz.json") else { return };
    let text = json::write_array(&found);
    assert_eq!(reports::read(text.as_bytes(), "again.json").ok().as_ref(), Some(&found));
    let infos: Vec<_> = found.iter().map(|report| registry::metrics_of(&report.protocol)).collect();
    markdown::write(&found, &infos, Amount::Everything);
    for report in &found {
        pages::of_report_alone(report, "no inputs are read here");
    }
});
