//! The table of history formats. Files say what they are by their content, then by their name.

use std::path::Path;

use calipers_core::{Error, Result};

use super::delimited::{self, Options};
use super::json::{self, Layout};
use super::mlflow_sqlite::{self, Database};
use super::pieces::BoxedPieces;
use super::{RunTable, Table, Wanted, parquet, tensorboard, wandb};
use crate::file::{InputFile, ReadAt};
use crate::format::{Formats, untold};

/// A line of the table of history formats.
pub type Format = crate::format::Format<Reader>;

/// How the files of a format are found and read.
#[derive(Clone, Copy)]
pub struct Reader {
    /// What one file holds.
    pub read: Read,
    /// Whether it is a text, whose name says less than its content.
    pub is_text: bool,
    /// Whether a file of this name makes the files of its folder one run.
    pub mark: Option<fn(&str) -> bool>,
}

/// What a file holds, and how it is read.
#[derive(Clone, Copy)]
pub enum Read {
    /// One table.
    Table {
        /// Reads a file of this name from all of its bytes.
        whole: fn(&str, &[u8], &Wanted, &Options) -> Result<Table>,
        /// Reads a large file.
        parts: Parts,
    },
    /// A table for each of several runs.
    Runs {
        /// Reads a file from all of its bytes.
        whole: fn(Vec<u8>, &Wanted, &Options) -> Result<Runs>,
        /// Reads a large file; none where that cannot be done.
        parts: fn(&OnDisk<'_>, &Wanted, &Options, usize) -> Result<Option<Runs>>,
    },
    /// Nothing: a run is a folder.
    Folder,
}

/// Opens a file for reading about so many of its bytes at a time.
pub type RowsReader = for<'a> fn(&'a dyn ReadAt, &Wanted, &Options, usize) -> Result<BoxedPieces<'a>>;

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

/// Every format of histories. Where several have one ending the content decides. Those that are told by
/// the first bytes alone are asked first, then the texts in this order.
pub static FORMATS: Formats<Reader> = Formats(&[
    CSV,
    Format {
        name: "json-rows",
        endings: JSON,
        magic: |bytes| Layout::Rows.is_of(bytes),
        reader: Reader {
            read: Read::Table {
                whole: |_, bytes, wanted, _| json::read(bytes, Layout::Rows, wanted),
                parts: Parts::Rows(|file, wanted, _, step| json::row_pieces(file, wanted, step)),
            },
            is_text: true,
            mark: None,
        },
    },
    Format {
        name: "json-columns",
        endings: JSON,
        magic: |bytes| Layout::Columns.is_of(bytes),
        reader: Reader {
            read: Read::Table {
                whole: |_, bytes, wanted, _| json::read(bytes, Layout::Columns, wanted),
                parts: Parts::Columns(json::columns_in_stretches),
            },
            is_text: true,
            mark: None,
        },
    },
    Format {
        name: "trainer-state",
        endings: JSON,
        magic: |bytes| Layout::State.is_of(bytes),
        reader: Reader {
            read: Read::Table {
                whole: |_, bytes, wanted, _| json::read(bytes, Layout::State, wanted),
                parts: Parts::No,
            },
            is_text: true,
            mark: Some(|name| name == TRAINER_STATE),
        },
    },
    JSON_LINES,
    Format {
        name: "wandb-panel",
        endings: TABLES,
        magic: delimited::is_panel,
        reader: Reader {
            read: Read::Runs {
                whole: |bytes, wanted, options| delimited::read_panel(&bytes, wanted, options)?.into_tables(),
                parts: |on_disk, wanted, options, step| {
                    let panel = delimited::read_panel_in_stretches(on_disk.bytes, wanted, options, step)?;
                    panel.into_tables().map(Some)
                },
            },
            is_text: true,
            mark: None,
        },
    },
    Format {
        name: "parquet",
        endings: &[".parquet"],
        magic: parquet::is_parquet,
        reader: Reader {
            read: Read::Table {
                whole: |_, bytes, wanted, _| parquet::read(bytes, wanted),
                parts: Parts::Rows(|file, wanted, _, _| parquet::pieces(file, wanted)),
            },
            is_text: false,
            mark: None,
        },
    },
    Format {
        name: "wandb",
        endings: &[".wandb"],
        magic: wandb::is_wandb,
        reader: Reader {
            read: Read::Table { whole: |_, bytes, wanted, _| wandb::read(bytes, wanted), parts: Parts::No },
            is_text: false,
            mark: None,
        },
    },
    Format {
        name: "tensorboard",
        endings: &[],
        magic: tensorboard::is_events,
        reader: Reader {
            read: Read::Table {
                whole: |name, bytes, wanted, _| tensorboard::read(&[(name, bytes)], wanted),
                parts: Parts::No,
            },
            is_text: false,
            mark: Some(|name| name.contains("tfevents")),
        },
    },
    Format {
        name: "mlflow",
        endings: &[],
        magic: untold,
        reader: Reader { read: Read::Folder, is_text: true, mark: Some(|name| name == RUN_META) },
    },
    Format {
        name: "mlflow-sqlite",
        endings: &[".db", ".sqlite", ".sqlite3"],
        magic: mlflow_sqlite::is_sqlite,
        reader: Reader {
            read: Read::Runs {
                whole: |bytes, wanted, _| Database::open(bytes)?.into_tables(wanted),
                parts: |on_disk, wanted, _, _| {
                    let database = Database::open_file(on_disk.file, on_disk.path)?;
                    database.map(|database| database.into_tables(wanted)).transpose()
                },
            },
            is_text: false,
            mark: None,
        },
    },
]);

const JSON_LINES: Format = Format {
    name: "jsonl",
    endings: JSON,
    magic: |bytes| Layout::Lines.is_of(bytes),
    reader: Reader {
        read: Read::Table {
            whole: |_, bytes, wanted, _| json::read(bytes, Layout::Lines, wanted),
            parts: Parts::Rows(|file, wanted, _, step| json::line_pieces(file, wanted, step)),
        },
        is_text: true,
        mark: None,
    },
};

const CSV: Format = Format {
    name: "csv",
    endings: TABLES,
    magic: untold,
    reader: Reader {
        read: Read::Table {
            whole: |_, bytes, wanted, options| delimited::read(bytes, wanted, options),
            parts: Parts::Rows(delimited::pieces),
        },
        is_text: true,
        mark: None,
    },
};

impl Reader {
    /// Whether files can be read without holding all of their bytes.
    pub fn has_parts(&self) -> bool {
        !matches!(self.read, Read::Table { parts: Parts::No, .. } | Read::Folder)
    }
}

/// The format of the folders that a file of this name makes one run.
pub fn of_folder(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.reader.mark.is_some_and(|is_mark| is_mark(name)))
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
        Told::ByContent(format) => Ok(Some(format)),
        // Other programs call their files so, too.
        Told::ByName(format) if matches!(format.reader.read, Read::Runs { .. }) => {
            Ok(named.then_some(format))
        }
        Told::ByName(format) => Ok(Some(format)),
        // Broken JSON is an error even where another file would be passed over.
        Told::NoHistory => json::check(bytes).map(|()| None),
    }
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
    let of_kind = |is_text: bool| FORMATS.iter().filter(move |format| format.reader.is_text == is_text);
    if let Some(format) = of_kind(false).find(|format| (format.magic)(bytes)) {
        return Told::ByContent(format);
    }
    let named = |format: &&Format| {
        format.ending_of(name).is_some() || format.reader.mark.is_some_and(|is_mark| is_mark(name))
    };
    if let Some(format) = of_kind(false).find(named) {
        return Told::ByName(format);
    }
    let found = of_kind(true).find(|format| (format.magic)(bytes));
    let json = found.filter(|format| format.endings == JSON);
    match JSON_LINES.ending_of(name) {
        Some(".json") => json.map_or(Told::NoHistory, Told::ByContent),
        // One line is an object of columns or a state, too.
        Some(_) => Told::ByContent(json.filter(|format| format.name == "json-rows").unwrap_or(&JSON_LINES)),
        None => Told::ByContent(found.unwrap_or(&CSV)),
    }
}
