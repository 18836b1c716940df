//! PyTorch files, written: a state dict of contiguous tensors that `torch.load` opens with
//! `weights_only=True`.

use std::io::{self, Write};

use crate::archive::zip::ArchiveWriter;
use crate::array::{Array, Dtype};

/// The folder in the archive; readers take whatever it is called.
const FOLDER: &str = "archive";

/// Writes named tensors as `torch.save` writes a state dict: equal ones give equal bytes.
pub fn write_to(tensors: &[(String, Array)], out: &mut dyn Write) -> io::Result<()> {
    let mut archive = ArchiveWriter::aligned(out);
    archive.member(&format!("{FOLDER}/data.pkl"), &[&pickle(tensors)?])?;
    archive.member(&format!("{FOLDER}/byteorder"), &[b"little"])?;
    for (number, (_, tensor)) in tensors.iter().enumerate() {
        archive.member(&format!("{FOLDER}/data/{number}"), &[tensor.bytes()])?;
    }
    archive.member(&format!("{FOLDER}/version"), &[b"3\n"])?;
    archive.finish()
}

/// An ordered dictionary from names to calls that would rebuild the tensors, in protocol 2.
fn pickle(tensors: &[(String, Array)]) -> io::Result<Vec<u8>> {
    let mut out = b"\x80\x02ccollections\nOrderedDict\n)R(".to_vec();
    for (number, (name, tensor)) in tensors.iter().enumerate() {
        text(&mut out, name);
        out.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        text(&mut out, "storage");
        out.extend(format!("ctorch\n{}\n", storage(tensor.dtype())?).as_bytes());
        text(&mut out, &number.to_string());
        text(&mut out, "cpu");
        whole(&mut out, tensor.len() as u64);
        // The storage, then the offset in it.
        out.extend(b"tQ");
        whole(&mut out, 0);
        tuple(&mut out, tensor.shape());
        tuple(&mut out, &strides(tensor.shape()));
        // No gradient, no hooks.
        out.extend(b"\x89ccollections\nOrderedDict\n)RtR");
    }
    out.extend(b"u.");
    Ok(out)
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.push(b'X');
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

fn whole(out: &mut Vec<u8>, number: u64) {
    match i32::try_from(number) {
        Ok(number) => {
            out.push(b'J');
            out.extend(number.to_le_bytes());
        }
        Err(_) => {
            // Nine bytes, so that the sign bit is clear.
            out.extend([0x8a, 9]);
            out.extend(number.to_le_bytes());
            out.push(0);
        }
    }
}

fn tuple(out: &mut Vec<u8>, numbers: &[u64]) {
    out.push(b'(');
    numbers.iter().for_each(|number| whole(out, *number));
    out.push(b't');
}

/// How far apart neighbours on each axis are in C order.
fn strides(shape: &[u64]) -> Vec<u64> {
    let mut strides: Vec<u64> = shape
        .iter()
        .rev()
        .scan(1, |step, axis| {
            let stride = *step;
            *step *= (*axis).max(1);
            Some(stride)
        })
        .collect();
    strides.reverse();
    strides
}

fn storage(dtype: Dtype) -> io::Result<&'static str> {
    Ok(match dtype {
        Dtype::F32 => "FloatStorage",
        Dtype::F64 => "DoubleStorage",
        Dtype::F16 => "HalfStorage",
        Dtype::BF16 => "BFloat16Storage",
        Dtype::I64 => "LongStorage",
        other => {
            let what = format!("state dicts are not written with {}", other.name());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::array::pt;

    #[test]
    fn a_state_dict_is_read_again_as_it_was() {
        let tensors = vec![
            ("mlp.linears.0.weight".to_owned(), Array::of_elements(&[2, 3], &[1f32; 6]).unwrap()),
            ("mlp.linears.0.bias".to_owned(), Array::of_elements(&[2], &[1.0, -0.5]).unwrap()),
            ("scale".to_owned(), Array::of_elements(&[], &[3i64]).unwrap()),
            ("none".to_owned(), Array::of_elements(&[0, 4], &[0f32; 0]).unwrap()),
        ];
        let mut bytes = Vec::new();
        write_to(&tensors, &mut bytes).unwrap();
        let dict = pt::open_state_dict(Arc::new(bytes)).unwrap();
        assert_eq!(dict.keys().len(), tensors.len());
        for (name, tensor) in &tensors {
            assert_eq!(dict.get(name).unwrap().as_ref(), Some(tensor), "{name}");
        }
    }

    #[test]
    fn numbers_beyond_32_bits_keep_their_sign() {
        let mut out = Vec::new();
        whole(&mut out, u64::MAX);
        assert_eq!(out, [&[0x8a, 9][..], &[0xff; 8], &[0]].concat());
    }
}
