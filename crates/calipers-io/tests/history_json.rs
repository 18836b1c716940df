//! JSON histories and per-run documents: golden, damaged and real ones.

use std::path::Path;

use calipers_io::history::json::{self, Layout, loose, loose::Loose};
use calipers_io::history::{Table, Wanted};

const LAYOUTS: [Layout; 7] = [
    Layout::Rows,
    Layout::Lines,
    Layout::Columns,
    Layout::State,
    Layout::Split,
    Layout::Table,
    Layout::Nested,
];

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracles/training/formats").join(name))
        .expect("a fixture")
}

fn wanted() -> Wanted {
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    Wanted {
        numbers: keys(&["val_F1", "eval_F1", "eval_loss", "epoch", "step", "_step"]),
        texts: keys(&["note"]),
        ..Wanted::default()
    }
}

/// Recognises and reads a golden file.
fn golden(name: &str, layout: Layout) -> Table {
    let bytes = fixture(name);
    assert_eq!(json::layout(&bytes), Some(layout), "{name}");
    json::read(&bytes, layout, &wanted()).expect("a readable history")
}

/// The values of a key that are finite, with their rows.
fn finite(table: &Table, key: &str) -> Vec<(u32, f64)> {
    let column = table.number(key).expect("a wanted key");
    assert_eq!(column.unreadable, None);
    let cells = column.rows.iter().copied().zip(column.values.iter().copied());
    cells.filter(|(_, value)| value.is_finite()).collect()
}

#[test]
fn the_golden_run_has_the_same_values_in_every_layout() {
    let curve = [0.5, 0.91, 0.95, 0.89, 0.96];
    let at = |rows: [u32; 5]| rows.into_iter().zip(curve).collect::<Vec<_>>();

    let rows = golden("rows/cfgA_0.json", Layout::Rows);
    assert_eq!(finite(&rows, "val_F1"), at([1, 3, 5, 7, 9]));
    assert_eq!(rows.number("val_F1").unwrap().values.len(), rows.rows);
    assert_eq!(rows.keys, ["_step", "epoch", "train_loss", "val_F1"]);

    let lines = golden("lines/cfgA/0.jsonl", Layout::Lines);
    assert_eq!((finite(&lines, "val_F1"), lines.rows), (at([1, 3, 5, 7, 9]), 10));
    assert_eq!(lines.text("note").unwrap().cells, []);
    assert_eq!(lines.places.of(9), "line 10");

    let columns = golden("columns/cfgA/0.json", Layout::Columns);
    assert_eq!((finite(&columns, "val_F1"), columns.rows), (at([0, 1, 2, 3, 4]), 5));
    assert_eq!(columns.keys, ["loss", "val_F1"]);

    let state = golden("hf/cfgA/0/trainer_state.json", Layout::State);
    assert_eq!((finite(&state, "eval_F1"), state.rows), (at([1, 3, 5, 7, 9]), 11));
    assert_eq!(finite(&state, "step").iter().map(|(_, step)| *step as u64).max(), Some(50));
    assert!(state.number("eval_loss").unwrap().values.iter().all(|loss| loss.is_nan()));
}

#[test]
fn checkpoints_are_told_apart_by_their_global_step() {
    let step = |name: &str| json::global_step(&fixture(name)).unwrap();
    assert_eq!(step("hf/cfgB/0/checkpoint-10/trainer_state.json"), Some(10));
    assert_eq!(step("hf/cfgB/0/checkpoint-30/trainer_state.json"), Some(30));
    assert_eq!(step("hf/cfgA/0/trainer_state.json"), Some(50));
}

#[test]
fn the_per_run_document_is_no_history_and_is_read_as_a_tree() {
    let bytes = fixture("../table/runs.json");
    assert_eq!((json::layout(&bytes), json::check(&bytes)), (None, Ok(())));
    let runs = loose::parse(&bytes).unwrap();
    let summary = runs.get("demo").and_then(|demo| demo.get("DS_xml_demo")?.get("summary")).unwrap();
    let path = summary.get("fold0").and_then(|fold| fold.get("best_model_path")?.as_str());
    assert_eq!(path, Some("runs/DS_xml_demo_0-epoch=02.ckpt"));
    let carbon = summary.get("fold1").and_then(|fold| fold.get("carbon_data")?.get("train_emissions"));
    assert_eq!(carbon, Some(&Loose::Number { value: 0.02, text: "0.02".into() }));
    let Some(Loose::List(steps)) = summary.get("fold1").and_then(|fold| fold.get("test_data_last_step"))
    else {
        panic!("a list")
    };
    assert!(steps[0].get("test_dist_edit").and_then(Loose::as_f64).is_some_and(f64::is_nan));
}

#[test]
fn a_json_document_cut_at_any_byte_is_an_error() {
    for (name, layout) in [
        ("rows/cfgA_0.json", Layout::Rows),
        ("columns/cfgA/0.json", Layout::Columns),
        ("hf/cfgA/0/trainer_state.json", Layout::State),
        ("../table/runs.json", Layout::Rows),
    ] {
        let bytes = fixture(name);
        for length in 0..bytes.trim_ascii_end().len() {
            let cut = &bytes[..length];
            assert!(json::read(cut, layout, &wanted()).is_err(), "{name} cut at {length}");
            assert!(loose::parse(cut).is_err() && json::check(cut).is_err(), "{name} cut at {length}");
            assert!(json::global_step(cut).is_err(), "{name} cut at {length}");
            json::layout(cut);
        }
    }
}

#[test]
fn lines_cut_at_any_byte_are_an_error_or_the_lines_before() {
    let bytes = fixture("lines/cfgA/0.jsonl");
    let whole = json::read(&bytes, Layout::Lines, &wanted()).unwrap();
    for length in 0..bytes.len() {
        let Ok(cut) = json::read(&bytes[..length], Layout::Lines, &wanted()) else { continue };
        assert!(cut.rows <= whole.rows);
        for column in &cut.numbers {
            let kept = whole.number(&column.key).unwrap();
            assert_eq!(column.values, kept.values[..column.values.len()]);
            assert_eq!(column.rows, kept.rows[..column.rows.len()]);
        }
    }
}

/// Every way to flip one bit of a golden file.
fn flipped(name: &str) -> impl Iterator<Item = Vec<u8>> {
    let whole = fixture(name);
    (0..8 * whole.len()).map(move |bit| {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    })
}

#[test]
fn no_flipped_bit_makes_a_reader_panic() {
    for name in
        ["rows/cfgA_0.json", "lines/cfgA/0.jsonl", "columns/cfgA/0.json", "hf/cfgA/0/trainer_state.json"]
    {
        for bytes in flipped(name) {
            json::layout(&bytes);
            for layout in LAYOUTS {
                drop(json::read(&bytes, layout, &wanted()));
            }
            drop(json::global_step(&bytes));
        }
    }
    for bytes in flipped("../table/runs.json") {
        assert_eq!(loose::parse(&bytes).is_ok(), json::check(&bytes).is_ok());
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn the_published_per_run_document_has_its_projects_groups_and_runs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/data/training/results_12ShadesSynthaxSpace.json");
    let Ok(bytes) = std::fs::read(&file) else {
        return eprintln!("skipped: no file {}", file.display());
    };
    assert_eq!(json::layout(&bytes), None);
    let Loose::Object(projects) = loose::parse(&bytes).unwrap() else { panic!("an object") };
    let project = projects.iter().find(|(name, _)| name == "12ShadesOfRDF").map(|(_, project)| project);
    let Some(Loose::Object(groups)) = project else { panic!("an object") };
    let runs = groups.iter().map(|(_, group)| match group.get("runs") {
        Some(Loose::Object(runs)) => runs.len(),
        _ => 0,
    });
    let summaries = groups.iter().filter(|(_, group)| matches!(group.get("summary"), Some(Loose::Object(_))));
    assert_eq!((projects.len(), groups.len(), runs.sum::<usize>(), summaries.count()), (16, 23, 115, 11));
}

/// The tables that pandas wrote, each with its layout.
const TABLES: [(&str, Layout, &[u8]); 4] = [
    ("split", Layout::Split, include_bytes!("histories/pandas/split.json")),
    ("table", Layout::Table, include_bytes!("histories/pandas/table.json")),
    ("columns", Layout::Nested, include_bytes!("histories/pandas/columns.json")),
    ("index", Layout::Nested, include_bytes!("histories/pandas/index.json")),
];

#[test]
fn tables_of_pandas_hold_the_same_values() {
    for (name, layout, bytes) in TABLES {
        assert_eq!(json::layout(bytes), Some(layout), "{name}");
        let table = json::read(bytes, layout, &wanted()).unwrap();
        assert_eq!(
            (table.rows, &table.keys[..]),
            (4, &["epoch", "val_F1", "run"].map(String::from)[..]),
            "{name}"
        );
        let column = table.number("val_F1").unwrap();
        assert_eq!(
            (&column.rows[..], &column.values[..]),
            (&[0, 1, 3][..], &[0.5, 0.95, 0.96][..]),
            "{name}"
        );
    }
}

#[test]
fn a_table_of_pandas_that_is_cut_or_damaged_is_an_error_or_a_table() {
    for (name, layout, bytes) in TABLES {
        for length in 0..bytes.len() {
            assert!(json::read(&bytes[..length], layout, &wanted()).is_err(), "{name} cut at {length}");
        }
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            json::layout(&damaged);
            let Ok(table) = json::read(&damaged, layout, &wanted()) else { continue };
            for column in &table.numbers {
                assert!(column.rows.is_sorted_by(|a, b| a < b), "{name} bit {bit}");
                assert!(column.rows.iter().all(|row| (*row as usize) < table.rows), "{name} bit {bit}");
            }
        }
    }
}
