//! What a file holds: by its content, then by its name.

use calipers_core::Result;
use calipers_io::history::{Format, delimited, json, mlflow_sqlite, parquet, tensorboard, wandb};

use super::discover::is_events;
use crate::walk::has_ending;

/// The layout of a file; `None` for a file that is no history. A file that was named by the user
/// is taken at its name's word, so that its reader can say what is wrong with it.
pub fn format(bytes: &[u8], name: &str, named: bool) -> Result<Option<Format>> {
    let ends = |endings: &[&str]| endings.iter().any(|ending| has_ending(name, ending));
    let by_content = [
        (Format::Wandb, wandb::is_wandb(bytes)),
        (Format::Parquet, parquet::is_parquet(bytes)),
        (Format::MlflowSqlite, mlflow_sqlite::is_sqlite(bytes)),
        (Format::Tensorboard, tensorboard::is_events(bytes)),
    ];
    let by_name = [
        (Format::Wandb, ends(&[".wandb"])),
        (Format::Parquet, ends(&[".parquet"])),
        (Format::Tensorboard, is_events(name)),
    ];
    if let Some((format, _)) = by_content.iter().chain(&by_name).find(|(_, found)| *found) {
        return Ok(Some(*format));
    }
    if ends(&[".db", ".sqlite", ".sqlite3"]) {
        return Ok(named.then_some(Format::MlflowSqlite));
    }
    match json::sniff(bytes) {
        Some(Format::JsonColumns | Format::TrainerState) if ends(&[".jsonl", ".ndjson"]) => {
            Ok(Some(Format::JsonLines))
        }
        Some(format) => Ok(Some(format)),
        None if ends(&[".jsonl", ".ndjson"]) => Ok(Some(Format::JsonLines)),
        None if ends(&[".json"]) => {
            // Broken JSON is an error even where another file would be passed over.
            json::check(bytes)?;
            Ok(None)
        }
        None if delimited::is_panel(bytes) => Ok(Some(Format::WandbPanel)),
        None => Ok(Some(Format::Csv)),
    }
}

/// Whether files of a layout can be read without holding all of their bytes.
pub fn is_streamed(format: Format) -> bool {
    matches!(
        format,
        Format::Csv
            | Format::WandbPanel
            | Format::JsonRows
            | Format::JsonLines
            | Format::JsonColumns
            | Format::Parquet
            | Format::MlflowSqlite
    )
}

/// The layout of a large file by its opening, where that is enough to know it and the file can be
/// read without holding all of its bytes. Columns of JSON may turn out to be something else.
pub fn streamed(opening: &[u8], name: &str) -> Option<Format> {
    let ends = |endings: &[&str]| endings.iter().any(|ending| has_ending(name, ending));
    if wandb::is_wandb(opening) {
        return None;
    }
    if parquet::is_parquet(opening) {
        return Some(Format::Parquet);
    }
    if mlflow_sqlite::is_sqlite(opening) {
        return Some(Format::MlflowSqlite);
    }
    let other = [
        tensorboard::is_events(opening),
        ends(&[".wandb", ".parquet", ".db", ".sqlite", ".sqlite3"]),
        is_events(name),
    ];
    if other.contains(&true) {
        return None;
    }
    match json::sniff(opening) {
        Some(format @ (Format::JsonRows | Format::JsonLines)) => Some(format),
        _ if ends(&[".jsonl", ".ndjson"]) => Some(Format::JsonLines),
        Some(Format::JsonColumns) => Some(Format::JsonColumns),
        Some(_) => None,
        None if ends(&[".json"]) => None,
        None if delimited::is_panel(opening) => Some(Format::WandbPanel),
        None => Some(Format::Csv),
    }
}
