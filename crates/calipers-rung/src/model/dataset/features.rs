//! What is known of every node: a matrix of which only the entries other than 0 are kept.

use calipers_core::{Error, Result};

/// One row of numbers per node.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Features {
    /// From all entries, row by row.
    ///
    /// # Errors
    /// A number of values that is not `rows * columns`, or a value that is not finite, with its place.
    pub fn dense(rows: usize, columns: usize, mut values: Vec<f64>) -> Result<Self> {
        check_columns(columns)?;
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::value("features of another size")
                .found(format!("{} values", values.len()))
                .allowed(format!("{rows} x {columns}")));
        }
        // The kept entries move to the front of the same memory: a large dense matrix is never held twice.
        let mut starts = Vec::with_capacity(rows + 1);
        let mut indices = Vec::new();
        starts.push(0);
        for row in 0..rows {
            for column in 0..columns {
                let value = values[row * columns + column];
                check_value(row, column, value)?;
                if value.abs() > 0.0 {
                    values[indices.len()] = value;
                    indices.push(column as u32);
                }
            }
            starts.push(indices.len());
        }
        values.truncate(indices.len());
        values.shrink_to_fit();
        Ok(Self { columns, starts, indices, values })
    }

    /// From compressed rows; the columns of a row may come in any order but not twice.
    ///
    /// # Errors
    /// Arrays that do not fit together, a column out of range or given twice, or a value that is not finite.
    pub fn sparse(
        rows: usize,
        columns: usize,
        indptr: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self> {
        check_columns(columns)?;
        let fits = indptr.len() == rows + 1
            && indptr[0] == 0
            && indptr.is_sorted()
            && indptr[rows] == indices.len()
            && indices.len() == values.len();
        if !fits {
            return Err(Error::value("compressed rows that do not fit together")
                .found(format!(
                    "{} row starts, {} columns, {} values",
                    indptr.len(),
                    indices.len(),
                    values.len()
                ))
                .allowed(format!("{} ascending row starts, from 0 to the number of values", rows + 1)));
        }
        let mut features = Self { columns, starts: indptr, indices, values };
        for row in 0..rows {
            features.check_row(row)?;
        }
        Ok(features)
    }

    /// Every node is known by its number alone.
    pub fn identity(rows: usize) -> Self {
        Self {
            columns: rows,
            starts: (0..=rows).collect(),
            indices: (0..rows as u32).collect(),
            values: vec![1.0; rows],
        }
    }

    /// Checks one row and brings its columns into ascending order.
    fn check_row(&mut self, row: usize) -> Result<()> {
        let range = self.starts[row]..self.starts[row + 1];
        let (indices, values) = (&mut self.indices[range.clone()], &mut self.values[range]);
        if let Some(column) = indices.iter().find(|&&column| column as usize >= self.columns) {
            let allowed = format!("0 to {}", self.columns.saturating_sub(1));
            return Err(Error::value("column out of range")
                .at(format!("node {row}"))
                .found(column)
                .allowed(allowed));
        }
        for (&column, &value) in indices.iter().zip(&*values) {
            check_value(row, column as usize, value)?;
        }
        if !indices.is_sorted() {
            let mut entries: Vec<(u32, f64)> = indices.iter().copied().zip(values.iter().copied()).collect();
            entries.sort_by_key(|entry| entry.0);
            for (k, (column, value)) in entries.into_iter().enumerate() {
                (indices[k], values[k]) = (column, value);
            }
        }
        match indices.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::value("entry given twice").at(format!("[{row}, {}]", pair[0]))),
            None => Ok(()),
        }
    }

    /// The number of nodes.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of features of a node.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The entries of a node other than 0, by ascending column.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[row]..self.starts[row + 1];
        self.indices[range.clone()]
            .iter()
            .zip(&self.values[range])
            .map(|(&column, &value)| (column as usize, value))
    }

    /// How many entries are kept.
    pub(crate) fn entries(&self) -> usize {
        self.values.len()
    }

    /// Rows for columns and columns for rows.
    pub(crate) fn transposed(&self) -> Self {
        let mut starts = vec![0; self.columns + 1];
        for &column in &self.indices {
            starts[column as usize + 1] += 1;
        }
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let (mut indices, mut values) = (vec![0; self.entries()], vec![0.0; self.entries()]);
        for row in 0..self.rows() {
            for (column, value) in self.row(row) {
                (indices[next[column]], values[next[column]]) = (row as u32, value);
                next[column] += 1;
            }
        }
        Self { columns: self.rows(), starts, indices, values }
    }
}

fn check_columns(columns: usize) -> Result<()> {
    match u32::try_from(columns) {
        Ok(_) => Ok(()),
        Err(_) => {
            Err(Error::value("too many features").found(columns).allowed(format!("up to {}", u32::MAX)))
        }
    }
}

fn check_value(row: usize, column: usize, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::value("feature is not a finite number")
        .at(format!("[{row}, {column}]"))
        .found(value)
        .advice("replace it or drop the column"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_sparse_and_unordered_entries_are_the_same_features() {
        let dense = Features::dense(2, 3, vec![0.0, 2.0, -0.0, 1.0, 0.0, 3.0]).unwrap();
        let sparse = Features::sparse(2, 3, vec![0, 1, 3], vec![1, 2, 0], vec![2.0, 3.0, 1.0]).unwrap();
        assert_eq!(dense, sparse);
        assert_eq!((dense.rows(), dense.columns(), dense.entries()), (2, 3, 3));
        assert_eq!(dense.transposed().transposed(), dense);
        assert_eq!(dense.transposed().row(2).collect::<Vec<_>>(), [(1, 3.0)]);
    }

    #[test]
    fn nodes_may_have_no_features_at_all() {
        let empty = Features::dense(3, 0, vec![]).unwrap();
        assert_eq!((empty.rows(), empty.columns(), empty.row(2).count()), (3, 0, 0));
        assert_eq!(Features::identity(2), Features::dense(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap());
    }

    #[test]
    fn bad_values_are_named_by_node_and_column() {
        let nan = Features::dense(2, 2, vec![0.0, 1.0, f64::NAN, 0.0]).unwrap_err().to_string();
        assert!(nan.contains("[1, 0]") && nan.contains("NaN"), "{nan}");
        let infinite = Features::sparse(1, 4, vec![0, 1], vec![2], vec![f64::INFINITY]).unwrap_err();
        assert_eq!(infinite.place(), Some("[0, 2]"));
        assert!(Features::dense(2, 2, vec![0.0; 3]).unwrap_err().to_string().contains("2 x 2"));
        assert!(
            Features::sparse(1, 2, vec![0, 1], vec![2], vec![1.0])
                .unwrap_err()
                .to_string()
                .contains("0 to 1")
        );
        assert!(Features::sparse(2, 2, vec![0, 1], vec![0], vec![1.0]).is_err());
        let twice = Features::sparse(1, 2, vec![0, 2], vec![1, 1], vec![1.0, 1.0]).unwrap_err();
        assert_eq!(twice.place(), Some("[0, 1]"));
    }
}
