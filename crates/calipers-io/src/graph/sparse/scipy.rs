//! SciPy sparse matrices in npz files: `format` csr, csc or coo, and the arrays of that layout.

use calipers_core::{Error, Result};

use crate::array::{Array, Arrays};
use crate::graph::{Storage, StoredGraph, check_nodes};

/// Whether these are the arrays of a sparse matrix.
pub fn is_sparse(arrays: &Arrays) -> bool {
    let keys = arrays.keys();
    ["format", "shape"].iter().all(|key| keys.iter().any(|known| known == key))
}

/// Reads a square matrix. Entries whose value is zero are no edges and are counted.
pub fn parse(arrays: &Arrays) -> Result<StoredGraph> {
    let format = needed(arrays, "format")?;
    let format = match format.texts() {
        Some([format]) => format.trim_end_matches('\0').to_owned(),
        _ => return Err(bad("format", "one text is expected").found(format.dtype().name())),
    };
    let layout: [&str; 2] = match format.as_str() {
        "csr" | "csc" => ["indices", "indptr"],
        "coo" => ["row", "col"],
        _ => {
            return Err(bad("format", "another layout than those that are read")
                .found(&format)
                .allowed("csr, csc, coo")
                .advice("call .tocsr() before save_npz"));
        }
    };
    // SciPy marks its sparse arrays, which are read as its matrices are, with a last key.
    let known = ["format", "shape", "data", layout[0], layout[1], "_is_array"];
    if let Some(other) = arrays.keys().iter().find(|key| !known.contains(&key.as_str())) {
        return Err(bad(other, "a key of no sparse matrix of this layout").allowed(known.join(", ")));
    }
    let nodes = square(arrays)?;
    let data = needed(arrays, "data")?;
    let is_edge: Vec<bool> =
        data.to_f64s().map_err(at("data"))?.iter().map(|value| !is_zero(*value)).collect();
    let ends = |key: &'static str| -> Result<Vec<u32>> {
        let numbers = whole(arrays, key)?;
        same_length(key, numbers.len(), is_edge.len())?;
        let number = |(place, number): (usize, &i64)| {
            u32::try_from(*number).ok().filter(|number| u64::from(*number) < nodes).ok_or_else(|| {
                bad(key, "a number outside the matrix")
                    .at(format!("element {place}"))
                    .found(number)
                    .allowed(format!("below {nodes}"))
            })
        };
        numbers.iter().enumerate().map(number).collect()
    };
    let (rows, columns) = match format.as_str() {
        "coo" => (ends("row")?, ends("col")?),
        _ => {
            let inner = ends("indices")?;
            let outer = owners(&whole(arrays, "indptr")?, nodes, inner.len())?;
            if format == "csr" { (outer, inner) } else { (inner, outer) }
        }
    };
    let entries = rows.into_iter().zip(columns).zip(&is_edge);
    let entries: Vec<(u32, u32)> = entries.filter(|(_, is_edge)| **is_edge).map(|(entry, _)| entry).collect();
    let zeros = (is_edge.len() - entries.len()) as u64;
    Ok(StoredGraph { nodes: Some(nodes), entries, storage: Storage::Both, zeros, ..StoredGraph::default() })
}

fn is_zero(value: f64) -> bool {
    value.abs().total_cmp(&0.0).is_eq()
}

fn square(arrays: &Arrays) -> Result<u64> {
    match whole(arrays, "shape")?[..] {
        [rows, columns] if rows == columns => {
            let nodes = u64::try_from(rows).map_err(|_| bad("shape", "not a number of rows").found(rows))?;
            check_nodes(nodes)
        }
        ref shape => Err(bad("shape", "the matrix of a graph is square").found(format!("{shape:?}"))),
    }
}

/// The row of every entry of `indices`, from where the rows begin.
fn owners(starts: &[i64], nodes: u64, entries: usize) -> Result<Vec<u32>> {
    let odd =
        |place: usize, what: &str| bad("indptr", what).at(format!("element {place}")).found(starts[place]);
    if starts.len() as u64 != nodes + 1 {
        let error = bad("indptr", "one number per row and one more are expected");
        return Err(error.found(format!("{} numbers", starts.len())).allowed(nodes + 1));
    }
    if starts[0] != 0 {
        return Err(odd(0, "it must begin with 0"));
    }
    if let Some(place) = (1..starts.len()).find(|place| starts[*place] < starts[place - 1]) {
        return Err(odd(place, "it must not decrease"));
    }
    if starts[starts.len() - 1] != entries as i64 {
        return Err(odd(starts.len() - 1, "it must end at the number of entries").allowed(entries));
    }
    let row = |row: usize| std::iter::repeat_n(row as u32, (starts[row + 1] - starts[row]) as usize);
    Ok((0..starts.len() - 1).flat_map(row).collect())
}

fn same_length(key: &str, found: usize, allowed: usize) -> Result<()> {
    if found == allowed {
        return Ok(());
    }
    Err(bad(key, "another length than 'data'").found(found).allowed(allowed))
}

fn whole(arrays: &Arrays, key: &'static str) -> Result<Vec<i64>> {
    let array = needed(arrays, key)?;
    if array.shape().len() != 1 || !array.dtype().is_integer() {
        let error = bad(key, "whole numbers along one axis are expected");
        return Err(error.found(format!("{} with {} axes", array.dtype().name(), array.shape().len())));
    }
    array.to_i64s().map_err(at(key))
}

fn needed(arrays: &Arrays, key: &str) -> Result<Array> {
    arrays
        .get(key)?
        .ok_or_else(|| bad(key, "the key is missing").advice("write the file with scipy.sparse.save_npz"))
}

fn at(key: &'static str) -> impl Fn(Error) -> Error {
    move |error| error.at(format!("key {key}"))
}

fn bad(key: &str, what: &str) -> Error {
    Error::value(format!("a sparse matrix of SciPy: {what}")).at(format!("key {key}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::array::Dtype;

    fn numbers(values: &[i64]) -> Array {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Array::shared(Dtype::I64, vec![values.len() as u64], Arc::new(bytes)).unwrap()
    }

    fn matrix(format: &str, parts: &[(&str, &[i64])]) -> Result<StoredGraph> {
        let format = Array::of_text(format);
        let parts = parts.iter().map(|(key, values)| ((*key).to_owned(), numbers(values)));
        parse(&Arrays::of(parts.chain([("format".to_owned(), format)])))
    }

    #[test]
    fn the_three_layouts_give_the_same_entries() {
        let expected = [(0, 1), (1, 0), (2, 1)];
        let shape: (&str, &[i64]) = ("shape", &[3, 3]);
        for (format, first, second) in [
            ("coo", ("row", &[0, 1, 2, 2][..]), ("col", &[1, 0, 1, 2][..])),
            ("csr", ("indices", &[1, 0, 1, 2]), ("indptr", &[0, 1, 2, 4])),
            ("csc", ("indices", &[1, 0, 2, 2]), ("indptr", &[0, 1, 3, 4])),
        ] {
            let graph = matrix(format, &[shape, ("data", &[1, 5, -1, 0]), first, second]).unwrap();
            let mut entries = graph.entries;
            entries.sort_unstable();
            assert_eq!((&entries[..], graph.zeros, graph.nodes), (&expected[..], 1, Some(3)), "{format}");
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_refused_by_key_and_place() {
        let csr = |shape: &[i64], indices: &[i64], indptr: &[i64]| {
            matrix("csr", &[("shape", shape), ("data", &[1, 1]), ("indices", indices), ("indptr", indptr)])
        };
        for (read, words) in [
            (matrix("bsr", &[("shape", &[1, 1])]), ".tocsr()"),
            (csr(&[2, 3], &[0, 1], &[0, 1, 2]), "square"),
            (csr(&[2, 2], &[0, 2], &[0, 1, 2]), "element 1, key indices"),
            (csr(&[2, 2], &[0], &[0, 1, 2]), "another length"),
            (csr(&[2, 2], &[0, 1], &[1, 1, 2]), "begin with 0"),
            (csr(&[2, 2], &[0, 1], &[0, 2, 1]), "not decrease"),
            (csr(&[2, 2], &[0, 1], &[0, 1, 1]), "end at the number"),
            (csr(&[2, 2], &[0, 1], &[0, 2]), "one more"),
            (csr(&[-1, -1], &[0, 1], &[0, 2]), "number of rows"),
            (matrix("coo", &[("shape", &[1, 1]), ("data", &[1]), ("row", &[0])]), "key col"),
            (
                matrix(
                    "coo",
                    &[("shape", &[1, 1]), ("data", &[]), ("row", &[]), ("col", &[]), ("indptr", &[])],
                ),
                "key indptr",
            ),
        ] {
            let error = read.unwrap_err().to_string();
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
