//! The table of history formats. Files say what they are by their content, then by their name.

use std::path::Path;

use calipers_core::{Error, Result};

use super::chunks::BoxedChunks;
use super::delimited::{self, Options};
use super::json::{self, Layout};
use super::mlflow_sqlite::{self, Database};
use super::{RunTable, Table, Wanted, encoding, parquet, tensorboard, wandb};
use crate::file::{InputFile, ReadAt};
use crate::format::{Formats, line};

/// A line of the table of history formats.
pub type Format = crate::format::Format<Reader>;

/// What a file holds, and how it is read.
#[derive(Clone, Copy)]
pub enum Reader {
    /// One table.
    Table {
        /// Reads a small file.
        whole: TableReader,
        /// Reads a large file.
        parts: Parts,
    },
    /// A table for each of several runs.
    Runs {
        /// Reads a small file.
        whole: fn(Vec<u8>, &Wanted, &Options) -> Result<Runs>,
        /// Reads a large file; none where that cannot be done.
        parts: fn(&OnDisk<'_>, &Wanted, &Options, usize) -> Result<Option<Runs>>,
    },
    /// Nothing: a run is a folder.
    Folder,
}

/// Reads a file of this name from all of its bytes.
pub type TableReader = fn(&str, &[u8], &Wanted, &Options) -> Result<Table>;

/// Opens a file for reading about so many of its bytes at a time.
pub type RowsReader = for<'a> fn(&'a dyn ReadAt, &Wanted, &Options, usize) -> Result<BoxedChunks<'a>>;

/// How a large file is read without holding all of its bytes, about so many of them at a time.
#[derive(Clone, Copy)]
pub enum Parts {
    /// Not at all.
    No,
    /// Some rows at a time.
    Rows(RowsReader),
    /// The wanted columns at once. An error may be that the file is of another format.
    Columns(fn(&dyn ReadAt, &Wanted, usize) -> Result<Table>),
}

/// The runs of a file, one after the other.
pub type Runs = Box<dyn Iterator<Item = Result<RunTable>>>;

/// A large file.
pub struct OnDisk<'a> {
    /// Its bytes.
    pub bytes: &'a dyn ReadAt,
    /// The open file itself.
    pub file: &'a InputFile,
    /// Where it is.
    pub path: &'a Path,
}

/// The file that makes a folder a run of MLflow.
pub const RUN_META: &str = "meta.yaml";
/// The file that makes a folder a run of the Hugging Face trainer.
pub const TRAINER_STATE: &str = "trainer_state.json";

const JSON: &[&str] = &[".json", ".jsonl", ".ndjson"];
const TABLES: &[&str] = &[".csv", ".tsv"];

const CSV: Format = line("csv", TABLES, None, table(csv, Parts::Rows(delimited::chunks)));
const JSON_LINES: Format = line(
    "jsonl",
    JSON,
    Some(|bytes| Layout::Lines.is_of(bytes)),
    table(
        |_, bytes, wanted, _| json::read(bytes, Layout::Lines, wanted),
        Parts::Rows(|file, wanted, _, step| json::line_chunks(file, wanted, step)),
    ),
);

/// Every format of histories. Those with endings of their own are told by their first bytes, then by
/// their names. Of those that share their endings the first whose content fits is taken.
pub static FORMATS: Formats<Reader> = Formats(&[
    CSV,
    line(
        "json-rows",
        JSON,
        Some(|bytes| Layout::Rows.is_of(bytes)),
        table(
            |_, bytes, wanted, _| json::read(bytes, Layout::Rows, wanted),
            Parts::Rows(|file, wanted, _, step| json::row_chunks(file, wanted, step)),
        ),
    ),
    line(
        "json-columns",
        JSON,
        Some(|bytes| Layout::Columns.is_of(bytes)),
        table(
            |_, bytes, wanted, _| json::read(bytes, Layout::Columns, wanted),
            Parts::Columns(json::columns_in_chunks),
        ),
    ),
    line(
        "trainer-state",
        JSON,
        Some(|bytes| Layout::State.is_of(bytes)),
        table(|_, bytes, wanted, _| json::read(bytes, Layout::State, wanted), Parts::No),
    ),
    JSON_LINES,
    line(
        "json-split",
        JSON,
        Some(|bytes| Layout::Split.is_of(bytes)),
        table(|_, bytes, wanted, _| json::read(bytes, Layout::Split, wanted), Parts::No),
    ),
    line(
        "json-table",
        JSON,
        Some(|bytes| Layout::Table.is_of(bytes)),
        table(|_, bytes, wanted, _| json::read(bytes, Layout::Table, wanted), Parts::No),
    ),
    line(
        "json-nested",
        JSON,
        Some(|bytes| Layout::Nested.is_of(bytes)),
        table(|_, bytes, wanted, _| json::read(bytes, Layout::Nested, wanted), Parts::No),
    ),
    line("wandb-panel", TABLES, Some(delimited::is_panel), Reader::Runs { whole: panel, parts: large_panel }),
    line(
        "parquet",
        &[".parquet"],
        Some(parquet::is_parquet),
        table(
            |_, bytes, wanted, _| parquet::read(bytes, wanted),
            Parts::Rows(|file, wanted, _, _| parquet::chunks(file, wanted)),
        ),
    ),
    line(
        "wandb",
        &[".wandb"],
        Some(wandb::is_wandb),
        table(|_, bytes, wanted, _| wandb::read(bytes, wanted), Parts::No),
    ),
    line(
        "tensorboard",
        &[],
        Some(tensorboard::is_events),
        table(|name, bytes, wanted, _| tensorboard::read(&[(name, bytes)], wanted), Parts::No),
    ),
    line("mlflow", &[], None, Reader::Folder),
    line("dvclive", &[], None, Reader::Folder),
    line(
        "mlflow-sqlite",
        &[".db", ".sqlite", ".sqlite3"],
        Some(mlflow_sqlite::is_sqlite),
        Reader::Runs { whole: database, parts: large_database },
    ),
]);

const fn table(whole: TableReader, parts: Parts) -> Reader {
    Reader::Table { whole, parts }
}

fn csv(_: &str, bytes: &[u8], wanted: &Wanted, options: &Options) -> Result<Table> {
    delimited::read(bytes, wanted, options)
}

fn panel(bytes: Vec<u8>, wanted: &Wanted, options: &Options) -> Result<Runs> {
    delimited::read_panel(&bytes, wanted, options)?.into_tables()
}

fn large_panel(file: &OnDisk<'_>, wanted: &Wanted, options: &Options, step: usize) -> Result<Option<Runs>> {
    let panel = delimited::read_panel_in_chunks(file.bytes, wanted, options, step)?;
    panel.into_tables().map(Some)
}

fn database(bytes: Vec<u8>, wanted: &Wanted, _: &Options) -> Result<Runs> {
    Database::open(bytes)?.into_tables(wanted)
}

fn large_database(file: &OnDisk<'_>, wanted: &Wanted, _: &Options, _: usize) -> Result<Option<Runs>> {
    let database = Database::open_file(file.file, file.path)?;
    database.map(|database| database.into_tables(wanted)).transpose()
}

impl Format {
    /// Whether its files are text, which may be compressed or in another encoding.
    pub fn is_text(&self) -> bool {
        [JSON, TABLES].contains(&self.endings)
    }
}

impl Reader {
    /// Whether files can be read without holding all of their bytes.
    fn has_parts(&self) -> bool {
        !matches!(self, Self::Table { parts: Parts::No, .. } | Self::Folder)
    }
}

/// The format of the folders that a file of this name makes one run.
pub fn of_folder(name: &str) -> Option<&'static Format> {
    FORMATS.called(match name {
        RUN_META => "mlflow",
        TRAINER_STATE => "trainer-state",
        events if events.contains("tfevents") => "tensorboard",
        _ => return None,
    })
}

/// How a file says what it is.
enum Told {
    ByContent(&'static Format),
    /// The content is not that of the format that the name means.
    ByName(&'static Format),
    /// JSON of another kind.
    NoHistory,
}

/// The format of a file from all of its bytes; none for a file that is no history. A file that was
/// `named` by the user is taken at its name's word, so that its reader can say what is wrong with it.
pub fn of_file(bytes: &[u8], name: &str, named: bool) -> Result<Option<&'static Format>> {
    match told(bytes, name) {
        // What codecarbon measures is no history of a metric.
        Told::ByContent(format) if *format == CSV && is_emissions(bytes) => Ok(None),
        Told::ByContent(format) => Ok(Some(format)),
        // Other programs call their files so, too.
        Told::ByName(format) if matches!(format.reader, Reader::Runs { .. }) => Ok(named.then_some(format)),
        Told::ByName(format) => Ok(Some(format)),
        // Broken JSON is an error even where another file would be passed over.
        Told::NoHistory => json::check(bytes).map(|()| None),
    }
}

/// Whether a table is that of codecarbon.
fn is_emissions(bytes: &[u8]) -> bool {
    let columns = delimited::columns(bytes);
    ["run_id", "emissions", "energy_consumed"].iter().all(|key| columns.iter().any(|column| column == key))
}

/// Whether the first bytes of a file mean a format that is no text.
pub fn is_binary(bytes: &[u8]) -> bool {
    FORMATS.iter().filter(|format| !format.is_text()).any(|format| format.begins(bytes))
}

/// How far to look for the end of a header.
const LONGEST_HEADER: usize = 64 << 20;

/// The format of a large file by its first `step` bytes or more, where that is enough to know it and the
/// file can be read without holding all of its bytes. Columns of JSON may turn out to be something else.
pub fn of_large_file(file: &dyn ReadAt, name: &str, step: usize) -> Result<Option<&'static Format>> {
    let mut opening = Vec::new();
    loop {
        let read = opening.len();
        let length = (file.size() as usize).min(if read == 0 { step } else { 4 * read });
        opening.resize(length, 0);
        file.read_exact_at(&mut opening[read..], read as u64)
            .map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
        if encoding::is_wide(&opening) {
            return Ok(None);
        }
        let format = match told(&opening, name) {
            Told::ByContent(format) => Some(format).filter(|format| format.reader.has_parts()),
            Told::ByName(_) | Told::NoHistory => None,
        };
        // Whether a table is a panel is seen from its whole header, which may be long.
        let more = (length as u64) < file.size() && length < LONGEST_HEADER;
        if format != Some(&CSV) || !more || delimited::has_header(&opening) {
            return Ok(format);
        }
    }
}

fn told(bytes: &[u8], name: &str) -> Told {
    let shares_endings = |format: &&Format| [JSON, TABLES].contains(&format.endings);
    let alone = || FORMATS.iter().filter(move |format| format.magic.is_some() && !shares_endings(format));
    if let Some(format) = alone().find(|format| format.begins(bytes)) {
        return Told::ByContent(format);
    }
    let named = |format: &&Format| format.ending_of(name).is_some() || of_folder(name) == Some(*format);
    if let Some(format) = alone().find(named) {
        return Told::ByName(format);
    }
    let found = FORMATS.iter().filter(shares_endings).find(|format| format.begins(bytes));
    let json = found.filter(|format| format.endings == JSON);
    match JSON_LINES.ending_of(name) {
        Some(".json") => json.map_or(Told::NoHistory, Told::ByContent),
        // One line is an object of columns or a state, too.
        Some(_) => Told::ByContent(json.filter(|format| format.name == "json-rows").unwrap_or(&JSON_LINES)),
        None => Told::ByContent(found.unwrap_or(&CSV)),
    }
}
