//! Text measured in terminal columns, and the few colours that tables use.

use calipers_core::error::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Text from outside made safe to print and cut to at most `most` columns, with an ellipsis where
/// it was longer.
pub(crate) fn short(text: &str, most: usize) -> String {
    // Characters without a width of their own could otherwise go on for ever.
    let head: String = text.chars().take(4 * most + 1).collect();
    let safe = printable(&head);
    if head.len() == text.len() && columns(&safe) <= most {
        return safe;
    }
    let mut taken = 0;
    let kept = safe.chars().take_while(|c| {
        taken += c.width().unwrap_or(0);
        taken < most
    });
    kept.chain(['…']).collect()
}

/// Text padded with blanks on the right.
pub(crate) fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Text padded with blanks on the left.
pub(crate) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Text broken at blanks into lines of at most `width` columns; a longer word has a line of its
/// own. There is always a line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let wide = columns(word);
        if used > 0 && used + 1 + wide > width {
            lines.push(String::new());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += wide;
        }
    }
    lines
}

/// How a piece of text stands out, where colours are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    Bold,
    Dim,
    Yellow,
    Green,
}

impl Paint {
    /// The text in this paint.
    pub(crate) fn on(self, text: &str, colour: bool) -> String {
        let code = match self {
            Self::Plain => return text.into(),
            Self::Bold => 1,
            Self::Dim => 2,
            Self::Green => 32,
            Self::Yellow => 33,
        };
        if colour && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice_and_marks_not_at_all() {
        assert_eq!(columns("größe"), 5);
        assert_eq!(columns("空"), 2);
        assert_eq!(short("空空空", 4), "空…");
        assert_eq!(short("空空", 4), "空空");
        assert_eq!(left("空", 3), "空 ");
        assert_eq!(right("e\u{301}", 3), "  e\u{301}");
    }

    #[test]
    fn hostile_names_are_escaped_and_bounded() {
        assert_eq!(short("a\u{1b}[2Jb", 20), "a\\u{1b}[2Jb");
        assert_eq!(short("\u{202e}x", 20), "\\u{202e}x");
        assert!(short(&"\u{301}".repeat(1_000_000), 20).len() < 200);
    }

    #[test]
    fn lines_break_at_blanks_only() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("a verylongword b", 4), ["a", "verylongword", "b"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
