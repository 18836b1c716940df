//! The settings that finished parts were made with, kept beside them for `--resume`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use calipers_core::{Error, Result};

use crate::output;

const FILE: &str = "settings.json";

/// Settings by name, as people write them.
pub type Settings = BTreeMap<String, String>;

/// Makes the folder and records the settings; or, to resume, compares them with those of the
/// finished parts. A folder that holds something is refused otherwise.
pub(super) fn claim(folder: &Path, settings: &Settings, resume: bool) -> Result<()> {
    let io = |what: &str, error: std::io::Error| {
        Error::io(format!("cannot {what}: {}", error.kind())).in_file(folder.display())
    };
    fs::create_dir_all(folder).map_err(|error| io("create the folder", error))?;
    let path = folder.join(FILE);
    let occupied = fs::read_dir(folder).map_err(|error| io("read the folder", error))?.next().is_some();
    match (occupied, resume) {
        (false, _) => {}
        (true, false) => {
            return Err(Error::value("the output folder is not empty")
                .in_file(folder.display())
                .advice("name another folder, or go on with what is there: --resume"));
        }
        (true, true) => return compare(&path, settings),
    }
    let text = serde_json::to_string_pretty(settings)
        .map_err(|error| Error::io(format!("cannot write the settings: {error}")).in_file(path.display()))?;
    output::write(&path, format!("{text}\n").as_bytes())
}

fn compare(path: &Path, settings: &Settings) -> Result<()> {
    let unreadable = |why: String| {
        Error::value("the folder has parts, but no settings that they were made with")
            .in_file(path.display())
            .found(why)
            .advice("name another folder")
    };
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.kind().to_string()))?;
    let made: Settings = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
    same(path, &made, settings)
}

/// Refuses parts that were made with other settings than those that are asked for now.
pub fn same(file: &Path, made: &Settings, now: &Settings) -> Result<()> {
    let shown = |settings: &Settings, name: &str| settings.get(name).map_or("not set".into(), String::clone);
    for name in made.keys().chain(now.keys()) {
        let (before, after) = (shown(made, name), shown(now, name));
        if before != after {
            return Err(Error::value("the finished parts were made with another setting")
                .in_file(file.display())
                .at(name)
                .found(before)
                .allowed(after)
                .advice("give the setting of the finished parts, or name another folder"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(epochs: &str) -> Settings {
        [("epochs", epochs), ("graph", "ab12")].map(|(name, text)| (name.to_owned(), text.to_owned())).into()
    }

    #[test]
    fn a_folder_is_claimed_once_and_resumed_with_equal_settings_only() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("figures");
        claim(&out, &settings("300"), false).unwrap();
        assert!(claim(&out, &settings("300"), false).unwrap_err().to_string().contains("--resume"));
        claim(&out, &settings("300"), true).unwrap();
        let said = claim(&out, &settings("20"), true).unwrap_err().to_string();
        assert!(said.contains("epochs") && said.contains("300") && said.contains("20"), "{said}");
    }

    #[test]
    fn parts_without_settings_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("other"), "x").unwrap();
        assert!(claim(folder.path(), &settings("1"), true).unwrap_err().to_string().contains("no settings"));
    }
}
