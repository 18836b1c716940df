//! What golden cases of segmentations say beside their reports.

use calipers_core::Value;

use super::{FAMILY, Width, run};
use crate::case::{golden_case, reported_cases};
use crate::family::Family;

#[test]
fn the_integer_type_of_label_maps_changes_nothing() {
    let with_maps = Family { golden: &["overlap.json", "boundary.json", "fusion.json"], ..FAMILY };
    for case in reported_cases(&with_maps) {
        let narrow = run(&case, Width::One).unwrap();
        for width in [Width::Two, Width::Eight] {
            assert!(narrow == run(&case, width).unwrap(), "{} {width:?}", case["name"]);
        }
    }
}

#[test]
fn the_per_unit_table_has_the_size_the_pixel_counts_and_every_single_number() {
    let case = golden_case(&FAMILY, "unpredicted-wrong");
    let state = run(&case, Width::One).unwrap();
    let (table, report) = (state.per_unit(), state.finish());
    let first = "unit height width scored_pixels ignored_pixels unpredicted_pixels miou pixel_accuracy";
    assert_eq!(table.columns[..8].join(" "), first);
    let single = |value: &Value| matches!(value, Value::Number(_) | Value::Count(_));
    let numbers = report.metrics.iter().filter(|(_, value)| single(value)).map(|(id, _)| FAMILY.short(id));
    for id in numbers {
        assert!(table.columns.iter().any(|column| column == id), "{id}");
    }
    let total = |column: usize| -> i128 {
        let cells = table.rows.iter().map(|(_, cells)| match cells[column - 1] {
            Value::Count(count) => count,
            _ => panic!("a count"),
        });
        cells.sum()
    };
    for (column, id) in [(3, "scored_pixels"), (4, "ignored_pixels"), (5, "unpredicted_pixels")] {
        assert_eq!(report.get(&format!("segmentation.{id}")), Some(&Value::Count(total(column))), "{id}");
    }
}

#[test]
fn surfaces_add_depth_and_spacing_and_a_column_for_each_class_and_number() {
    let table = run(&golden_case(&FAMILY, "strict-mean-order"), Width::One).unwrap().per_unit();
    let numbers = ["dice", "hd", "hd95", "assd", "masd", "nsd"];
    let means = numbers.map(|number| format!("mean_{number}"));
    let of_classes =
        ["1", "2"].into_iter().flat_map(|class| numbers.map(|number| format!("{number}.{class}")));
    let expected: Vec<String> =
        ["depth", "spacing"].into_iter().map(String::from).chain(means).chain(of_classes).collect();
    let first = 1 + table.columns.iter().position(|column| column == "unpredicted_pixels").unwrap();
    let last: Vec<String> =
        table.columns[first..].iter().filter(|id| expected.contains(id)).cloned().collect();
    assert_eq!(last, expected);
    // The second unit has no class 2.
    let place = table.columns.iter().position(|column| column == "hd.2").unwrap();
    let cells: Vec<bool> = table.rows.iter().map(|(_, cells)| cells[place - 1].as_f64().is_some()).collect();
    assert_eq!(cells, [true, false, true]);
    let volumes = run(&golden_case(&FAMILY, "random-3d-strict"), Width::One).unwrap().per_unit();
    let cell = |column: &str| {
        let place = volumes.columns.iter().position(|known| known == column).unwrap();
        volumes.rows[0].1[place - 1].clone()
    };
    assert_eq!((cell("depth"), cell("spacing")), (Value::Count(4), Value::Text("2.5;0.7;0.7".into())));
}

#[test]
fn a_confusion_matrix_has_no_size_in_the_per_unit_table() {
    let case = golden_case(&FAMILY, "confusion-strict");
    let table = run(&case, Width::One).unwrap().per_unit();
    assert!(table.rows.iter().all(|(_, cells)| cells[..2].iter().all(|cell| cell.reason().is_some())));
}
