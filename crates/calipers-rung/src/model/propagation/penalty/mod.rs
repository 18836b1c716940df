//! How strongly an edge pulls its two ends together: the derivative of a penalty by the squared difference.

mod weight;

use std::fmt;
use std::str::FromStr;

use calipers_core::{Error, Result};
use serde::{Deserialize, Serialize};

pub(crate) use self::weight::{Real, Slopes};

/// The penalty on the difference of two joined nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The squared difference: every edge weighs 1.
    L2,
    /// The absolute difference.
    L1,
    /// The minimax concave penalty: l1 that fades out and is flat from gamma on.
    Mcp,
    /// The smoothly clipped absolute deviation: l1, then fading out, then flat from gamma on.
    Scad,
    /// MCP between nodes that agree; its mirror image between nodes that do not.
    Adaptive,
}

/// What stands for the difference y in the weight of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// sqrt(y + 0.01): the first published code and its checkpoints.
    Legacy,
    /// sqrt(y^2 + 0.01): the later published code.
    Fixed,
    /// max(y, 1e-8): the formula itself.
    Exact,
}

/// Whether the SCAD weight is multiplied by gamma/a.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScadScale {
    /// No.
    #[default]
    One,
    /// Yes, as the first published code does.
    Lambda,
}

/// The word for each value, in every file and on the command line.
macro_rules! words {
    ($type:ty, $what:literal, $($value:ident => $word:literal),+) => {
        impl $type {
            /// All of them, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$value),+];

            /// Its word in files and on the command line.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$value => $word),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == text).ok_or_else(|| {
                    Error::usage(concat!("unknown ", $what)).found(format!("{text:?}")).allowed([$($word),+].join(", "))
                })
            }
        }
    };
}

words!(Kind, "penalty", L2 => "l2", L1 => "l1", Mcp => "mcp", Scad => "scad", Adaptive => "adaptive");
words!(Weights, "form of the edge weights", Legacy => "legacy", Fixed => "fixed", Exact => "exact");
words!(ScadScale, "scale of SCAD", One => "one", Lambda => "lambda");

impl Kind {
    /// Whether the penalty has a gamma.
    pub const fn takes_gamma(self) -> bool {
        matches!(self, Self::Mcp | Self::Scad | Self::Adaptive)
    }
}

/// A penalty with its parameters, checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penalty {
    kind: Kind,
    weights: Weights,
    gamma: Option<f64>,
    scad_a: f64,
    scad_scale: ScadScale,
}

/// The usual SCAD parameter a.
pub const SCAD_A: f64 = 3.7;

impl Penalty {
    /// A penalty; `gamma` is needed for MCP, SCAD and the adaptive one and not taken by the others.
    ///
    /// # Errors
    /// Usage: gamma missing, superfluous or not above 0, or a SCAD parameter a of at most 1.
    pub fn new(
        kind: Kind,
        weights: Weights,
        gamma: Option<f64>,
        scad_a: f64,
        scad_scale: ScadScale,
    ) -> Result<Self> {
        check_gamma(kind, gamma)?;
        check_scad_a(scad_a)?;
        Ok(Self { kind, weights, gamma, scad_a, scad_scale })
    }

    /// Which penalty.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// In which form.
    pub fn weights(&self) -> Weights {
        self.weights
    }

    /// Where it becomes flat, if it does.
    pub fn gamma(&self) -> Option<f64> {
        self.gamma
    }

    /// The SCAD parameter a.
    pub fn scad_a(&self) -> f64 {
        self.scad_a
    }

    /// How the SCAD weight is scaled.
    pub fn scad_scale(&self) -> ScadScale {
        self.scad_scale
    }

    /// The least difference y whose edge weighs nothing, for the penalties that prune edges.
    pub fn cutoff(&self) -> Option<f64> {
        let gamma = self.gamma.filter(|_| matches!(self.kind, Kind::Mcp | Kind::Scad))?;
        Some(match self.weights {
            Weights::Exact => gamma,
            Weights::Fixed => (gamma * gamma - 0.01).max(0.0).sqrt(),
            Weights::Legacy => gamma * gamma - 0.01,
        })
    }
}

/// Refuses a gamma that is missing, superfluous or out of range.
pub(crate) fn check_gamma(kind: Kind, gamma: Option<f64>) -> Result<()> {
    match gamma {
        None if kind.takes_gamma() => {
            Err(Error::usage(format!("the penalty {kind} needs a gamma")).allowed("numbers above 0"))
        }
        Some(gamma) if !kind.takes_gamma() => Err(Error::usage(format!("the penalty {kind} takes no gamma"))
            .found(gamma)
            .advice("leave it out")),
        Some(gamma) if !(gamma > 0.0 && gamma.is_finite()) => {
            Err(Error::usage("gamma out of range").found(gamma).allowed("numbers above 0"))
        }
        _ => Ok(()),
    }
}

/// Refuses a SCAD parameter a out of range.
pub(crate) fn check_scad_a(scad_a: f64) -> Result<()> {
    if scad_a > 1.0 && scad_a.is_finite() {
        return Ok(());
    }
    Err(Error::usage("the SCAD parameter a is out of range").found(scad_a).allowed("numbers above 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_are_those_of_serde() {
        for &kind in Kind::ALL {
            assert_eq!(kind.word().parse::<Kind>().unwrap(), kind);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        for &weights in Weights::ALL {
            assert_eq!(
                serde_json::to_string(&weights).unwrap(),
                format!("\"{}\"", weights.to_string().parse::<Weights>().unwrap())
            );
        }
        for &scale in ScadScale::ALL {
            assert_eq!(serde_json::to_string(&scale).unwrap(), format!("\"{scale}\""));
        }
        let error = "mpc".parse::<Kind>().unwrap_err().to_string();
        assert!(error.contains("\"mpc\"") && error.contains("l2, l1, mcp, scad, adaptive"), "{error}");
    }

    #[test]
    fn gamma_is_needed_where_it_means_something_and_refused_elsewhere() {
        let new = |kind, gamma| Penalty::new(kind, Weights::Exact, gamma, SCAD_A, ScadScale::One);
        for kind in [Kind::Mcp, Kind::Scad, Kind::Adaptive] {
            assert!(new(kind, None).is_err() && new(kind, Some(3.0)).is_ok());
            for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                assert!(new(kind, Some(bad)).unwrap_err().to_string().contains("above 0"));
            }
        }
        for kind in [Kind::L1, Kind::L2] {
            assert!(new(kind, None).is_ok() && new(kind, Some(3.0)).is_err());
        }
        assert!(Penalty::new(Kind::L1, Weights::Exact, None, 1.0, ScadScale::One).is_err());
    }

    #[test]
    fn only_penalties_that_prune_have_a_cutoff() {
        let cutoff = |kind, weights, gamma| {
            Penalty::new(kind, weights, gamma, SCAD_A, ScadScale::One).unwrap().cutoff()
        };
        assert_eq!(cutoff(Kind::Mcp, Weights::Exact, Some(3.0)), Some(3.0));
        assert_eq!(cutoff(Kind::Scad, Weights::Legacy, Some(3.0)), Some(8.99));
        assert_eq!(cutoff(Kind::Mcp, Weights::Fixed, Some(0.05)), Some(0.0));
        assert_eq!(cutoff(Kind::Adaptive, Weights::Exact, Some(3.0)), None);
        assert_eq!(cutoff(Kind::L1, Weights::Exact, None), None);
    }
}
