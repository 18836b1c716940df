//! What every line of every metric table says of itself.

use std::collections::BTreeSet;

use crate::family::FAMILIES;

#[test]
fn no_id_occurs_twice_and_ids_are_snake_case() {
    for family in FAMILIES {
        let metrics = (family.metrics)();
        let ids: BTreeSet<_> = metrics.iter().map(|metric| metric.id).collect();
        assert_eq!(ids.len(), metrics.len(), "{}", family.name);
        for id in ids {
            assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{id}");
        }
    }
}

#[test]
fn every_definition_is_written_out() {
    for metric in FAMILIES.iter().flat_map(|family| (family.metrics)()) {
        let (example, value) = metric.example;
        let headings = [
            ("measures", metric.measures),
            ("formula", metric.formula),
            ("reference", metric.reference),
            ("example", example),
            ("value", value),
        ];
        for (heading, text) in headings {
            assert!(!text.is_empty(), "{} lacks {heading}", metric.id);
        }
    }
}
