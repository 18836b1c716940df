//! The settings of a run that its logger wrote as YAML beside the log: `hparams.yaml` of Lightning and
//! `params.yaml` of DVCLive.
//!
//! Nested keys are joined with dots. Lists and null tell no runs apart and are left out.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};
use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::limits;
use crate::text::without_mark;

/// The most settings of one file; aliases can repeat a part any number of times.
const MOST: usize = 100_000;

/// The text of every setting by its key: numbers by their shortest text, truth values as `true` and `false`.
///
/// ```
/// use calipers_io::history::settings;
/// let found = settings::read(b"lr: 1.0e-03\nnet: {depth: 2, act: 'on'}\n")?;
/// let found: Vec<_> = found.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
/// assert_eq!(found, [("lr", "0.001"), ("net.act", "on"), ("net.depth", "2")]);
/// # Ok::<(), calipers_core::Error>(())
/// ```
pub fn read(bytes: &[u8]) -> Result<BTreeMap<String, String>> {
    let text = str::from_utf8(without_mark(bytes)).map_err(|error| {
        Error::format("the settings are not UTF-8 text").at(format_args!("byte {}", error.valid_up_to()))
    })?;
    let mut settings = Settings::default();
    for event in Parser::new_from_str(text).keep_tags(true) {
        let (event, _) = event.map_err(|error| {
            let (line, column) = (error.marker().line(), error.marker().col() + 1);
            Error::format("the settings are no YAML")
                .at(format_args!("line {line}, column {column}"))
                .found(error.info())
        })?;
        settings.take(event)?;
    }
    Ok(settings.found.into_iter().collect())
}

/// What was read so far.
#[derive(Default)]
struct Settings {
    found: Vec<(String, String)>,
    open: Vec<Open>,
    /// The settings below each anchor, with their keys below it.
    anchored: BTreeMap<usize, Vec<(String, String)>>,
}

/// A mapping or a list that is not closed.
struct Open {
    is_list: bool,
    /// The key of the mapping, with all above it.
    key: String,
    /// The key whose value comes next; within, none of a key that nobody can name.
    next: Option<Option<String>>,
    anchor: usize,
    /// How many settings there were when it began.
    from: usize,
}

impl Settings {
    fn take(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::MappingStart(anchor, _) => self.open(anchor, false)?,
            Event::SequenceStart(anchor, _) => self.open(anchor, true)?,
            Event::MappingEnd | Event::SequenceEnd => self.close(),
            Event::Scalar(text, style, anchor, _) => {
                let key = match self.open.last_mut() {
                    Some(open) if !open.is_list && open.next.is_none() => {
                        open.next = Some(Some(text.into_owned()));
                        return Ok(());
                    }
                    _ => self.value_key(),
                };
                let text = if style == ScalarStyle::Plain { plain(&text) } else { Some(text.into_owned()) };
                let Some(text) = text else { return Ok(()) };
                if anchor > 0 {
                    self.anchored.insert(anchor, vec![(String::new(), text.clone())]);
                }
                self.add(key, text)?;
            }
            Event::Alias(anchor) => {
                if let Some(open) = self.open.last_mut().filter(|open| !open.is_list && open.next.is_none()) {
                    open.next = Some(None);
                    return Ok(());
                }
                let key = self.value_key();
                for (below, text) in self.anchored.get(&anchor).cloned().unwrap_or_default() {
                    self.add(key.as_ref().map(|key| joined(key, &below)), text)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The whole key of the value that comes now; none inside lists and outside of everything.
    fn value_key(&mut self) -> Option<String> {
        let hidden = self.open.iter().any(|open| open.is_list);
        let open = self.open.last_mut()?;
        let next = open.next.take();
        if hidden { None } else { Some(joined(&open.key, &next.flatten()?)) }
    }

    fn add(&mut self, key: Option<String>, text: String) -> Result<()> {
        if self.found.len() >= MOST {
            return Err(Error::format("too many settings").allowed(format_args!("at most {MOST}")));
        }
        // No key has a longer name.
        self.found.extend(key.filter(|key| key.len() < limits::NAME).map(|key| (key, text)));
        Ok(())
    }

    fn open(&mut self, anchor: usize, is_list: bool) -> Result<()> {
        if self.open.len() >= limits::DEPTH {
            let allowed = format!("at most {} levels", limits::DEPTH);
            return Err(Error::format("the settings are nested too deep").allowed(allowed));
        }
        // A mapping may itself be a key, which has no name.
        let is_key = self.open.last().is_some_and(|open| !open.is_list && open.next.is_none());
        let key = if is_key { None } else { self.value_key() };
        if let (true, Some(open)) = (is_key, self.open.last_mut()) {
            open.next = Some(None);
        }
        let hidden = is_key || key.is_none() && !self.open.is_empty();
        let from = self.found.len();
        self.open.push(Open {
            is_list: is_list || hidden,
            key: key.unwrap_or_default(),
            next: None,
            anchor,
            from,
        });
        Ok(())
    }

    fn close(&mut self) {
        let Some(Open { key, anchor, from, is_list: false, .. }) = self.open.pop() else { return };
        if anchor > 0 {
            let below = |(whole, text): &(String, String)| {
                let rest = whole.strip_prefix(&key)?;
                Some((rest.strip_prefix('.').unwrap_or(rest).to_owned(), text.clone()))
            };
            self.anchored.insert(anchor, self.found[from..].iter().filter_map(below).collect());
        }
    }
}

fn joined(key: &str, below: &str) -> String {
    match (key, below) {
        ("", only) | (only, "") => only.to_owned(),
        (key, below) => format!("{key}.{below}"),
    }
}

/// The text of a value without quotes; none of null.
fn plain(text: &str) -> Option<String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return None,
        "true" | "True" | "TRUE" => return Some("true".to_owned()),
        "false" | "False" | "FALSE" => return Some("false".to_owned()),
        _ => {}
    }
    let digits = text.trim_start_matches(['-', '+']);
    let is_number = digits.bytes().all(|byte| b"0123456789.eE+-".contains(&byte))
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    let is_float = is_number && digits.contains(['.', 'e', 'E']);
    match text.parse::<f64>() {
        Ok(number) if is_float && number.is_finite() => Some(number.to_string()),
        _ => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        read(text.as_bytes()).unwrap().into_iter().collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(key, text)| ((*key).into(), (*text).into())).collect()
    }

    #[test]
    fn nested_keys_are_joined_and_values_are_text() {
        let text = "# made by hand\nlr: 0.10\nepochs: 010\nbig: 1.0e-07\nname: 'true'\nfast: True\nno: null\n\
                    nothing:\nlayers: [1, {a: 2}]\nnet:\n  act: relu\n  inner:\n    depth: 2\n'odd key': >\n  a\n  b\n";
        let want = [
            ("big", "0.0000001"),
            ("epochs", "010"),
            ("fast", "true"),
            ("lr", "0.1"),
            ("name", "true"),
            ("net.act", "relu"),
            ("net.inner.depth", "2"),
            ("odd key", "a b\n"),
        ];
        assert_eq!(found(text), pairs(&want));
    }

    #[test]
    fn what_python_objects_leave_is_passed_over() {
        let text =
            "shape: !!python/tuple\n- 1\n- 2\nkind: !!python/object:a.B\n  x: 1\n? [a, b]\n: 3\nlr: 1\n";
        assert_eq!(found(text), pairs(&[("kind.x", "1"), ("lr", "1")]));
        assert_eq!(found(""), []);
        assert_eq!(found("just text"), []);
        assert_eq!(found("{}"), []);
    }

    #[test]
    fn aliases_are_what_they_stand_for() {
        let text = "a: &one {x: 1, y: {z: 2}}\nb: *one\nc: &two 5\nd: *two\ne: [*one]\n*two : 6\n";
        let want = [("a.x", "1"), ("a.y.z", "2"), ("b.x", "1"), ("b.y.z", "2"), ("c", "5"), ("d", "5")];
        assert_eq!(found(text), pairs(&want));
        let mut bomb = "a0: &a0 {x: 1, y: 2}\n".to_owned();
        for level in 1..30 {
            let below = level - 1;
            bomb += &format!("a{level}: &a{level} {{x: *a{below}, y: *a{below}}}\n");
        }
        assert!(read(bomb.as_bytes()).unwrap_err().to_string().contains("too many"));
    }

    #[test]
    fn what_is_no_yaml_is_refused_with_its_place() {
        for (text, words) in [
            ("a: [1\nb: 2\n", "line 2"),
            ("a: b: c\n", "line 1"),
            (&format!("{}{}", "[".repeat(200), "]".repeat(200)), "nested too deep"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(read(b"a: \xff").unwrap_err().to_string().contains("byte 3"));
    }
}
