//! Models in files: safetensors with their settings, or PyTorch state dicts without.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use calipers_core::{Error, ErrorKind, Result};
use calipers_io::array::{Array, Arrays, FORMATS, pt, safetensors};
use calipers_sources::inputs::Inputs;
use calipers_sources::output;

use super::graph_file::one_file;
use crate::model::penalty::SCAD_A;
use crate::model::{Kind, Penalty, Rung, ScadScale, Settings, Tensor, Weights};

/// Settings of a model that a caller gives; they win over those of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flags {
    /// The penalty on edges.
    pub penalty: Option<Kind>,
    /// The form of the edge weights.
    pub weights: Option<Weights>,
    /// The penalty's parameter.
    pub gamma: Option<f64>,
    /// The share of the graph in each step.
    pub lambda_hat: Option<f64>,
    /// The number of steps.
    pub layers: Option<u32>,
    /// The second parameter of the SCAD penalty.
    pub scad_a: Option<f64>,
    /// The scale of the SCAD penalty.
    pub scad_scale: Option<ScadScale>,
}

/// A model of a file.
#[derive(Debug)]
pub struct Checkpoint {
    /// The model, under the settings that count.
    pub model: Rung,
    /// What the flags replaced of the file's penalty, weights or gamma, in words.
    pub replaced: Option<String>,
}

/// A form in which a model is stored.
enum Form {
    Safetensors,
    Torch,
}

/// The form that the ending of a checkpoint says.
fn form(name: &str) -> Result<Form> {
    let forms = [("safetensors", Form::Safetensors), ("pt", Form::Torch)];
    let formats = forms.map(|(name, form)| (FORMATS.called(name), form));
    let endings: Vec<&str> =
        formats.iter().flat_map(|(format, _)| format.iter().flat_map(|f| f.endings)).copied().collect();
    let found = FORMATS.by_name(name);
    let form =
        formats.into_iter().find_map(|(format, form)| (found.is_some() && found == format).then_some(form));
    form.ok_or_else(|| {
        Error::value("the ending of a checkpoint says its form").found(name).allowed(endings.join(", "))
    })
}

impl Flags {
    /// A new penalty; wrong usage where a part is missing.
    pub fn new_penalty(&self) -> Result<Penalty> {
        let missing = |option: &str, allowed: String| {
            Err(Error::usage(format!("{option} is missing")).allowed(allowed))
        };
        let Some(kind) = self.penalty else { return missing("--penalty", words(Kind::ALL)) };
        let Some(weights) = self.weights else { return missing("--weights", words(Weights::ALL)) };
        Penalty::new(
            kind,
            weights,
            self.gamma,
            self.scad_a.unwrap_or(SCAD_A),
            self.scad_scale.unwrap_or_default(),
        )
    }

    /// The settings that count, and what the flags replaced of those beside the weights. What the file does not
    /// say the flags have to.
    fn over(&self, metadata: &Texts) -> Result<(Settings, Option<String>)> {
        let stored = if Settings::are_in(metadata)? { metadata.clone() } else { Texts::new() };
        let mut texts = stored.clone();
        if self.penalty.is_some_and(|kind| !kind.takes_gamma()) {
            texts.remove("gamma");
        }
        texts.extend(self.texts());
        let kind = texts.get("penalty").and_then(|word| word.parse::<Kind>().ok());
        let takes_gamma = !texts.contains_key("penalty") || kind.is_some_and(Kind::takes_gamma);
        let needed = ["penalty", "weights", "gamma"].into_iter().filter(|key| *key != "gamma" || takes_gamma);
        let missing: Vec<String> =
            needed.filter(|key| !texts.contains_key(*key)).map(|key| format!("--{key}")).collect();
        if !missing.is_empty() {
            let error = Error::value("the checkpoint does not say which penalty it was trained with");
            return Err(error.advice(format!("give {}", missing.join(", "))));
        }
        self.check(kind)?;
        let settings = Settings::from_metadata(&texts)?;
        let replaced = replaced(&stored, &settings.penalty);
        Ok((settings, replaced))
    }

    /// Refuses values that somebody typed, which no file is to blame for.
    fn check(&self, kind: Option<Kind>) -> Result<()> {
        let gamma = self.gamma.or(kind.filter(|kind| kind.takes_gamma()).map(|_| 1.0));
        let scad_a = self.scad_a.unwrap_or(SCAD_A);
        let penalty = |kind| Penalty::new(kind, Weights::Exact, gamma, scad_a, ScadScale::One);
        let Some(penalty) = kind.map(penalty).transpose()? else { return Ok(()) };
        let settings = Settings::new(penalty);
        Settings { lambda_hat: self.lambda_hat.unwrap_or(settings.lambda_hat), ..settings }.check()
    }

    /// The flags as the texts that a file would hold.
    fn texts(&self) -> Texts {
        let Self { penalty, weights, gamma, lambda_hat, layers, scad_a, scad_scale } = self;
        let texts = [
            ("penalty", penalty.map(|kind| kind.to_string())),
            ("weights", weights.map(|form| form.to_string())),
            ("gamma", gamma.map(|gamma| gamma.to_string())),
            ("lambda_hat", lambda_hat.map(|share| share.to_string())),
            ("k", layers.map(|layers| layers.to_string())),
            ("scad_a", scad_a.map(|a| a.to_string())),
            ("scad_scale", scad_scale.map(|scale| scale.to_string())),
        ];
        texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?))).collect()
    }
}

/// What is said of a model beside its weights, by key.
type Texts = BTreeMap<String, String>;

/// What a file said of penalty, weights and gamma, and no longer counts, in words.
fn replaced(stored: &Texts, penalty: &Penalty) -> Option<String> {
    let text = |key: &str| stored.get(key).cloned();
    let kind: Option<Kind> = text("penalty").and_then(|word| word.parse().ok());
    let none = || kind.filter(|kind| !kind.takes_gamma()).map(|_| "none".to_owned());
    // Numbers are compared as such: 3 and 3.0 are one gamma.
    let gamma = text("gamma").map(|text| text.parse::<f64>().map_or(text, |gamma| gamma.to_string()));
    let now = penalty.gamma().map_or("none".to_owned(), |gamma| gamma.to_string());
    let parts = [
        ("penalty", text("penalty"), penalty.kind().to_string()),
        ("weights", text("weights"), penalty.weights().to_string()),
        ("gamma", gamma.or_else(none), now),
    ];
    let changed = parts.into_iter().filter_map(|(name, old, new)| {
        let old = old.filter(|old| *old != new)?;
        Some(format!("{name} {old} by {new}"))
    });
    let changed: Vec<String> = changed.collect();
    (!changed.is_empty()).then(|| changed.join(", "))
}

fn words<T: ToString>(all: &[T]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Checkpoint {
    /// Reads a model; its form is told by the ending.
    pub fn read(path: &Path, flags: &Flags, inputs: &Inputs) -> Result<Self> {
        Self::read_as(path, "model", flags, inputs)
    }

    /// Reads a model, which is recorded as `word`.
    pub fn read_as(path: &Path, word: &str, flags: &Flags, inputs: &Inputs) -> Result<Self> {
        let found = one_file(path, word)?;
        let read = || {
            let form = form(&found.name)?;
            let source = inputs.open_found(&found)?;
            let (arrays, metadata) = match form {
                Form::Safetensors => safetensors::open_with_metadata(source)?,
                Form::Torch => (pt::open_state_dict(source)?, BTreeMap::new()),
            };
            let (settings, replaced) = flags.over(&metadata)?;
            Ok(Self { model: Rung::from_tensors(tensors(&arrays)?, settings)?, replaced })
        };
        read().map_err(|error: Error| error.in_file(&found.shown))
    }

    /// Refuses what a model cannot be used on: another width of features, more labels than classes.
    pub fn check(&self, width: usize, classes: usize) -> Result<()> {
        let model = &self.model;
        if model.input_width() != width {
            return Err(Error::value("the checkpoint was made for features of another width")
                .at("tensor mlp.0.weight")
                .found(format!("{} inputs", model.input_width()))
                .allowed(format!("{width}, the features of the graph")));
        }
        if model.classes() < classes {
            return Err(Error::value("the checkpoint has fewer classes than there are labels")
                .found(format!("{} classes", model.classes()))
                .allowed(format!("{classes} or more, for labels up to {}", classes - 1)));
        }
        Ok(())
    }
}

/// Refuses a path that does not say in which form a model is to be written.
pub fn check_ending(name: &str) -> Result<()> {
    form(name).map(drop)
}

/// Writes a model, whole or not at all; the ending decides in which form.
pub fn write(path: &Path, model: &Rung) -> Result<()> {
    let name = path.to_string_lossy();
    let form = form(&name).map_err(Error::as_usage)?;
    let mut tensors = stored(model)?;
    if let Form::Safetensors = form {
        let metadata = model.settings().to_metadata();
        return output::write_with(path, |out| safetensors::write_to(&tensors, &metadata, out));
    }
    // The names that the published models have.
    for (name, _) in &mut tensors {
        *name = name.replacen("mlp.", "mlp.linears.", 1);
    }
    output::write_with(path, |out| pt::write_to(&tensors, out))
}

/// A model with its settings as the bytes of a safetensors file.
pub fn to_bytes(model: &Rung) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let written = safetensors::write_to(&stored(model)?, &model.settings().to_metadata(), &mut bytes);
    written.map_err(|error| Error::io(format!("cannot write the model: {error}")))?;
    Ok(bytes)
}

/// The model in such bytes.
pub fn of_bytes(bytes: Vec<u8>) -> Result<Rung> {
    let (arrays, metadata) = safetensors::open_with_metadata(Arc::new(bytes))?;
    let (settings, _) = Flags::default().over(&metadata)?;
    Rung::from_tensors(tensors(&arrays)?, settings)
}

fn stored(model: &Rung) -> Result<Vec<(String, Array)>> {
    let array =
        |(name, tensor): (String, Tensor)| Ok((name, Array::of_elements(&tensor.shape, &tensor.data)?));
    model.tensors().into_iter().map(array).collect()
}

fn tensors(arrays: &Arrays) -> Result<Vec<(String, Tensor)>> {
    let mut tensors = Vec::new();
    for name in arrays.keys() {
        let in_tensor = |error: Error| error.at(format!("tensor {name}"));
        let found = arrays.get(&name).map_err(|error| match error.kind() {
            // Whole, but no tensor: mostly a state dict inside of a dictionary.
            ErrorKind::Value => in_tensor(error)
                .allowed("tensors alone")
                .advice(format!("save the inner state dict: torch.save(checkpoint[{name:?}], file)")),
            _ => error,
        });
        let Some(array) = found? else { continue };
        if !array.dtype().is_float() {
            let error = Error::value("weights are floats").found(array.dtype().name());
            return Err(in_tensor(error.allowed("f16, bf16, f32 or f64").advice("save state_dict() alone")));
        }
        let shape = array.shape().iter().map(|length| *length as usize).collect();
        let data = array.to_f64s().map_err(in_tensor)?.into_iter().map(|value| value as f32).collect();
        tensors.push((name, Tensor { shape, data }));
    }
    Ok(tensors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(penalty: Penalty) -> Rung {
        let tensor =
            |shape: &[usize]| Tensor { shape: shape.to_vec(), data: vec![0.5; shape.iter().product()] };
        let tensors = [
            ("mlp.0.weight", &[2, 3][..]),
            ("mlp.0.bias", &[2]),
            ("mlp.1.weight", &[4, 2]),
            ("mlp.1.bias", &[4]),
        ];
        let tensors = tensors.map(|(name, shape)| (name.to_owned(), tensor(shape)));
        Rung::from_tensors(tensors.into(), Settings { seed: Some(3), ..Settings::new(penalty) }).unwrap()
    }

    fn mcp(gamma: f64) -> Penalty {
        Penalty::new(Kind::Mcp, Weights::Legacy, Some(gamma), SCAD_A, ScadScale::One).unwrap()
    }

    #[test]
    fn a_model_comes_back_from_both_forms_and_equal_models_are_equal_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let model = model(mcp(3.0));
        let inputs = Inputs::default();
        write(&at("a.safetensors"), &model).unwrap();
        write(&at("b.safetensors"), &model).unwrap();
        assert_eq!(std::fs::read(at("a.safetensors")).unwrap(), std::fs::read(at("b.safetensors")).unwrap());
        assert_eq!(Checkpoint::read(&at("a.safetensors"), &Flags::default(), &inputs).unwrap().model, model);
        write(&at("a.pt"), &model).unwrap();
        let flags = Flags {
            penalty: Some(Kind::Mcp),
            weights: Some(Weights::Legacy),
            gamma: Some(3.0),
            ..Flags::default()
        };
        let read = Checkpoint::read(&at("a.pt"), &flags, &inputs).unwrap();
        let bytes = to_bytes(&model).unwrap();
        assert_eq!(std::fs::read(at("a.safetensors")).unwrap(), bytes);
        assert_eq!(of_bytes(bytes).unwrap(), model);
        assert_eq!(read.model.tensors(), model.tensors());
        assert_eq!((read.model.settings().seed, read.replaced), (None, None));
        assert!(write(&at("a.bin"), &model).is_err());
        read.model.settings();
        let checkpoint = Checkpoint { model, replaced: None };
        assert!(checkpoint.check(3, 4).is_ok());
        let text = checkpoint.check(5, 4).unwrap_err().to_string();
        assert!(text.contains("3 inputs") && text.contains('5'), "{text}");
        let text = checkpoint.check(3, 5).unwrap_err().to_string();
        assert!(text.contains("4 classes") && text.contains("labels up to 4"), "{text}");
    }

    #[test]
    fn flags_win_over_the_file_and_what_they_replace_is_said() {
        let stored = Settings::new(mcp(3.0));
        let over = |flags: Flags| flags.over(&stored.to_metadata()).unwrap();
        assert_eq!(over(Flags::default()), (stored.clone(), None));
        let same = Flags { penalty: Some(Kind::Mcp), gamma: Some(3.0), ..Flags::default() };
        assert_eq!(over(same).1, None);
        let (settings, replaced) = over(Flags { penalty: Some(Kind::L1), ..Flags::default() });
        assert_eq!((settings.penalty.kind(), settings.penalty.gamma()), (Kind::L1, None));
        assert_eq!(replaced.as_deref(), Some("penalty mcp by l1, gamma 3 by none"));
        let (settings, replaced) = over(Flags { layers: Some(4), lambda_hat: Some(0.5), ..Flags::default() });
        assert_eq!((settings.layers, settings.lambda_hat.to_bits(), replaced), (4, 0.5f64.to_bits(), None));
        for flags in [
            Flags { penalty: Some(Kind::L1), gamma: Some(3.0), ..Flags::default() },
            Flags { gamma: Some(-1.0), ..Flags::default() },
            Flags { lambda_hat: Some(0.0), ..Flags::default() },
            Flags { scad_a: Some(1.0), ..Flags::default() },
        ] {
            let error = flags.over(&stored.to_metadata()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
            assert!(!error.to_string().contains("metadata"), "{error}");
        }
    }

    #[test]
    fn what_a_file_leaves_out_or_gets_wrong_can_be_said_by_flags() {
        let texts = |entries: &[(&str, &str)]| -> Texts {
            entries.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect()
        };
        let all = Flags {
            penalty: Some(Kind::Mcp),
            weights: Some(Weights::Legacy),
            gamma: Some(3.0),
            ..Flags::default()
        };
        let full = all.over(&Texts::new()).unwrap().0;
        for (stored, replaced) in [
            (&[("model", "rung")][..], None),
            (&[("penalty", "mcp"), ("gamma", "3.0")], None),
            (&[("penalty", "mpc"), ("gamma", "-1")], Some("penalty mpc by mcp, gamma -1 by 3")),
            (
                &[("penalty", "l1"), ("weights", "exact")],
                Some("penalty l1 by mcp, weights exact by legacy, gamma none by 3"),
            ),
        ] {
            let found = all.over(&texts(stored)).unwrap();
            assert_eq!((&found.0, found.1.as_deref()), (&full, replaced), "{stored:?}");
        }
        let said =
            |flags: Flags, stored: &[(&str, &str)]| flags.over(&texts(stored)).unwrap_err().to_string();
        let partial = [("model", "rung"), ("penalty", "mcp"), ("gamma", "3")];
        assert!(said(Flags::default(), &partial).ends_with("give --weights"));
        assert!(
            said(Flags::default(), &[("penalty", "mcp"), ("weights", "exact")]).ends_with("give --gamma")
        );
        let bad = [("penalty", "mcp"), ("weights", "exact"), ("gamma", "-1")];
        let said = said(Flags::default(), &bad);
        assert!(said.contains("at: metadata gamma") && said.contains("give --gamma"), "{said}");
    }

    #[test]
    fn without_settings_in_the_file_the_missing_flags_are_named() {
        let nothing = Texts::new();
        let said = |flags: Flags| flags.over(&nothing).unwrap_err().to_string();
        assert!(said(Flags::default()).contains("give --penalty, --weights, --gamma"));
        let l1 = Flags { penalty: Some(Kind::L1), ..Flags::default() };
        assert!(said(l1).contains("give --weights"));
        let mcp = Flags { penalty: Some(Kind::Mcp), weights: Some(Weights::Exact), ..Flags::default() };
        assert!(said(mcp).contains("give --gamma"));
        assert!(Flags { weights: Some(Weights::Exact), ..l1 }.over(&nothing).is_ok());
    }
}
