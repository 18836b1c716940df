//! What `--classes` names: a number, a list or table in a file, or a built-in table.

use std::collections::BTreeMap;
use std::path::Path;

use calipers_core::{Error, Result};
use calipers_io::place;
use calipers_metrics::segmentation::config::{Config, LabelsConfig};
use calipers_metrics::segmentation::labels::{MOST_CLASSES, Originals};

use crate::config_file;
use crate::inputs::{Inputs, role};

/// The classes of Cityscapes, as a configuration.
const CITYSCAPES: &str = include_str!("cityscapes.toml");

/// The configuration that the word of `--classes` stands for: a number of classes, `cityscapes`, or
/// the path of a `.toml`, `.json` or text file.
pub fn classes(word: &str, inputs: &Inputs) -> Result<Config> {
    if word == "cityscapes" {
        return config_file::parse(CITYSCAPES);
    }
    if let Ok(count) = word.parse::<i128>() {
        return numbered(count);
    }
    let path = Path::new(word);
    if place::kind(path).is_err() {
        return Err(Error::io("there is no such file of classes").at("--classes").found(word).allowed(
            "a number of classes, cityscapes, or a file of names: text with one name per line, .json or .toml",
        ));
    }
    let bytes = inputs.read(path, word, &role("classes", None))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        Error::format("not UTF-8 text").in_file(word).at(format!("line {line}"))
    })?;
    let text = text.trim_start_matches('\u{feff}');
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let config = match ending.to_ascii_lowercase().as_str() {
        "toml" => table(text),
        "json" => json(text).map(listed),
        _ => lines(text).map(listed),
    };
    config.map_err(|error| error.in_file(word))
}

/// Puts the classes into a configuration: what they say of labels replaces what it says, everything
/// else they say is used where it says nothing.
pub fn put_into(config: &mut Config, classes: Config) {
    let old = std::mem::take(&mut config.labels);
    let new = classes.labels;
    config.labels = LabelsConfig {
        original: new.original.or(old.original),
        global: new.global.or(old.global),
        groups: if new.groups.is_empty() { old.groups } else { new.groups },
        rest: new.rest.or(old.rest),
        ignore: if new.ignore.is_empty() { old.ignore } else { new.ignore },
        background: new.background.or(old.background),
        include_background: new.include_background.or(old.include_background),
        unpredicted: new.unpredicted.or(old.unpredicted),
        missing_heads: new.missing_heads.or(old.missing_heads),
        colors: if new.colors.is_empty() { old.colors } else { new.colors },
    };
    config.preset = config.preset.or(classes.preset);
    config.measure = config.measure.take().or(classes.measure);
    config.kind = config.kind.or(classes.kind);
    config.layout = config.layout.or(classes.layout);
    config.space = config.space.or(classes.space);
    config.boundary.thickness = config.boundary.thickness.or(classes.boundary.thickness);
    config.boundary.cheng = config.boundary.cheng.or(classes.boundary.cheng);
    if config.boundary.tolerance.is_none() && config.boundary.tolerance_px.is_none() {
        config.boundary.tolerance = classes.boundary.tolerance;
        config.boundary.tolerance_px = classes.boundary.tolerance_px;
    }
    let (surface, more) = (&mut config.surface, classes.surface);
    surface.convention = surface.convention.take().or(more.convention);
    surface.percentile = surface.percentile.or(more.percentile);
    surface.tolerance = surface.tolerance.take().or(more.tolerance);
    surface.missing = surface.missing.take().or(more.missing);
    surface.absent = surface.absent.take().or(more.absent);
    config.images.worst = config.images.worst.or(classes.images.worst);
    config.bins.count = config.bins.count.or(classes.bins.count);
    config.bins.closed = config.bins.closed.or(classes.bins.closed);
    if config.heads.is_empty() {
        config.heads = classes.heads;
    }
}

/// The configuration of classes that a program names itself.
pub fn named(original: Originals) -> Result<Config> {
    checked(&original).map_err(Error::as_usage)?;
    Ok(listed(original))
}

fn listed(original: Originals) -> Config {
    let labels = LabelsConfig { original: Some(original), ..LabelsConfig::default() };
    Config { labels, ..Config::default() }
}

fn numbered(count: i128) -> Result<Config> {
    let allowed = usize::try_from(count).ok().filter(|count| (1..=MOST_CLASSES).contains(count));
    let error = || Error::usage("not a number of classes").at("--classes").found(count);
    let count = allowed.ok_or_else(|| error().allowed(format!("1 to {MOST_CLASSES}")))?;
    Ok(listed(Originals::numbered(count)))
}

fn table(text: &str) -> Result<Config> {
    let config: Config = config_file::parse(text)?;
    if config.labels.original.is_none() {
        return Err(Error::value("a classes file without classes")
            .at("[labels] original")
            .allowed("a list of names or a table of ids and names"));
    }
    Ok(config)
}

fn json(text: &str) -> Result<Originals> {
    let original: Originals = serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message);
        Error::format(what).at(format!("line {}, column {}", error.line(), error.column()))
    })?;
    if original.0.is_empty() {
        return Err(Error::value("no classes in the file").at("line 1"));
    }
    checked(&original)?;
    Ok(original)
}

/// Refuses empty names and names that occur twice.
fn checked(original: &Originals) -> Result<()> {
    let mut seen = BTreeMap::new();
    for (id, name) in &original.0 {
        if name.trim().is_empty() {
            return Err(Error::value("a class without a name").at(format!("class {id}")));
        }
        if let Some(first) = seen.insert(name, id) {
            return Err(twice(name).at(format!("classes {first} and {id}")));
        }
    }
    Ok(())
}

fn lines(text: &str) -> Result<Originals> {
    let mut seen = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let name = line.trim();
        if name.is_empty() {
            return Err(Error::value("a blank line among the class names")
                .at(format!("line {number}"))
                .advice("give one name per line; the first line is class 0"));
        }
        if let Some(first) = seen.insert(name, number) {
            return Err(twice(name).at(format!("lines {first} and {number}")));
        }
    }
    if seen.is_empty() {
        return Err(Error::value("no classes in the file").at("line 1"));
    }
    Ok(text.lines().map(|line| line.trim().to_owned()).collect())
}

fn twice(name: &str) -> Error {
    Error::value("a class name occurs twice").found(format!("{name:?}")).allowed("every name once")
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_metrics::segmentation::{Preset, Unpredicted};

    fn read(name: &str, text: &str) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        classes(path.to_str().unwrap(), &Inputs::default())
    }

    fn names(config: &Config) -> Vec<(i64, &str)> {
        let original = config.labels.original.as_ref().unwrap();
        original.0.iter().map(|(id, name)| (*id, name.as_str())).collect()
    }

    #[test]
    fn a_number_a_list_and_a_table_name_the_same_classes() {
        let expected = [(0, "0"), (1, "1")];
        let number = classes("2", &Inputs::default()).unwrap();
        assert_eq!(names(&number), expected);
        assert_eq!(names(&read("names.txt", "0\r\n1\r\n").unwrap()), expected);
        assert_eq!(names(&read("names", "\u{feff}0\n1").unwrap()), expected);
        assert_eq!(names(&read("names.json", r#"["0", "1"]"#).unwrap()), expected);
        assert_eq!(names(&read("id2label.JSON", r#"{"1": "1", "0": "0"}"#).unwrap()), expected);
        assert_eq!(names(&read("labels.toml", "[labels]\noriginal = [\"0\", \"1\"]").unwrap()), expected);
    }

    #[test]
    fn bad_classes_are_refused_with_file_and_line() {
        for (name, text, words) in [
            ("c.txt", "", &["empty file"][..]),
            ("c.txt", "a\n\nb\n", &["blank line", "line 2"]),
            ("c.txt", "a\nb\na\n", &["twice", "\"a\"", "lines 1 and 3"]),
            ("c.json", "[]", &["no classes"]),
            ("c.json", "[\"a\",\n \"a\"]", &["twice", "\"a\"", "0 and 1"]),
            ("c.json", "[\"a\", \" \"]", &["class 1"]),
            ("c.json", "{\"0\": \"a\",\n \"0\": \"b\"}", &["id 0 is listed twice", "line 2"]),
            ("c.json", "{\"road\": 0}", &["line 1"]),
            ("c.json", "[\"a\",\n", &["line 2"]),
            ("c.toml", "[bins]\ncount = 3\n", &["[labels] original"]),
            ("c.toml", "[labels]\norigin = 3\n", &["line 2", "original"]),
        ] {
            let message = read(name, text).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
            for word in words {
                assert!(message.contains(word), "{word} is missing in: {message}");
            }
        }
        let message = classes("cityscape", &Inputs::default()).unwrap_err().to_string();
        assert!(message.contains("cityscape") && message.contains("a number of classes"), "{message}");
    }

    #[test]
    fn a_number_that_is_no_number_of_classes_is_wrong_usage() {
        for word in ["0", "-1", "65535", "99999999999999999999"] {
            let error = classes(word, &Inputs::default()).unwrap_err();
            assert_eq!(error.kind(), calipers_core::ErrorKind::Usage);
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn cityscapes_has_19_classes_and_its_own_preset() {
        let config = classes("cityscapes", &Inputs::default()).unwrap();
        let protocol = config.resolve().unwrap();
        assert_eq!(protocol.classes(), 19);
        assert_eq!((protocol.preset, protocol.labels.unpredicted), (Preset::Cityscapes, Unpredicted::Wrong));
        assert_eq!(protocol.labels.to_global[&33], 18);
    }

    #[test]
    fn classes_replace_labels_and_fill_in_what_a_configuration_leaves_out() {
        let written = "preset = \"mmseg\"\n[labels]\noriginal = 3\nbackground = 0\n[bins]\ncount = 5\n";
        let mut config: Config = config_file::parse(written).unwrap();
        let more =
            "preset = \"strict\"\n[labels]\noriginal = 2\nignore = [9]\n[bins]\ncount = 7\nclosed = \"left\"";
        put_into(&mut config, config_file::parse(more).unwrap());
        let expected = "preset = \"mmseg\"\n[labels]\noriginal = 2\nbackground = 0\nignore = [9]\n\
                        [bins]\ncount = 5\nclosed = \"left\"";
        assert_eq!(config, config_file::parse(expected).unwrap());
    }
}
