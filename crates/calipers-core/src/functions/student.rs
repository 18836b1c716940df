//! Quantiles of Student's t distribution, the same bits everywhere.
//!
//! With v degrees of freedom and x = v/(v + t^2)
//!
//! ```text
//! P(T > t)     = 1/2 I_x(v/2, 1/2)
//! P(0 < T < t) = 1/2 I_(1-x)(1/2, v/2)
//! ```
//!
//! where I is the regularised incomplete beta function, by its continued fraction. Each is used where
//! it keeps its relative accuracy.

use super::normal::{newton, normal_quantile};
use super::{exp, ln, log1p};

/// From so many degrees of freedom on the quotient of gamma functions is an asymptotic series.
const MANY: f64 = 100.0;
/// sqrt(pi).
const ROOT_PI: f64 = 1.772_453_850_905_516;
/// More terms than any fraction needs: about the root of the degrees of freedom.
const TERMS: u32 = 1_000_000;

/// The t above which the share h of Student's t distribution lies, for h from 0 to 1/2; NaN for
/// another share or without a degree of freedom.
///
/// ```
/// use calipers_core::functions::student_quantile;
/// assert!((student_quantile(0.025, 4) - 2.776_445_105_197_793_7).abs() < 1e-13);
/// ```
pub fn student_quantile(h: f64, degrees: u64) -> f64 {
    if !(0.0..=0.5).contains(&h) || degrees == 0 {
        return f64::NAN;
    }
    if h <= 0.0 {
        return f64::INFINITY;
    }
    let t = Student::new(degrees as f64);
    if h > 0.25 {
        let share = 0.5 - h;
        return newton(share / t.density(0.0), |at| at - (t.centre(at) - share) / t.density(at));
    }
    // In the logarithm of t the logarithm of the tail falls ever faster, nearly straight far out.
    let start = -normal_quantile(h);
    newton(start, |at| {
        let tail = t.upper(at);
        at * exp(ln(tail / h) * tail / (at * t.density(at)))
    })
}

struct Student {
    degrees: f64,
    /// Gamma((v + 1)/2) / Gamma(v/2).
    gammas: f64,
}

impl Student {
    fn new(degrees: f64) -> Self {
        Self { degrees, gammas: quotient_of_gammas(degrees) }
    }

    /// (1 + t^2/v)^(-power).
    fn shrunk(&self, t: f64, power: f64) -> f64 {
        exp(-power * log1p(t * t / self.degrees))
    }

    fn density(&self, t: f64) -> f64 {
        self.gammas / (ROOT_PI * self.degrees.sqrt()) * self.shrunk(t, (self.degrees + 1.0) / 2.0)
    }

    /// The share above t.
    fn upper(&self, t: f64) -> f64 {
        let half = self.degrees / 2.0;
        let x = self.degrees / (self.degrees + t * t);
        // Beyond this the fraction converges slowly; there the tail is no small number.
        if x > (half + 1.0) / (half + 2.5) {
            return 0.5 - self.centre(t);
        }
        let root = t / (self.degrees + t * t).sqrt();
        self.gammas / (self.degrees * ROOT_PI) * root * self.shrunk(t, half) * fraction(half, 0.5, x)
    }

    /// The share between 0 and t.
    fn centre(&self, t: f64) -> f64 {
        let half = self.degrees / 2.0;
        let y = t * t / (self.degrees + t * t);
        let root = t / (self.degrees + t * t).sqrt();
        self.gammas / ROOT_PI * root * self.shrunk(t, half) * fraction(0.5, half, y)
    }
}

/// Gamma((v + 1)/2) / Gamma(v/2): g(v) = v/(v + 1) g(v + 2), up to where the series is exact enough.
fn quotient_of_gammas(degrees: f64) -> f64 {
    let (mut v, mut factor) = (degrees, 1.0);
    while v < MANY {
        factor *= v / (v + 1.0);
        v += 2.0;
    }
    // In powers of 1/x, x = v/2.
    const SERIES: [f64; 7] = [
        1.0,
        -1.0 / 8.0,
        1.0 / 128.0,
        5.0 / 1024.0,
        -21.0 / 32_768.0,
        -399.0 / 262_144.0,
        869.0 / 4_194_304.0,
    ];
    let x = v / 2.0;
    factor * x.sqrt() * SERIES.iter().rev().fold(0.0, |sum, term| sum / x + term)
}

/// I_x(a, b) a B(a, b) / (x^a (1 - x)^b) = 1/(1 + d_1/(1 + d_2/(1 + ...))).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    // Lentz: the quotients of neighbouring numerators and denominators of the convergents.
    let (mut above, mut below, mut value) = (1.0, 0.0, 1.0);
    for term in 1..TERMS {
        let m = f64::from(term / 2);
        let d = match term % 2 {
            0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        above = 1.0 + d / above;
        below = 1.0 / (1.0 + d * below);
        let step = above * below;
        value *= step;
        if (step - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    1.0 / value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out with 60 digits: the share above, the degrees of freedom, t.
    const QUANTILES: &[(f64, u64, f64)] = &[
        (1e-15, 1, 318309886183790.6),
        (1e-07, 1, 3183098.861837802),
        (0.0005, 1, 636.6192487687196),
        (0.0125, 1, 25.45169957935708),
        (0.025, 1, 12.706204736174705),
        (0.1, 1, 3.077683537175253),
        (0.25, 1, 1.0),
        (0.3, 1, 0.7265425280053609),
        (0.499, 1, 0.003141602989056159),
        (1e-15, 2, 22360679.774997864),
        (1e-07, 2, 2236.0676420895793),
        (0.0005, 2, 31.59905457644362),
        (0.0125, 2, 6.205346816570694),
        (0.025, 2, 4.302652729749464),
        (0.1, 2, 1.8856180831641267),
        (0.25, 2, 0.816496580927726),
        (0.3, 2, 0.6172133998483676),
        (0.499, 2, 0.002828432781617413),
        (1e-15, 3, 103311.08359284989),
        (1e-07, 3, 222.57159094719873),
        (0.0005, 3, 12.923978636687483),
        (0.0125, 3, 4.176534846104499),
        (0.025, 3, 3.1824463052837095),
        (0.1, 3, 1.63774435369621),
        (0.25, 3, 0.7648923284043453),
        (0.3, 3, 0.5843897274398187),
        (0.499, 3, 0.002720703521734023),
        (1e-15, 4, 7400.827819722824),
        (1e-07, 4, 73.9857580477689),
        (0.0005, 4, 8.610301581379275),
        (0.0125, 4, 3.4954059325164377),
        (0.025, 4, 2.7764451051977943),
        (0.1, 4, 1.5332062740589438),
        (0.25, 4, 0.7406970841126826),
        (0.3, 4, 0.5686490630497055),
        (0.499, 4, 0.0026666706172941367),
        (1e-15, 7, 279.12799927928),
        (1e-07, 7, 19.933902247923854),
        (0.0005, 7, 5.407882520861725),
        (0.0125, 7, 2.8412442485882083),
        (0.025, 7, 2.3646242515927853),
        (0.1, 7, 1.4149239276505083),
        (0.25, 7, 0.7111417780817864),
        (0.3, 7, 0.5491096579472851),
        (0.499, 7, 0.0025974636136622074),
        (1e-15, 19, 23.268048548241097),
        (1e-07, 19, 7.905112633688787),
        (0.0005, 19, 3.883405852592083),
        (0.0125, 19, 2.433440211374969),
        (0.025, 19, 2.0930240544083096),
        (0.1, 19, 1.3277282090267983),
        (0.25, 19, 0.6876214602039603),
        (0.3, 19, 0.533313881642205),
        (0.499, 19, 0.002539815663364861),
        (1e-15, 29, 15.303899137373296),
        (1e-07, 29, 6.76516019327697),
        (0.0005, 29, 3.659405019466333),
        (0.0125, 29, 2.3638460732083093),
        (0.025, 29, 2.0452296421327043),
        (0.1, 29, 1.311433647301551),
        (0.25, 29, 0.6830438608216132),
        (0.3, 29, 0.5302143957091608),
        (0.499, 29, 0.0025283290222291753),
        (1e-15, 98, 9.438862469797824),
        (1e-07, 98, 5.595315262152385),
        (0.0005, 98, 3.392588114128188),
        (0.0125, 98, 2.2763618074452703),
        (0.025, 98, 1.9844674545084817),
        (0.1, 98, 1.290249903890286),
        (0.25, 98, 0.6770014387806849),
        (0.3, 98, 0.5261105577082593),
        (0.499, 98, 0.0025130334585130596),
        (1e-15, 99, 9.42153024683249),
        (1e-07, 99, 5.591062727119364),
        (0.0005, 99, 3.3915288333636506),
        (0.0125, 99, 2.276003474751273),
        (0.025, 99, 1.9842169515864174),
        (0.1, 99, 1.2901614420344851),
        (0.25, 99, 0.6769759855461527),
        (0.3, 99, 0.5260932405485901),
        (0.499, 99, 0.0025129687067217085),
        (1e-15, 100, 9.40459275466728),
        (1e-07, 100, 5.586900474586903),
        (0.0005, 100, 3.39049131116423),
        (0.0125, 100, 2.275652413028956),
        (0.025, 100, 1.9839715185235522),
        (0.1, 100, 1.290074761346516),
        (0.25, 100, 0.6769510430114715),
        (0.3, 100, 0.5260762706003463),
        (0.499, 100, 0.0025129052515195354),
        (1e-15, 499, 8.203318813532816),
        (1e-07, 499, 5.273258000432824),
        (0.0005, 499, 3.3101305703977983),
        (0.0125, 499, 2.2481869293730705),
        (0.025, 499, 1.964729390987689),
        (0.1, 499, 1.2832504230098851),
        (0.25, 499, 0.6749817225476648),
        (0.3, 499, 0.5247356574429126),
        (0.499, 499, 0.002507887048374415),
        (1e-15, 9999, 7.95408295650818),
        (1e-07, 9999, 5.202984003131079),
        (0.0005, 9999, 3.2915000633009317),
        (0.0125, 9999, 2.241740359184174),
        (0.025, 9999, 1.9602012636213577),
        (0.1, 9999, 1.281636238198314),
        (0.25, 9999, 0.674514286937346),
        (0.3, 9999, 0.5244172300172402),
        (0.499, 9999, 0.0025066935727886476),
    ];

    #[test]
    fn quantiles_are_those_of_sixty_digits() {
        for &(h, degrees, t) in QUANTILES {
            let found = student_quantile(h, degrees);
            assert!((found / t - 1.0).abs() < 1e-11, "{h:e} of {degrees}: {found}, not {t}");
        }
    }

    #[test]
    fn what_has_no_quantile_is_not_a_number() {
        assert!(student_quantile(0.6, 3).is_nan() && student_quantile(0.1, 0).is_nan());
        assert!(student_quantile(f64::NAN, 3).is_nan());
        assert_eq!(student_quantile(0.0, 3).to_bits(), f64::INFINITY.to_bits());
    }
}
