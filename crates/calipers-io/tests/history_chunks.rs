//! Tables read a chunk at a time are the tables read as a whole, however long the chunks are.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;

use calipers_core::Result;
use calipers_io::history::chunks::whole;
use calipers_io::history::delimited::{self, Long, Options, Panel};
use calipers_io::history::json::{self, Layout};
use calipers_io::history::{RunTable, Table, Wanted};
use proptest::prelude::*;

fn fixture(name: &str) -> Vec<u8> {
    fs::read(format!("{}/../../oracles/training/formats/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn wanted() -> Wanted {
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    let numbers = ["val_F1", "epoch", "_step", "val_accuracy", "a.b", "m"];
    Wanted { numbers: keys(&numbers), texts: keys(&["run", "config", "fold"]), ..Wanted::default() }
}

/// One way to read a file: as a whole, and in chunks.
#[derive(Clone, Copy, Debug)]
enum Way {
    Wide,
    Long,
    Json(Layout),
}

impl Way {
    fn options(self) -> Options {
        let long = Long { key_column: "name".to_owned(), value_column: "value".to_owned() };
        Options { long: matches!(self, Self::Long).then_some(long), ..Options::default() }
    }

    fn whole(self, bytes: &[u8]) -> Result<Table> {
        match self {
            Self::Json(layout) => json::read(bytes, layout, &wanted()),
            _ => delimited::read(bytes, &wanted(), &self.options()),
        }
    }

    fn in_chunks(self, bytes: &[u8], step: usize) -> Result<Table> {
        let mut chunks = match self {
            Self::Json(Layout::Rows) => json::row_chunks(&bytes, &wanted(), step)?,
            Self::Json(_) => json::line_chunks(&bytes, &wanted(), step)?,
            _ => delimited::chunks(&bytes, &wanted(), &self.options(), step)?,
        };
        Ok(whole(&mut *chunks)?.expect("at least one chunk"))
    }

    /// Compares both ways; a file that is no text may be refused for an earlier reason.
    fn compare(self, bytes: &[u8], step: usize) {
        let (expected, found) = (self.whole(bytes), self.in_chunks(bytes, step));
        if expected.as_ref().is_err_and(|error| error.what().contains("UTF-8")) {
            assert!(found.is_err(), "{self:?} {step}");
        } else {
            // Texts, since a NaN equals nothing.
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{self:?} {step}");
        }
    }
}

const ROWS: Way = Way::Json(Layout::Rows);
const LINES: Way = Way::Json(Layout::Lines);
const FILES: [(&str, Way); 6] = [
    ("wide.csv", Way::Wide),
    ("keras/cfgA_0.csv", Way::Wide),
    ("lightning/cfgA/version_0/metrics.csv", Way::Wide),
    ("long.tsv", Way::Long),
    ("rows/cfgA_0.json", ROWS),
    ("lines/cfgA/0.jsonl", LINES),
];

#[test]
fn stretches_of_any_length_give_the_same_table() {
    for (name, way) in FILES {
        let bytes = fixture(name);
        for step in (1..150).chain([bytes.len() - 1, bytes.len(), bytes.len() + 1]) {
            way.compare(&bytes, step);
        }
    }
}

#[test]
fn files_cut_at_any_byte_give_the_same_table_or_the_same_error() {
    for (name, way) in FILES {
        let bytes = fixture(name);
        for length in 0..bytes.len().min(1500) {
            for step in [7, 64] {
                way.compare(&bytes[..length], step);
            }
        }
    }
}

#[test]
fn a_flipped_bit_gives_the_same_table_or_the_same_error() {
    for (name, way) in FILES {
        let whole = fixture(name);
        let whole = &whole[..whole.len().min(300)];
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            way.compare(&bytes, 23);
        }
    }
}

#[test]
fn quoted_cells_nested_rows_and_blank_lines_may_lie_across_stretches() {
    let wide =
        "\u{feff}\n \nrun,epoch,\"m\"\n\"a\n\"\"x\"\"\",0,0.5\n\n\"b\r\n\n\",1,\"0.7\"\r\nc,2,nan\n  \nc,x,1";
    let rows = "\u{feff} [ {\"a\": {\"b\": 1, \"c\": []}, \"run\": \"é\\n\"},\n{\"a\":{}}, {\"a.b\": NaN , \"m\":-1.5e-3},\n {\"m\": \"x\"} ] \n";
    let lines = "\n{\"m\": 1}\r\n\n\n{\"a\": {\"b\": [1, {}]}}\n{\"m\": Infinity}\n \n";
    // The quotes decide on the delimiter and are no quotes to whoever reads the header.
    let quotes = ";[\"\"\"\n,\",";
    for (text, way) in [
        (wide, Way::Wide),
        (quotes, Way::Wide),
        (rows, ROWS),
        (lines, LINES),
        ("[ ]", ROWS),
        ("[]\n\n", ROWS),
    ] {
        for step in 1..80 {
            way.compare(text.as_bytes(), step);
            for length in 0..text.len() {
                way.compare(&text.as_bytes()[..length], step);
            }
        }
    }
}

/// Compares the runs of a panel that is held with those of one that is read in chunks.
fn compare_panel(bytes: &[u8], step: usize) {
    let wanted = Wanted {
        numbers: vec!["val_F1".into(), "Step".into(), "m".into()],
        texts: Vec::new(),
        ..Wanted::default()
    };
    let runs = |panel: Panel| -> (String, Vec<RunTable>) { (panel.x.clone(), panel.into_runs().collect()) };
    let expected = delimited::read_panel(bytes, &wanted, &Options::default()).map(runs);
    let found = delimited::read_panel_in_chunks(&bytes, &wanted, &Options::default(), step).map(runs);
    if expected.as_ref().is_err_and(|error| error.what().contains("UTF-8")) {
        assert!(found.is_err(), "{step}");
    } else {
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{step}");
    }
}

#[test]
fn panels_are_the_same_in_chunks_of_any_length() {
    let golden = fixture("panel.csv");
    let quoted = "\u{feff}\n\"Step\",\"a\nb - m\",\"a\nb - m__MIN\",\"a\nb - m__MAX\",\"c - m\"\n\
        0,0.5,0.5,\"0.5\",\n\n1,0.6,0.5,0.7,nan\r\n2,,x,1,0.25\n3,1,0,1,y\n4,1,0,1,2\n";
    for bytes in [&golden[..], quoted.as_bytes()] {
        for step in (1..120).chain([bytes.len(), bytes.len() + 1]) {
            compare_panel(bytes, step);
        }
        for length in 0..bytes.len() {
            compare_panel(&bytes[..length], 7);
        }
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            compare_panel(&bytes, 23);
        }
    }
}

/// Compares columns of JSON that are held with those that are read in chunks, which may refuse
/// them for any reason.
fn compare_columns(text: &[u8], step: usize) {
    let found = json::columns_in_chunks(&text, &wanted(), step);
    let expected = json::read(text, Layout::Columns, &wanted());
    match (&found, &expected) {
        (Err(_), Err(expected)) if expected.what().contains("UTF-8") => {}
        (Err(error), _) if error.what() == "another layout" => {
            assert!(json::layout(text) != Some(Layout::Columns), "{step}");
        }
        _ => assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{step}"),
    }
}

#[test]
fn columns_of_json_are_the_same_in_chunks_of_any_length() {
    let golden = fixture("columns/cfgA/0.json");
    let odd = "\u{feff} {\"m\": [1, 2.5e-3 , NaN], \"x\": [[1, {}], \"a\\n\", null], \"run\": [\"\u{e9}\", \"b\", true],\n\
        \"m\" : [-Infinity, 0.25,\"x\"], \"epoch\": [0,1,2], \"e\\u0070och\": [] } \n";
    let even = "{\"m\": [1, 2, 3], \"epoch\":[0,1,12345], \"a.b\": [null, -1, 1E5]}\n\n";
    for bytes in
        [&golden[..], odd.as_bytes(), even.as_bytes(), b"{ }", b"{\"m\": [ ]}", b"{\"m\": [1], \"b\": [{}]}"]
    {
        for step in (1..120).chain([bytes.len(), bytes.len() + 1]) {
            compare_columns(bytes, step);
        }
        for step in [1, 7] {
            (0..bytes.len()).for_each(|length| compare_columns(&bytes[..length], step));
        }
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            compare_columns(&bytes, 5);
        }
    }
}

proptest! {
    #[test]
    fn any_columns_are_read_alike(text in r#"[\[\]{}":,ab.m0-9 \nNaN\u{e9}\\e-]{0,60}"#, step in 1_usize..30) {
        compare_columns(format!("{{\"m\": [{text}], \"a\": [1]}}").as_bytes(), step);
        compare_columns(format!("{{{text}").as_bytes(), step);
    }

    #[test]
    fn any_panel_is_read_alike(text in r#"[",0-9ab\n;é]{0,80}"#, step in 1_usize..30) {
        compare_panel(format!("Step,a - m,a - m__MIN,a - m__MAX,b - m\n{text}").as_bytes(), step);
    }

    #[test]
    fn any_text_is_read_alike(text in r#"[\[\]{}":,ab.m0-9 \nNaNé\\;]{0,80}"#, step in 1_usize..30) {
        for way in [Way::Wide, Way::Long, ROWS, LINES] {
            way.compare(text.as_bytes(), step);
            way.compare(format!("run,epoch,m\n{text}").as_bytes(), step);
            way.compare(format!("[{{\"m\": 1}}, {{{text}}}]").as_bytes(), step);
        }
    }
}
