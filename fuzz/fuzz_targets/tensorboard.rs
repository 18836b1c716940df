//! TensorBoard event files. Mutations seldom keep a checksum, so that the bytes are also taken for
//! the event of one record, framed here.
//!
//! Covers: history/tensorboard.

#![no_main]

use calipers_io::history::{Wanted, tensorboard};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let keys = ["val/F1", "epoch", "step", "wall_time"];
    let wanted = Wanted { numbers: keys.map(str::to_owned).to_vec(), texts: Vec::new(), ..Wanted::default() };
    for file in [bytes.to_vec(), framed(bytes)] {
        let Ok(table) = tensorboard::read(&[("a", &file), ("b", &file)], &wanted) else { continue };
        assert!(table.rows <= 2 * file.len());
        assert!(table.cut_at.is_none_or(|start| start < file.len() as u64));
        for column in &table.numbers {
            assert_eq!(column.rows.len(), column.values.len());
            assert!(column.rows.is_sorted_by(|a, b| a < b));
            assert!(column.rows.last().is_none_or(|row| (*row as usize) < table.rows));
        }
    }
});

/// One record with right checksums.
fn framed(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    [&length[..], &masked(&length), event, &masked(event)].concat()
}

/// CRC-32C, bit by bit, turned and shifted.
fn masked(bytes: &[u8]) -> [u8; 4] {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    let crc = !bytes.iter().fold(!0_u32, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step));
    crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}
