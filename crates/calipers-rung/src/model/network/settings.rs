//! What a trained model says of itself beside its weights.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use calipers_core::{Error, Result};

use crate::model::penalty::{Penalty, SCAD_A, ScadScale, check_gamma, check_scad_a};

/// The usual share of the smoothing term.
pub const LAMBDA_HAT: f64 = 0.9;

/// The usual number of propagation steps.
pub const LAYERS: u32 = 10;

/// How a model propagates, and how it was trained where that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The penalty on edges.
    pub penalty: Penalty,
    /// The share of the smoothing term, in (0, 1].
    pub lambda_hat: f64,
    /// The number of propagation steps, K.
    pub layers: u32,
    /// The share of hidden units left out in training.
    pub dropout: Option<f64>,
    /// The seed of the training.
    pub seed: Option<u64>,
    /// The epochs of the training.
    pub epochs: Option<u32>,
}

impl Settings {
    /// The usual propagation under this penalty; nothing is known of the training.
    pub fn new(penalty: Penalty) -> Self {
        Self { penalty, lambda_hat: LAMBDA_HAT, layers: LAYERS, dropout: None, seed: None, epochs: None }
    }

    /// # Errors
    /// Usage: a number outside its range.
    pub fn check(&self) -> Result<()> {
        check_lambda_hat(self.lambda_hat)?;
        self.dropout.map_or(Ok(()), check_dropout)
    }

    /// The strength of the pull back to the perceptron's own scores.
    pub(crate) fn lambda(&self) -> f64 {
        1.0 / self.lambda_hat - 1.0
    }

    /// As the texts that stand beside the weights in a file.
    pub fn to_metadata(&self) -> BTreeMap<String, String> {
        let penalty = &self.penalty;
        let texts = [
            ("model", Some("rung".to_owned())),
            ("format", Some("1".to_owned())),
            ("penalty", Some(penalty.kind().to_string())),
            ("weights", Some(penalty.weights().to_string())),
            ("gamma", penalty.gamma().map(|gamma| gamma.to_string())),
            ("lambda_hat", Some(self.lambda_hat.to_string())),
            ("k", Some(self.layers.to_string())),
            ("scad_a", Some(penalty.scad_a().to_string())),
            ("scad_scale", Some(penalty.scad_scale().to_string())),
            ("dropout", self.dropout.map(|dropout| dropout.to_string())),
            ("seed", self.seed.map(|seed| seed.to_string())),
            ("epochs", self.epochs.map(|epochs| epochs.to_string())),
        ];
        texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?))).collect()
    }

    /// Whether texts beside the weights of a file are such ones; others say nothing.
    ///
    /// # Errors
    /// Another model or format.
    pub fn are_in(texts: &BTreeMap<String, String>) -> Result<bool> {
        if let Some(model) = texts.get("model").filter(|model| *model != "rung") {
            return Err(Error::value("another model").at("metadata model").found(model).allowed("rung"));
        }
        if !["model", "penalty"].iter().any(|key| texts.contains_key(*key)) {
            return Ok(false);
        }
        if let Some(format) = texts.get("format").filter(|format| *format != "1") {
            return Err(Error::value("unknown format of a model")
                .at("metadata format")
                .found(format)
                .allowed("1"));
        }
        Ok(true)
    }

    /// From those texts.
    ///
    /// # Errors
    /// Penalty or weights missing, or a text that is not what its key promises.
    pub fn from_metadata(texts: &BTreeMap<String, String>) -> Result<Self> {
        let kind = needed(texts, "penalty")?;
        let gamma = checked(texts, "gamma", |gamma: &f64| check_gamma(kind, Some(*gamma)))?;
        let scad_a = checked(texts, "scad_a", |a| check_scad_a(*a))?.unwrap_or(SCAD_A);
        let scad_scale = read(texts, "scad_scale")?.unwrap_or(ScadScale::One);
        let penalty = Penalty::new(kind, needed(texts, "weights")?, gamma, scad_a, scad_scale);
        Ok(Self {
            penalty: penalty.map_err(|error| in_metadata(error, "gamma"))?,
            lambda_hat: checked(texts, "lambda_hat", |share| check_lambda_hat(*share))?.unwrap_or(LAMBDA_HAT),
            layers: read(texts, "k")?.unwrap_or(LAYERS),
            dropout: checked(texts, "dropout", |share| check_dropout(*share))?,
            seed: read(texts, "seed")?,
            epochs: read(texts, "epochs")?,
        })
    }
}

fn check_lambda_hat(share: f64) -> Result<()> {
    if share > 0.0 && share <= 1.0 {
        return Ok(());
    }
    Err(Error::usage("lambda_hat out of range").found(share).allowed("above 0, up to 1"))
}

fn check_dropout(share: f64) -> Result<()> {
    if (0.0..1.0).contains(&share) {
        return Ok(());
    }
    Err(Error::usage("dropout out of range").found(share).allowed("from 0, below 1"))
}

/// The same failure as a value of a file: nobody typed it on the command line.
fn in_metadata(error: Error, key: &str) -> Error {
    error.as_value().at(format!("metadata {key}")).advice(mend(key))
}

/// What helps against a bad text: the flag of the same name, where there is one.
fn mend(key: &str) -> String {
    match key {
        "dropout" | "seed" | "epochs" => "write the file again".to_owned(),
        "k" => "give --layers, which wins over the file".to_owned(),
        key => format!("give --{}, which wins over the file", key.replace('_', "-")),
    }
}

/// The setting of a key, if it is there and passes a check.
fn checked<T: FromStr<Err: Display>>(
    texts: &BTreeMap<String, String>,
    key: &str,
    check: impl Fn(&T) -> Result<()>,
) -> Result<Option<T>> {
    let value = read(texts, key)?;
    if let Some(value) = &value {
        check(value).map_err(|error| in_metadata(error, key))?;
    }
    Ok(value)
}

fn needed<T: FromStr<Err: Display>>(texts: &BTreeMap<String, String>, key: &str) -> Result<T> {
    read(texts, key)?.ok_or_else(|| {
        let found = texts.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        Error::value("setting missing").at(format!("metadata {key}")).found(format!("only {found}"))
    })
}

fn read<T: FromStr<Err: Display>>(texts: &BTreeMap<String, String>, key: &str) -> Result<Option<T>> {
    let parse = |text: &String| {
        text.parse().map_err(|_| {
            Error::value("unreadable setting")
                .at(format!("metadata {key}"))
                .found(format!("{text:?}"))
                .advice(mend(key))
        })
    };
    texts.get(key).map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::penalty::{Kind, Weights};

    fn settings() -> Settings {
        let penalty = Penalty::new(Kind::Scad, Weights::Fixed, Some(0.1), 3.7, ScadScale::Lambda).unwrap();
        Settings { seed: Some(u64::MAX), epochs: Some(300), dropout: Some(0.5), ..Settings::new(penalty) }
    }

    #[test]
    fn metadata_reads_back_to_the_same_settings() {
        let texts = settings().to_metadata();
        assert_eq!(texts["gamma"], "0.1");
        assert!(Settings::are_in(&texts).unwrap());
        assert_eq!(Settings::from_metadata(&texts).unwrap(), settings());
        let l2 = Settings::new(Penalty::new(Kind::L2, Weights::Exact, None, 3.7, ScadScale::One).unwrap());
        assert!(!l2.to_metadata().contains_key("gamma"));
        assert_eq!(Settings::from_metadata(&l2.to_metadata()).unwrap(), l2);
    }

    #[test]
    fn metadata_of_others_says_nothing() {
        let other = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
        assert!(!Settings::are_in(&other).unwrap());
    }

    #[test]
    fn bad_metadata_is_named_by_its_key() {
        let with = |key: &str, text: &str| {
            let mut texts = settings().to_metadata();
            texts.insert(key.to_owned(), text.to_owned());
            let read = Settings::are_in(&texts).and_then(|_| Settings::from_metadata(&texts));
            let error = read.unwrap_err();
            assert_eq!(error.kind(), calipers_core::ErrorKind::Value);
            error.to_string()
        };
        assert!(with("model", "gcn").contains("another model"));
        assert!(with("format", "2").contains("found: 2"));
        for (key, text, parts) in [
            ("penalty", "mpc", ["at: metadata penalty", "found: \"mpc\"", "help: give --penalty"]),
            ("k", "-1", ["at: metadata k", "found: \"-1\"", "help: give --layers"]),
            (
                "lambda_hat",
                "1.5",
                ["at: metadata lambda_hat\n", "found: 1.5\n", "allowed: above 0, up to 1\n"],
            ),
            ("gamma", "-1", ["at: metadata gamma\n", "found: -1\n", "allowed: numbers above 0\n"]),
            ("gamma", "nan", ["at: metadata gamma\n", "found: NaN\n", "help: give --gamma"]),
            ("scad_a", "1", ["at: metadata scad_a\n", "found: 1\n", "allowed: numbers above 1\n"]),
            (
                "dropout",
                "2",
                ["at: metadata dropout\n", "allowed: from 0, below 1\n", "help: write the file"],
            ),
        ] {
            let said = with(key, text);
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
        let mut texts = settings().to_metadata();
        texts.remove("weights");
        assert!(Settings::from_metadata(&texts).unwrap_err().to_string().contains("metadata weights"));
    }

    #[test]
    fn ranges_are_checked() {
        for lambda_hat in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(Settings { lambda_hat, ..settings() }.check().is_err());
        }
        assert!(Settings { lambda_hat: 1.0, ..settings() }.check().is_ok());
        assert!(Settings { dropout: Some(1.0), ..settings() }.check().is_err());
    }
}
