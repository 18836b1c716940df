//! Writes arrays where the peers and the program can read them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::Outcome;

/// An element type of the npy format, little-endian.
pub(crate) trait Element: Copy {
    /// As the header names it.
    const DESCR: &'static str;
    /// Writes one element.
    fn write(self, out: &mut dyn Write) -> std::io::Result<()>;
}

impl Element for i64 {
    const DESCR: &'static str = "<i8";
    fn write(self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&self.to_le_bytes())
    }
}

impl Element for f32 {
    const DESCR: &'static str = "<f4";
    fn write(self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&self.to_le_bytes())
    }
}

impl Element for f64 {
    const DESCR: &'static str = "<f8";
    fn write(self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&self.to_le_bytes())
    }
}

impl Element for u8 {
    const DESCR: &'static str = "|u1";
    fn write(self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&[self])
    }
}

impl Element for bool {
    const DESCR: &'static str = "|b1";
    fn write(self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&[u8::from(self)])
    }
}

/// Writes the header and the rows, which together are the array.
pub(crate) fn write<T: Element>(out: &mut dyn Write, rows: &[&[T]], one_row_is_flat: bool) -> Outcome {
    let length = rows.first().map_or(0, |row| row.len());
    let shape = if one_row_is_flat { format!("({length},)") } else { format!("({}, {length})", rows.len()) };
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}", T::DESCR);
    // Magic, version, length and header together fill whole blocks of 64 bytes.
    let padding = 63 - (10 + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&u16::try_from(header.len())?.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for row in rows {
        for &value in *row {
            value.write(out)?;
        }
    }
    Ok(())
}

/// A one-dimensional array in a file of its own.
pub(crate) fn save<T: Element>(path: &Path, values: &[T]) -> Outcome {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out, &[values], true)?;
    Ok(out.flush()?)
}

/// A `[2, M]` array in a file of its own.
pub(crate) fn save_pair<T: Element>(path: &Path, first: &[T], second: &[T]) -> Outcome {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out, &[first, second], false)?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_fills_whole_blocks_and_the_data_follow() {
        let mut bytes = Vec::new();
        write(&mut bytes, &[&[1i64, 2], &[3, 4]], false).unwrap();
        assert_eq!(bytes.len() % 64, 32);
        assert_eq!(bytes[bytes.len() - 8..], 4i64.to_le_bytes());
        assert!(String::from_utf8_lossy(&bytes).contains("'shape': (2, 2)"));
    }
}
