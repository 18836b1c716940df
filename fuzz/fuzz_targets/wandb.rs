//! W&B offline logs. Mutations seldom keep a checksum, so that the bytes are also taken for the
//! records themselves, framed here.
//!
//! Covers: history/wandb.

#![no_main]

use calipers_io::history::{Wanted, wandb};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let keys = |keys: [&str; 3]| keys.map(str::to_owned).to_vec();
    let wanted = Wanted {
        numbers: keys(["val_F1", "val.acc", "_step"]),
        texts: keys(["lr", "epoch", "a.b"]),
        ..Wanted::default()
    };
    for file in [bytes.to_vec(), framed(bytes)] {
        let Ok(table) = wandb::read(&file, &wanted) else { continue };
        assert!(table.rows <= file.len());
        assert!(table.cut_at.is_none_or(|start| start < file.len() as u64));
        for column in &table.numbers {
            assert_eq!(column.rows.len(), column.values.len());
            assert!(column.rows.is_sorted_by(|a, b| a < b));
            assert!(column.rows.last().is_none_or(|row| (*row as usize) < table.rows));
        }
        for column in &table.texts {
            assert!(column.cells.is_sorted_by(|a, b| a.0 < b.0));
            assert!(column.cells.iter().all(|(_, name)| (*name as usize) < column.names.len()));
        }
    }
});

/// A log whose records are the bytes between two zeros, with right checksums.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let mut out = b":W&B\xe1\xbe\0".to_vec();
    for record in bytes[..bytes.len().min(30_000)].split(|byte| *byte == 0) {
        if out.len() + record.len() + 7 > 32_768 {
            break;
        }
        let data = [&[1], record].concat();
        out.extend(checksum(&data).to_le_bytes());
        out.extend((record.len() as u16).to_le_bytes());
        out.extend(data);
    }
    out
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
