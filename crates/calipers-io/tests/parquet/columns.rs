//! Columns of every type, compression, page version and encoding.

use ::parquet::basic::{BrotliLevel, Compression, Encoding, GzipLevel, ZstdLevel};
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use calipers_io::history::{Origin, parquet};

use crate::writer::{Cells, encoded, file, small_pages};
use crate::{cells, names, wanted};

const SCHEMA: &str = "message run {
    required int64 _step; optional int32 epoch; optional float loss; optional double acc;
    required group val { optional double F1; } optional binary fold (UTF8);
}";

/// The cells of 40 rows in three row groups, the middle one without rows.
fn rows(first: usize, count: usize) -> Vec<Cells> {
    let all = first..first + count;
    let sparse = |every: usize, row: usize| row.is_multiple_of(every);
    vec![
        Cells::Int64(all.clone().map(|row| Some(row as i64 * 10)).collect()),
        Cells::Int32(all.clone().map(|row| sparse(3, row).then_some(row as i32 / 3 - 2)).collect()),
        Cells::Float(all.clone().map(|row| Some(1.0 / (row as f32 + 1.0))).collect()),
        Cells::Double(all.clone().map(|row| sparse(3, row).then(|| acc(row))).collect()),
        Cells::Double(all.clone().map(|row| sparse(5, row).then_some(row as f64 / 7.0)).collect()),
        Cells::Text(all.map(|row| Some(if row < 20 { "a" } else { "größe 7" })).collect()),
    ]
}

fn acc(row: usize) -> f64 {
    match row {
        6 => f64::NAN,
        9 => f64::INFINITY,
        _ => (row as f64).sqrt(),
    }
}

fn check(bytes: &[u8]) {
    let wanted = wanted(&["acc", "epoch", "val.F1", "_step", "loss", "gone"], &["fold", "epoch"]);
    let table = parquet::read(bytes, &wanted).expect("a table");
    assert_eq!((table.origin, table.rows, table.cut_at), (Origin::Table, 40, None));
    assert_eq!(table.keys, ["_step", "epoch", "loss", "acc", "val.F1", "fold"]);
    let order: Vec<_> = table.numbers.iter().map(|column| column.key.as_str()).collect();
    assert_eq!(order, ["acc", "epoch", "val.F1", "_step", "loss"]);
    let every = |step: usize, value: fn(usize) -> f64| -> Vec<(u32, u64)> {
        (0..40).step_by(step).map(|row| (row as u32, value(row).to_bits())).collect()
    };
    assert_eq!(cells(&table, "_step"), every(1, |row| row as f64 * 10.0));
    assert_eq!(cells(&table, "epoch"), every(3, |row| row as f64 / 3.0 - 2.0));
    assert_eq!(cells(&table, "loss"), every(1, |row| f64::from(1.0 / (row as f32 + 1.0))));
    assert_eq!(cells(&table, "acc"), every(3, acc));
    assert_eq!(cells(&table, "val.F1"), every(5, |row| row as f64 / 7.0));
    let folds = names(&table, "fold");
    assert!((0..40).map(|row| (row, if row < 20 { "a" } else { "größe 7" }.to_owned())).eq(folds));
    assert_eq!(names(&table, "epoch")[..2], [(0, "-2".to_owned()), (3, "-1".to_owned())]);
    assert_eq!(table.places.of(4), "row 5");
}

#[test]
fn every_compression_and_page_version_gives_the_same_table() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let groups = [rows(0, 23), rows(23, 0), rows(23, 17)];
            let pages = small_pages(compression, version);
            check(&file(SCHEMA, pages.build(), &groups));
            let pages = small_pages(compression, version);
            check(&file(SCHEMA, encoded(pages, Encoding::PLAIN), &groups));
        }
    }
}

#[test]
fn delta_and_split_encodings_give_the_same_table() {
    let numbers = "message run { required int64 a; optional int32 b; optional float c; optional double d; }";
    let keys = wanted(&["a", "b", "c", "d"], &[]);
    let group = || rows(0, 40).into_iter().take(4).collect::<Vec<_>>();
    let plain = file(numbers, encoded(WriterProperties::builder(), Encoding::PLAIN), &[group()]);
    let want = parquet::read(&plain, &keys).unwrap();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let split = small_pages(Compression::SNAPPY, version);
        let split = file(numbers, encoded(split, Encoding::BYTE_STREAM_SPLIT), &[group()]);
        let delta = small_pages(Compression::UNCOMPRESSED, version)
            .set_dictionary_enabled(false)
            .set_column_encoding("a".into(), Encoding::DELTA_BINARY_PACKED)
            .set_column_encoding("b".into(), Encoding::DELTA_BINARY_PACKED);
        let delta = file(numbers, delta.build(), &[group()]);
        for bytes in [split, delta] {
            let table = parquet::read(&bytes, &keys).unwrap();
            for key in ["a", "b", "c", "d"] {
                assert_eq!(cells(&table, key), cells(&want, key), "{key}");
            }
        }
    }
}

#[test]
fn unsigned_numbers_keep_their_value() {
    let schema = "message run { required int32 a (INTEGER(32, false)); required int64 b (UINT_64); }";
    let group = vec![Cells::Int32(vec![Some(-1)]), Cells::Int64(vec![Some(-1)])];
    let bytes = file(schema, WriterProperties::default(), &[group]);
    let table = parquet::read(&bytes, &wanted(&["a", "b"], &["a", "b"])).unwrap();
    assert_eq!(cells(&table, "a"), [(0, 4_294_967_295_f64.to_bits())]);
    assert_eq!(cells(&table, "b"), [(0, 18_446_744_073_709_551_616_f64.to_bits())]);
    assert_eq!(names(&table, "a"), [(0, "4294967295".to_owned())]);
    assert_eq!(names(&table, "b"), [(0, "18446744073709551615".to_owned())]);
}

#[test]
fn numbers_and_truth_values_are_names_by_their_text() {
    let schema = "message run { optional double a; required boolean b; required float c; }";
    let group = vec![
        Cells::Double(vec![Some(0.0), None, Some(2.5)]),
        Cells::Bool(vec![Some(true), Some(false), Some(true)]),
        Cells::Float(vec![Some(0.1); 3]),
    ];
    let bytes = file(schema, WriterProperties::default(), &[group]);
    let table = parquet::read(&bytes, &wanted(&[], &["a", "b", "c"])).unwrap();
    assert_eq!(names(&table, "a"), [(0, "0".to_owned()), (2, "2.5".to_owned())]);
    assert_eq!(names(&table, "b")[1..], [(1, "false".to_owned()), (2, "true".to_owned())]);
    assert_eq!(table.text("c").unwrap().names, ["0.1"]);
}

#[test]
fn columns_that_are_not_numeric_say_their_type_and_spoil_no_other() {
    let schema = "message run {
        required boolean flag; required binary text (UTF8); required fixed_len_byte_array(2) half (FLOAT16);
        required int32 cents (DECIMAL(9, 2)); repeated double list; required double good;
    }";
    let group = vec![
        Cells::Bool(vec![Some(true)]),
        Cells::Text(vec![Some("0.5")]),
        Cells::Fixed(vec![Some(vec![0, 0x3c])]),
        Cells::Int32(vec![Some(5)]),
        Cells::Nulls(1),
        Cells::Double(vec![Some(0.5)]),
    ];
    let bytes = file(schema, WriterProperties::default(), &[group]);
    let table =
        parquet::read(&bytes, &wanted(&["flag", "text", "half", "cents", "list", "good"], &[])).unwrap();
    for (key, kind) in [
        ("flag", "BOOLEAN"),
        ("text", "BYTE_ARRAY (UTF8)"),
        ("cents", "INT32 (Decimal"),
        ("list", "a list of DOUBLE"),
    ] {
        let error = table.number(key).unwrap().unreadable.clone().expect(key).to_string();
        assert!(error.contains(kind) && error.contains(&format!("column `{key}`")), "{error}");
    }
    assert_eq!(cells(&table, "good"), [(0, 0.5_f64.to_bits())]);
    assert_eq!(cells(&table, "half"), [(0, 1.0_f64.to_bits())]);
    assert_eq!(table.number("half").unwrap().stored, calipers_core::Stored::Half);
    for key in ["half", "cents", "list"] {
        let error = parquet::read(&bytes, &wanted(&[], &[key])).unwrap_err().to_string();
        assert!(error.contains("names") && error.contains(key), "{error}");
    }
}

#[test]
fn two_columns_of_one_name_are_named_by_both_positions() {
    let schema = "message run { required double x; required double a; required double a; }";
    let group = (0..3).map(|_| Cells::Double(vec![Some(0.5)])).collect();
    let bytes = file(schema, WriterProperties::default(), &[group]);
    let table = parquet::read(&bytes, &wanted(&["a", "x"], &[])).unwrap();
    let error = table.number("a").unwrap().unreadable.clone().unwrap();
    assert_eq!(error.place(), Some("columns 2 and 3"));
    assert_eq!((cells(&table, "x").len(), table.keys.len()), (1, 2));
    assert!(parquet::read(&bytes, &wanted(&[], &["a"])).is_err());
}

#[test]
fn text_in_a_delta_encoding_is_refused_by_name() {
    let schema = "message run { required binary fold (UTF8); }";
    let group = || vec![Cells::Text(vec![Some("a"), Some("ab")])];
    for encoding in [Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        let bytes = file(schema, encoded(WriterProperties::builder(), encoding), &[group()]);
        let error = parquet::read(&bytes, &wanted(&[], &["fold"])).unwrap_err().to_string();
        assert!(error.contains("encoding") && error.contains("column `fold`"), "{error}");
    }
}

#[test]
fn a_table_without_rows_has_its_keys() {
    let bytes = file(SCHEMA, WriterProperties::default(), &[]);
    let table = parquet::read(&bytes, &wanted(&["acc"], &["fold"])).unwrap();
    assert_eq!((table.rows, table.keys.len(), cells(&table, "acc").len()), (0, 6, 0));
}
