//! What a trained model says of itself beside its weights.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use calipers_core::{Error, Result};

use crate::penalty::{Penalty, SCAD_A, ScadScale};

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
        if !(self.lambda_hat > 0.0 && self.lambda_hat <= 1.0) {
            let error = Error::usage("lambda_hat out of range").found(self.lambda_hat);
            return Err(error.allowed("above 0, up to 1"));
        }
        match self.dropout {
            Some(dropout) if !(0.0..1.0).contains(&dropout) => {
                Err(Error::usage("dropout out of range").found(dropout).allowed("from 0, below 1"))
            }
            _ => Ok(()),
        }
    }

    /// The strength of the pull back to the perceptron's own scores.
    pub(crate) fn lambda(&self) -> f64 {
        1.0 / self.lambda_hat - 1.0
    }

    /// As the texts that stand beside the weights in a file.
    pub fn to_metadata(&self) -> BTreeMap<String, String> {
        let penalty = &self.penalty;
        let mut texts = BTreeMap::new();
        let mut put = |key: &str, text: Option<String>| {
            if let Some(text) = text {
                texts.insert(key.to_owned(), text);
            }
        };
        put("model", Some("rung".to_owned()));
        put("format", Some("1".to_owned()));
        put("penalty", Some(penalty.kind().to_string()));
        put("weights", Some(penalty.weights().to_string()));
        put("gamma", penalty.gamma().map(|gamma| gamma.to_string()));
        put("lambda_hat", Some(self.lambda_hat.to_string()));
        put("k", Some(self.layers.to_string()));
        put("scad_a", Some(penalty.scad_a().to_string()));
        put("scad_scale", Some(penalty.scad_scale().to_string()));
        put("dropout", self.dropout.map(|dropout| dropout.to_string()));
        put("seed", self.seed.map(|seed| seed.to_string()));
        put("epochs", self.epochs.map(|epochs| epochs.to_string()));
        texts
    }

    /// From those texts; `None` when they do not speak of a penalty at all.
    ///
    /// # Errors
    /// Another model or format, or a text that is not what its key promises.
    pub fn from_metadata(texts: &BTreeMap<String, String>) -> Result<Option<Self>> {
        if let Some(model) = texts.get("model").filter(|model| *model != "rung") {
            return Err(Error::value("another model").at("metadata model").found(model).allowed("rung"));
        }
        if !["model", "penalty"].iter().any(|key| texts.contains_key(*key)) {
            return Ok(None);
        }
        if let Some(format) = texts.get("format").filter(|format| *format != "1") {
            return Err(Error::value("unknown format of a model")
                .at("metadata format")
                .found(format)
                .allowed("1"));
        }
        let penalty = Penalty::new(
            needed(texts, "penalty")?,
            needed(texts, "weights")?,
            read(texts, "gamma")?,
            read(texts, "scad_a")?.unwrap_or(SCAD_A),
            read(texts, "scad_scale")?.unwrap_or(ScadScale::One),
        );
        let settings = Self {
            penalty: penalty.map_err(in_metadata)?,
            lambda_hat: read(texts, "lambda_hat")?.unwrap_or(LAMBDA_HAT),
            layers: read(texts, "k")?.unwrap_or(LAYERS),
            dropout: read(texts, "dropout")?,
            seed: read(texts, "seed")?,
            epochs: read(texts, "epochs")?,
        };
        settings.check().map_err(in_metadata)?;
        Ok(Some(settings))
    }
}

/// The same failure as a value of a file: nobody typed it on the command line.
fn in_metadata(error: Error) -> Error {
    Error::value(error.to_string().replace("\n  ", " ")).at("metadata")
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
            Error::value("unreadable setting").at(format!("metadata {key}")).found(format!("{text:?}"))
        })
    };
    texts.get(key).map(parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::{Kind, Weights};

    fn settings() -> Settings {
        let penalty = Penalty::new(Kind::Scad, Weights::Fixed, Some(0.1), 3.7, ScadScale::Lambda).unwrap();
        Settings { seed: Some(u64::MAX), epochs: Some(300), dropout: Some(0.5), ..Settings::new(penalty) }
    }

    #[test]
    fn metadata_reads_back_to_the_same_settings() {
        let texts = settings().to_metadata();
        assert_eq!(texts["gamma"], "0.1");
        assert_eq!(Settings::from_metadata(&texts).unwrap(), Some(settings()));
        let l2 = Settings::new(Penalty::new(Kind::L2, Weights::Exact, None, 3.7, ScadScale::One).unwrap());
        assert!(!l2.to_metadata().contains_key("gamma"));
        assert_eq!(Settings::from_metadata(&l2.to_metadata()).unwrap(), Some(l2));
    }

    #[test]
    fn metadata_of_others_says_nothing() {
        let other = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
        assert_eq!(Settings::from_metadata(&other).unwrap(), None);
    }

    #[test]
    fn bad_metadata_is_named_by_its_key() {
        let with = |key: &str, text: &str| {
            let mut texts = settings().to_metadata();
            texts.insert(key.to_owned(), text.to_owned());
            Settings::from_metadata(&texts).unwrap_err().to_string()
        };
        assert!(with("model", "gcn").contains("another model"));
        assert!(with("format", "2").contains("found: 2"));
        assert!(with("penalty", "mpc").contains("metadata penalty"));
        assert!(with("k", "-1").contains("metadata k"));
        assert!(with("lambda_hat", "1.5").contains("above 0, up to 1"));
        assert!(with("gamma", "nan").contains("above 0"));
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
