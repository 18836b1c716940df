//! What golden cases of training runs say beside their reports.

use super::{FAMILY, run};
use crate::agreement::{Tolerance, agrees};
use crate::case::reported_cases;

#[test]
fn per_unit_tables_are_the_golden_ones() {
    for case in reported_cases(&FAMILY) {
        let name = &case["name"];
        let table = run(&case).unwrap().per_unit();
        let expected = case["expect"]["per_unit"].as_array().unwrap();
        assert_eq!(table.rows.len(), expected.len(), "{name}");
        for ((unit, cells), expected) in table.rows.iter().zip(expected) {
            let expected = expected.as_object().unwrap();
            assert_eq!(Some(unit.as_str()), expected["unit"].as_str());
            // A metric may be added as a column; those that are pinned keep their order.
            let columns = table.columns.iter().filter(|column| expected.contains_key(*column));
            assert!(columns.eq(expected.keys()), "{name}");
            for (column, cell) in table.columns.iter().skip(1).zip(cells) {
                let Some(expected) = expected.get(column) else { continue };
                let same = agrees(cell, expected, Tolerance::Exact);
                assert!(same, "{name} {unit} {column}: {cell:?}, {expected}");
            }
        }
    }
}
