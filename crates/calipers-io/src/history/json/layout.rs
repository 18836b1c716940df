//! Which JSON layout the bytes have.

use calipers_core::Result;

use super::frames::{COLUMNS, DATA, SCHEMA, Shape};
use super::state::LOG;
use super::syntax::scan::Scanner;
use crate::text::without_mark;

/// How a JSON history is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A list of objects.
    Rows,
    /// One object per line.
    Lines,
    /// An object of equally long lists.
    Columns,
    /// Hugging Face `trainer_state.json`.
    State,
    /// Names in one list, rows of values in another: `orient="split"` of pandas, tables of W&B.
    Split,
    /// A description of the columns and a list of objects: `orient="table"` of pandas.
    Table,
    /// An object of objects with the same keys: columns of rows as `to_json` of pandas writes them, or rows of
    /// columns.
    Nested,
}

impl Layout {
    /// Whether a document has this layout. Only a list of rows begins with a bracket, so that no object is
    /// read through to find that it is none.
    pub(in crate::history) fn is_of(self, bytes: &[u8]) -> bool {
        let text = without_mark(bytes).trim_ascii_start();
        (self == Self::Rows) == text.starts_with(b"[") && layout(bytes) == Some(self)
    }
}

/// The layout of a JSON history; none for JSON that is no history, and for what is no JSON.
///
/// | the document is | layout |
/// |---|---|
/// | a list that begins with an object, or an empty list | [`Layout::Rows`] |
/// | an object with the key `log_history` | [`Layout::State`] |
/// | an object followed by another one | [`Layout::Lines`] |
/// | an object with the lists `columns` and `data`, the latter of lists | [`Layout::Split`] |
/// | an object with `schema` and a list `data` of objects | [`Layout::Table`] |
/// | an object of lists only, none of objects and at least one of numbers | [`Layout::Columns`] |
/// | an object of objects with the same keys and single values, some of them numbers | [`Layout::Nested`] |
///
/// A single object of any other kind is not taken for a history of one line; a caller that knows
/// from the name that the file has lines may read it so. A damaged document has the layout that it
/// shows before the damage, so that reading it says what is wrong.
pub fn layout(bytes: &[u8]) -> Option<Layout> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut scan = Scanner::over(text);
    match scan.peek()? {
        b'[' => match (scan.open(b']'), scan.peek()) {
            (Ok(false), _) | (Ok(true), Some(b'{')) => Some(Layout::Rows),
            _ => None,
        },
        b'{' => {
            let mut object = Object::new();
            let whole = object.look(&mut scan).is_ok();
            if object.log {
                Some(Layout::State)
            } else if whole && scan.peek() == Some(b'{') {
                Some(Layout::Lines)
            } else if object.columns && object.data == Some(b'[') {
                Some(Layout::Split)
            } else if object.schema && object.data == Some(b'{') {
                Some(Layout::Table)
            } else if object.numbers && !object.other {
                Some(Layout::Columns)
            } else {
                object.nested.filter(Shape::is_table).map(|_| Layout::Nested)
            }
        }
        _ => None,
    }
}

/// What an object holds.
struct Object {
    log: bool,
    /// A list of names.
    columns: bool,
    /// A description of columns.
    schema: bool,
    /// What a list of rows begins with; a bracket where it is empty.
    data: Option<u8>,
    /// The objects by key, as long as there is nothing else.
    nested: Option<Shape>,
    /// A list that may hold numbers.
    numbers: bool,
    /// Something that is no list, or a list of objects.
    other: bool,
}

impl Object {
    fn new() -> Self {
        let (log, columns, schema, numbers, other) = Default::default();
        Self { log, columns, schema, data: None, nested: Some(Shape::default()), numbers, other }
    }

    fn look(&mut self, scan: &mut Scanner<'_>) -> Result<()> {
        let mut more = scan.open(b'}')?;
        while more {
            let key = scan.key()?;
            self.log |= key == LOG;
            if self.log {
                break;
            }
            let first = scan.peek();
            self.schema |= key == SCHEMA && first == Some(b'{');
            if first == Some(b'[') {
                self.nested = None;
                self.list(scan, &key)?;
            } else {
                self.other = true;
                let start = scan.clone();
                let table = self.nested.as_mut().filter(|_| first == Some(b'{'));
                // An object of another kind is passed over.
                if table.is_none_or(|shape| shape.member(scan, &key).is_err()) {
                    self.nested = None;
                    *scan = start;
                    scan.skip()?;
                }
            }
            more = scan.more(b'}')?;
        }
        Ok(())
    }

    fn list(&mut self, scan: &mut Scanner<'_>, key: &str) -> Result<()> {
        let mut more = scan.open(b']')?;
        let first = scan.peek();
        self.columns |= key == COLUMNS;
        if key == DATA {
            self.data = if more { first } else { Some(b'[') };
        }
        self.other |= more && first == Some(b'{');
        // An empty list, a digit, a sign, null, NaN, Infinity.
        self.numbers |= !more || matches!(first, Some(b'0'..=b'9' | b'-' | b'n' | b'N' | b'I'));
        while more {
            scan.skip()?;
            more = scan.more(b']')?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_seen_from_the_content() {
        let (rows, lines) = (Some(Layout::Rows), Some(Layout::Lines));
        let (columns, state) = (Some(Layout::Columns), Some(Layout::State));
        let (split, table, nested) = (Some(Layout::Split), Some(Layout::Table), Some(Layout::Nested));
        for (text, format) in [
            ("{\"columns\": [\"a\"], \"index\": [0], \"data\": [[1]]}", split),
            ("{\"columns\": [\"a\"], \"data\": []}", split),
            ("{\"columns\": [\"a\"], \"data\": [1]}", columns),
            ("{\"schema\": {\"fields\": [{}]}, \"data\": [{\"a\": 1}]}", table),
            ("{\"a\": {\"x\": 1, \"y\": null}, \"b\": {\"y\": \"z\", \"x\": 2}}", nested),
            ("{\"a\": {\"0\": 1}}", nested),
            ("{\"a\": {\"x\": 1}}", None),
            ("{\"a\": {\"x\": 1}, \"b\": {\"y\": 1}}", None),
            ("{\"a\": {\"x\": \"1\"}, \"b\": {\"x\": \"1\"}}", None),
            ("{\"a\": {\"x\": {}}, \"b\": {\"x\": {}}}", None),
            ("[{\"a\": 1}]", rows),
            ("\u{feff} \r\n[ {\"a\": NaN}, 3", rows),
            ("[]", rows),
            ("[1, 2]", None),
            ("[[{}]]", None),
            ("{\"a\": 1}\n{\"a\": 2}", lines),
            ("{\"a\": [1]}\r\n\r\n{\"a\"", lines),
            ("{\"a\": 1}", None),
            ("{\"a\": [1], \"b\": [\"x\"]}", columns),
            ("{\"a\": [NaN], \"b\": [1, 2", columns),
            ("{\"a\": []}", columns),
            ("{\"a\": [\"x\"]}", None),
            ("{\"a\": [1], \"b\": 2}", None),
            ("{\"a\": [1], \"b\": [{}]}", None),
            ("{}", None),
            ("{\"best\": null, \"log_history\": [", state),
            ("{\"a\": {\"log_history\": []}}", None),
            ("epoch,val\n0,1\n", None),
            ("", None),
            (" \n", None),
            ("{", None),
            ("[", None),
        ] {
            assert_eq!(layout(text.as_bytes()), format, "{text}");
            for one in [
                Layout::Rows,
                Layout::Lines,
                Layout::Columns,
                Layout::State,
                Layout::Split,
                Layout::Table,
                Layout::Nested,
            ] {
                assert_eq!(one.is_of(text.as_bytes()), format == Some(one), "{text}");
            }
        }
        assert_eq!(layout(b"[{\"a\": \"\xff\"}]"), rows);
        assert_eq!(layout(b"\xff\xfe["), None);
    }
}
