//! Small files that ask for much memory: refused with what was declared, what is allowed and how to allow more (R1).

use std::io::Write;

use crate::support::Bench;

/// An npz file with one deflated member of so many zeros behind a header of such a shape.
fn bomb(shape: &str, bytes: usize) -> Vec<u8> {
    let mut head = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + head.len() + 1) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut file = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    file.start_file("edge_index.npy", options).unwrap();
    file.write_all(b"\x93NUMPY\x01\0").unwrap();
    file.write_all(&(head.len() as u16).to_le_bytes()).unwrap();
    file.write_all(head.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..bytes >> 20).for_each(|_| file.write_all(&zeros).unwrap());
    file.finish().unwrap().into_inner()
}

#[test]
fn row_61_an_npz_that_declares_more_than_is_allowed_is_refused_from_its_header() {
    let bench = Bench::new();
    let bytes = 256 << 20;
    bench.write("bomb.npz", bomb(&format!("(2, {})", bytes / 16), bytes));
    assert!(bench.bytes("bomb.npz").len() < 1 << 20);
    let line = "independent-set bomb.npz --no-scores --num-nodes 3 --memory 64M";
    bench.refuses(line, 1, &["bomb.npz", "edge_index.npy", "67108864 bytes", "--memory"]);
}

#[test]
fn s11_text_that_grows_beyond_the_budget_is_refused_at_its_line() {
    let bench = Bench::new();
    bench.write("g.txt", "0 1\n".repeat(3 << 20));
    bench.refuses(
        "independent-set --graph g.txt --no-scores --memory 16M",
        1,
        &["g.txt", "line ", "--memory"],
    );
    bench.refuses(
        "independent-set --graph g.txt --no-scores --memory 1M",
        1,
        &["the file", "1048576 bytes", "--memory"],
    );
    bench.refuses("independent-set --graph g.txt --memory 5X", 2, &["--memory", "512M"]);
}
