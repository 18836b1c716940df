//! One error type for the whole project, written for the person who has to fix the file.

use std::fmt;

use super::retry::Retry;

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What sort of thing went wrong; decides the exit status and the Python exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or a call asks for something that does not exist or contradicts itself.
    Usage,
    /// A file cannot be opened, read or written.
    Io,
    /// A file is not what its format promises.
    Format,
    /// The values are readable but not allowed.
    Value,
    /// A unit name occurs twice within one run.
    Duplicate,
    /// Two states hold different rows under one unit name.
    Conflict,
    /// Two states were made under different protocols.
    ProtocolMismatch,
    /// The work was interrupted.
    Interrupted,
    /// A fault of this program.
    Internal,
}

/// What went wrong, in which file, where in it, what was found, what is allowed and what to do.
///
/// ```
/// use calipers_core::{Error, ErrorKind};
/// let error = Error::value("node number out of range")
///     .in_file("g.npz")
///     .at("edge_index entry 7")
///     .found(12)
///     .allowed("0 to 9")
///     .advice("check num_nodes");
/// assert_eq!(error.kind(), ErrorKind::Value);
/// assert!(error.to_string().contains("edge_index entry 7"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    kind: ErrorKind,
    what: String,
    file: Option<String>,
    place: Option<String>,
    found: Option<String>,
    allowed: Option<String>,
    advice: Option<String>,
    again: Option<Again>,
}

/// What would do.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Again {
    /// The same command, mended so.
    With(Retry),
    /// This command.
    Command(String),
}

impl Error {
    /// An error of the given kind; `what` is one short clause without a full stop.
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            kind,
            what: what.into(),
            file: None,
            place: None,
            found: None,
            allowed: None,
            advice: None,
            again: None,
        }))
    }

    /// A wrong call: exit status 2.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, what)
    }

    /// A file that cannot be opened, read or written.
    pub fn io(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Io, what)
    }

    /// A file that is not what its format promises.
    pub fn format(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Format, what)
    }

    /// A value that is readable but not allowed.
    pub fn value(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, what)
    }

    /// Names the file, unless an inner layer already did.
    #[must_use]
    pub fn in_file(mut self, file: impl fmt::Display) -> Self {
        self.0.file.get_or_insert_with(|| file.to_string());
        self
    }

    /// The same failure, where the file it names is an argument of a call.
    #[must_use]
    pub fn in_argument(mut self, name: impl fmt::Display) -> Self {
        self.0.file = None;
        self.at(name)
    }

    /// Says where in the file; an outer place is put before an inner one.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.0.place = Some(match self.0.place.take() {
            Some(inner) => format!("{place}, {inner}"),
            None => place.to_string(),
        });
        self
    }

    /// The value that was found.
    #[must_use]
    pub fn found(mut self, found: impl fmt::Display) -> Self {
        self.0.found = Some(found.to_string());
        self
    }

    /// The values that are allowed.
    #[must_use]
    pub fn allowed(mut self, allowed: impl fmt::Display) -> Self {
        self.0.allowed = Some(allowed.to_string());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn advice(mut self, advice: impl fmt::Display) -> Self {
        self.0.advice = Some(advice.to_string());
        self
    }

    /// The options with which the same command does what was meant.
    #[must_use]
    pub fn again_with(mut self, retry: impl Into<Retry>) -> Self {
        self.0.again = Some(Again::With(retry.into()));
        self
    }

    /// The same failure with whole commands in place of the options that mend them.
    #[must_use]
    pub fn with_command(mut self, command: impl Fn(&Retry) -> String) -> Self {
        if let Some(Again::With(retry)) = &self.0.again {
            self.0.again = Some(Again::Command(command(retry)));
        }
        self
    }

    /// The failure in one line, without what to do about it.
    pub fn in_one_line(&self) -> String {
        let Parts { what, file, place, found, allowed, .. } = &*self.0;
        let said = [("in", file), ("at", place), ("found", found), ("allowed", allowed)];
        let said = said.into_iter().filter_map(|(word, text)| Some(format!("{word} {}", text.as_ref()?)));
        printable(&std::iter::once(what.clone()).chain(said).collect::<Vec<_>>().join("; "))
    }

    /// The same failure in other words: what was said of options, but not the name of the file.
    #[must_use]
    pub fn reworded(mut self, word: impl Fn(&str) -> String) -> Self {
        let Parts { what, place, found, allowed, advice, again, .. } = &mut *self.0;
        *what = word(what);
        for text in [place, found, allowed, advice].into_iter().flatten() {
            *text = word(text);
        }
        match again {
            Some(Again::With(retry)) => {
                retry.options.iter_mut().for_each(|option| *option = word(option));
                retry.file.iter_mut().for_each(|(_, line)| *line = word(line));
            }
            Some(Again::Command(command)) => *command = word(command),
            None => {}
        }
        self
    }

    /// The same failure, where the command line and not a file is what has to be mended.
    #[must_use]
    pub fn as_usage(mut self) -> Self {
        self.0.kind = ErrorKind::Usage;
        self
    }

    /// The same failure, where a file and not the command line is what has to be mended.
    #[must_use]
    pub fn as_value(mut self) -> Self {
        self.0.kind = ErrorKind::Value;
        self
    }

    /// The same failure, where what a file of our own holds is not what this program writes.
    #[must_use]
    pub fn as_format(mut self) -> Self {
        self.0.kind = ErrorKind::Format;
        self
    }

    /// What sort of error this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The short clause that says what went wrong.
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// The file, if one was named.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The place in the file, if one was named.
    pub fn place(&self) -> Option<&str> {
        self.0.place.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { what, file, place, found, allowed, advice, again, .. } = &*self.0;
        write!(f, "{}", printable(what))?;
        let known = [("file", file), ("at", place), ("found", found), ("allowed", allowed)];
        let again = again.as_ref().map(|again| match again {
            Again::With(retry) => retry.to_string(),
            Again::Command(command) => command.clone(),
        });
        let lines = known.into_iter().chain([("help", advice), ("try", &again)]);
        for (label, text) in lines {
            if let Some(text) = text {
                write!(f, "\n  {label:>7}: {}", printable(text))?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Text from a file made safe to print: control and direction characters are escaped, so that a
/// hostile name can neither forge a line of output nor drive the terminal.
pub fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let hidden = c.is_control()
                || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
                || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e007f}');
            let escaped: Box<dyn Iterator<Item = char>> =
                if hidden { Box::new(c.escape_default()) } else { Box::new(std::iter::once(c)) };
            escaped
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outer_places_come_before_inner_ones_and_the_first_file_stays() {
        let error = Error::value("bad").at("node 3").at("step 2").in_file("a").in_file("b");
        assert_eq!(error.place(), Some("step 2, node 3"));
        assert_eq!(error.file(), Some("a"));
    }

    #[test]
    fn an_argument_takes_the_place_of_the_file() {
        let error = Error::value("bad").at("node 3").in_file("graph").in_argument("graph");
        assert_eq!(error.to_string(), "bad\n       at: graph, node 3");
    }

    #[test]
    fn what_would_do_is_said_last_and_as_a_whole_command_where_there_is_one() {
        let error = Error::value("no pairs").again_with("--flat").advice("2 pair");
        assert_eq!(error.to_string(), "no pairs\n     help: 2 pair\n      try: --flat");
        let whole = error.with_command(|retry| format!("calipers x {}", retry.options.join(" ")));
        assert!(whole.to_string().ends_with("try: calipers x --flat"));
        let file = Some(("a.toml".to_owned(), "b = 1".to_owned()));
        let error = Error::value("no table").again_with(Retry { options: vec!["a.toml".to_owned()], file });
        assert_eq!(error.to_string(), "no table\n      try: a.toml, where a.toml holds: b = 1");
    }

    #[test]
    fn a_failure_in_one_line_says_where_and_what_was_found() {
        let error =
            Error::value("bad\nline").in_file("f").at("byte 7").found(3).allowed("0 to 2").advice("no");
        assert_eq!(error.in_one_line(), "bad\\nline; in f; at byte 7; found 3; allowed 0 to 2");
        assert_eq!(Error::io("gone").in_one_line(), "gone");
    }

    #[test]
    fn hostile_text_cannot_forge_a_line_or_drive_the_terminal() {
        assert_eq!(printable("a\nb\u{1b}[31m\u{202e}"), "a\\nb\\u{1b}[31m\\u{202e}");
        assert_eq!(printable("größe 7"), "größe 7");
    }
}
