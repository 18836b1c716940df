//! An SQLite database, in memory or in its file, that nothing can write to and whose schema is not
//! trusted.

use std::path::Path;

use calipers_core::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::{address, header};
use crate::file::{InputFile, ReadAt};

/// Opens a copy of the bytes and checks the structure of every page.
pub(super) fn open(mut bytes: Vec<u8>) -> Result<Connection> {
    header::check(&bytes, bytes.len() as u64)?;
    header::without_log(&mut bytes);
    let mut connection = Connection::open_in_memory().map_err(unreadable)?;
    distrust(&connection)?;
    connection.deserialize_read_exact(MAIN_DB, bytes.as_slice(), bytes.len(), true).map_err(unreadable)?;
    drop(bytes);
    check(&connection)?;
    Ok(connection)
}

/// Opens the file at a path as it is and checks the structure of every page; none where the
/// library cannot open a file at such a path.
pub(super) fn open_file(file: &InputFile, path: &Path) -> Result<Option<Connection>> {
    let mut opening = vec![0; (file.size() as usize).min(header::LENGTH)];
    file.read_exact_at(&mut opening, 0)
        .map_err(|error| Error::io(format!("cannot read the file: {}", error.kind())))?;
    header::check(&opening, file.size())?;
    let Some(address) = address::of(path) else { return Ok(None) };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = match Connection::open_with_flags(address, flags) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => return Ok(None),
        connection => connection.map_err(unreadable)?,
    };
    // The library opened the path once more.
    file.is_at(path)?;
    distrust(&connection)?;
    check(&connection)?;
    Ok(Some(connection))
}

/// Forbids everything that a schema could do.
fn distrust(connection: &Connection) -> Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
    ] {
        connection.set_db_config(setting, on).map_err(unreadable)?;
    }
    Ok(())
}

fn check(connection: &Connection) -> Result<()> {
    let settings = "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;
                    PRAGMA mmap_size = 0; PRAGMA ignore_check_constraints = ON;";
    connection.execute_batch(settings).map_err(unreadable)?;
    let verdict: String =
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(unreadable)?;
    if verdict == "ok" {
        return Ok(());
    }
    // A line that names the database comes before what is wrong with it.
    Err(unreadable(verdict.lines().last().unwrap_or("damage")))
}

/// The error for a database that the library refuses.
pub(super) fn unreadable(found: impl std::fmt::Display) -> Error {
    Error::format("SQLite: the database cannot be read")
        .found(found)
        .advice("copy the file again while nothing writes to it")
}

/// The names of the columns of a table, none where there is no such table.
pub(super) fn columns(connection: &Connection, table: &str) -> Result<Vec<String>> {
    // A view or a virtual table would run what the file says; neither has a root page.
    let stored =
        "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 AND rootpage > 0";
    let stored: i64 = connection.query_row(stored, [table], |row| row.get(0)).map_err(unreadable)?;
    if stored == 0 {
        return Ok(Vec::new());
    }
    let mut statement =
        connection.prepare("SELECT name FROM pragma_table_info(?1, 'main')").map_err(unreadable)?;
    let names = statement.query_map([table], |row| row.get(0)).map_err(unreadable)?;
    names.collect::<rusqlite::Result<_>>().map_err(unreadable)
}

/// The columns of a table that MLflow always has.
pub(super) fn required(connection: &Connection, table: &str, needed: &[&str]) -> Result<Vec<String>> {
    let columns = columns(connection, table)?;
    if columns.is_empty() {
        return Err(Error::format(format!("not an MLflow database: the table `{table}` is missing"))
            .found(tables(connection)?)
            .allowed("the tables `metrics` and `runs`")
            .advice("give the database that MLflow's tracking server writes"));
    }
    match needed.iter().find(|name| !columns.iter().any(|column| column == *name)) {
        None => Ok(columns),
        Some(name) => Err(Error::format(format!("not an MLflow database: the column `{name}` is missing"))
            .at(format_args!("table `{table}`"))
            .found(columns.join(", "))
            .allowed(needed.join(", "))),
    }
}

fn tables(connection: &Connection) -> Result<String> {
    let sql = "SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name LIMIT 20";
    let mut statement = connection.prepare(sql).map_err(unreadable)?;
    let names = statement.query_map([], |row| row.get(0)).map_err(unreadable)?;
    let names: Vec<String> = names.collect::<rusqlite::Result<_>>().map_err(unreadable)?;
    Ok(if names.is_empty() { "no tables".into() } else { names.join(", ") })
}
