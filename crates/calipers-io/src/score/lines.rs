//! One value per line, in node order: plain scores, labels and KaMIS results.

use calipers_core::{Error, Result};

use crate::text::{Lines, shown};

/// Reads one number per line; only the end of the file may hold blank lines.
pub fn parse(bytes: &[u8]) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    let mut blank = None;
    for line in Lines::new(bytes) {
        let line = line?;
        let text = line.text.trim_ascii();
        if text.is_empty() {
            blank = blank.or(Some(line.number));
            continue;
        }
        if let Some(blank) = blank {
            return Err(Error::format("a blank line between values")
                .at(format_args!("line {blank}"))
                .allowed("one value per line")
                .advice("take the blank line away"));
        }
        let value =
            number(text).ok_or_else(|| not_a_number(text).at(format_args!("line {}", line.number)))?;
        values.push(value);
    }
    Ok(values)
}

/// A decimal number, correctly rounded; `nan` and `inf` are numbers here.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text.trim_ascii()).ok()?.parse().ok()
}

pub(super) fn not_a_number(text: &[u8]) -> Error {
    let what = if text.trim_ascii().is_empty() { "an empty cell" } else { "not a number" };
    Error::format(what)
        .found(shown(text))
        .allowed("one number, with a decimal point")
        .advice("write the value of every node")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_per_line_with_blank_lines_only_at_the_end() {
        assert_eq!(parse(b"0\r\n 1 \n-2.5e-3\n\n \n").unwrap(), [0.0, 1.0, -0.0025]);
        assert!(parse(b"").unwrap().is_empty());
        for (text, line) in
            [("1\n\n0\n", "line 2"), ("1\n0 1\n", "line 2"), ("1\n0,5\n", "line 2"), ("x", "line 1")]
        {
            assert_eq!(parse(text.as_bytes()).unwrap_err().place(), Some(line));
        }
        assert!(parse(b"0x10\n").is_err() && parse(b"1_0\n").is_err() && parse(b"\xff\n").is_err());
    }
}
