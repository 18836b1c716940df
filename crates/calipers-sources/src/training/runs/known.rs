//! What is known of a run beside its curves: who it is, and what its log says about it.

use std::collections::BTreeMap;

use calipers_io::history::{Field, Format, Origin, Run};

/// The word in front of a key of a configuration, a tag or a column that has the name of a field.
pub const CONFIG: &str = "config.";

/// A run as it was found.
#[derive(Clone, Debug)]
pub struct Known {
    /// The run name.
    pub name: String,
    /// The identifier that its tracker gave it.
    pub id: Option<String>,
    /// The format it was read in.
    pub format: &'static Format,
    /// Who wrote it.
    pub origin: Origin,
    /// What `--where` and `column:` know of it besides its configuration, by the words they use.
    pub fields: BTreeMap<&'static str, String>,
    /// The keys of its configuration, its tags and its parameters that were asked for.
    pub config: BTreeMap<String, String>,
    /// Every key that its log holds, in the order of first appearance.
    pub keys: Vec<String>,
    /// The files it was read from, as given; the one that messages name comes first.
    pub files: Vec<String>,
    /// When it began, in seconds since 1970.
    pub began: Option<f64>,
}

impl Known {
    /// A run from what its log says of it. `folder` is what the rule of that name makes of the run.
    pub fn new(
        name: &str,
        run: &Run,
        (format, origin): (&'static Format, Origin),
        folder: Option<&str>,
        files: &[String],
        keys: &[String],
    ) -> Self {
        let mut fields = BTreeMap::from([("run", name.to_owned())]);
        let tracked = matches!(origin, Origin::Wandb | Origin::Mlflow);
        if tracked {
            fields.extend(run.id.clone().map(|id| ("id", id)));
            fields.extend(run.fields.iter().map(|(field, text)| (word(*field), text.clone())));
        } else {
            fields.extend(folder.map(|folder| ("folder", folder.to_owned())));
        }
        if origin.is_table() || origin == Origin::Panel {
            fields.extend(files.first().map(|file| ("file", file.clone())));
        }
        Self {
            name: name.to_owned(),
            id: run.id.clone(),
            format,
            origin,
            fields,
            config: run.labels.clone(),
            keys: keys.to_vec(),
            files: files.to_vec(),
            began: run.began,
        }
    }

    /// The text under a key: a field by its bare word, else a key of the configuration. In front of a
    /// configuration's key of the same name stands `config.`.
    pub fn text(&self, key: &str) -> Option<&str> {
        if is_field(key, self.origin) {
            return self.fields.get(key).map(String::as_str);
        }
        let bare = key.strip_prefix(CONFIG).and_then(|bare| self.config.get(bare));
        self.config.get(key).or(bare).map(String::as_str)
    }

    /// What a tracker calls this run and no other; none where the files are all there is.
    pub fn identity(&self) -> Option<String> {
        let id = self.id.as_ref()?;
        match self.origin {
            Origin::Wandb => {
                let of = |word| self.fields.get(word).map_or("", String::as_str);
                Some(format!("W&B run {}/{}/{id}", of("entity"), of("project")))
            }
            Origin::Mlflow => Some(format!("MLflow run {id}")),
            _ => None,
        }
    }
}

/// The words for what trackers know.
fn word(field: Field) -> &'static str {
    match field {
        Field::Project => "project",
        Field::Entity => "entity",
        Field::Group => "group",
        Field::JobType => "job_type",
        Field::Experiment => "experiment",
        Field::ExperimentId => "experiment_id",
        Field::Status => "status",
        Field::Parent => "parent",
    }
}

/// Whether a bare word means what is known of a run of this origin, and no key of its configuration.
pub fn is_field(key: &str, origin: Origin) -> bool {
    let words: &[&str] = match origin {
        Origin::Wandb => &["project", "entity", "group", "run", "id", "job_type"],
        Origin::Mlflow => &["experiment", "experiment_id", "run", "id", "status", "parent"],
        Origin::Tensorboard | Origin::TrainerState | Origin::Dvclive => &["run", "folder"],
        Origin::Table | Origin::Columns | Origin::Panel => &["run", "folder", "file"],
    };
    words.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_io::history::FORMATS;

    #[test]
    fn a_bare_word_means_the_field_and_a_prefixed_one_the_configuration() {
        let run = Run {
            id: Some("u1".into()),
            fields: BTreeMap::from([(Field::Group, "filed".into()), (Field::Project, "p".into())]),
            labels: BTreeMap::from([("group".into(), "own".into()), ("lr".into(), "0.1".into())]),
            ..Run::default()
        };
        let format = FORMATS.called("wandb").unwrap();
        let known = Known::new("r", &run, (format, Origin::Wandb), Some("f"), &["a".into()], &[]);
        for (key, text) in [
            ("group", Some("filed")),
            ("config.group", Some("own")),
            ("lr", Some("0.1")),
            ("config.lr", Some("0.1")),
            ("run", Some("r")),
            ("entity", None),
            ("folder", None),
        ] {
            assert_eq!(known.text(key), text, "{key}");
        }
        assert_eq!(known.identity().as_deref(), Some("W&B run /p/u1"));
        let table = Known::new("r", &run, (format, Origin::Table), Some("f"), &["a".into()], &[]);
        assert_eq!(
            (table.text("folder"), table.text("file"), table.identity()),
            (Some("f"), Some("a"), None)
        );
    }
}
