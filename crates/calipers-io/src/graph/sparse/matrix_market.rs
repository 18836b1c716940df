//! Matrix Market: `%%MatrixMarket matrix coordinate FIELD SYMMETRY`, the size, then one entry per line.

use calipers_core::{Error, Result};

use crate::graph::{Storage, StoredGraph, check_nodes};
use crate::text::{Fields, Line, Lines, node_from_1, shown};

const BANNER: &str = "%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric";

/// What the values of entries are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    None,
    Integer,
    Real,
}

/// Whether bytes begin with a banner.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes.get(..14).is_some_and(|word| word.eq_ignore_ascii_case(b"%%MatrixMarket"))
}

/// Reads a square matrix. Entries whose value is zero are no edges and are counted.
pub fn parse(bytes: &[u8]) -> Result<StoredGraph> {
    let mut lines = Lines::new(bytes);
    let first = lines.next().transpose()?;
    let (values, symmetric) = first.map_or_else(|| Err(no_banner(b"", 1)), banner)?;
    let storage = if symmetric { Storage::Once } else { Storage::Both };
    let mut graph = StoredGraph { storage, ..StoredGraph::default() };
    let mut size: Option<(u64, u64)> = None;
    let mut read = 0;
    for line in lines {
        let line = line?;
        if matches!(line.text.trim_ascii_start().first(), None | Some(b'%')) {
            continue;
        }
        let Some((nodes, announced)) = size else {
            let (nodes, announced) = size_line(line)?;
            // An entry takes at least four bytes, whatever the size says.
            graph.entries.reserve(announced.min(bytes.len() as u64 / 4) as usize);
            (graph.nodes, size) = (Some(nodes), Some((nodes, announced)));
            continue;
        };
        read += 1;
        if read > announced {
            return Err(count(announced, "more").at(format!("line {}", line.number)));
        }
        let mut fields = line.fields();
        let row = fields.expect_whole("the row")?;
        let column = fields.expect_whole("the column")?;
        let (u, v) = (node_from_1(row, nodes, line.number)?, node_from_1(column, nodes, line.number)?);
        let is_zero = zero(&mut fields, values, line.number)?;
        fields.end("row, column and value")?;
        if symmetric && u < v {
            return Err(Error::value("Matrix Market: an entry above the diagonal of a symmetric matrix")
                .at(format!("line {}", line.number))
                .found(format!("{row} {column}"))
                .allowed("rows at or below their columns")
                .advice("write the lower half, or call the matrix general"));
        }
        if is_zero {
            graph.zeros += 1;
        } else {
            graph.entries.push((u as u32, v as u32));
        }
    }
    match size {
        Some((_, announced)) if read == announced => Ok(graph),
        Some((_, announced)) => Err(count(announced, "fewer").at("the end").found(read)),
        None => Err(Error::format("Matrix Market: no line of sizes").allowed("ROWS COLUMNS ENTRIES")),
    }
}

fn banner(line: Line<'_>) -> Result<(Values, bool)> {
    let words: Vec<String> = line
        .text
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).to_ascii_lowercase())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let &["%%matrixmarket", object, layout, field, symmetry] = &words[..] else {
        return Err(no_banner(line.text, line.number));
    };
    let values = match field {
        "pattern" => Values::None,
        "integer" => Values::Integer,
        "real" => Values::Real,
        _ => return Err(no_banner(line.text, line.number)),
    };
    match (object, layout, symmetry) {
        ("matrix", "coordinate", "general") => Ok((values, false)),
        ("matrix", "coordinate", "symmetric") => Ok((values, true)),
        _ => Err(no_banner(line.text, line.number)),
    }
}

fn no_banner(found: &[u8], line: u64) -> Error {
    Error::format("Matrix Market: the first line is of no graph that can be read")
        .at(format!("line {line}"))
        .found(shown(found))
        .allowed(BANNER)
        .advice("write the matrix as coordinates with scipy.io.mmwrite")
}

fn size_line(line: Line<'_>) -> Result<(u64, u64)> {
    let mut fields = line.fields();
    let rows = fields.expect_whole("the number of rows")?;
    let columns = fields.expect_whole("the number of columns")?;
    let entries = fields.expect_whole("the number of entries")?;
    fields.end("ROWS COLUMNS ENTRIES")?;
    let place = format!("line {}", line.number);
    if rows != columns {
        return Err(Error::value("Matrix Market: the matrix of a graph is square")
            .at(place)
            .found(format!("{rows} rows, {columns} columns"))
            .allowed("as many rows as columns"));
    }
    Ok((check_nodes(rows).map_err(|error| error.at(place))?, entries))
}

/// Whether the value of an entry is zero.
fn zero(fields: &mut Fields<'_>, values: Values, line: u64) -> Result<bool> {
    if values == Values::None {
        return Ok(false);
    }
    let word = fields.word().unwrap_or_default();
    let text = std::str::from_utf8(word).unwrap_or_default();
    let value = match values {
        Values::Integer => text.parse::<i128>().ok().map(|value| value as f64),
        Values::Real | Values::None => text.parse::<f64>().ok(),
    };
    let value = value.filter(|value| value.is_finite()).ok_or_else(|| {
        Error::value("Matrix Market: an entry without a value of the declared kind")
            .at(format!("line {line}"))
            .found(shown(word))
            .allowed(if values == Values::Integer { "a whole number" } else { "a finite number" })
    })?;
    Ok(value.abs().total_cmp(&0.0).is_eq())
}

fn count(announced: u64, more: &str) -> Error {
    Error::format(format!("Matrix Market: {more} entries than the size announces"))
        .allowed(announced)
        .advice("the file is cut or damaged: write it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<StoredGraph> {
        parse(text.as_bytes())
    }

    #[test]
    fn the_ring_of_five_is_read() {
        let ring = "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 5\n2 1\n3 2\n4 3\n5 4\n5 1\n";
        let graph = read(ring).unwrap();
        assert_eq!((graph.nodes, graph.storage, graph.zeros), (Some(5), Storage::Once, 0));
        assert_eq!(graph.entries, [(1, 0), (2, 1), (3, 2), (4, 3), (4, 0)]);
    }

    #[test]
    fn zeros_are_no_edges_and_are_counted() {
        let text = "%%matrixmarket MATRIX Coordinate Real General\r\n% made by hand\r\n\r\n2 2 4\r\n1 2 1e-300\r\n2 1 0\r\n1 1 -0.0\r\n2 2 0e5\r\n";
        let graph = read(text).unwrap();
        assert_eq!((&graph.entries[..], graph.zeros, graph.storage), (&[(0, 1)][..], 3, Storage::Both));
        let whole = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -3\n2 1 0\n";
        assert_eq!(read(whole).unwrap().zeros, 1);
    }

    #[test]
    fn what_is_no_graph_is_refused_with_its_line() {
        let body = |head: &str, body: &str| format!("%%MatrixMarket matrix {head}\n{body}");
        for (text, words) in [
            (String::new(), "first line"),
            ("2 2 1\n1 2\n".into(), "first line"),
            (body("array real general", "2 2\n1\n"), "array"),
            (body("coordinate complex general", "1 1 0\n"), "complex"),
            (body("coordinate real skew-symmetric", "1 1 0\n"), "skew-symmetric"),
            (body("coordinate pattern hermitian", "1 1 0\n"), "hermitian"),
            (body("coordinate pattern general", "2 3 1\n1 2\n"), "2 rows, 3 columns"),
            (body("coordinate pattern general", "2 2 2\n1 2\n"), "fewer"),
            (body("coordinate pattern general", "2 2 1\n1 2\n2 1\n"), "line 4"),
            (body("coordinate pattern general", "2 2 1\n0 1\n"), "from 1"),
            (body("coordinate pattern general", "2 2 1\n1 3\n"), "1 to 2"),
            (body("coordinate pattern general", "2 2 1\n1 2 1\n"), "more than belongs"),
            (body("coordinate real general", "2 2 1\n1 2\n"), "without a value"),
            (body("coordinate integer general", "2 2 1\n1 2 0.5\n"), "whole number"),
            (body("coordinate pattern symmetric", "2 2 1\n1 2\n"), "above the diagonal"),
            (body("coordinate pattern general", ""), "no line of sizes"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
