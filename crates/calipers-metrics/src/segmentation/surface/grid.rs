//! How the elements of a map lie in space: the sizes of its axes, and how far apart its elements are.

use calipers_core::{Error, Result};

/// The axes of an image or a volume.
///
/// Axes of length 1 are dropped from the front while more than two are left: a volume of one slice is an
/// image. Measured as a volume, every element of it would be surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    axes: [usize; 3],
    spacing: Option<[f64; 3]>,
}

impl Grid {
    /// The grid of an array of two or three axes. The spacing has one number for all axes, or one per axis,
    /// before or after axes of length 1 are dropped.
    pub fn new(shape: &[usize], spacing: Option<&[f64]>) -> Result<Self> {
        if !matches!(shape.len(), 2 | 3) {
            return Err(Error::value("a label map has two or three axes").found(shown(shape)));
        }
        let mut kept: Vec<usize> = (0..shape.len()).collect();
        while kept.len() > 2
            && let Some(flat) = kept.iter().position(|&axis| shape[axis] == 1)
        {
            kept.remove(flat);
        }
        let mut axes = [1; 3];
        let first = axes.len() - kept.len();
        kept.iter().zip(&mut axes[first..]).for_each(|(&axis, length)| *length = shape[axis]);
        let spacing = spacing.map(|given| Self::spaced(given, shape, &kept)).transpose()?;
        Ok(Self { axes, spacing })
    }

    /// An image without a spacing.
    pub(crate) fn image(height: usize, width: usize) -> Self {
        Self { axes: [1, height, width], spacing: None }
    }

    fn spaced(given: &[f64], shape: &[usize], kept: &[usize]) -> Result<[f64; 3]> {
        check_spacing(given)?;
        let mut spacing = [1.0; 3];
        let first = spacing.len() - kept.len();
        for ((place, &axis), step) in kept.iter().enumerate().zip(&mut spacing[first..]) {
            *step = match given.len() {
                1 => given[0],
                all if all == shape.len() => given[axis],
                left if left == kept.len() => given[place],
                other => {
                    return Err(Error::value("the spacing does not fit the axes")
                        .at("spacing")
                        .found(format!("{other} numbers for {}", shown(shape)))
                        .allowed(format!("one number, or one per axis: {}", shape.len()))
                        .advice("--spacing takes the numbers in the order of the array: z, y, x"));
                }
            };
        }
        Ok(spacing)
    }

    /// Slices, rows and columns; an image has one slice.
    pub fn axes(&self) -> [usize; 3] {
        self.axes
    }

    /// How far elements are apart along each axis, where that is known.
    pub fn spacing(&self) -> Option<[f64; 3]> {
        self.spacing
    }

    /// Whether there is more than one slice.
    pub fn is_volume(&self) -> bool {
        self.axes[0] > 1
    }

    /// The rows of all slices, one slice below the other.
    pub fn rows(&self) -> usize {
        self.axes[0].saturating_mul(self.axes[1])
    }

    /// Refuses a prediction of another size than its truth.
    pub fn check_size(&self, truth: &Self) -> Result<()> {
        if self.axes == truth.axes {
            return Ok(());
        }
        let axes = |grid: &Self| shown(if grid.is_volume() { &grid.axes } else { &grid.axes[1..] });
        let what = if self.is_volume() == truth.is_volume() {
            "truth and prediction differ in size"
        } else {
            "a volume and an image cannot be compared"
        };
        Err(Error::value(what)
            .found(format!("prediction {}", axes(self)))
            .allowed(format!("{}, the size of the truth", axes(truth)))
            .advice("score predictions at the size of the truth, and check that the two belong together"))
    }

    /// Adds the slice to the place in an error, whose row counts through all slices.
    pub(crate) fn placed(&self, error: Error) -> Error {
        if !self.is_volume() {
            return error;
        }
        let rows = self.axes[1];
        let slice = |text: &str| {
            let (before, after) = text.split_once("y = ")?;
            let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            let row: usize = after[..digits].parse().ok()?;
            Some(format!("{before}y = {}, z = {}{}", row % rows, row / rows, &after[digits..]))
        };
        error.reworded(|text| slice(text).unwrap_or_else(|| text.to_owned()))
    }
}

/// Refuses steps that are no distances.
pub(crate) fn check_spacing(spacing: &[f64]) -> Result<()> {
    let Some(bad) = spacing.iter().find(|step| !(step.is_finite() && **step > 0.0)) else { return Ok(()) };
    Err(Error::value("not a spacing")
        .at("spacing")
        .found(bad)
        .allowed("finite numbers above 0")
        .advice("--spacing replaces the spacing of a file"))
}

fn shown(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_length_one_are_dropped_from_the_front_with_their_spacing() {
        let grid = |shape: &[usize], spacing: &[f64]| {
            let grid = Grid::new(shape, Some(spacing)).unwrap();
            (grid.axes(), grid.spacing().unwrap())
        };
        assert_eq!(grid(&[1, 6, 7], &[9.0, 2.0, 0.5]), ([1, 6, 7], [1.0, 2.0, 0.5]));
        assert_eq!(grid(&[6, 1, 7], &[2.0, 9.0, 0.5]), ([1, 6, 7], [1.0, 2.0, 0.5]));
        assert_eq!(grid(&[1, 1, 7], &[9.0, 2.0, 0.5]), ([1, 1, 7], [1.0, 2.0, 0.5]));
        assert_eq!(grid(&[1, 6, 7], &[2.0, 0.5]), ([1, 6, 7], [1.0, 2.0, 0.5]));
        assert_eq!(grid(&[3, 6, 7], &[2.0]), ([3, 6, 7], [2.0; 3]));
        assert_eq!(grid(&[1, 9], &[2.0, 3.0]), ([1, 1, 9], [1.0, 2.0, 3.0]));
    }

    #[test]
    fn spacings_that_do_not_fit_are_refused_with_their_numbers() {
        for (spacing, word) in
            [(&[1.0, 0.0][..], "0"), (&[-1.0, 1.0], "-1"), (&[1.0; 3], "3 numbers"), (&[f64::NAN], "NaN")]
        {
            let text = Grid::new(&[6, 7], Some(spacing)).unwrap_err().to_string();
            assert!(text.contains("spacing") && text.contains(word), "{text}");
        }
    }

    #[test]
    fn the_row_in_a_message_becomes_row_and_slice() {
        let grid = Grid::new(&[3, 4, 5], None).unwrap();
        let error = grid.placed(Error::value("bad").at("x = 2, y = 9, channel 1"));
        assert_eq!(error.place(), Some("x = 2, y = 1, z = 2, channel 1"));
        let image = Grid::new(&[4, 5], None).unwrap();
        assert_eq!(image.placed(Error::value("bad").at("x = 2, y = 3")).place(), Some("x = 2, y = 3"));
    }
}
