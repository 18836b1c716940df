//! Training histories: the logged rows of one run or of a table of runs, the wanted keys only.
//!
//! Every reader gives the same [`Table`]; which column is x, which rows make a run and what a
//! group is are decided by the caller, so that all formats follow one set of rules.

pub mod chunks;
mod columns;
pub mod delimited;
pub mod dvclive;
pub mod encoding;
mod few_digits;
mod format;
pub mod json;
pub mod mlflow;
pub mod mlflow_server;
pub mod mlflow_sqlite;
pub mod parquet;
pub mod settings;
pub mod tensorboard;
pub mod wandb;
mod window;
mod wire;

use std::collections::BTreeMap;

use calipers_core::{Error, Stored};

pub use format::{
    FORMATS, Format, OnDisk, Parts, RUN_META, Reader, RowsReader, Runs, TRAINER_STATE, TableReader,
    is_binary, of_file, of_folder, of_large_file,
};

/// The keys a reader keeps; everything else is skipped and only its name is noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Keys whose values are numbers: metrics, candidates for x, steps and times.
    pub numbers: Vec<String>,
    /// Keys whose values are names: runs, groups, folds.
    pub texts: Vec<String>,
    /// Whether every key of a configuration, every tag and every parameter is kept, not only those
    /// among `texts`.
    pub config: bool,
}

impl Wanted {
    /// Whether a key of a configuration, a tag or a parameter is kept.
    pub fn label(&self, key: &str) -> bool {
        self.config || self.texts.iter().any(|text| text == key)
    }
}

/// Who wrote a history, which says how its rows are to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Anybody: a table with a row per step and a column per key.
    Table,
    /// Anybody: columns alone, so that the position of a value may be its step.
    Columns,
    /// W&B, as the table behind a panel: the x column comes first.
    Panel,
    /// The trainer of Hugging Face.
    TrainerState,
    /// W&B, as an offline log.
    Wandb,
    /// TensorBoard.
    Tensorboard,
    /// MLflow.
    Mlflow,
    /// DVCLive.
    Dvclive,
}

impl Origin {
    /// Whether the rows are those of a table that anybody may have written.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Table | Self::Columns)
    }
}

/// The logged rows of one file, or of one run inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Who wrote it.
    pub origin: Origin,
    /// What the file itself says about the run.
    pub run: Run,
    /// Every key found, each once, in the order of first appearance.
    pub keys: Vec<String>,
    /// How many rows of the file come before these.
    pub before: usize,
    /// How many rows there are, whether or not they hold a wanted key.
    pub rows: usize,
    /// The wanted number keys that were found, in the order wanted.
    pub numbers: Vec<Numbers>,
    /// The wanted text keys that were found, in the order wanted.
    pub texts: Vec<Texts>,
    /// How messages name a row.
    pub places: Places,
    /// Where the last record is cut off, in bytes from the start of the file.
    pub cut_at: Option<u64>,
}

/// One run of a file of several.
#[derive(Clone, Debug, PartialEq)]
pub struct RunTable {
    /// Its rows.
    pub table: Table,
    /// The key that the file itself takes for x.
    pub x: Option<String>,
    /// Whether the values are averages of several runs or steps: the smallest and the largest of them
    /// differ somewhere.
    pub aggregated: bool,
}

/// What a file says about the run it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its display name.
    pub name: Option<String>,
    /// Its identifier.
    pub id: Option<String>,
    /// What else the tracker that wrote it knows of it.
    pub fields: BTreeMap<Field, String>,
    /// The wanted keys of its configuration, its tags and its parameters, as text.
    pub labels: BTreeMap<String, String>,
    /// When it began, in seconds since 1970.
    pub began: Option<f64>,
    /// Where further sessions of the run begin, in the order of rows.
    pub sessions: Vec<Session>,
    /// The key that the run itself declared to be the x of a wanted key.
    pub x_of: BTreeMap<String, String>,
}

impl Run {
    /// What the tracker says under a field.
    pub fn field(&self, field: Field) -> Option<&str> {
        self.fields.get(&field).map(String::as_str)
    }
}

/// What trackers know of a run besides its name and identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The project of W&B.
    Project,
    /// The user or team of W&B.
    Entity,
    /// The group that W&B filed the run under.
    Group,
    /// What kind of job W&B says it is.
    JobType,
    /// The name of the experiment of MLflow.
    Experiment,
    /// Its identifier.
    ExperimentId,
    /// Whether MLflow says that the run has ended, and how.
    Status,
    /// The run of MLflow that this one was started in.
    Parent,
}

/// The beginning of a later session of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Session {
    /// The first row that may belong to it.
    pub row: u32,
    /// The step from which on it takes the place of what was logged before, where its beginning says so.
    pub from_step: Option<f64>,
}

/// The logged values of one key; rows without it are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// The key.
    pub key: String,
    /// The rows that hold a value, ascending.
    pub rows: Vec<u32>,
    /// Their values; a logged NaN or infinity is a value.
    pub values: Vec<f64>,
    /// Why the first value that is no number cannot be used. Whoever uses the column reports it;
    /// rows after it may be missing.
    pub unreadable: Option<Error>,
    /// The precision in which the file holds them.
    pub stored: Stored,
}

/// The names in one column; rows without one are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The key.
    pub key: String,
    /// The distinct names, in the order of first appearance.
    pub names: Vec<String>,
    /// Row and position in `names`, rows ascending.
    pub cells: Vec<(u32, u32)>,
}

/// How messages name a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Row 0 is on this line and each row takes one line.
    LinesFrom(u64),
    /// The line of each row.
    Lines(Vec<u64>),
    /// Rows have no lines; they are called by this word and numbered from 1, after so many before
    /// them.
    Numbered(&'static str, u64),
}

impl Places {
    /// The place of a row in words.
    pub fn of(&self, row: u32) -> String {
        match self {
            Self::LinesFrom(first) => format!("line {}", first + u64::from(row)),
            Self::Lines(lines) => match lines.get(row as usize) {
                Some(line) => format!("line {line}"),
                None => format!("row {}", u64::from(row) + 1),
            },
            Self::Numbered(word, before) => format!("{word} {}", before + u64::from(row) + 1),
        }
    }
}

impl Table {
    /// The values of a key, when it was wanted and found.
    pub fn number(&self, key: &str) -> Option<&Numbers> {
        self.numbers.iter().find(|column| column.key == key)
    }

    /// The names of a key, when it was wanted and found.
    pub fn text(&self, key: &str) -> Option<&Texts> {
        self.texts.iter().find(|column| column.key == key)
    }
}
