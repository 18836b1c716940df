//! The few scalars of `meta.yaml` that a history needs, without the rest of YAML.

use calipers_core::{Error, Result};

use crate::text;

/// The text of a top-level `key: value`; nothing when the key is absent, empty or null.
///
/// Plain, single-quoted and double-quoted scalars are read, folded over indented lines or not.
pub(super) fn scalar(meta: &str, key: &str) -> Result<Option<String>> {
    let mut lines = meta.lines().enumerate();
    let found = lines.by_ref().find_map(|(place, line)| {
        let value = line.strip_prefix(key)?.strip_prefix(':')?;
        (value.is_empty() || value.starts_with([' ', '\t'])).then_some((place + 1, value))
    });
    let Some((line, first)) = found else { return Ok(None) };
    let folded =
        lines.map(|(_, line)| line).take_while(|line| line.is_empty() || line.starts_with([' ', '\t']));
    let value = fold(first.trim(), folded);
    let broken = || {
        let error = Error::format("a quoted value that does not end").at(format_args!("line {line}"));
        error.found(text::shown(value.as_bytes())).allowed("'text' or \"text\"")
    };
    let value = match value.chars().next() {
        Some('\'') => single_quoted(&value[1..]).ok_or_else(broken)?,
        Some('"') => double_quoted(&value[1..]).ok_or_else(broken)?,
        _ => {
            let plain = value.split(" #").next().unwrap_or_default().trim_end();
            let null = plain.starts_with('#') || ["~", "null", "Null", "NULL"].contains(&plain);
            if null { String::new() } else { plain.to_owned() }
        }
    };
    Ok((!value.is_empty()).then_some(value))
}

/// Joins the lines of a scalar: a line end is a blank, an empty line is a line end.
fn fold<'a>(first: &str, more: impl Iterator<Item = &'a str>) -> String {
    let mut value = first.to_owned();
    let mut breaks = String::new();
    for line in more {
        let line = line.trim();
        if line.is_empty() {
            breaks.push('\n');
            continue;
        }
        let escaped = value.ends_with('\\') && value.starts_with('"');
        match (escaped, breaks.is_empty()) {
            (true, _) => drop(value.pop()),
            (false, true) => value.push(' '),
            (false, false) => value.push_str(&breaks),
        }
        breaks.clear();
        value.push_str(line);
    }
    value
}

fn single_quoted(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut rest = text.chars();
    loop {
        match rest.next()? {
            '\'' if rest.as_str().starts_with('\'') => value.extend(rest.next()),
            '\'' => return Some(value),
            other => value.push(other),
        }
    }
}

fn double_quoted(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut rest = text.chars();
    loop {
        match rest.next()? {
            '"' => return Some(value),
            '\\' => value.push(match rest.next()? {
                '0' => '\0',
                'a' => '\x07',
                'b' => '\x08',
                't' => '\t',
                'n' => '\n',
                'v' => '\x0b',
                'f' => '\x0c',
                'r' => '\r',
                'e' => '\x1b',
                'N' => '\u{85}',
                '_' => '\u{a0}',
                'L' => '\u{2028}',
                'P' => '\u{2029}',
                'x' => code_point(&mut rest, 2)?,
                'u' => code_point(&mut rest, 4)?,
                'U' => code_point(&mut rest, 8)?,
                other => other,
            }),
            other => value.push(other),
        }
    }
}

fn code_point(rest: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let text: String = rest.by_ref().take(digits).collect();
    let whole = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| u32::from_str_radix(&text, 16).ok().and_then(char::from_u32)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(meta: &str) -> Option<String> {
        scalar(meta, "run_name").unwrap()
    }

    #[test]
    fn plain_and_quoted_names_are_read() {
        for (text, want) in [
            ("cfgA_0", "cfgA_0"),
            ("  a b: c  # remark", "a b: c"),
            ("a#b", "a#b"),
            ("'007'", "007"),
            ("'it''s # no remark' # remark", "it's # no remark"),
            ("\"tab\\tquote\\\" \\\\ \\x41\\u00e9\\U0001F600\"", "tab\tquote\" \\ A\u{e9}\u{1f600}"),
        ] {
            let meta = format!("run_id: x\nrun_name: {text}\nstatus: 3\n");
            assert_eq!(name(&meta).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn absent_empty_and_null_names_are_none() {
        for meta in [
            "",
            "status: 3",
            "run_name:",
            "run_name: ''\n",
            "run_name: null",
            "run_name: ~\r\n",
            "a_run_name: x",
        ] {
            assert_eq!(name(meta), None, "{meta}");
        }
        assert_eq!(name("  run_name: nested\nrun_name_2: other\n"), None);
    }

    #[test]
    fn long_names_are_folded_over_indented_lines() {
        assert_eq!(name("run_name: one two\n  three\nstatus: 3").as_deref(), Some("one two three"));
        assert_eq!(name("run_name: 'one\n\n  two'\n").as_deref(), Some("one\ntwo"));
        assert_eq!(name("run_name: \"one\\\n  \\ two\"\n").as_deref(), Some("one two"));
    }

    #[test]
    fn an_open_quote_is_an_error_with_its_line() {
        for text in ["'open", "\"open", "\"\\", "\"\\xZZ\"", "\"\\u+123\"", "\"\\ud800\""] {
            let error = scalar(&format!("run_id: x\nrun_name: {text}"), "run_name").unwrap_err();
            assert_eq!(error.place(), Some("line 2"), "{text}");
        }
    }
}
