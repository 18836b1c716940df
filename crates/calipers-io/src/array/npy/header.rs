//! The header of an npy file: a Python literal, read by a parser that knows only this one.

use calipers_core::{Error, Result};

use crate::array::{Dtype, byte_count};
use crate::limits;

/// What the header says, checked against the size of the file.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    /// Bytes of one element as stored.
    pub(super) item: usize,
    /// Whether text is stored as 4 bytes per character, not as UTF-8.
    pub(super) wide_text: bool,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
    /// Where the elements begin.
    pub(super) start: u64,
}

/// Bytes before the text of the header, at most.
pub(super) const PREFIX: usize = 12;

/// Where the text of the header begins and ends, from the first bytes of the file.
pub(super) fn span(prefix: &[u8], size: u64) -> Result<(usize, usize)> {
    let not_npy = || Error::format("npy: not an npy file").at("byte 0").advice("write it with numpy.save");
    let after_magic = prefix.strip_prefix(b"\x93NUMPY").ok_or_else(not_npy)?;
    let (begin, length) = match *after_magic {
        [1, 0, a, b, ..] => (10, u32::from(u16::from_le_bytes([a, b]))),
        [2 | 3, 0, a, b, c, d] => (12, u32::from_le_bytes([a, b, c, d])),
        [major, minor, _, _, ..] if !matches!((major, minor), (2 | 3, 0)) => {
            return Err(Error::format("npy: unknown version")
                .found(format!("{major}.{minor}"))
                .allowed("1.0, 2.0, 3.0"));
        }
        _ => return Err(short(size)),
    };
    if u64::from(length) > limits::NPY_HEADER {
        let allowed = format!("at most {} bytes", limits::NPY_HEADER);
        return Err(Error::format("npy: the header is too long")
            .found(format!("{length} bytes"))
            .allowed(allowed));
    }
    let end = begin + length as usize;
    if end as u64 > size { Err(short(size)) } else { Ok((begin, end)) }
}

fn short(size: u64) -> Error {
    Error::format("npy: the file ends inside the header")
        .at(format!("byte {size}"))
        .advice("copy or write the file again")
}

impl Header {
    /// Parses the text of a header and compares what it announces with the size of the file.
    pub(super) fn parse(text: &[u8], start: usize, size: u64) -> Result<Self> {
        let mut literal = Literal { text, at: 0 };
        let header = literal.header(start as u64).map_err(|error| error.at("npy header"))?;
        let held = size - header.start;
        let announced = byte_count(&header.shape, header.item);
        if announced == Some(held) {
            return Ok(header);
        }
        let says = announced.map_or("more than 2^64".to_string(), |bytes| bytes.to_string());
        Err(Error::format(format!("npy: header says {says} bytes, file has {held}"))
            .found(format!("shape {:?} of {} bytes each", header.shape, header.item))
            .advice("the file is cut or damaged: copy or write it again"))
    }
}

/// How one element is stored.
struct Element {
    dtype: Dtype,
    item: usize,
    wide_text: bool,
    big_endian: bool,
}

struct Literal<'a> {
    text: &'a [u8],
    at: usize,
}

impl Literal<'_> {
    fn header(&mut self, start: u64) -> Result<Header> {
        let (mut element, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.accept(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            let repeated = match key.as_str() {
                "descr" => element.replace(self.element()?).is_some(),
                "fortran_order" => fortran.replace(self.boolean()?).is_some(),
                "shape" => shape.replace(self.shape()?).is_some(),
                _ => return Err(self.broken(format!("unknown key '{key}'"))),
            };
            if repeated {
                return Err(self.broken(format!("key '{key}' twice")));
            }
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        if self.peek().is_some() {
            return Err(self.broken("text after the dictionary"));
        }
        let missing = |key: &str| Error::format(format!("the key '{key}' is missing"));
        let Element { dtype, item, wide_text, big_endian } = element.ok_or_else(|| missing("descr"))?;
        Ok(Header {
            dtype,
            item,
            wide_text,
            big_endian,
            fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
            start: start + self.text.len() as u64,
        })
    }

    fn element(&mut self) -> Result<Element> {
        if matches!(self.peek(), Some(b'[' | b'(')) {
            let rest = String::from_utf8_lossy(&self.text[self.at..]);
            let shown: String = rest.chars().take(60).collect();
            return Err(dtype_error(format!("structured: {shown}")));
        }
        let name = self.string()?;
        let order = name.bytes().next();
        let kind = name.get(1..).unwrap_or_default();
        let characters = |digits: &str| digits.parse::<usize>().ok().filter(|n| *n > 0);
        let (dtype, item) = match kind {
            "b1" => (Dtype::Bool, 1),
            "u1" => (Dtype::U8, 1),
            "u2" => (Dtype::U16, 2),
            "u4" => (Dtype::U32, 4),
            "u8" => (Dtype::U64, 8),
            "i1" => (Dtype::I8, 1),
            "i2" => (Dtype::I16, 2),
            "i4" => (Dtype::I32, 4),
            "i8" => (Dtype::I64, 8),
            "f2" => (Dtype::F16, 2),
            "f4" => (Dtype::F32, 4),
            "f8" => (Dtype::F64, 8),
            _ => match (kind.get(..1), kind.get(1..).and_then(characters)) {
                (Some("S"), Some(bytes)) => (Dtype::Text, bytes),
                (Some("U"), Some(n)) => (Dtype::Text, n.checked_mul(4).ok_or_else(|| dtype_error(&name))?),
                _ => return Err(dtype_error(&name)),
            },
        };
        let big_endian = match order {
            Some(b'<') => false,
            Some(b'>') => true,
            // "not applicable": one byte, or text of single bytes.
            Some(b'|') if item == 1 || kind.starts_with('S') => false,
            _ => return Err(dtype_error(&name)),
        };
        Ok(Element { dtype, item, wide_text: kind.starts_with('U'), big_endian })
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        let mut axes = Vec::new();
        self.expect(b'(')?;
        while !self.accept(b')') {
            axes.push(self.axis()?);
            let comma = self.accept(b',');
            if !comma {
                self.expect(b')')?;
                if axes.len() == 1 {
                    return Err(self.broken("a shape of one axis is written (n,)"));
                }
                break;
            }
            if axes.len() > limits::RANK {
                return Err(self.broken(format!("more than {} axes", limits::RANK)));
            }
        }
        Ok(axes)
    }

    fn axis(&mut self) -> Result<u64> {
        self.peek();
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse().ok());
        let number = number.ok_or_else(|| self.broken("an axis is not a whole number of at most 64 bits"))?;
        self.at += digits;
        // Python 2 wrote its long integers with an L.
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        Ok(number)
    }

    fn boolean(&mut self) -> Result<bool> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.broken("True or False is expected"))
    }

    fn string(&mut self) -> Result<String> {
        let quote = self
            .peek()
            .filter(|b| matches!(b, b'\'' | b'"'))
            .ok_or_else(|| self.broken("a string is expected"))?;
        let rest = &self.text[self.at + 1..];
        let length =
            rest.iter().position(|b| *b == quote).ok_or_else(|| self.broken("a string does not end"))?;
        let text = std::str::from_utf8(&rest[..length]).ok().filter(|text| !text.contains('\\'));
        let text = text.ok_or_else(|| self.broken("a string is not plain text"))?.to_string();
        self.at += length + 2;
        Ok(text)
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.accept(byte) {
            Ok(())
        } else {
            Err(self.broken(format!("'{}' is expected", char::from(byte))))
        }
    }

    fn broken(&self, why: impl Into<String>) -> Error {
        Error::format(why).at(format!("character {}", self.at))
    }
}

fn dtype_error(name: impl Into<String>) -> Error {
    let name = name.into();
    let objects = if name.ends_with('O') { ": object arrays are not read" } else { "" };
    Error::format(format!("npy: this dtype is not supported{objects}"))
        .found(name)
        .allowed("b1, u1 to u8, i1 to i8, f2, f4, f8, S and U text")
        .advice("convert with astype before saving; nothing was executed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, data: u64) -> Result<Header> {
        Header::parse(text.as_bytes(), 10, 10 + text.len() as u64 + data)
    }

    fn shaped(shape: &str, data: u64) -> Result<Header> {
        parse(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"), data)
    }

    #[test]
    fn keys_come_in_any_order_and_with_either_quote() {
        let header = parse("{\"shape\":(2,3L),'fortran_order':True,'descr':'>i8'}  \n", 48).unwrap();
        assert_eq!(
            (header.dtype, header.item, header.big_endian, header.fortran),
            (Dtype::I64, 8, true, true)
        );
        assert_eq!(header.shape, [2, 3]);
    }

    #[test]
    fn sizes_that_lie_are_refused_before_anything_is_allocated() {
        assert!(shaped("()", 4).is_ok());
        assert!(shaped("(3,)", 12).is_ok());
        assert!(shaped("(0, 18446744073709551615, 9)", 0).is_ok());
        let lie = shaped("(1000000000000,)", 64).unwrap_err().to_string();
        assert!(lie.contains("header says 4000000000000 bytes, file has 64"), "{lie}");
        assert!(shaped("(4294967296, 4294967296)", 64).is_err());
        assert!(shaped("(3,)", 13).is_err());
    }

    #[test]
    fn odd_shapes_and_dictionaries_are_refused() {
        for shape in ["(-1,)", "(True, 16)", "(3)", "3", "[3]", "(3.0,)", "(3,,)", "(99999999999999999999,)"]
        {
            assert!(shaped(shape, 12).is_err(), "{shape}");
        }
        assert!(shaped(&format!("({})", "1,".repeat(40)), 4).unwrap_err().to_string().contains("axes"));
        for text in [
            "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': False}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}",
            "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
            "",
        ] {
            assert!(parse(text, 4).is_err(), "{text}");
        }
    }

    #[test]
    fn other_dtypes_are_refused_by_name() {
        let names = [
            "|O",
            "<c8",
            "<M8[ns]",
            "<m8",
            "|V2",
            "<V0",
            "<f16",
            "=f4",
            "f4",
            "|f4",
            "<U0",
            "<é",
            "",
            "<U99999999999999999999",
        ];
        for name in names {
            let text = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': (1,)}}");
            let error = parse(&text, 4).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("dtype"), "{error}");
        }
        let text = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}";
        assert!(parse(text, 4).unwrap_err().to_string().contains("structured: [('a', '<f4')]"));
    }
}
