//! From logged values to the points of a curve: one value for each x, in order of x.

use calipers_core::exact::exact_mean;
use calipers_core::{Error, Result, Stored};

use crate::training::protocol::Training;
use crate::training::protocol::parameters::{Duplicates, Index, Nan};
use crate::training::unit::{Curve, Sample};

/// The largest epoch number: far beyond any training, and small enough that sums of squares over
/// millions of runs stay exact.
pub(in crate::training) const MOST_EPOCHS: i128 = 1 << 40;

/// What counts of the values that a run logged at one x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its number in the run, from 1.
    pub number: u64,
    /// Where it stands.
    pub x: f64,
    /// The value after scaling; NaN stands for a point that failed.
    pub value: f64,
}

impl Training {
    /// The points of a run, as every number reads them: in order of x, one for each x.
    pub fn points(&self, curve: &Curve<'_>) -> Result<Vec<Point>> {
        let points = Points::new(self, curve)?;
        let at = |position| Point {
            number: points.number(position),
            x: points.x[position],
            value: points.values[position],
        };
        Ok((0..points.x.len()).map(at).collect())
    }
}

/// The points of one run; never empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Points {
    /// Ascending within a session, each once there, finite.
    pub(crate) x: Vec<f64>,
    /// The value at each x; NaN stands for a point that failed.
    pub(crate) values: Vec<f64>,
    /// How many x have two different values.
    pub(crate) repeated: u64,
    /// How many logged values were NaN or infinite.
    pub(crate) not_finite: u64,
    /// The type in which values meet a threshold.
    pub(crate) compared: Stored,
    numbering: Option<i64>,
    /// Whether there are several sessions, one after the other.
    sessions: bool,
}

impl Points {
    /// The points of a curve, or what makes one of its rows unusable.
    pub(crate) fn new(protocol: &Training, curve: &Curve<'_>) -> Result<Self> {
        let mut not_finite = 0;
        let mut kept = Vec::with_capacity(curve.samples.len());
        for sample in curve.samples {
            check_x(protocol, curve, sample)?;
            let value = match sample.value.is_finite() {
                true => scaled(protocol, curve, sample)?,
                false => {
                    not_finite += 1;
                    match protocol.nan {
                        Nan::Missing => continue,
                        Nan::Fail => f64::NAN,
                        Nan::Error => return Err(refused_value(curve, sample)),
                    }
                }
            };
            // Adding 0 makes the two zeros one x.
            kept.push(Sample { x: sample.x + 0.0, value, ..*sample });
        }
        if kept.is_empty() {
            return Err(nothing(curve));
        }
        if !kept.is_sorted_by(|a, b| (a.session, a.x) < (b.session, b.x)) {
            kept.sort_by(|a, b| a.session.cmp(&b.session).then(a.x.total_cmp(&b.x)));
        }
        let numbering = (protocol.index == Index::Epoch).then_some(protocol.first_epoch);
        let compared = protocol.precision.of(curve.stored);
        let sessions = kept[0].session != kept[kept.len() - 1].session;
        let mut points = Self { not_finite, numbering, compared, sessions, ..Self::default() };
        points.x.reserve_exact(kept.len());
        points.values.reserve_exact(kept.len());
        for same in kept.chunk_by(|a, b| a.session == b.session && a.x.to_bits() == b.x.to_bits()) {
            points.x.push(same[0].x);
            points.values.push(match same {
                [one] => one.value,
                several => {
                    let differs = |sample: &Sample| !alike(sample.value, several[0].value);
                    points.repeated += u64::from(several.iter().any(differs));
                    chosen(protocol.duplicates, curve, several)?
                }
            });
        }
        Ok(points)
    }

    /// The number of a point, from 1.
    pub(crate) fn number(&self, position: usize) -> u64 {
        match self.numbering {
            None => position as u64 + 1,
            Some(first) => (self.x[position] as i128 - i128::from(first) + 1) as u64,
        }
    }

    /// Whether x are whole numbers with unequal distances; never with fewer than 3 points.
    pub(crate) fn have_gaps(&self) -> bool {
        self.distances().is_some_and(|distances| {
            distances.iter().any(|distance| distance.to_bits() != distances[0].to_bits())
        })
    }

    /// Whether the first x is further from 0 than one x usually is from the next: the log begins late.
    pub(crate) fn begin_late(&self) -> bool {
        self.distances().is_some_and(|mut distances| {
            let middle = (distances.len() - 1) / 2;
            self.x[0] > *distances.select_nth_unstable_by(middle, f64::total_cmp).1
        })
    }

    /// The distances between x that are whole numbers; none with fewer than 3 points, and none over
    /// several sessions, which count anew.
    fn distances(&self) -> Option<Vec<f64>> {
        let whole = self.x.iter().all(|x| x.fract().abs() <= 0.0);
        let regular = whole && self.x.len() > 2 && !self.sessions;
        regular.then(|| self.x.windows(2).map(|pair| pair[1] - pair[0]).collect())
    }
}

fn check_x(protocol: &Training, curve: &Curve<'_>, sample: &Sample) -> Result<()> {
    let wrong = |what: &str| {
        Error::value(what).at((curve.place)(sample.row)).found(format!("{} = {}", curve.x_key, sample.x))
    };
    if !sample.x.is_finite() {
        return Err(wrong("a value without an x")
            .allowed("a finite number")
            .advice("choose another column with --x, or --x row for the position in the file"));
    }
    if protocol.index == Index::Evaluation {
        return Ok(());
    }
    let first = protocol.first_epoch;
    if sample.x.fract().abs() > 0.0 {
        return Err(wrong("an epoch that is no whole number")
            .allowed(format!("whole numbers from {first}"))
            .advice("leave out --index epoch to number points by evaluation"));
    }
    // A float beyond the range of i128 becomes its end, which is out of range as well.
    let number = (sample.x as i128).saturating_sub(first.into()).saturating_add(1);
    if number < 1 {
        return Err(wrong("an epoch before the first one")
            .allowed(format!("whole numbers from {first}"))
            .advice("say where epochs begin with --first-epoch"));
    }
    if number > MOST_EPOCHS {
        return Err(wrong("an epoch number that is too large")
            .allowed(format!("at most {MOST_EPOCHS} epochs"))
            .advice("leave out --index epoch to number points by evaluation"));
    }
    Ok(())
}

fn scaled(protocol: &Training, curve: &Curve<'_>, sample: &Sample) -> Result<f64> {
    let value = sample.value / protocol.scale;
    if value.is_finite() {
        return Ok(value);
    }
    Err(Error::value("a value is too large for the scale")
        .at((curve.place)(sample.row))
        .found(format!("{} / {}", sample.value, protocol.scale))
        .advice("choose a larger --scale"))
}

/// What counts of the values at one x.
fn chosen(rule: Duplicates, curve: &Curve<'_>, several: &[Sample]) -> Result<f64> {
    match rule {
        Duplicates::First => Ok(several[0].value),
        Duplicates::Last => Ok(several[several.len() - 1].value),
        Duplicates::Mean => {
            let finite = several.iter().map(|sample| sample.value).filter(|value| value.is_finite());
            // Without a finite value the point failed.
            Ok(exact_mean(finite).unwrap_or(f64::NAN))
        }
        Duplicates::Error => {
            let places: Vec<String> =
                several.iter().take(2).map(|sample| (curve.place)(sample.row)).collect();
            Err(Error::value("several values at one x")
                .at(places.join(" and "))
                .found(format!("{} = {}", curve.x_key, several[0].x))
                .advice("say which of them counts with --duplicates last, first or mean"))
        }
    }
}

fn refused_value(curve: &Curve<'_>, sample: &Sample) -> Error {
    Error::value("a value that is no finite number")
        .at((curve.place)(sample.row))
        .found(format!("{} at {} = {}", sample.value, curve.x_key, sample.x))
        .allowed("finite numbers, with --nan error")
        .advice("--nan missing leaves it out, --nan fail takes it as the worst value")
}

fn nothing(curve: &Curve<'_>) -> Error {
    let run = format!("group {}, fold {}", curve.group, curve.fold);
    match curve.samples.len() {
        0 => Error::value("a run without a single value").at(run),
        logged => Error::value("a run without a single finite value")
            .at(run)
            .found(format!("{logged} NaN or infinite"))
            .advice("--nan fail takes them as the worst value"),
    }
}

fn alike(a: f64, b: f64) -> bool {
    a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_eq) || (a.is_nan() && b.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::protocol::parameters::Preset;

    fn points(protocol: &Training, logged: &[(f64, f64)]) -> Result<Points> {
        let samples: Vec<Sample> =
            (0..).zip(logged).map(|(row, &(x, value))| Sample { row, x, value, session: 0 }).collect();
        let place = |row: u32| format!("line {}", row + 2);
        Points::new(protocol, &Curve { place: &place, ..Curve::new("g", "0", &samples) })
    }

    fn refused(protocol: &Training, logged: &[(f64, f64)], words: &[&str]) {
        let error = points(protocol, logged).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }

    #[test]
    fn rows_out_of_order_are_sorted_by_x() {
        let found = points(&Training::default(), &[(3.0, 0.4), (-0.0, 0.1), (1.5, 0.2)]).unwrap();
        assert_eq!((found.x, found.values), (vec![0.0, 1.5, 3.0], vec![0.1, 0.2, 0.4]));
    }

    #[test]
    fn of_several_values_at_one_x_the_rule_decides() {
        let logged = [(1.0, 0.2), (0.0, 0.5), (1.0, 0.4), (0.0, 0.5)];
        let with = |duplicates| points(&Training { duplicates, ..Training::default() }, &logged);
        assert_eq!(with(Duplicates::Last).unwrap().values, [0.5, 0.4]);
        assert_eq!(with(Duplicates::First).unwrap().values, [0.5, 0.2]);
        let mean = with(Duplicates::Mean).unwrap();
        assert_eq!(mean.values, [0.5, (0.2 + 0.4) / 2.0]);
        assert_eq!(mean.repeated, 1, "equal values are no contradiction");
        let error = with(Duplicates::Error).unwrap_err().to_string();
        assert!(error.contains("line 3 and line 5") && error.contains("epoch = 0"), "{error}");
    }

    #[test]
    fn a_logged_nan_is_left_out_kept_as_failed_or_refused() {
        let logged = [(0.0, 0.5), (1.0, f64::NAN), (2.0, f64::NEG_INFINITY)];
        let missing = points(&Training::default(), &logged).unwrap();
        assert_eq!((missing.x, missing.not_finite), (vec![0.0], 2));
        let fail = Training { nan: Nan::Fail, ..Training::default() };
        let failed = points(&fail, &logged).unwrap();
        assert_eq!(failed.x, [0.0, 1.0, 2.0]);
        assert!(failed.values[1].is_nan() && failed.values[2].is_nan());
        let mean = Training { duplicates: Duplicates::Mean, ..fail };
        let failed = points(&mean, &[(0.0, f64::NAN), (0.0, f64::INFINITY), (1.0, f64::NAN), (1.0, 0.5)]);
        let failed = failed.unwrap();
        assert!(failed.values[0].is_nan());
        assert_eq!((failed.values[1], failed.repeated), (0.5, 1));
        refused(
            &Training { nan: Nan::Error, ..Training::default() },
            &logged,
            &["line 3", "NaN at epoch = 1"],
        );
        refused(&Training::default(), &logged[1..], &["group g, fold 0", "2 NaN or infinite"]);
        refused(&Training::default(), &[], &["without a single value"]);
    }

    #[test]
    fn values_are_divided_by_the_scale_before_anything_is_compared() {
        let percent = Training { scale: 100.0, ..Training::default() };
        assert_eq!(points(&percent, &[(0.0, 95.0)]).unwrap().values, [0.95]);
        let tiny = Training { scale: 1e-300, ..Training::default() };
        refused(&tiny, &[(0.0, 1e300)], &["line 2", "--scale"]);
    }

    #[test]
    fn epochs_are_numbered_from_the_first_one() {
        let by_epoch = Training { index: Index::Epoch, first_epoch: 3, ..Training::new(Preset::Strict) };
        let found = points(&by_epoch, &[(3.0, 0.1), (7.0, 0.2)]).unwrap();
        assert_eq!([found.number(0), found.number(1)], [1, 5]);
        let by_evaluation = points(&Training::default(), &[(3.0, 0.1), (7.5, 0.2)]).unwrap();
        assert_eq!(by_evaluation.number(1), 2);
        refused(&by_epoch, &[(4.0, 0.1), (4.5, 0.1)], &["line 3", "epoch = 4.5", "from 3"]);
        refused(&by_epoch, &[(2.0, 0.1)], &["line 2", "epoch = 2", "--first-epoch"]);
        refused(&by_epoch, &[(1e300, 0.1)], &["at most 1099511627776"]);
        refused(&Training::default(), &[(f64::NAN, 0.1)], &["line 2", "--x"]);
    }

    #[test]
    fn a_log_begins_late_when_it_begins_beyond_its_usual_distance() {
        let late = |x: &[f64]| {
            let logged: Vec<(f64, f64)> = x.iter().map(|&x| (x, 0.5)).collect();
            points(&Training::default(), &logged).unwrap().begin_late()
        };
        assert!(late(&[6.0, 7.0, 8.0]) && late(&[500.0, 600.0, 900.0]));
        assert!(!late(&[4.0, 9.0, 14.0]) && !late(&[1.0, 2.0, 3.0]) && !late(&[9.0, 10.0]));
        assert!(!late(&[6.5, 7.5, 8.5]));
    }

    #[test]
    fn sessions_that_are_put_one_after_the_other_are_numbered_on() {
        let samples: Vec<Sample> =
            [(0, 0.0, 0.1), (0, 1.0, 0.2), (1, 0.0, 0.3), (1, 1.0, 0.4), (1, 1.0, 0.5)]
                .map(|(session, x, value)| Sample { row: 0, x, value, session })
                .to_vec();
        let found = Points::new(&Training::default(), &Curve::new("g", "0", &samples)).unwrap();
        assert_eq!((found.x, found.values), (vec![0.0, 1.0, 0.0, 1.0], vec![0.1, 0.2, 0.3, 0.5]));
        assert_eq!(found.repeated, 1);
    }

    #[test]
    fn unequal_steps_between_whole_x_are_gaps() {
        let gaps = |x: &[f64]| {
            let logged: Vec<(f64, f64)> = x.iter().map(|&x| (x, 0.5)).collect();
            points(&Training::default(), &logged).unwrap().have_gaps()
        };
        assert!(gaps(&[0.0, 1.0, 3.0]));
        assert!(!gaps(&[0.0, 2.0, 4.0]) && !gaps(&[0.0, 3.0]) && !gaps(&[0.0, 1.5, 2.0]));
    }
}
