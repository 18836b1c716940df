//! What a tracking server answers, read from JSON.

use std::collections::BTreeMap;
use std::fmt;

use calipers_core::{Error, Result};
use serde::de::{self, DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer};

use crate::history::mlflow::points::Point;
use crate::text;

/// How the stores of MLflow keep infinity.
const STORED_INFINITY: f64 = f64::MAX;
/// How much of an answer that cannot be read is shown.
const SHOWN: usize = 60;

/// A part of a list, and where it goes on.
pub(super) trait Page: DeserializeOwned {
    /// The token of the next part; none after the last.
    fn next(&self) -> Option<&str>;
}

/// A page of experiments.
#[derive(Deserialize)]
pub(super) struct Experiments {
    #[serde(default)]
    pub(super) experiments: Vec<Experiment>,
    #[serde(default)]
    next_page_token: Option<String>,
}

/// One experiment.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Experiment {
    #[serde(rename = "experiment_id")]
    pub(super) id: String,
    pub(super) name: String,
}

/// A page of runs.
#[derive(Deserialize)]
pub(super) struct Runs {
    #[serde(default)]
    pub(super) runs: Vec<Run>,
    #[serde(default)]
    next_page_token: Option<String>,
}

/// One run.
#[derive(Deserialize)]
pub(super) struct Run {
    pub(super) info: Info,
    #[serde(default)]
    pub(super) data: Data,
}

/// The fields of a run that are read.
#[derive(Deserialize)]
pub(super) struct Info {
    #[serde(default)]
    run_id: Option<String>,
    /// The older name: servers before 1.0 have it alone, later ones beside the other.
    #[serde(default)]
    run_uuid: Option<String>,
    #[serde(default)]
    pub(super) run_name: Option<String>,
    pub(super) experiment_id: String,
    #[serde(default)]
    pub(super) status: Option<String>,
    #[serde(default)]
    pub(super) start_time: Option<Whole>,
}

impl Info {
    /// The identifier.
    pub(super) fn id(&self) -> Option<&str> {
        self.run_id.as_deref().or(self.run_uuid.as_deref())
    }
}

/// What was logged in a run: of metrics the last value alone.
#[derive(Default, Deserialize)]
pub(super) struct Data {
    #[serde(default)]
    pub(super) metrics: Vec<Key>,
    #[serde(default)]
    params: Vec<Label>,
    #[serde(default)]
    tags: Vec<Label>,
}

#[derive(Deserialize)]
pub(super) struct Key {
    pub(super) key: String,
}

#[derive(Deserialize)]
struct Label {
    key: String,
    #[serde(default)]
    value: String,
}

impl Data {
    /// Parameters by key.
    pub(super) fn params(&self) -> BTreeMap<String, String> {
        labels(&self.params)
    }

    /// Tags by key.
    pub(super) fn tags(&self) -> BTreeMap<String, String> {
        labels(&self.tags)
    }
}

fn labels(labels: &[Label]) -> BTreeMap<String, String> {
    labels.iter().map(|label| (label.key.clone(), label.value.clone())).collect()
}

/// A page of logged values.
#[derive(Deserialize)]
pub(super) struct Points {
    #[serde(default)]
    metrics: Vec<Logged>,
    #[serde(default)]
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct Logged {
    value: Number,
    timestamp: Whole,
    #[serde(default)]
    step: Whole,
}

impl Points {
    /// The values in the order of the page.
    pub(super) fn points(&self) -> impl Iterator<Item = Point> {
        let point = |logged: &Logged| Point {
            step: logged.step.0,
            timestamp: logged.timestamp.0,
            value: logged.value.0,
        };
        self.metrics.iter().map(point)
    }
}

macro_rules! pages {
    ($($page:ty)*) => {$(
        impl Page for $page {
            fn next(&self) -> Option<&str> {
                self.next_page_token.as_deref().filter(|token| !token.is_empty())
            }
        }
    )*};
}
pages!(Experiments Runs Points);

/// Reads an answer of the server at this address.
pub(super) fn read<P: DeserializeOwned>(bytes: &[u8], address: &str) -> Result<P> {
    serde_json::from_slice(bytes).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Data => "the answer is not that of a tracking server",
            _ => "the answer is not JSON",
        };
        let opening = &bytes[..bytes.len().min(SHOWN)];
        Error::format(what)
            .in_file(address)
            .at(format!("line {}, column {} of the answer", error.line(), error.column()))
            .found(text::shown(opening))
            .advice("check that the address is that of an MLflow tracking server")
    })
}

/// A whole number of 64 bits; some servers write it as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Whole(pub(super) i64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of 64 bits")
            }

            fn visit_i64<E: de::Error>(self, x: i64) -> std::result::Result<Whole, E> {
                Ok(Whole(x))
            }

            fn visit_u64<E: de::Error>(self, x: u64) -> std::result::Result<Whole, E> {
                i64::try_from(x).map(Whole).map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, x: &str) -> std::result::Result<Whole, E> {
                x.parse().map(Whole).map_err(E::custom)
            }
        }
        from.deserialize_any(Reader)
    }
}

/// A number; what JSON has no word for is text.
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"NaN\", \"Infinity\" or \"-Infinity\"")
            }

            fn visit_f64<E: de::Error>(self, x: f64) -> std::result::Result<Number, E> {
                let infinite = x.abs().total_cmp(&STORED_INFINITY).is_eq();
                Ok(Number(if infinite { f64::INFINITY.copysign(x) } else { x }))
            }

            fn visit_i64<E: de::Error>(self, x: i64) -> std::result::Result<Number, E> {
                Ok(Number(x as f64))
            }

            fn visit_u64<E: de::Error>(self, x: u64) -> std::result::Result<Number, E> {
                Ok(Number(x as f64))
            }

            fn visit_str<E: de::Error>(self, x: &str) -> std::result::Result<Number, E> {
                match x {
                    "NaN" => Ok(Number(f64::NAN)),
                    "Infinity" => Ok(Number(f64::INFINITY)),
                    "-Infinity" => Ok(Number(f64::NEG_INFINITY)),
                    _ => Err(E::custom("no number")),
                }
            }
        }
        from.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_text_and_the_greatest_is_infinity() {
        let page: Points = read(
            br#"{"metrics": [{"key": "m", "value": "NaN", "timestamp": "5", "step": 1},
                {"value": -1.7976931348623157e308, "timestamp": 6},
                {"value": 2, "timestamp": 7, "step": "9223372036854775807"}], "next_page_token": "t"}"#,
            "http://h",
        )
        .unwrap();
        let points: Vec<Point> = page.points().collect();
        assert!(points[0].value.is_nan() && points[0].timestamp == 5);
        assert_eq!((points[1].step, points[1].value.to_bits()), (0, f64::NEG_INFINITY.to_bits()));
        assert_eq!((points[2].step, points[2].value.to_bits()), (i64::MAX, 2.0_f64.to_bits()));
        assert_eq!(page.next(), Some("t"));
    }

    #[test]
    fn an_answer_that_is_none_is_shown_where_it_ends_to_be_one() {
        for (answer, what) in [
            ("<html>", "not JSON"),
            ("", "not JSON"),
            (r#"{"metrics": [{"value": true, "timestamp": 1}]}"#, "tracking server"),
            (r#"{"metrics": [{"value": 1, "timestamp": 1.5}]}"#, "tracking server"),
        ] {
            let error = read::<Points>(answer.as_bytes(), "http://h").err().unwrap().to_string();
            assert!(error.contains(what) && error.contains("http://h"), "{error}");
            assert!(!error.contains("expected"), "the words of no library: {error}");
        }
    }

    #[test]
    fn a_page_without_lists_is_the_last_and_empty() {
        let page: Runs = read(br#"{"next_page_token": ""}"#, "h").unwrap();
        assert!(page.runs.is_empty() && page.next().is_none());
    }
}
