//! How many digits of a number are worth reading.

use super::Spread;
use crate::leaf::Leaf;
use crate::number::rounded_count;

/// One format for all numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// This many decimals.
    Decimals(usize),
    /// Four digits and a power of ten.
    Scientific,
}

/// Decimals where nothing says how sure a number is.
const USUAL: usize = 4;
/// Numbers that would need more decimals are written with a power of ten.
const MOST: usize = 8;
/// From here on no decimals are written out.
const LARGE: f64 = 1e15;

impl Digits {
    /// The format of a column, from its numbers and their intervals: two digits of the half width of the
    /// narrowest interval; without intervals four decimals, or four digits of the largest number, where
    /// that is small.
    pub(crate) fn of_column(numbers: impl Iterator<Item = (f64, Option<[f64; 2]>)> + Clone) -> Self {
        let largest = numbers.clone().map(|(x, _)| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let halves = numbers.filter_map(|(_, interval)| interval.map(|[low, high]| high / 2.0 - low / 2.0));
        let narrowest = halves.filter(|half| *half > 0.0 && half.is_finite()).fold(f64::INFINITY, f64::min);
        if largest >= LARGE {
            return Self::Scientific;
        }
        if narrowest.is_finite() {
            return Self::down_to(exponent(narrowest) - 1);
        }
        match largest {
            0.0 => Self::Decimals(USUAL),
            _ if largest >= 1e6 => Self::Decimals(1),
            _ => Self::down_to((exponent(largest) - 3).min(-(USUAL as i32))),
        }
    }

    /// The format of a number among numbers of other kinds, which have four decimals too.
    pub(crate) fn alone(x: f64, interval: Option<[f64; 2]>) -> Self {
        let sure = interval.is_some_and(|[low, high]| high > low);
        let shown = x == 0.0 || (5e-4..1e6).contains(&x.abs());
        if shown && !sure {
            return Self::Decimals(USUAL);
        }
        match Self::of_column(std::iter::once((x, interval))) {
            Self::Decimals(decimals) if !sure && decimals > USUAL => Self::Scientific,
            digits => digits,
        }
    }

    /// The format of the interval of a count.
    pub(crate) fn of_count(interval: [f64; 2]) -> Self {
        match interval.iter().all(|bound| bound.fract() == 0.0) {
            true => Self::Decimals(0),
            false => Self::of_column(std::iter::once((0.0, Some(interval)))),
        }
    }

    /// Decimals down to this power of ten.
    fn down_to(power: i32) -> Self {
        match usize::try_from(-power) {
            Ok(decimals) if decimals > MOST => Self::Scientific,
            decimals => Self::Decimals(decimals.unwrap_or(0)),
        }
    }

    /// A number in this format.
    pub(crate) fn number(self, x: f64) -> String {
        let text = match self {
            Self::Decimals(decimals) => format!("{x:.decimals$}"),
            Self::Scientific => format!("{x:.3e}"),
        };
        let is_zero = !text.contains(|c: char| c.is_ascii_digit() && c != '0');
        match text.strip_prefix('-') {
            Some(positive) if is_zero => positive.to_owned(),
            _ => text,
        }
    }

    /// A value in this format; counts keep every digit.
    pub(crate) fn leaf(self, leaf: Leaf<'_>) -> String {
        match leaf {
            Leaf::Number(x) => self.number(x),
            Leaf::Count(n) => rounded_count(n),
            Leaf::Undefined(_) => "–".into(),
        }
    }

    /// An interval in brackets.
    pub(crate) fn interval(self, [low, high]: [f64; 2]) -> String {
        format!("[{}, {}]", self.number(low), self.number(high))
    }

    /// An interval of a number as it is asked for.
    pub(crate) fn spread(self, spread: Spread, x: f64, [low, high]: [f64; 2]) -> String {
        match spread {
            Spread::Brackets => self.interval([low, high]),
            Spread::PlusMinus => format!("± {}", self.number((high - x).max(x - low).max(0.0))),
        }
    }

    /// A difference, always with its sign.
    pub(crate) fn signed(self, x: f64) -> String {
        let text = self.number(x);
        if x > 0.0 { format!("+{text}") } else { text }
    }
}

/// The power of ten of the first digit.
fn exponent(x: f64) -> i32 {
    let text = format!("{x:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn column(numbers: &[(f64, Option<[f64; 2]>)]) -> Vec<String> {
        let digits = Digits::of_column(numbers.iter().copied());
        numbers.iter().map(|(x, _)| digits.number(*x)).collect()
    }

    #[test]
    fn a_column_has_one_format() {
        assert_eq!(column(&[(0.9378, None), (1.0, None), (0.069_604, None)]), ["0.9378", "1.0000", "0.0696"]);
        assert_eq!(column(&[(0.003_811, None), (0.038_57, None)]), ["0.00381", "0.03857"]);
        assert_eq!(column(&[(1.5e-9, None), (0.0, None)]), ["1.500e-9", "0.000e0"]);
        assert_eq!(column(&[(12_345_678.9, None), (2.0, None)]), ["12345678.9", "2.0"]);
        assert_eq!(column(&[(1.5e300, None)]), ["1.500e300"]);
        assert_eq!(column(&[(0.0, None), (-1e-9, None), (1.0, None)]), ["0.0000", "0.0000", "1.0000"]);
    }

    #[test]
    fn an_interval_says_how_many_digits_there_are() {
        assert_eq!(column(&[(0.871_3, Some([0.857_1, 0.880_2]))]), ["0.871"]);
        assert_eq!(column(&[(5.769_2, Some([3.1, 9.2]))]), ["5.8"]);
        assert_eq!(column(&[(38.825, Some([10.0, 70.0]))]), ["39"]);
        assert_eq!(column(&[(0.5, Some([0.5, 0.5])), (0.25, None)]), ["0.5000", "0.2500"]);
        assert_eq!(column(&[(0.5, Some([0.4, 0.6])), (0.25, Some([0.2488, 0.2512]))]), ["0.5000", "0.2500"]);
        assert_eq!(Digits::of_count([7.0, 9.0]).interval([7.0, 9.0]), "[7, 9]");
        assert_eq!(Digits::of_count([7.0, 9.5]).interval([7.0, 9.5]), "[7.0, 9.5]");
        let plus_minus = |x, bounds| Digits::alone(x, Some(bounds)).spread(Spread::PlusMinus, x, bounds);
        assert_eq!(plus_minus(0.871_3, [0.857_1, 0.880_2]), "± 0.014", "the farther end");
        assert_eq!(plus_minus(0.5, [0.6, 0.7]), "± 0.200", "also where the number lies outside");
        assert_eq!(Digits::alone(0.98, Some([0.976, 0.984])).interval([0.976, 0.984]), "[0.9760, 0.9840]");
    }

    #[test]
    fn a_number_alone_has_four_decimals_unless_they_say_nothing() {
        let alone = |x| Digits::alone(x, None).number(x);
        let shown = [0.98734, 0.004_238, 1.235e-5, 425.958, 0.0, 638_943.0, 7e7].map(alone);
        assert_eq!(
            shown,
            ["0.9873", "0.0042", "1.235e-5", "425.9580", "0.0000", "638943.0000", "70000000.0"]
        );
    }

    proptest! {
        #[test]
        fn any_number_has_a_text_that_reads_back_near_it(x in any::<f64>(), low in any::<f64>(), high in any::<f64>()) {
            for digits in [Digits::alone(x, None), Digits::alone(x, Some([low, high]))] {
                let text = digits.number(x);
                prop_assert!(!x.is_finite() || text.parse::<f64>().is_ok(), "{}", text);
            }
            let shown: f64 = Digits::alone(x, None).number(x).parse().unwrap();
            prop_assert!(!x.is_finite() || (shown - x).abs() <= (x.abs() * 5.01e-4).max(5.01e-5), "{} for {}", shown, x);
        }
    }
}
