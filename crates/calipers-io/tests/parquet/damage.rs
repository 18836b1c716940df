//! Cut, flipped and lying files: an error, never a panic and never a wrong number.

use ::parquet::basic::{BrotliLevel, Compression};
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use calipers_io::history::parquet;
use proptest::prelude::*;

use crate::by_hand::{Claims, file as by_hand, of_body};
use crate::writer::{Cells, file, small_pages};
use crate::{cells, wanted};

const VALUES: [f64; 5] = [0.5, 0.91, 0.95, 0.89, 0.96];

fn sample(compression: Compression, version: WriterVersion) -> Vec<u8> {
    let schema = "message run { required int64 epoch; optional double val_F1; required binary fold (UTF8); }";
    let group = vec![
        Cells::Int64((0..9).map(Some).collect()),
        Cells::Double((0..9).map(|row| (row % 2 == 0).then_some(f64::from(row) / 9.0)).collect()),
        Cells::Text(vec![Some("a"); 9]),
    ];
    file(schema, small_pages(compression, version).build(), &[group])
}

fn samples() -> [Vec<u8>; 5] {
    [
        sample(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0),
        sample(Compression::SNAPPY, WriterVersion::PARQUET_2_0),
        sample(Compression::BROTLI(BrotliLevel::default()), WriterVersion::PARQUET_1_0),
        sample(Compression::LZ4_RAW, WriterVersion::PARQUET_2_0),
        by_hand(&VALUES, &Claims::of(&VALUES)),
    ]
}

fn refused(bytes: &[u8]) -> String {
    parquet::read(bytes, &wanted(&["val_F1"], &[])).expect_err("a damaged file").to_string()
}

#[test]
fn the_file_made_by_hand_is_read() {
    let bytes = by_hand(&VALUES, &Claims::of(&VALUES));
    let table = parquet::read(&bytes, &wanted(&["val_F1"], &[])).unwrap();
    let want: Vec<_> = (0..).zip(VALUES.map(f64::to_bits)).collect();
    assert_eq!(cells(&table, "val_F1"), want);
}

#[test]
fn a_file_cut_at_any_byte_is_an_error() {
    for bytes in samples() {
        for length in 0..bytes.len() {
            assert!(parquet::read(&bytes[..length], &wanted(&["val_F1"], &["fold"])).is_err(), "{length}");
        }
    }
}

#[test]
fn a_flipped_bit_never_changes_a_number_under_a_checksum() {
    let [.., bytes] = samples();
    let want = by_hand(&VALUES, &Claims::of(&VALUES));
    let want = cells(&parquet::read(&want, &wanted(&["val_F1"], &[])).unwrap(), "val_F1");
    for bit in 0..8 * bytes.len() {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(table) = parquet::read(&bytes, &wanted(&["val_F1"], &[]))
            && let Some(column) = table.number("val_F1")
            && column.unreadable.is_none()
        {
            assert_eq!(cells(&table, "val_F1"), want, "bit {bit}");
        }
    }
}

#[test]
fn no_flipped_bit_makes_the_decoder_of_numbers_panic() {
    for bytes in samples() {
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = parquet::read(&bytes, &wanted(&["val_F1", "epoch"], &[])) {
                assert!(!error.to_string().contains("cannot follow"), "bit {bit}: {error}");
            }
        }
    }
}

#[test]
fn damaged_names_are_an_error_or_names() {
    let bytes = &samples()[0];
    for bit in 0..8 * bytes.len() {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Ok(table) = parquet::read(&bytes, &wanted(&[], &["fold"])) {
            for text in &table.texts {
                let sound = |(row, name): &(u32, u32)| {
                    (*row as usize) < table.rows && (*name as usize) < text.names.len()
                };
                assert!(text.cells.iter().all(sound), "bit {bit}");
            }
        }
    }
}

#[test]
fn a_wrong_checksum_names_the_column_and_the_page() {
    let mut bytes = by_hand(&VALUES, &Claims::of(&VALUES));
    let at = bytes.windows(8).position(|window| window == 0.91_f64.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    let error = refused(&bytes);
    assert!(error.contains("checksum") && error.contains("column `val_F1`"), "{error}");
    assert!(error.contains("page at byte 4"), "{error}");
}

#[test]
fn claims_beyond_the_bytes_are_refused_before_anything_is_allocated() {
    let claims = || Claims::of(&VALUES);
    for (why, claims) in [
        ("more rows than the file can hold", Claims { rows: 1 << 30, page_values: 1 << 30, ..claims() }),
        ("do not fill its row group", Claims { page_values: 4, inflated: 32, ..claims() }),
        ("wrong length", Claims { page_values: 4, ..claims() }),
        ("not possible", Claims { inflated: 41, ..claims() }),
        ("not possible", Claims { inflated: i64::from(i32::MAX), codec: 1, ..claims() }),
        ("without its sizes", Claims { inflated: -1, ..claims() }),
        ("encoding 8", Claims { encoding: 8, ..claims() }),
        ("LZO", Claims { codec: 3, ..claims() }),
        ("damaged", Claims { offset: -9, ..claims() }),
        ("damaged", Claims { offset: i64::MAX, ..claims() }),
        ("damaged", Claims { rows: -1, ..claims() }),
    ] {
        let body = if why.starts_with("do not") { &VALUES[..4] } else { &VALUES[..] };
        let error = refused(&by_hand(body, &claims));
        assert!(error.contains(why), "{why}: {error}");
    }
}

/// 64 MiB of zeros as Brotli.
const ZEROS: &[u8] = b"\
    \xcb\xff\xff\x3f\x00\x24\x00\xe2\xb1\x40\x72\xef\xff\xf8\xff\xff\x07\x80\x04\x40\x1c\x16\x80\xee\
    \xfd\x1f\xff\xff\xff\x00\x90\x00\x88\xc3\x02\xd0\xbd\xff\xe3\xff\xff\x1f\x00\x12\x00\x71\x58\x00\
    \xba\xf7\x7f\xfc\xff\xff\x03\x40\x02\x20\x0e\x0b\x40\xf7\xfe\x8f\xff\xff\x7f\x00\x48\x00\xc4\x61\
    \x01\xe8\xde\xff\xf1\xff\xff\x0f\x00\x09\x80\x38\x2c\x00\xdd\xfb\xbf\xfc\xff\xff\x03\x20\x01\x10\
    \x87\x05\xa0\x7b\xff\x07\
";

#[test]
fn a_page_that_inflates_to_more_than_it_says_is_refused_before_it_is_held() {
    let error = refused(&of_body(ZEROS, &Claims { codec: 4, ..Claims::of(&VALUES) }));
    assert!(error.contains("inflates to more") && error.contains("more than 40 bytes"), "{error}");
}

#[test]
fn the_frame_of_the_file_is_checked() {
    let read = |bytes: &[u8]| refused(bytes);
    assert!(read(b"").contains("empty"));
    assert!(read(b"PAR1").contains("cut off") && parquet::is_parquet(b"PAR1"));
    assert!(read(b"PK..").contains("not a parquet file") && !parquet::is_parquet(b"PK.."));
    assert!(read(b"PARE1234").contains("encrypted"));
    assert!(read(b"PAR1\x00\x00\x00\x00PAR1").contains("cut off"));
    assert!(read(b"PAR1\xff\xff\xff\xffPAR1").contains("4294967295"));
    assert!(read(b"PAR1\x00\x01\x00\x00\x00PAR1").contains("damaged"));
    // Ten bytes of footer that promise a schema of two thousand million elements.
    let lying = [&b"PAR1\x15\x02\x19\xfc\xff\xff\xff\xff\x07\x00"[..], &[10, 0, 0, 0], b"PAR1"].concat();
    assert!(read(&lying).contains("elements with"), "{}", read(&lying));
}

#[test]
fn a_small_file_may_hold_many_equal_rows() {
    let schema = "message run { required double val_F1; }";
    let group = vec![Cells::Double(vec![Some(0.5); 300_000])];
    let bytes = file(schema, WriterProperties::default(), &[group]);
    assert!(bytes.len() < 2_000, "{}", bytes.len());
    let table = parquet::read(&bytes, &wanted(&["val_F1"], &[])).unwrap();
    assert_eq!(table.number("val_F1").unwrap().rows.len(), 300_000);
}

proptest! {
    #[test]
    fn any_damage_is_an_error_or_a_table(
        sample in 0..3_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 2..64),
    ) {
        let mut bytes = samples()[sample].clone();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(table) = parquet::read(&bytes, &wanted(&["val_F1", "epoch"], &["fold"])) {
            prop_assert!(table.numbers.iter().all(|column| column.rows.len() <= table.rows));
        }
    }
}
