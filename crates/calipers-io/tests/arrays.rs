//! npy, npz and safetensors files: what other programs wrote, what liars wrote, and damage.

use std::io::Write;
use std::sync::{Arc, Mutex};

use calipers_core::Result;
use calipers_io::array::{Array, Arrays, Dtype, Matrix, npy, npz, safetensors};
use calipers_io::file::ReadAt;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/arrays/{name}", env!("CARGO_MANIFEST_DIR"))).expect("a fixture")
}

fn open_npz(bytes: Vec<u8>) -> Result<Arrays> {
    npz::open(Arc::new(bytes))
}

fn open_safetensors(bytes: Vec<u8>) -> Result<Arrays> {
    safetensors::open(Arc::new(bytes))
}

/// All arrays of a file, or the first error.
fn everything(arrays: Result<Arrays>) -> Result<Vec<(String, Array)>> {
    let arrays = arrays?;
    arrays
        .keys()
        .into_iter()
        .map(|key| Ok((key.clone(), arrays.get(&key)?.expect("the key is there"))))
        .collect()
}

/// Cuts at every byte and flips every bit; `read` must never panic, and `accepted` sees what it took.
fn damage<T>(bytes: &[u8], read: impl Fn(Vec<u8>) -> Result<T>, accepted: impl Fn(T)) {
    for end in 0..bytes.len() {
        assert!(read(bytes[..end].to_vec()).is_err(), "cut at byte {end}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(value) = read(damaged) {
            accepted(value);
        }
    }
}

const EDGES: [[i64; 5]; 2] = [[0, 1, 2, 3, 70000], [1, 0, 3, 2, 4]];

#[test]
fn orders_and_byte_orders_of_numpy_all_give_the_same_numbers() {
    for name in ["edges.npy", "edges_fortran.npy", "edges_big_endian.npy", "edges_both.npy"] {
        let array = npy::parse(&fixture(name)).unwrap();
        assert_eq!(array.shape(), [2, 5], "{name}");
        assert_eq!(array.to_i64s().unwrap(), EDGES.concat(), "{name}");
        let file = npy::open(Arc::new(fixture(name))).unwrap();
        assert_eq!(file.read_all().unwrap(), array);
        for (row, start, length) in
            (0..2).flat_map(|row| (0..6).flat_map(move |s| (0..6 - s).map(move |l| (row, s, l))))
        {
            let want = &EDGES[row][start..start + length];
            for matrix in [&array as &dyn Matrix, &*file] {
                let mut out = vec![-1; length];
                matrix.read_row(row as u64, start as u64, &mut out).unwrap();
                assert_eq!(out, want, "{name}");
                assert!(matrix.read_row(row as u64, start as u64, &mut [0; 6]).is_err());
                assert!(matrix.read_row(2, 0, &mut [0]).is_err());
                assert!(matrix.read_row(0, u64::MAX, &mut [0]).is_err());
            }
        }
    }
}

#[test]
fn the_other_dtypes_of_numpy_are_read() {
    let read = |name: &str| npy::parse(&fixture(name)).unwrap();
    let cube = read("cube_fortran.npy");
    assert_eq!((cube.dtype(), cube.shape()), (Dtype::F32, &[2, 3, 4][..]));
    assert_eq!(cube.to_f64s().unwrap(), (0..24).map(f64::from).collect::<Vec<_>>());
    assert!(cube.to_i64s().unwrap_err().to_string().contains("f32"));
    assert_eq!(read("half.npy").to_f64s().unwrap(), [0.0999755859375, -2.5, f64::INFINITY]);
    assert_eq!(read("bools.npy").to_i64s().unwrap(), [1, 0, 1]);
    assert_eq!((read("scalar.npy").shape().len(), read("scalar.npy").to_i64s().unwrap()), (0, vec![-7]));
    assert_eq!(read("wide_text.npy").texts().unwrap(), ["a", "größe", ""]);
    assert_eq!(read("narrow_text.npy").texts().unwrap(), ["one", "three"]);
    assert!(read("wide_text.npy").to_f64s().is_err());
    for version in ["version2.npy", "version3.npy"] {
        assert_eq!(read(version).to_f64s().unwrap(), [1.5, 2.5]);
    }
    assert!(npy::parse(&fixture("objects.npy")).unwrap_err().to_string().contains("|O"));
}

#[test]
fn rows_longer_than_a_block_agree_with_the_whole_array_in_both_orders() {
    for (fortran, rows, columns) in
        [(false, 2, 30_001), (true, 2, 30_001), (true, 9_000, 3), (true, 1, 20_000)]
    {
        let values: Vec<i64> = (0..rows * columns).map(|i| i * 7919 % 100_003).collect();
        let order = if fortran { "True" } else { "False" };
        let text = format!("{{'descr': '>i8', 'fortran_order': {order}, 'shape': ({rows}, {columns})}}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
        let file = npy::open(Arc::new(bytes.clone())).unwrap();
        let array = npy::parse(&bytes).unwrap();
        let at = |row: i64, column: i64| {
            values[(if fortran { column * rows + row } else { row * columns + column }) as usize]
        };
        for row in [0, rows / 2, rows - 1] {
            let want: Vec<i64> = (1..columns).map(|column| at(row, column)).collect();
            for matrix in [&array as &dyn Matrix, &*file] {
                let mut out = vec![0; columns as usize - 1];
                matrix.read_row(row as u64, 1, &mut out).unwrap();
                assert_eq!(out, want);
            }
        }
    }
}

/// A file of zeros that exists only as a number, and counts what is read of it.
struct Sparse {
    head: Vec<u8>,
    size: u64,
    read: Mutex<u64>,
}

impl ReadAt for Sparse {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        *self.read.lock().expect("no reader panics") += buffer.len() as u64;
        for (i, byte) in buffer.iter_mut().enumerate() {
            *byte = usize::try_from(offset).ok().and_then(|at| self.head.get(at + i)).copied().unwrap_or(0);
        }
        Ok(())
    }
}

#[test]
fn a_file_of_terabytes_is_opened_by_its_header_alone() {
    let text = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': (2, {})}}", 1_u64 << 40);
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((text.len() as u16).to_le_bytes());
    head.extend(text.bytes());
    let size = head.len() as u64 + (16 << 40);
    let source = Arc::new(Sparse { head, size, read: Mutex::new(0) });
    let file = npy::open(Arc::clone(&source) as Arc<dyn ReadAt>).unwrap();
    let mut out = [9; 100];
    file.read_row(1, (1 << 40) - 100, &mut out).unwrap();
    assert_eq!(out, [0; 100]);
    assert!(*source.read.lock().unwrap() < 2_000);
}

#[test]
fn a_damaged_npy_file_never_panics() {
    for name in
        ["edges_both.npy", "half.npy", "wide_text.npy", "narrow_text.npy", "version2.npy", "cube_fortran.npy"]
    {
        damage(&fixture(name), |bytes| npy::parse(&bytes), |array| drop(array.to_f64s()));
        damage(
            &fixture(name),
            |bytes| npy::open(Arc::new(bytes)),
            |file| {
                file.read_all().map(drop).unwrap_or_default();
                file.read_row(0, 0, &mut [0; 2]).unwrap_or_default();
            },
        );
    }
    assert!(npy::parse(b"").unwrap_err().to_string().contains("empty file"));
    let mut longer = fixture("edges.npy");
    longer.push(0);
    assert!(npy::parse(&longer).unwrap_err().to_string().contains("header says 80 bytes, file has 81"));
    let long_header = [b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(), vec![b' '; 100]].concat();
    assert!(npy::parse(&long_header).unwrap_err().to_string().contains("at most 65536 bytes"));
}

#[test]
fn archives_of_numpy_are_read_stored_and_deflated() {
    for name in ["stored.npz", "deflated.npz"] {
        let arrays = open_npz(fixture(name)).unwrap();
        assert_eq!(arrays.get("edge_index").unwrap().unwrap().to_i64s().unwrap(), EDGES.concat());
        assert_eq!(arrays.get("logits").unwrap().unwrap().to_f64s().unwrap(), [-2.0, -1.0, 0.0, 1.0, 2.0]);
        assert_eq!(arrays.get("name").unwrap().unwrap().texts().unwrap(), ["a graph"]);
        assert!(arrays.get("absent").unwrap().is_none());
    }
    assert_eq!(open_npz(fixture("stored.npz")).unwrap().keys(), ["edge_index", "labels", "logits", "name"]);
}

#[test]
fn a_damaged_archive_never_gives_another_value() {
    for name in ["stored.npz", "deflated.npz"] {
        let right = everything(open_npz(fixture(name))).unwrap();
        damage(&fixture(name), |bytes| everything(open_npz(bytes)), |values| assert_eq!(values, right));
    }
    assert!(open_npz(Vec::new()).unwrap_err().to_string().contains("empty file"));
    let cut = open_npz(fixture("stored.npz")[..700].to_vec()).unwrap_err().to_string();
    assert!(cut.contains("npz: broken archive at byte 700"), "{cut}");
}

#[test]
fn archives_with_64_bit_fields_and_other_members_are_read() {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, large) in [("a.npy", true), ("readme.txt", false), ("folder/b.npy", false)] {
        let method = zip::CompressionMethod::Deflated;
        let options = zip::write::SimpleFileOptions::default().compression_method(method).large_file(large);
        writer.start_file(name, options).unwrap();
        writer.write_all(&fixture("edges.npy")).unwrap();
    }
    let arrays = open_npz(writer.finish().unwrap().into_inner()).unwrap();
    assert_eq!(arrays.keys(), ["a", "folder/b"]);
    assert_eq!(arrays.get("a").unwrap(), arrays.get("folder/b").unwrap());
}

/// One member as a hostile writer would describe it.
#[derive(Clone)]
struct Liar {
    name: &'static str,
    method: u16,
    flags: u16,
    bytes: Vec<u8>,
    size: u32,
    crc: u32,
    header: Option<u32>,
}

fn honest(name: &'static str, bytes: &[u8]) -> Liar {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    let (bytes, size) = (bytes.to_vec(), bytes.len() as u32);
    Liar { name, method: 0, flags: 0, bytes, size, crc: crc.sum(), header: None }
}

fn archive(members: &[Liar]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for m in members {
        let header = m.header.unwrap_or(out.len() as u32);
        let fields = |out: &mut Vec<u8>| {
            out.extend(
                [20, 0].into_iter().chain(m.flags.to_le_bytes()).chain(m.method.to_le_bytes()).chain([0; 4]),
            );
            [m.crc, m.bytes.len() as u32, m.size].iter().for_each(|n| out.extend(n.to_le_bytes()));
            out.extend((m.name.len() as u16).to_le_bytes().into_iter().chain([0; 2]));
        };
        if m.header.is_none() {
            out.extend(b"PK\x03\x04");
            fields(&mut out);
            out.extend(m.name.bytes().chain(m.bytes.iter().copied()));
        }
        directory.extend(b"PK\x01\x02\x14\x00");
        fields(&mut directory);
        directory.extend([0; 10].into_iter().chain(header.to_le_bytes()).chain(m.name.bytes()));
    }
    let (start, count) = (out.len() as u32, members.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].iter().flat_map(|n| n.to_le_bytes()));
    out.extend([directory.len() as u32, start].iter().flat_map(|n| n.to_le_bytes()).chain([0; 2]));
    out
}

fn refusal(members: &[Liar]) -> String {
    everything(open_npz(archive(members))).expect_err("a lie").to_string()
}

#[test]
fn every_lie_of_an_archive_is_refused_and_names_its_member() {
    let good = honest("a.npy", &fixture("edges.npy"));
    assert!(everything(open_npz(archive(std::slice::from_ref(&good)))).is_ok());
    let b = honest("b.npy", &fixture("edges.npy"));
    let deflated = |bytes: &[u8]| {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let small = Liar { method: 8, bytes: deflated(&b.bytes), ..b.clone() };
    assert!(everything(open_npz(archive(&[good.clone(), small.clone()]))).is_ok());
    let longer = [&small.bytes[..], b"\0\0"].concat();
    let cases = [
        (vec![good.clone(), good.clone()], "two members have one name", "a.npy"),
        (vec![good.clone(), Liar { flags: 1, ..b.clone() }], "encrypted", "b.npy"),
        (vec![good.clone(), Liar { method: 14, ..b.clone() }], "unknown compression method", "b.npy"),
        (vec![good.clone(), Liar { crc: 1, ..b.clone() }], "checksum", "b.npy"),
        (vec![good.clone(), Liar { size: 9, ..b.clone() }], "declared sizes disagree", "b.npy"),
        (
            vec![good.clone(), Liar { size: small.size - 1, ..small.clone() }],
            "declared sizes are wrong",
            "b.npy",
        ),
        (
            vec![good.clone(), Liar { size: small.size + 1, ..small.clone() }],
            "declared sizes are wrong",
            "b.npy",
        ),
        (vec![good.clone(), Liar { bytes: longer, ..small.clone() }], "declared sizes are wrong", "b.npy"),
        (vec![good.clone(), Liar { size: u32::MAX - 1, ..small.clone() }], "inflates too much", "b.npy"),
        (vec![good.clone(), Liar { header: Some(0), ..b.clone() }], "broken archive at byte 0", "b.npy"),
        (vec![good.clone(), Liar { name: "../b.npy", ..b.clone() }], "name is not allowed", "../b.npy"),
        (vec![good.clone(), Liar { name: "/b.npy", ..b.clone() }], "name is not allowed", "/b.npy"),
        (vec![good.clone(), Liar { name: "a\\b.npy", ..b.clone() }], "name is not allowed", "a\\b.npy"),
        (vec![good.clone(), Liar { name: "a\0.npy", ..b.clone() }], "name is not allowed", "a\\u{0}.npy"),
    ];
    for (members, what, member) in cases {
        let error = refusal(&members);
        assert!(error.contains(what) && error.contains(member), "{what}: {error}");
    }
}

#[test]
fn members_over_the_same_bytes_are_refused() {
    // The second member lies inside the first, with a local header of its own.
    let inner = archive(&[honest("in.npy", &fixture("edges.npy"))]);
    let outer = honest("out.npy", &inner);
    let header = 30 + outer.name.len() as u32;
    let error = refusal(&[outer, Liar { header: Some(header), ..honest("in.npy", &fixture("edges.npy")) }]);
    assert!(error.contains("overlap") && error.contains("out.npy and in.npy"), "{error}");
}

#[test]
fn an_archive_of_too_many_members_is_refused_by_its_end_record() {
    let mut bytes = fixture("stored.npz");
    let end = bytes.len() - 22;
    let mut record = b"PK\x06\x06\x2c\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    record.extend([0_u64, 10_000_000, 10_000_000, 460_000_000, 0].iter().flat_map(|n| n.to_le_bytes()));
    record.extend(b"PK\x06\x07\0\0\0\0");
    record.extend((end as u64).to_le_bytes().into_iter().chain([1, 0, 0, 0]));
    bytes.splice(end..end, record);
    let error = open_npz(bytes).unwrap_err().to_string();
    assert!(error.contains("too many members") && error.contains("10000000"), "{error}");
}

#[test]
fn tensors_of_the_safetensors_library_are_read() {
    let arrays = open_safetensors(fixture("tensors.safetensors")).unwrap();
    let get = |key: &str| arrays.get(key).unwrap().unwrap();
    assert_eq!(get("edge_index").to_i64s().unwrap(), EDGES.concat());
    assert_eq!(get("window").to_f64s().unwrap(), [6.0, 8.0, 11.0, 13.0]);
    assert_eq!(get("brain").to_f64s().unwrap(), [0.10009765625, -2.5]);
    assert_eq!(get("half").to_f64s().unwrap(), [0.0999755859375, -2.5]);
    assert_eq!(get("shorts").to_i64s().unwrap(), [1, 65535]);
    assert_eq!((get("nothing").shape(), get("nothing").len()), (&[0, 3][..], 0));
    assert_eq!(get("single").shape(), [0_u64; 0]);
    assert!(!arrays.keys().contains(&"__metadata__".to_string()));
    let small = open_safetensors(fixture("fp8.safetensors")).unwrap();
    assert!(small.get("small").unwrap_err().to_string().contains("F8_E4M3"));
    assert_eq!(small.get("good").unwrap().unwrap().to_f64s().unwrap(), [1.0, 1.0]);
}

#[test]
fn our_reader_accepts_no_safetensors_file_that_the_library_refuses() {
    let bytes = fixture("tensors.safetensors");
    let ours = |bytes: Vec<u8>| everything(open_safetensors(bytes.clone())).map(|arrays| (bytes, arrays));
    damage(&bytes, ours, |(bytes, arrays)| {
        let theirs = ::safetensors::SafeTensors::deserialize(&bytes).unwrap();
        for (key, array) in arrays {
            let tensor = theirs.tensor(&key).unwrap();
            assert_eq!(tensor.shape().iter().map(|axis| *axis as u64).collect::<Vec<_>>(), array.shape());
            assert_eq!(tensor.dtype().to_string().to_lowercase(), array.dtype().name());
        }
    });
}

fn header(text: &str, data: usize) -> String {
    let bytes = [&(text.len() as u64).to_le_bytes(), text.as_bytes(), &vec![0; data]].concat();
    everything(open_safetensors(bytes)).expect_err("a lie").to_string()
}

#[test]
fn lies_of_a_safetensors_header_are_refused() {
    let one = |name: &str, offsets: &str| {
        format!(r#""{name}":{{"dtype":"U8","shape":[2],"data_offsets":{offsets}}}"#)
    };
    let two = |a: &str, b: &str| format!("{{{a},{b}}}");
    assert!(header(&two(&one("a", "[0,2]"), &one("a", "[2,4]")), 4).contains("the key a occurs twice"));
    assert!(header(&two(&one("a", "[0,2]"), &one("b", "[1,3]")), 3).contains("tensor b"));
    assert!(header(&two(&one("a", "[0,2]"), &one("b", "[3,5]")), 5).contains("tensor b"));
    assert!(header(&two(&one("a", "[0,2]"), &one("b", "[2,0]")), 2).contains("tensor"));
    assert!(header(&format!("{{{}}}", one("a", "[0,2]")), 3).contains("says 2 bytes, the file has 3"));
    assert!(
        header(r#"{"a":{"dtype":"F64","shape":[2305843009213693953],"data_offsets":[0,8]}}"#, 8)
            .contains("tensor a")
    );
    assert!(
        header(r#"{"a":{"dtype":"U8","shape":[1],"shape":[2],"data_offsets":[0,2]}}"#, 2)
            .contains("duplicate")
    );
    assert!(header(&format!("{{\"a\":{}", "[".repeat(100_000)), 0).contains("header"));
    assert!(header("[]", 0).contains("not a JSON object"));
    let huge = [(1_u64 << 63).to_le_bytes().to_vec(), vec![0; 9]].concat();
    assert!(open_safetensors(huge).unwrap_err().to_string().contains("9223372036854775808 bytes"));
    assert!(open_safetensors(Vec::new()).unwrap_err().to_string().contains("empty file"));
}
