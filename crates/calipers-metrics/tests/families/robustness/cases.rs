//! What golden cases of attacked models say beside their reports.

use calipers_core::{Better, Protocol, Value};
use calipers_metrics::robustness::{Preset, Robustness};

use super::{FAMILY, run};
use crate::agreement::{Tolerance, agrees};
use crate::case::golden_case;

#[test]
fn the_per_unit_table_holds_every_number_of_a_unit() {
    let case = golden_case(&FAMILY, "by_hand");
    let state = run(&case).unwrap();
    let (table, report) = (state.per_unit(), state.finish());
    assert_eq!(table.columns[..5], ["unit", "run", "attack", "budget", "n"]);
    let [(name, cells)] = &table.rows[..] else { panic!("one unit") };
    assert_eq!((name.as_str(), &cells[0]), ("a/0.5", &Value::Text("a".into())));
    assert!(matches!(cells[1], Value::Undefined(_)));
    assert_eq!(cells[2..4], [Value::Text("0.5".into()), Value::Count(4)]);
    for (column, cell) in table.columns[5..].iter().zip(&cells[4..]) {
        assert_eq!(Some(cell), report.get(&format!("robustness.{column}")), "{column}");
    }
    assert!(table.columns.len() >= 5 + 20);
}

#[test]
fn a_unit_measured_at_one_budget_of_many_has_its_own_numbers() {
    let case = golden_case(&FAMILY, "curve");
    let table = run(&case).unwrap().per_unit();
    let column = table.columns.iter().position(|column| column == "bias_total").unwrap();
    for (name, cells) in &table.rows {
        let budget = name.rsplit('/').next().unwrap();
        let expected = &case["expect"]["metrics"]["curve"][budget]["bias_total"];
        assert!(agrees(&cells[column - 1], expected, Tolerance::Exact), "{name}");
    }
}

#[test]
fn presets_report_what_they_promise() {
    let count = |preset| {
        let protocol = Robustness { preset, ..Robustness::default() };
        Robustness::METRICS.iter().filter(|metric| (metric.presets)(&protocol)).count()
    };
    let all = Robustness::METRICS.len();
    assert_eq!([Preset::Strict, Preset::Document, Preset::RungFork].map(count), [all, 10, 10]);
    let better = |id: &str| {
        let metric = Robustness::METRICS.iter().find(|metric| metric.id == id).unwrap();
        (metric.better)(&Robustness::default())
    };
    assert_eq!(better("bias_total"), Better::Lower);
    assert_eq!(better("pruned_added"), Better::Higher);
    assert_eq!(better("pruned_kept"), Better::Neither);
}
