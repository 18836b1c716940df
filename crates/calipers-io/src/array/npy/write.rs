//! npy files, written: version 1, C order, little-endian.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::array::{Array, Dtype};

/// Writes an array as an npy file.
pub fn write_to(array: &Array, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&written_header(array)?)?;
    out.write_all(&written_elements(array))
}

/// The elements behind the header: texts as letters of four bytes, all of one length.
pub(in crate::array) fn written_elements(array: &Array) -> Cow<'_, [u8]> {
    let Some(texts) = array.texts() else { return Cow::Borrowed(array.bytes()) };
    let length = letters(texts);
    let padded = |text: &String| -> Vec<u8> {
        let letters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(length);
        letters.flat_map(u32::to_le_bytes).collect()
    };
    Cow::Owned(texts.iter().flat_map(padded).collect())
}

/// How many letters the longest of the texts has; numpy knows no type of none.
fn letters(texts: &[String]) -> usize {
    texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1)
}

/// Everything before the elements, padded so that they begin at a multiple of 64.
pub(in crate::array) fn written_header(array: &Array) -> io::Result<Vec<u8>> {
    let shape = match array.shape() {
        [one] => format!("({one},)"),
        axes => format!("({})", axes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let descr = match array.texts() {
        Some(texts) => format!("<U{}", letters(texts)),
        None => descr(array.dtype())?.to_owned(),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let before = MAGIC.len() + 2;
    let padding = 63 - (before + text.len()) % 64;
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(|_| unwritable("an array of that many axes"))?;
    let mut header = MAGIC.to_vec();
    header.extend(length.to_le_bytes());
    header.extend(text.as_bytes());
    Ok(header)
}

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

fn descr(dtype: Dtype) -> io::Result<&'static str> {
    Ok(match dtype {
        Dtype::Bool => "|b1",
        Dtype::U8 => "|u1",
        Dtype::U16 => "<u2",
        Dtype::U32 => "<u4",
        Dtype::U64 => "<u8",
        Dtype::I8 => "|i1",
        Dtype::I16 => "<i2",
        Dtype::I32 => "<i4",
        Dtype::I64 => "<i8",
        Dtype::F16 => "<f2",
        Dtype::F32 => "<f4",
        Dtype::F64 => "<f8",
        Dtype::BF16 | Dtype::Text => return Err(unwritable(dtype.name())),
    })
}

fn unwritable(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("npy files are not written with {what}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::array::npy;

    #[test]
    fn what_is_written_is_read_again_and_starts_where_numpy_starts() {
        for (shape, values) in [
            (&[2, 3][..], &[1.5, -2.0, 0.0, f64::MAX, 1e-300, 7.0][..]),
            (&[0, 2], &[]),
            (&[1], &[3.0]),
            (&[], &[4.0]),
        ] {
            let array = Array::of_elements(shape, values).unwrap();
            let mut bytes = Vec::new();
            write_to(&array, &mut bytes).unwrap();
            assert_eq!((bytes.len() - 8 * values.len()) % 64, 0);
            assert_eq!(npy::open(Arc::new(bytes)).unwrap().read_all().unwrap(), array);
        }
        assert!(Array::of_elements(&[2, 2], &[1.0]).is_err());
    }

    #[test]
    fn a_text_is_written_as_numpy_writes_it() {
        for text in ["mcp", "Größe 𝔐", ""] {
            let array = Array::of_text(text);
            let mut bytes = Vec::new();
            write_to(&array, &mut bytes).unwrap();
            assert_eq!(npy::open(Arc::new(bytes)).unwrap().read_all().unwrap(), array);
        }
    }
}
