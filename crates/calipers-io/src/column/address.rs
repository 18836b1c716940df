//! `FILE.parquet:COLUMN`: how a column is named where a file or folder can be.

use std::path::{Path, PathBuf};

use crate::place;

const ENDING: &str = ".parquet";

/// The file and the column that a path names; none where a file or folder is really called so.
pub fn address(path: &Path) -> Option<(PathBuf, String)> {
    let text = path.to_str()?;
    let (file, column) = split(text)?;
    // What a web server has shows only when it is fetched.
    (place::is_web(path) || place::kind(path).is_err()).then(|| (PathBuf::from(file), column.to_owned()))
}

fn split(text: &str) -> Option<(&str, &str)> {
    let mark = format!("{ENDING}:");
    let at = text.to_ascii_lowercase().rfind(&mark)? + ENDING.len();
    let (file, column) = (&text[..at], &text[at + 1..]);
    (!column.is_empty()).then_some((file, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_colon_behind_the_ending_begins_the_column() {
        assert_eq!(split("d/x.parquet:mask"), Some(("d/x.parquet", "mask")));
        assert_eq!(split("C:/x.PARQUET:a:b"), Some(("C:/x.PARQUET", "a:b")));
        assert_eq!(split("s3://b/x.parquet:größe"), Some(("s3://b/x.parquet", "größe")));
        for other in ["x.parquet", "x.parquet:", "x:y", "x.parquet/y"] {
            assert_eq!(split(other), None, "{other}");
        }
    }

    #[test]
    fn a_file_that_is_really_called_so_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet:mask");
        assert_eq!(address(&path), Some((folder.path().join("x.parquet"), "mask".into())));
        std::fs::write(&path, "1").unwrap();
        assert_eq!(address(&path), None);
    }
}
