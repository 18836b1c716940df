//! PyTorch files, with every tensor decoded. Mutations seldom keep the checksums of an archive, so
//! that the input is the pickle, put into an archive with two storages.
//!
//! Covers: array/pt, graph/pyg.

#![no_main]

use std::sync::Arc;

use calipers_io::array::{Arrays, pt};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let storage: Vec<u8> = (0..64).collect();
    let members = [("a/data.pkl", bytes), ("a/data/0", &storage), ("a/data/1", &storage[..8])];
    for file in [bytes.to_vec(), archive(&members)] {
        if let Ok(dict) = pt::open_state_dict(Arc::new(file.clone())) {
            write_and_read(&dict);
        }
        for unit in pt::open(Arc::new(file)).unwrap_or_default() {
            for key in unit.keys() {
                if let Ok(Some(array)) = unit.get(&key) {
                    drop(array.to_f64s());
                }
            }
        }
    }
});

/// Tensors of a kind that can be written are read again as they were.
fn write_and_read(dict: &Arrays) {
    let decoded = dict.keys().into_iter().map(|key| Some((key.clone(), dict.get(&key).ok()??)));
    let Some(tensors) = decoded.collect::<Option<Vec<_>>>() else { return };
    let mut written = Vec::new();
    if pt::write_to(&tensors, &mut written).is_ok() {
        let again = pt::open_state_dict(Arc::new(written)).expect("we wrote it");
        assert!(tensors.iter().all(|(key, array)| again.get(key).ok().flatten().as_ref() == Some(array)));
    }
}

/// A zip archive of stored members.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let header = out.len() as u32;
        let mut fields = vec![20, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        for number in [checksum(bytes), bytes.len() as u32, bytes.len() as u32, name.len() as u32] {
            fields.extend(number.to_le_bytes());
        }
        out.extend(b"PK\x03\x04");
        out.extend(&fields);
        out.extend(name.bytes().chain(bytes.iter().copied()));
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&fields);
        directory.extend([0; 10].into_iter().chain(header.to_le_bytes()).chain(name.bytes()));
    }
    let (start, count) = (out.len() as u32, members.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].iter().flat_map(|n| n.to_le_bytes()));
    out.extend([directory.len() as u32, start].iter().flat_map(|n| n.to_le_bytes()).chain([0; 2]));
    out
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
