//! Compressed sparse rows in array files, as scipy stores them.

use calipers_core::{Error, Result};
use calipers_io::array::Arrays;
use calipers_sources::array_file::{axis, shape};

use super::stored::{Listed, Stored};

/// A sparse matrix.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Csr {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) indptr: Vec<usize>,
    pub(super) indices: Vec<u32>,
    pub(super) values: Vec<f64>,
}

/// The names of the four arrays.
pub(super) const PARTS: [&str; 4] = ["data", "indices", "indptr", "shape"];

impl Csr {
    /// The matrix under keys that begin with `prefix`, such as `adj_`.
    pub(super) fn read(arrays: &Arrays, prefix: &str) -> Result<Self> {
        let key = |part: &str| format!("{prefix}{part}");
        let whole = |part: &str| -> Result<Vec<i64>> {
            let array = needed(arrays, &key(part))?;
            match array.shape() {
                [_] => array.to_i64s(),
                _ => Err(Error::value("the array must have one axis").found(shape(&array))),
            }
            .map_err(|error| error.at(format!("key {}", key(part))))
        };
        let size = whole("shape")?;
        let &[rows, columns] = &size[..] else {
            return Err(Error::value("a matrix has two axes")
                .at(format!("key {}", key("shape")))
                .found(format!("{size:?}")));
        };
        let length = |number: i64| {
            usize::try_from(number).ok().filter(|number| *number <= u32::MAX as usize).ok_or_else(|| {
                Error::value("not a number of rows or columns")
                    .at(format!("key {}", key("shape")))
                    .found(number)
            })
        };
        let (rows, columns) = (length(rows)?, length(columns)?);
        let (indptr, indices) = (whole("indptr")?, whole("indices")?);
        let data = needed(arrays, &key("data"))?;
        let values = data.to_f64s().map_err(|error| error.at(format!("key {}", key("data"))))?;
        let fits = indptr.len() == rows + 1
            && indptr.first() == Some(&0)
            && indptr.is_sorted()
            && indptr.last().copied() == i64::try_from(indices.len()).ok()
            && indices.len() == values.len();
        if !fits {
            return Err(Error::value("the arrays of a sparse matrix do not fit together")
                .at(format!("keys {}*", prefix))
                .found(format!(
                    "{} row starts, {} columns, {} values",
                    indptr.len(),
                    indices.len(),
                    values.len()
                ))
                .allowed(format!("{} ascending row starts from 0 to the number of values", rows + 1)));
        }
        let column = |(place, &number): (usize, &i64)| {
            u32::try_from(number).ok().filter(|number| (*number as usize) < columns).ok_or_else(|| {
                Error::value("a column outside the matrix")
                    .at(format!("key {}, element {place}", key("indices")))
                    .found(number)
                    .allowed(format!("0 to {}", columns as i64 - 1))
            })
        };
        let indices = indices.iter().enumerate().map(column).collect::<Result<_>>()?;
        // Ascending from 0 to a length in memory.
        let indptr = indptr.into_iter().map(|start| axis(start as u64)).collect::<Result<_>>()?;
        Ok(Self { rows, columns, indptr, indices, values })
    }

    /// The matrix as the adjacency of a graph.
    pub(super) fn graph(self) -> Result<Stored> {
        if self.rows != self.columns {
            return Err(Error::value("the matrix of a graph is square")
                .found(format!("shape ({}, {})", self.rows, self.columns)));
        }
        let row = |row: usize| {
            self.indices[self.indptr[row]..self.indptr[row + 1]].iter().map(move |j| (row as u32, *j))
        };
        let entries = (0..self.rows).flat_map(row).collect();
        Ok(Stored { nodes: self.rows, entries, values: Some(self.values), listed: Listed::BothWays })
    }

    /// The rows of these nodes alone; all of them without.
    pub(super) fn of_nodes(self, kept: Option<&[u32]>) -> Self {
        let Some(kept) = kept else { return self };
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for &node in kept {
            let row = self.indptr[node as usize]..self.indptr[node as usize + 1];
            indices.extend(&self.indices[row.clone()]);
            values.extend(&self.values[row]);
            indptr.push(indices.len());
        }
        Self { rows: kept.len(), columns: self.columns, indptr, indices, values }
    }
}

/// An array that has to be there.
pub(super) fn needed(arrays: &Arrays, key: &str) -> Result<calipers_io::array::Array> {
    arrays.get(key)?.ok_or_else(|| {
        Error::value(format!("the key `{key}` is missing"))
            .found(format!("only {}", arrays.keys().join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use calipers_io::array::Array;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_arrays_are_a_matrix_or_an_error(
            shape in prop::collection::vec(-1i64..5, 0..4),
            indptr in prop::collection::vec(-1i64..5, 0..6),
            indices in prop::collection::vec(-1i64..5, 0..5),
            data in prop::collection::vec(-1.0..2.0f64, 0..5),
        ) {
            if let Ok(csr) = Csr::read(&arrays(&shape, &indptr, &indices, &data), "") {
                let (rows, columns, count) = (csr.rows, csr.columns, csr.values.len());
                prop_assert_eq!(csr.clone().of_nodes(Some(&(0..rows as u32).collect::<Vec<_>>())), csr.clone());
                if let Ok(graph) = csr.graph() {
                    prop_assert!(rows == columns && graph.entries.len() == count);
                    prop_assert!(graph.entries.iter().all(|(i, j)| (*i as usize) < rows && (*j as usize) < columns));
                }
            }
        }
    }

    fn arrays(shape: &[i64], indptr: &[i64], indices: &[i64], data: &[f64]) -> Arrays {
        let whole = |values: &[i64]| Array::of_elements(&[values.len()], values).unwrap();
        Arrays::of([
            ("shape".to_owned(), whole(shape)),
            ("indptr".to_owned(), whole(indptr)),
            ("indices".to_owned(), whole(indices)),
            ("data".to_owned(), Array::of_elements(&[data.len()], data).unwrap()),
        ])
    }

    #[test]
    fn rows_become_entries_and_can_be_chosen() {
        let read = || Csr::read(&arrays(&[3, 3], &[0, 2, 2, 3], &[1, 2, 0], &[1.0, 2.0, 3.0]), "").unwrap();
        assert_eq!(read().graph().unwrap().entries, [(0, 1), (0, 2), (2, 0)]);
        let two = read().of_nodes(Some(&[1, 2]));
        assert_eq!((two.rows, two.columns, two.indptr, two.indices), (2, 3, vec![0, 0, 1], vec![0]));
        assert_eq!(read().of_nodes(None), read());
    }

    #[test]
    fn arrays_that_do_not_fit_are_refused() {
        for (arrays, part) in [
            (arrays(&[2, 2], &[0, 1], &[1], &[1.0]), "2 row starts"),
            (arrays(&[2, 2], &[0, 2, 1], &[1], &[1.0]), "ascending"),
            (arrays(&[2, 2], &[1, 1, 1], &[1], &[1.0]), "ascending"),
            (arrays(&[2, 2], &[0, 1, 2], &[1], &[1.0]), "1 columns"),
            (arrays(&[2, 2], &[0, 1, 1], &[2], &[1.0]), "key indices, element 0"),
            (arrays(&[2, 2], &[0, 1, 1], &[-1], &[1.0]), "0 to 1"),
            (arrays(&[2], &[0, 1, 1], &[1], &[1.0]), "two axes"),
            (arrays(&[-2, 2], &[0], &[], &[]), "key shape"),
        ] {
            let text = Csr::read(&arrays, "").unwrap_err().to_string();
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        let wide = Csr::read(&arrays(&[1, 2], &[0, 1], &[1], &[1.0]), "").unwrap();
        assert!(wide.graph().unwrap_err().to_string().contains("(1, 2)"));
        assert!(Csr::read(&Arrays::of([]), "adj_").unwrap_err().to_string().contains("adj_shape"));
    }
}
