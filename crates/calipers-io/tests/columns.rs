//! Columns of parquet files as units: what pyarrow wrote, and damage.

use std::sync::Arc;

use calipers_core::Result;
use calipers_io::array::Dtype;
use calipers_io::column::{Cell, Table};

fn read(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/columns/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("a fixture")
}

fn open(bytes: Vec<u8>) -> Result<Table> {
    Table::open(Arc::new(bytes))
}

/// Shape and numbers of a row of lists.
fn numbers(table: &Table, column: &str, row: u64) -> (Vec<u64>, Vec<f64>) {
    match table.column(column).and_then(|column| column.filled(row)).expect("a cell") {
        Cell::Array(array) => (array.shape().to_vec(), array.to_f64s().expect("numbers")),
        Cell::Bytes(bytes) => panic!("{} bytes", bytes.len()),
    }
}

fn bytes(table: &Table, column: &str, row: u64) -> Vec<u8> {
    match table.column(column).and_then(|column| column.filled(row)).expect("a cell") {
        Cell::Bytes(bytes) => bytes.to_vec(),
        Cell::Array(array) => panic!("{array:?}"),
    }
}

#[test]
fn rows_are_files_and_arrays_whatever_the_pages_and_the_compression() {
    let tables = ["images", "numbered", "new_pages"].map(|name| open(read(name)).unwrap());
    for table in &tables {
        assert_eq!(table.rows(), 3);
        assert_eq!(numbers(table, "mask", 1), (vec![2, 3], vec![2.0, 2.0, 1.0, 0.0, 0.0, 255.0]));
        for row in [2, 0, 1] {
            assert_eq!(bytes(table, "image", row), bytes(&tables[0], "image", row));
            assert!(bytes(table, "image", row).starts_with(b"\x89PNG"));
        }
        assert!(bytes(table, "out", 1).starts_with(b"II*\0"));
        assert!(bytes(table, "out", 2).starts_with(b"\x93NUMPY"));
    }
    assert_eq!(numbers(&tables[0], "scores", 2), (vec![1, 1], vec![1.0]));
    assert_eq!(tables[0].unit_names().unwrap(), ["c", "a", "b/deep"]);
    assert_eq!(tables[1].unit_names().unwrap(), ["000000", "000001", "000002"]);
}

#[test]
fn numbers_keep_their_types_and_a_null_is_no_cell() {
    let table = open(read("graphs")).unwrap();
    assert_eq!(table.unit_names().unwrap(), ["7", "11"]);
    let dtype = |column: &str| match table.column(column).unwrap().filled(0).unwrap() {
        Cell::Array(array) => array.dtype(),
        Cell::Bytes(_) => Dtype::Text,
    };
    assert_eq!(
        ["edge_index", "logits", "labels", "num_nodes", "note"].map(dtype),
        [Dtype::I64, Dtype::F32, Dtype::I8, Dtype::I32, Dtype::Text]
    );
    assert_eq!(numbers(&table, "num_nodes", 1), (vec![], vec![4.0]));
    assert_eq!(numbers(&table, "edge_index", 1).0, [2, 8]);
    let labels = table.column("labels").unwrap();
    assert!(labels.cell(0).unwrap().is_some() && labels.cell(1).unwrap().is_none());
    assert!(labels.cell(2).is_err(), "there is no third row");
}

#[test]
fn what_is_no_unit_is_said_with_its_row() {
    let images = open(read("images")).unwrap();
    for (column, row, words) in [
        ("elsewhere", 2, "a path beside them is not followed"),
        ("missing", 1, "row 000001"),
        ("ragged", 2, "3 and 2 elements"),
    ] {
        let error = images.column(column).unwrap().filled(row).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(&format!("row {row:06}")), "{column}: {error}");
        assert!(images.column(column).unwrap().filled(0).is_ok(), "{column}: other rows are read");
    }
    for (column, words) in [
        ("none", "the columns are unit, image, out"),
        ("path", "members path"),
        ("day", "neither files nor numbers"),
    ] {
        let error = images.column(column).map(drop).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(&format!("column `{column}`")), "{error}");
    }
    for (name, words) in
        [("twice", "rows 000000 and 000002"), ("nameless", "row 000001"), ("halves", "text or whole numbers")]
    {
        let error = open(read(name)).unwrap().unit_names().unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}

/// Every cell that can be read, in bytes.
fn cells(bytes: Vec<u8>) -> Result<Vec<Vec<u8>>> {
    let table = open(bytes)?;
    let mut all = vec![table.unit_names()?.join("\n").into_bytes()];
    for name in table.columns() {
        let Ok(column) = table.column(&name) else { continue };
        for row in 0..table.rows() {
            all.push(match column.cell(row)? {
                Some(Cell::Bytes(bytes)) => bytes.to_vec(),
                Some(Cell::Array(array)) => format!("{:?} {:?}", array.shape(), array.bytes()).into_bytes(),
                None => Vec::new(),
            });
        }
    }
    Ok(all)
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let whole = read("graphs");
    for length in 0..whole.len() {
        assert!(cells(whole[..length].to_vec()).is_err(), "cut at {length}");
    }
}

#[test]
fn no_single_wrong_bit_gives_other_cells_in_pages_with_checksums() {
    let whole = read("graphs");
    let footer = {
        let tail = &whole[whole.len() - 8..whole.len() - 4];
        whole.len() - 8 - u32::from_le_bytes(tail.try_into().unwrap()) as usize
    };
    let right = cells(whole.clone()).unwrap();
    for bit in 0..footer * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // Sizes and statistics that nobody reads stand outside of the checksums.
        if let Ok(read) = cells(damaged) {
            assert_eq!(read, right, "bit {bit}");
        }
    }
    // The footer has no checksum: it may not bring the reader down.
    for bit in footer * 8..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        drop(cells(damaged));
    }
}
