//! The nearest point where it is close: rows of bits around the query, the nearest row first.

use super::{Place, Steps};

/// Rows and slices that are looked at on each side in a volume, and rows in an image.
const SIDE_IN_VOLUME: u32 = 8;
const SIDE_IN_IMAGE: u32 = 31;
/// Columns that a word shows on each side.
const COLUMNS: u32 = 31;
/// The bit of a word that stands for the query's own column.
const MIDDLE: u32 = 32;

/// A row in which to look.
struct Row {
    slices: i32,
    rows: i32,
    /// Its own squared distance.
    squared: f64,
}

/// The points, one bit per place of the grid.
pub(super) struct Bits {
    axes: [usize; 3],
    steps: Steps,
    words_per_row: usize,
    words: Vec<u64>,
    around: Vec<Row>,
    /// Nothing that is not looked at is closer.
    complete: f64,
}

impl Bits {
    pub(super) fn new(axes: [usize; 3], steps: Steps) -> Self {
        // Half a word before each row, and a whole one behind the last column.
        let words_per_row = (axes[2] + 2 * MIDDLE as usize).div_ceil(64) + 1;
        let words = vec![0; axes[0] * axes[1] * words_per_row];
        let (slices, rows) = match axes[0] {
            1 => (0, SIDE_IN_IMAGE as i32),
            _ => (SIDE_IN_VOLUME as i32, SIDE_IN_VOLUME as i32),
        };
        let beyond_slices = match slices {
            0 => f64::INFINITY,
            _ => steps.squared([slices as u32 + 1, 0, 0]),
        };
        let beyond_rows = steps.squared([0, rows as u32 + 1, 0]);
        let beyond = beyond_slices.min(beyond_rows);
        let all = (-slices..=slices).flat_map(|dz| (-rows..=rows).map(move |dy| (dz, dy)));
        let mut around: Vec<Row> = all
            .map(|(dz, dy)| {
                let squared = steps.squared([dz.unsigned_abs(), dy.unsigned_abs(), 0]);
                Row { slices: dz, rows: dy, squared }
            })
            .filter(|row| row.squared < beyond)
            .collect();
        around.sort_by(|a, b| a.squared.total_cmp(&b.squared));
        let complete = beyond.min(steps.squared([0, 0, COLUMNS + 1]));
        Self { axes, steps, words_per_row, words, around, complete }
    }

    /// The distance up to which every point is seen.
    pub(super) fn reach(&self) -> f64 {
        self.complete.sqrt()
    }

    /// Puts a point there, or takes it away again.
    pub(super) fn flip(&mut self, place: Place) {
        let [z, y, x] = place.map(|at| at as usize);
        let bit = x + MIDDLE as usize;
        let word = (z * self.axes[1] + y) * self.words_per_row + bit / 64;
        self.words[word] ^= 1 << (bit % 64);
    }

    /// The squared distance to the nearest point, if that is certainly among those that are looked at.
    pub(super) fn nearest(&self, query: Place) -> Option<f64> {
        let [z, y, x] = query;
        let mut best = f64::INFINITY;
        for row in &self.around {
            if row.squared >= best {
                break;
            }
            let (z, y) =
                (z.wrapping_add_signed(row.slices) as usize, y.wrapping_add_signed(row.rows) as usize);
            if z >= self.axes[0] || y >= self.axes[1] {
                continue;
            }
            if let Some(columns) = self.columns((z * self.axes[1] + y) * self.words_per_row, x) {
                let apart = [row.slices.unsigned_abs(), row.rows.unsigned_abs(), columns];
                best = best.min(self.steps.squared(apart));
            }
        }
        (best <= self.complete).then_some(best)
    }

    /// How many columns the nearest point of a row is away, as far as one word shows.
    fn columns(&self, row: usize, x: u32) -> Option<u32> {
        let (word, shift) = (row + x as usize / 64, x % 64);
        let seen = self.words[word] >> shift | self.words[word + 1] << 1 << (63 - shift);
        let right = (seen >> MIDDLE).trailing_zeros();
        let left = (seen as u32).leading_zeros() + 1;
        Some(right.min(left)).filter(|columns| *columns <= COLUMNS)
    }
}
