//! Rows of f64 padded with zeros to whole vectors.

/// How many values are worked on together.
pub(crate) const WIDTH: usize = 4;

/// A few neighbouring values of a row.
pub(crate) type Vector = [f64; WIDTH];

/// A matrix whose rows end in zeros, so that loops over them need no remainder.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<Vector>,
}

impl Matrix {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![[0.0; WIDTH]; rows * columns.div_ceil(WIDTH)] }
    }

    /// A matrix to be overwritten, in the memory of another where that has this size.
    pub(crate) fn over(used: Option<Self>, rows: usize, columns: usize) -> Self {
        let fits = |used: &Self| (used.rows, used.columns) == (rows, columns);
        used.filter(fits).unwrap_or_else(|| Self::zeros(rows, columns))
    }

    #[cfg(test)]
    pub(crate) fn from_rows(rows: &[Vec<f64>]) -> Self {
        let mut matrix = Self::zeros(rows.len(), rows.first().map_or(0, Vec::len));
        for (row, values) in rows.iter().enumerate() {
            matrix.row_mut(row)[..values.len()].copy_from_slice(values);
        }
        matrix
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Vectors per row.
    pub(crate) fn vectors(&self) -> usize {
        self.columns.div_ceil(WIDTH)
    }

    /// A row with its padding, as vectors.
    #[inline(always)]
    pub(crate) fn padded(&self, row: usize) -> &[Vector] {
        let width = self.vectors();
        &self.data[row * width..(row + 1) * width]
    }

    /// A row without its padding.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.padded(row).as_flattened()[..self.columns]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        let width = self.vectors();
        let columns = self.columns;
        &mut self.data[row * width..(row + 1) * width].as_flattened_mut()[..columns]
    }

    /// All vectors, row by row.
    pub(crate) fn data(&self) -> &[Vector] {
        &self.data
    }

    pub(crate) fn data_mut(&mut self) -> &mut [Vector] {
        &mut self.data
    }

    /// The first place, row by row, whose value is not finite.
    pub(crate) fn first_not_finite(&self) -> Option<(usize, usize)> {
        let finite = |values: &[f64]| values.iter().fold(0.0, |sum, value| sum + value * 0.0) >= 0.0;
        if finite(self.data.as_flattened()) {
            return None;
        }
        (0..self.rows).find_map(|row| Some((row, self.row(row).iter().position(|value| !value.is_finite())?)))
    }

    /// The values row by row, without padding.
    pub(crate) fn into_values(self) -> Vec<f64> {
        if self.columns.is_multiple_of(WIDTH) {
            return self.data.into_flattened();
        }
        (0..self.rows).flat_map(|row| self.row(row)).copied().collect()
    }
}

/// The sum of the squared differences of two padded rows.
#[inline(always)]
pub(crate) fn squared_distance(a: &[Vector], b: &[Vector]) -> f64 {
    total(squared_distances(a, b))
}

/// The same before the last additions.
#[inline(always)]
pub(crate) fn squared_distances(a: &[Vector], b: &[Vector]) -> Vector {
    let mut sums = [0.0; WIDTH];
    for (a, b) in a.iter().zip(b) {
        for k in 0..WIDTH {
            let difference = a[k] - b[k];
            sums[k] += difference * difference;
        }
    }
    sums
}

/// The inner product of two padded rows.
#[inline(always)]
pub(crate) fn dot(a: &[Vector], b: &[Vector]) -> f64 {
    total(products(a, b))
}

/// The same before the last additions.
#[inline(always)]
pub(crate) fn products(a: &[Vector], b: &[Vector]) -> Vector {
    let mut sums = [0.0; WIDTH];
    for (a, b) in a.iter().zip(b) {
        for k in 0..WIDTH {
            sums[k] += a[k] * b[k];
        }
    }
    sums
}

/// The sum of a vector.
#[inline(always)]
pub(crate) fn total(sums: Vector) -> f64 {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// `sums += factor * row`.
#[inline(always)]
pub(crate) fn add_scaled(sums: &mut [Vector], factor: f64, row: &[Vector]) {
    for (sum, row) in sums.iter_mut().zip(row) {
        for k in 0..WIDTH {
            sum[k] += factor * row[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_changes_neither_products_nor_values() {
        let rows = [vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![2.0, 0.0, -1.0, 1.0, 7.0]];
        let matrix = Matrix::from_rows(&rows);
        assert_eq!(dot(matrix.padded(0), matrix.padded(1)).to_bits(), 38f64.to_bits());
        assert_eq!(squared_distance(matrix.padded(0), matrix.padded(1)).to_bits(), 34f64.to_bits());
        assert_eq!(matrix.into_values(), rows.concat());
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_found() {
        let mut matrix = Matrix::zeros(3, 2);
        assert_eq!(matrix.first_not_finite(), None);
        matrix.row_mut(2)[1] = f64::NEG_INFINITY;
        matrix.row_mut(2)[0] = f64::NAN;
        assert_eq!(matrix.first_not_finite(), Some((2, 0)));
    }
}
