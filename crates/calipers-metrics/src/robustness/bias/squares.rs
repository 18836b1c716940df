//! Squared distances of nodes, exact: a few nodes at a time in floats, the rest in wide numbers.

use calipers_core::ExactSum;
use calipers_core::stop::Turns;
use multiversion::multiversion;

use super::dyadic::Wide;
use super::partials::{Partials, two_product, two_square, two_sum};
use crate::robustness::unit::matrix::Matrix;

/// Nodes that are summed side by side.
const LANES: usize = 8;

/// Columns that are summed before the sums of the lanes are looked at.
const COLUMNS: usize = 256;

/// Where the narrowest sums did not do, they are not tried for so many blocks.
const PATIENCE: u32 = 64;

/// Squares below it may lose bits that no float holds.
const SMALLEST_SQUARE: f64 = f64::from_bits((1023 - 960) << 52);

/// One number for each lane.
type Lanes = [f64; LANES];

/// Running sums of each lane, and bits that did not fit into them.
struct Sums<const LEVELS: usize> {
    sums: [Lanes; LEVELS],
    lost: [u64; LANES],
}

impl<const LEVELS: usize> Sums<LEVELS> {
    const ZERO: Self = Self { sums: [[0.0; LANES]; LEVELS], lost: [0; LANES] };

    /// Adds a term to a lane, from a level on.
    ///
    /// *Correctness.* Each level passes on exactly what its rounding lost; what the last one loses
    /// is noted.
    #[inline(always)]
    fn add(&mut self, lane: usize, level: usize, term: f64) {
        let mut rest = term;
        for sum in &mut self.sums[level..] {
            (sum[lane], rest) = two_sum(sum[lane], rest);
        }
        self.lost[lane] |= rest.to_bits() << 1;
    }

    /// Whether the sums of all lanes lost nothing.
    fn fits(&self) -> bool {
        self.lost == [0; LANES]
    }

    /// Notes a factor other than 0 whose square is too small for floats.
    #[inline(always)]
    fn guard(&mut self, lane: usize, factor: f64, square: f64) {
        self.lost[lane] |= if square < SMALLEST_SQUARE { factor.to_bits() << 1 } else { 0 };
    }
}

/// The squares of differences that floats hold, as single precision nearly always gives them.
#[multiversion(targets("x86_64+avx2"))]
fn square_singles(differences: &[Lanes], out: &mut Sums<2>) {
    square_floats(differences, out);
}

/// The same with more room, as double precision needs it.
#[multiversion(targets("x86_64+avx2"))]
fn square_doubles(differences: &[Lanes], out: &mut Sums<3>) {
    square_floats(differences, out);
}

#[inline(always)]
fn square_floats<const LEVELS: usize>(differences: &[Lanes], out: &mut Sums<LEVELS>) {
    let mut sums = Sums::ZERO;
    for column in differences {
        for (lane, &difference) in column.iter().enumerate() {
            let (square, low) = two_square(difference);
            sums.guard(lane, difference, square);
            sums.add(lane, 0, square);
            sums.add(lane, 1, low);
        }
    }
    *out = sums;
}

/// The squares of differences that two floats hold, the second being what the first lacks.
#[multiversion(targets("x86_64+avx2"))]
fn square_pairs(differences: &[Lanes], errors: &[Lanes], out: &mut Sums<4>) {
    let mut sums = Sums::ZERO;
    for (high, low) in differences.iter().zip(errors) {
        for lane in 0..LANES {
            let (high, low) = (high[lane], low[lane]);
            let (square, square_low) = two_square(high);
            let (mixed, mixed_low) = two_product(2.0 * high, low);
            let (tiny, tiny_low) = two_square(low);
            sums.guard(lane, high, square);
            sums.guard(lane, low, tiny);
            sums.add(lane, 0, square);
            sums.add(lane, 1, square_low);
            sums.add(lane, 1, mixed);
            sums.add(lane, 2, mixed_low);
            sums.add(lane, 2, tiny);
            sums.add(lane, 3, tiny_low);
        }
    }
    *out = sums;
}

/// Two matrices of one shape, of which the squared distances of nodes are wanted.
#[derive(Clone, Copy)]
pub(in crate::robustness) struct Distances<'a> {
    /// The matrix from which is subtracted.
    pub(in crate::robustness) from: Matrix<'a>,
    /// The matrix that is subtracted; without it distances are those from 0.
    pub(in crate::robustness) to: Option<Matrix<'a>>,
    /// Whether numbers are rounded to single precision first.
    pub(in crate::robustness) single: bool,
}

/// The exact squared distance of one node.
pub(in crate::robustness) struct Distance<'s> {
    partials: &'s Partials,
    wide: Option<&'s Wide>,
}

impl Distance<'_> {
    /// The nearest f64.
    pub(in crate::robustness) fn nearest(&self) -> f64 {
        if self.wide.is_some() { self.exact().value().nearest() } else { self.partials.nearest() }
    }

    /// The nearest f32.
    pub(in crate::robustness) fn nearest_single(&self) -> f32 {
        if self.wide.is_some() {
            self.exact().value().nearest_single()
        } else {
            self.partials.nearest_single()
        }
    }

    /// Whether one float holds it.
    pub(in crate::robustness) fn is_float(&self) -> bool {
        self.wide.is_none() && self.partials.terms().len() <= 1
    }

    /// All of it.
    pub(in crate::robustness) fn exact(&self) -> Wide {
        let mut sum = self.wide.cloned().unwrap_or_default();
        sum.add_partials(self.partials.terms());
        sum
    }
}

/// The exact sum of many squared distances.
#[derive(Default)]
pub(in crate::robustness) struct Total {
    floats: ExactSum,
    pending: Vec<f64>,
    wide: Wide,
}

impl Total {
    /// How many floats wait to be added together, which is faster.
    const PENDING: usize = 4096;

    pub(in crate::robustness) fn add(&mut self, distance: &Distance<'_>) {
        self.pending.extend_from_slice(distance.partials.terms());
        if self.pending.len() >= Self::PENDING {
            self.floats.add_slice(&self.pending);
            self.pending.clear();
        }
        if let Some(wide) = distance.wide {
            self.wide.merge(wide);
        }
    }

    pub(in crate::robustness) fn exact(mut self) -> Wide {
        self.floats.add_slice(&self.pending);
        let mut rest = self.floats;
        while !rest.is_zero() {
            let term = rest.value();
            self.wide.add(term);
            rest.add(-term);
        }
        self.wide
    }
}

impl Distances<'_> {
    /// Calls `take` with each node's place in the list and its distance; with no distance once the
    /// work is no longer wanted.
    pub(in crate::robustness) fn each(&self, nodes: &[u32], mut take: impl FnMut(usize, &Distance<'_>)) {
        let mut work = Work::new(self.from.columns);
        let (mut turns, mut wanted) = (Turns::every(256), true);
        for (block, nodes) in nodes.chunks(LANES).enumerate() {
            wanted = wanted && !turns.asked();
            work.partials.iter_mut().for_each(Partials::clear);
            work.wide.fill(None);
            for start in (0..if wanted { self.from.columns } else { 0 }).step_by(COLUMNS) {
                let columns = COLUMNS.min(self.from.columns - start);
                work.add_columns(self, nodes, start, columns);
            }
            for lane in 0..nodes.len() {
                let distance = Distance { partials: &work.partials[lane], wide: work.wide[lane].as_ref() };
                take(block * LANES + lane, &distance);
            }
        }
    }

    /// Numbers of a node as they are subtracted.
    fn widen(&self, matrix: &Matrix<'_>, node: u32, start: usize, out: &mut [f64]) {
        matrix.data.widen(node as usize * matrix.columns + start, out);
        if self.single {
            out.iter_mut().for_each(|x| *x = f64::from(*x as f32));
        }
    }
}

/// Room for the sums of a block of nodes.
struct Work {
    from: Vec<f64>,
    to: Vec<f64>,
    differences: Vec<Lanes>,
    errors: Vec<Lanes>,
    partials: [Partials; LANES],
    wide: [Option<Wide>; LANES],
    /// For how many blocks the narrowest sums are not even tried.
    skip: u32,
}

impl Work {
    fn new(columns: usize) -> Self {
        let room = columns.min(COLUMNS);
        Self {
            from: vec![0.0; room],
            to: vec![0.0; room],
            differences: vec![[0.0; LANES]; room],
            errors: vec![[0.0; LANES]; room],
            partials: Default::default(),
            wide: Default::default(),
            skip: 0,
        }
    }

    fn add_columns(&mut self, of: &Distances<'_>, nodes: &[u32], start: usize, columns: usize) {
        let mut inexact = false;
        if nodes.len() < LANES {
            self.differences.fill([0.0; LANES]);
            self.errors.fill([0.0; LANES]);
        }
        for (lane, &node) in nodes.iter().enumerate() {
            let (from, to) = (&mut self.from[..columns], &mut self.to[..columns]);
            of.widen(&of.from, node, start, from);
            if let Some(matrix) = &of.to {
                of.widen(matrix, node, start, to);
            }
            let mut lost = 0;
            for (column, (from, to)) in from.iter().zip(to.iter()).enumerate() {
                let (difference, error) = two_sum(*from, -*to);
                self.differences[column][lane] = difference;
                self.errors[column][lane] = error;
                lost |= error.to_bits() << 1;
            }
            inexact |= lost != 0;
        }
        let (differences, errors) = (&self.differences[..columns], &self.errors[..columns]);
        if !inexact {
            if self.skip == 0 {
                let mut narrow = Sums::ZERO;
                square_singles(differences, &mut narrow);
                if narrow.fits() {
                    return self.take(nodes.len(), &narrow);
                }
                self.skip = PATIENCE;
            }
            self.skip -= 1;
            let mut wider = Sums::ZERO;
            square_doubles(differences, &mut wider);
            if wider.fits() {
                return self.take(nodes.len(), &wider);
            }
        }
        let mut widest = Sums::ZERO;
        square_pairs(differences, errors, &mut widest);
        self.take(nodes.len(), &widest);
        for (lane, &node) in nodes.iter().enumerate() {
            if widest.lost[lane] != 0 {
                self.add_exactly(of, node, lane, start, columns);
            }
        }
    }

    /// Adds what lanes have summed, as far as nothing was lost there.
    fn take<const LEVELS: usize>(&mut self, lanes: usize, sums: &Sums<LEVELS>) {
        for lane in (0..lanes).filter(|&lane| sums.lost[lane] == 0) {
            sums.sums.iter().rev().for_each(|level| self.partials[lane].add(level[lane]));
        }
    }

    /// The slow way, for numbers of very different size and for squares that floats cannot hold.
    fn add_exactly(&mut self, of: &Distances<'_>, node: u32, lane: usize, start: usize, columns: usize) {
        let (from, to) = (&mut self.from[..columns], &mut self.to[..columns]);
        of.widen(&of.from, node, start, from);
        if let Some(matrix) = &of.to {
            of.widen(matrix, node, start, to);
        }
        let sum = self.wide[lane].get_or_insert_default();
        from.iter().zip(to.iter()).for_each(|(&from, &to)| sum.add_squared_difference(from, to));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use calipers_core::NumberSlice;
    use calipers_core::exact::Rational;

    /// The definition, in rationals.
    fn oracle(from: &[f64], to: &[f64]) -> Rational {
        from.iter().zip(to).fold(Rational::whole(0), |sum, (&a, &b)| {
            let difference = Rational::of(a).minus(&Rational::of(b));
            sum.plus(&difference.times(&difference))
        })
    }

    fn check(columns: usize, from: &[f64], to: &[f64], single: bool) -> Result<(), TestCaseError> {
        let rows = from.len() / columns;
        let matrix = |data| Matrix::new(rows, columns, NumberSlice::F64(data)).unwrap();
        let distances = Distances { from: matrix(from), to: Some(matrix(to)), single };
        let nodes: Vec<u32> = (0..rows as u32).rev().collect();
        let rounded = |x: &[f64]| -> Vec<f64> {
            x.iter().map(|&x| if single { f64::from(x as f32) } else { x }).collect()
        };
        let (from, to) = (rounded(from), rounded(to));
        let mut total = Total::default();
        let mut expected = Rational::whole(0);
        distances.each(&nodes, |place, distance| {
            let row = nodes[place] as usize * columns..(nodes[place] as usize + 1) * columns;
            let exact = oracle(&from[row.clone()], &to[row]);
            assert_eq!(distance.nearest().to_bits(), exact.nearest().to_bits());
            assert_eq!(distance.nearest_single().to_bits(), exact.nearest_single().to_bits());
            assert_eq!(distance.exact().value(), exact);
            assert!(!distance.is_float() || Rational::of(distance.nearest()) == exact);
            total.add(distance);
            expected = expected.plus(&exact);
        });
        prop_assert_eq!(total.exact().value(), expected);
        Ok(())
    }

    /// Numbers of one size, of any size that is allowed, and whole ones.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            -2.0..2.0f64,
            (-20i32..20).prop_map(f64::from),
            (-1.0..1.0f64, -900i32..481).prop_map(|(x, exponent)| x * 2f64.powi(exponent)),
            Just(f64::from_bits(1)),
            Just(0.0),
            Just(-0.0),
        ]
    }

    proptest! {
        #[test]
        fn distances_are_exact(
            columns in 1usize..5,
            numbers in prop::collection::vec((number(), number()), 1..60),
            single in any::<bool>(),
        ) {
            let rows = numbers.len() / columns;
            prop_assume!(rows > 0);
            let fits = |x: f64| if single { x.clamp(-1e38, 1e38) } else { x };
            let (from, to): (Vec<f64>, Vec<f64>) =
                numbers[..rows * columns].iter().map(|&(a, b)| (fits(a), fits(b))).unzip();
            check(columns, &from, &to, single)?;
        }

        #[test]
        fn ordinary_numbers_are_exact_over_many_columns(
            numbers in prop::collection::vec((-3.0..3.0f32, -3.0..3.0f32), 600..601),
            doubles in prop::collection::vec((-3.0..3.0f64, -3.0..3.0f64), 600..601),
        ) {
            let (from, to): (Vec<f64>, Vec<f64>) =
                numbers.iter().map(|&(a, b)| (f64::from(a), f64::from(b))).unzip();
            check(300, &from, &to, false)?;
            let (from, to): (Vec<f64>, Vec<f64>) = doubles.into_iter().unzip();
            check(300, &from, &to, false)?;
        }
    }
}
