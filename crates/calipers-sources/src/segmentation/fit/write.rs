//! A configuration with other weights and temperatures, and everything else as it was written.

use std::path::Path;

use calipers_core::{Error, Result};
use calipers_metrics::segmentation::fit::HeadFit;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, value};

/// The text of a configuration with fitted heads. `moved` is the folder that its paths are relative
/// to, where the new file will lie in another one.
pub fn fitted_config(text: &str, heads: &[(String, HeadFit)], moved: Option<&Path>) -> Result<String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut document: DocumentMut =
        text.parse().map_err(|error| Error::format(format!("not readable as TOML: {error}")))?;
    if !document.contains_key("heads") {
        let mut table = Table::new();
        table.insert("name", value(heads.first().map_or("flat", |(name, _)| name.as_str())));
        let mut tables = ArrayOfTables::new();
        tables.push(table);
        document.insert("heads", Item::ArrayOfTables(tables));
    }
    for (table, (_, fitted)) in head_tables(&mut document).into_iter().zip(heads) {
        set(table, "alpha", fitted.alpha);
        set(table, "tau", fitted.tau);
        relocate(table, "path", moved)?;
    }
    if let Some(data) = document.get_mut("data").and_then(Item::as_table_like_mut) {
        for key in ["truth", "pred"] {
            relocate(data, key, moved)?;
        }
    }
    Ok(document.to_string())
}

fn head_tables(document: &mut DocumentMut) -> Vec<&mut dyn TableLike> {
    match document.get_mut("heads") {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter_mut().map(|table| table as &mut dyn TableLike).collect()
        }
        Some(item) => item
            .as_array_mut()
            .into_iter()
            .flat_map(Array::iter_mut)
            .filter_map(|table| table.as_inline_table_mut())
            .map(|table| table as &mut dyn TableLike)
            .collect(),
        None => Vec::new(),
    }
}

/// Replaces a number and keeps what is written around it.
fn set(table: &mut dyn TableLike, key: &str, number: f64) {
    let mut new = toml_edit::Value::from(number);
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(new));
}

/// Makes a path that was relative to a folder one that stands for itself.
fn relocate(table: &mut dyn TableLike, key: &str, folder: Option<&Path>) -> Result<()> {
    let (Some(folder), Some(path)) = (folder, table.get(key).and_then(Item::as_str)) else { return Ok(()) };
    let path = std::path::absolute(folder.join(path))
        .map_err(|error| Error::io(format!("the path of {key} cannot be made absolute: {error}")))?;
    let text = path.to_str().ok_or_else(|| Error::value(format!("the path of {key} is not UTF-8")))?;
    table.insert(key, value(text));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_file;
    use calipers_metrics::segmentation::config::Config;

    fn heads(parameters: &[(f64, f64)]) -> Vec<(String, HeadFit)> {
        let names = ["a", "b"].map(str::to_owned);
        names.into_iter().zip(parameters.iter().map(|&(alpha, tau)| HeadFit { alpha, tau })).collect()
    }

    fn fitted(text: &str, moved: Option<&Path>) -> String {
        let written = fitted_config(text, &heads(&[(0.5, 2.25), (3.0, 1.0)]), moved).unwrap();
        let config: Config = config_file::parse(&written).unwrap();
        let read: Vec<_> = config.heads.iter().map(|head| (head.alpha, head.tau)).collect();
        assert_eq!(read[0], (Some(0.5), Some(2.25)), "{written}");
        assert!(read.len() < 2 || read[1] == (Some(3.0), Some(1.0)), "{written}");
        written
    }

    const TABLES: &str = "# why\n[data]\ntruth = \"gt\" # here\n\n[[heads]]\nname = \"a\"\n\
                          tau = 1.0 # not yet\n[[heads]]\nname = \"b\"\nalpha = 1\n";

    #[test]
    fn comments_and_order_stay() {
        let written = fitted(TABLES, None);
        assert_eq!(
            written,
            "# why\n[data]\ntruth = \"gt\" # here\n\n[[heads]]\nname = \"a\"\ntau = 2.25 # not yet\nalpha = 0.5\n\
             [[heads]]\nname = \"b\"\nalpha = 3.0\ntau = 1.0\n"
        );
    }

    #[test]
    fn heads_may_stand_in_one_line_or_not_at_all() {
        fitted("heads = [{ name = \"a\", tau = 3 }, { name = \"b\" }]\n", None);
        let written = fitted("\u{feff}kind = \"logits\"\n[labels]\noriginal = [\"x\", \"y\"]\n", None);
        assert!(written.ends_with("[[heads]]\nname = \"a\"\nalpha = 0.5\ntau = 2.25\n"), "{written}");
    }

    #[test]
    fn paths_follow_a_file_into_another_folder() {
        let written = fitted(TABLES, Some(Path::new("/sets/val")));
        assert!(written.contains("truth = \"/sets/val/gt\""), "{written}");
    }
}
