//! A small file of every packed format that asks for much memory: refused, and never more is held than is allowed
//! and 256 MiB (T20).

use std::io::{Cursor, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use parquet::data_type::DoubleType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use zip::write::SimpleFileOptions;

use crate::support::Bench;

/// What the inputs may ask for, and what the program may hold beside it.
const ALLOWED_MIB: u64 = 64;
const BESIDE_MIB: u64 = 256;
/// The width and height of the images.
const SIDE: u32 = 16_384;
const BLOCK: usize = 16 << 20;
const BLOCKS: usize = 32;

#[test]
fn s6_every_packed_format_is_refused_within_its_memory() {
    let bench = Bench::new();
    let edges = b"0 1\n".repeat(BLOCK / 4);
    let pixels = zlib(&vec![0; SIDE as usize + 1], SIDE as usize);
    bench.write("g.txt.gz", gz(&edges).repeat(BLOCKS));
    bench.write("g.txt.bz2", bz2(&edges).repeat(BLOCKS));
    bench.write("g.zip", zip(&[("g.txt", &edges, BLOCKS)]));
    bench.write("g.npz", zip(&[("edge_index.npy", &[0; BLOCK], BLOCKS)]));
    bench.write("g.tar.gz", tar_gz());
    bench.write("i.png", png(&pixels));
    bench.write("i.tif", tiff(&pixels));
    bench.write("f.parquet", parquet());
    bench.write("w.pt", pt());
    let database = rusqlite::Connection::open(bench.path("m.db")).unwrap();
    database.execute_batch(DATABASE).unwrap();
    drop(database);
    for (line, words) in [
        ("independent-set --graph g.txt.gz --no-scores", &["g.txt.gz", "byte ", "--memory"][..]),
        ("independent-set --graph g.txt.bz2 --no-scores", &["g.txt.bz2", "byte ", "--memory"]),
        ("independent-set --graph g.zip/g.txt --no-scores", &["g.txt", "--memory"]),
        ("independent-set g.npz --no-scores --num-nodes 3", &["edge_index.npy", "--memory"]),
        ("independent-set --graph g.tar.gz/g.txt --no-scores", &["g.tar.gz", "67108864 bytes", "gunzip"]),
        ("independent-set w.pt --no-scores", &["w.pt", "--memory"]),
        ("segmentation --truth i.png --pred i.png --classes 2", &["i.png", "--memory"]),
        ("segmentation --truth i.tif --pred i.tif --classes 2", &["i.tif", "--memory"]),
        ("training f.parquet --metric f", &["f.parquet", "rows"]),
        ("training m.db --metric f", &["m.db"]),
    ] {
        let (status, said, peak) = run(&bench, &format!("{line} --memory {ALLOWED_MIB}M"));
        assert_eq!(status, Some(1), "{line}: {said}");
        assert!(words.iter().all(|word| said.contains(word)), "{line}: {said}");
        let allowed = ALLOWED_MIB + BESIDE_MIB;
        assert!(peak >> 10 <= allowed, "{line}: {} MiB held, {allowed} allowed", peak >> 10);
    }
}

/// The exit status, what was said, and the most KiB that were held.
fn run(bench: &Bench, line: &str) -> (Option<i32>, String, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(line.split_whitespace())
        .current_dir(bench.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (start, mut peak) = (Instant::now(), 0);
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(held(child.id()));
        assert!(start.elapsed() < Duration::from_secs(60), "{line}: no end");
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned(), peak)
}

/// The most KiB that a process has held so far; 0 where the system does not say.
fn held(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// So many times the bytes as one stream.
fn zlib(bytes: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    (0..times).for_each(|_| encoder.write_all(bytes).unwrap());
    encoder.finish().unwrap()
}

/// An archive of deflated members, each so many times its bytes.
fn zip(members: &[(&str, &[u8], usize)]) -> Vec<u8> {
    let mut file = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes, times) in members {
        file.start_file(*name, options.compression_level(Some(1))).unwrap();
        (0..*times).for_each(|_| file.write_all(bytes).unwrap());
    }
    file.finish().unwrap().into_inner()
}

/// A header that announces one long file, the file, and the end, each a member of the compressed stream.
fn tar_gz() -> Vec<u8> {
    let mut header = [0; 512];
    header[..5].copy_from_slice(b"g.txt");
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", BLOCK * BLOCKS).as_bytes());
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    [gz(&header), gz(&vec![0; BLOCK]).repeat(BLOCKS), gz(&[0; 1024])].concat()
}

fn png(pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIDE, SIDE);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_chunk(png::chunk::IDAT, pixels).unwrap();
    writer.finish().unwrap();
    bytes
}

/// One band of 8 bits in one strip.
fn tiff(pixels: &[u8]) -> Vec<u8> {
    let tags: [(u16, u32); 9] = [
        (256, SIDE),
        (257, SIDE),
        (258, 8),
        (259, 8),
        (262, 1),
        (273, 8 + 2 + 9 * 12 + 4),
        (277, 1),
        (278, SIDE),
        (279, pixels.len() as u32),
    ];
    let mut bytes = b"II\x2a\0\x08\0\0\0\x09\0".to_vec();
    for (tag, value) in tags {
        bytes.extend_from_slice(&tag.to_le_bytes());
        bytes.extend_from_slice(b"\x04\0\x01\0\0\0");
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    [&bytes, &[0; 4][..], pixels].concat()
}

/// One number, four million times.
fn parquet() -> Vec<u8> {
    let schema = Arc::new(parse_message_type("message m { required double f; }").unwrap());
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::builder().build())).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values = vec![0.5; 1 << 20];
    for _ in 0..4 {
        column.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
    }
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

/// A matrix of pairs under the key `edge_index`, its zeros deflated.
fn pt() -> Vec<u8> {
    let pairs = (BLOCK * BLOCKS / 16) as u32;
    let long = |number: u32| [&b"J"[..], &number.to_le_bytes()].concat();
    let text = |text: &str| [&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
    let pickle = [
        b"\x80\x02}".to_vec(),
        text("edge_index"),
        b"ctorch._utils\n_rebuild_tensor_v2\n((".to_vec(),
        text("storage"),
        b"ctorch\nLongStorage\n".to_vec(),
        text("0"),
        text("cpu"),
        long(2 * pairs),
        b"tQK\0K\x02".to_vec(),
        long(pairs),
        b"\x86".to_vec(),
        long(pairs),
        b"K\x01\x86\x89ccollections\nOrderedDict\n)RtRs.".to_vec(),
    ];
    zip(&[("w/data.pkl", &pickle.concat(), 1), ("w/data/0", &[0; BLOCK], BLOCKS), ("w/version", b"3\n", 1)])
}

/// A view that has no end in the place of the values.
const DATABASE: &str = "
    CREATE TABLE experiments (experiment_id INTEGER, name TEXT);
    CREATE TABLE runs (run_uuid TEXT, name TEXT, experiment_id INTEGER, lifecycle_stage TEXT, status TEXT);
    INSERT INTO runs VALUES ('r', 'r', 0, 'active', 'FINISHED');
    CREATE VIEW metrics AS WITH RECURSIVE n(step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM n)
        SELECT 'f' AS key, 0.5 AS value, step AS timestamp, 'r' AS run_uuid, step, 0 AS is_nan FROM n;";
