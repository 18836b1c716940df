//! Slabs of the leading axis of npy files, and arrays borrowed as typed elements.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use calipers_io::array::npy;
use calipers_io::file::ReadAt;
use half::f16;

/// An npy file of the given element type, order and shape.
fn npy_file(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while (text.len() + 11) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes.extend(data);
    bytes
}

/// The file, and every slab cut out of the whole array as the oracle.
fn check(bytes: Vec<u8>) {
    let whole = npy::parse(&bytes).unwrap();
    let file = npy::open(Arc::new(bytes)).unwrap();
    let slabs = whole.shape()[0];
    let length = whole.bytes().len() / slabs.max(1) as usize;
    for index in 0..slabs {
        let slab = file.read_slab(index).unwrap();
        assert_eq!(slab.shape(), &whole.shape()[1..]);
        assert_eq!(slab.dtype(), whole.dtype());
        assert_eq!(slab.bytes(), &whole.bytes()[index as usize * length..][..length]);
    }
    assert!(file.read_slab(slabs).unwrap_err().to_string().contains("outside"));
}

#[test]
fn a_slab_is_what_the_whole_array_holds_in_any_order() {
    let wide: Vec<u8> = (0..3 * 5 * 4u32).flat_map(|i| (i * 77).to_be_bytes()).collect();
    let long: Vec<u8> = (0..9_000 * 2 * 2u32).flat_map(|i| (i as u16).to_le_bytes()).collect();
    let words: Vec<u8> = (0..40_000u64 * 2).flat_map(u64::to_le_bytes).collect();
    for fortran in [false, true] {
        check(npy_file(">i4", fortran, "(3, 5, 4)", &wide));
        check(npy_file("<f4", fortran, "(60,)", &wide));
        check(npy_file("|u1", fortran, "(6, 40, 1)", &wide));
        check(npy_file("<u2", fortran, "(2, 9000, 2)", &long));
        check(npy_file("<f4", fortran, "(1, 5, 12)", &wide));
        check(npy_file("<f4", fortran, "(0, 5, 12)", &[]));
        check(npy_file("<f4", fortran, "(2, 0, 12)", &[]));
    }
    // More slabs than fit a block: elements of one are read one by one.
    let file = npy::open(Arc::new(npy_file("<u8", true, "(40000, 2)", &words))).unwrap();
    assert_eq!(file.read_slab(39_999).unwrap().to_i64s().unwrap(), [39_999, 79_999]);
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
        *self.read.lock().unwrap() += buffer.len() as u64;
        buffer.fill(0);
        let start = self.head.len().min(offset as usize);
        let length = buffer.len().min(self.head.len() - start);
        buffer[..length].copy_from_slice(&self.head[start..start + length]);
        Ok(())
    }
}

#[test]
fn a_slab_of_twenty_gigabytes_costs_only_itself() {
    let head = npy_file("<f4", false, "(5000, 1000, 1000)", &[]);
    let size = head.len() as u64 + 20_000_000_000;
    let source = Arc::new(Sparse { head, size, read: Mutex::new(0) });
    let file = npy::open(Arc::clone(&source) as Arc<dyn ReadAt>).unwrap();
    let slab = file.read_slab(4_999).unwrap();
    assert_eq!(slab.shape(), [1000, 1000]);
    assert!(*source.read.lock().unwrap() < 4_100_000);
}

#[test]
fn elements_of_a_file_are_borrowed_not_copied() {
    let halves: Vec<u8> = [1.5f32, -2.0].iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect();
    let array = npy::parse_owned(npy_file("<f2", false, "(2,)", &halves)).unwrap();
    assert!(matches!(array.elements::<f16>(), Some(Cow::Borrowed(&[_, _]))));
    assert!(array.elements::<f32>().is_none());
    let doubles: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    let array = npy::parse_owned(npy_file(">f8", false, "(2,)", &doubles)).unwrap();
    assert!(matches!(array.elements::<f64>(), Some(Cow::Borrowed(_))));
    assert_eq!(array.to_f64s().unwrap(), [1.5, -2.0]);
}
