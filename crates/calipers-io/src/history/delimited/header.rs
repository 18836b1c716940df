//! The header of a delimited table: its delimiter and the names of its columns.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use super::Options;
use super::cells::Cells;
use crate::file::empty;
use crate::history::window::Window;
use crate::limits;
use crate::text::{shown, without_mark};

/// Delimiters that a header may show, the likeliest first.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// The first row that is not blank.
pub(crate) struct Header {
    /// The byte between cells.
    pub(super) delimiter: u8,
    /// How many columns there are.
    pub(crate) width: usize,
    /// The names of the columns, each once, in order; a column without a name is left out.
    pub(crate) keys: Vec<String>,
    /// Where each name occurs first and, if it does, for the second time.
    places: BTreeMap<String, (usize, Option<usize>)>,
    /// Its line.
    line: u64,
    /// Where the next row starts, and the line of that.
    pub(crate) rows: (usize, u64),
}

/// The error for a file that is no text.
pub(super) fn not_text() -> Error {
    Error::format("not UTF-8")
}

/// The header of the file that a window opens on, which is moved as far as the header needs.
pub(super) fn opened(window: &mut Window<'_>, options: &Options) -> Result<Header> {
    loop {
        let text = window.text();
        let header = if text.trim_ascii().is_empty() {
            Err(empty().allowed("a header line with column names"))
        } else {
            Header::read(text, options)
        };
        match header {
            Ok(header) if window.is_last() || header.rows.0 < text.len() && decided(window, options) => {
                return Ok(header);
            }
            Err(error) if window.is_last() || window.is_long() => return Err(error),
            Ok(_) if window.is_long() => {
                return Err(Error::format("a header is too long")
                    .allowed(format_args!("at most {} bytes", limits::LINE)));
            }
            // The header may go on after the text in the buffer.
            _ => window.pass(0)?,
        }
    }
}

/// The first lines of a file, as many as its header takes; none when they are no text.
pub(super) fn opening(bytes: &[u8]) -> Option<&str> {
    let bytes = without_mark(bytes);
    let blank = bytes.len() - bytes.trim_ascii_start().len();
    std::str::from_utf8(&bytes[blank..blank + first_row(&bytes[blank..]).len()]).ok()
}

/// The names of the columns that the first bytes of a file show; none where they are no header.
pub fn columns(bytes: &[u8]) -> Vec<String> {
    let header = opening(bytes).and_then(|text| Header::read(text, &Options::default()).ok());
    header.map_or_else(Vec::new, |header| header.keys)
}

/// Whether the header ends within the first bytes of a file.
pub fn has_header(opening: &[u8]) -> bool {
    let bytes = without_mark(opening).trim_ascii_start();
    first_row(bytes).len() < bytes.len()
}

/// The bytes up to the first line feed outside quotes.
fn first_row(bytes: &[u8]) -> &[u8] {
    let mut quoted = false;
    let end = bytes.iter().position(|byte| {
        quoted ^= *byte == b'"';
        *byte == b'\n' && !quoted
    });
    &bytes[..end.unwrap_or(bytes.len())]
}

/// Whether the row that decides on the delimiter is in the buffer: where quotes stand inside of cells it may
/// be longer than the header.
fn decided(window: &Window<'_>, options: &Options) -> bool {
    let bytes = window.text().trim_ascii_start().as_bytes();
    options.delimiter.is_some() || window.is_long() || first_row(bytes).len() < bytes.len()
}

/// The delimiter that occurs most often outside quotes.
fn sniffed(row: &[u8]) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut quoted = false;
    for byte in row {
        quoted ^= *byte == b'"';
        if let Some(place) = DELIMITERS.iter().position(|delimiter| delimiter == byte).filter(|_| !quoted) {
            counts[place] += 1;
        }
    }
    let most = counts.iter().max();
    DELIMITERS.into_iter().zip(&counts).find(|(_, count)| Some(*count) == most).map_or(b',', |(best, _)| best)
}

impl Header {
    /// Reads the header of a text.
    pub(crate) fn read(text: &str, options: &Options) -> Result<Self> {
        let mut line = 1;
        let mut start = 0;
        for row in text.split_inclusive('\n').take_while(|row| row.trim_ascii().is_empty()) {
            line += 1;
            start += row.len();
        }
        let delimiter = options.delimiter.unwrap_or_else(|| sniffed(first_row(&text.as_bytes()[start..])));
        if matches!(delimiter, 0 | b'\n' | b'\r' | b'"' | 128..) {
            return Err(Error::usage("not a delimiter")
                .found(shown(&[delimiter]))
                .allowed("one ASCII character other than a quote or a line end"));
        }
        let at_line = |error: Error| error.at(format_args!("line {line}"));
        let mut header =
            Self { delimiter, width: 0, keys: Vec::new(), places: BTreeMap::new(), line, rows: (0, 0) };
        let mut cells = Cells::new(text, start, delimiter);
        while let Some(cell) = cells.next().map_err(at_line)? {
            let name = cell.of(text);
            header.name_column(name.trim_ascii()).map_err(at_line)?;
        }
        let (end, next) = cells.end();
        if text[start..end].trim_ascii_end().contains('\r') && !text[start..end].contains('"') {
            return Err(at_line(
                Error::format("a carriage return alone does not end a line")
                    .advice("save the file with LF or CRLF line ends"),
            ));
        }
        header.rows = (next, line + 1 + cells.line_feeds);
        Ok(header)
    }

    fn name_column(&mut self, name: &str) -> Result<()> {
        let column = self.width;
        if column == limits::COLUMNS {
            return Err(Error::format("too many columns")
                .found(format_args!("more than {column}"))
                .allowed(format_args!("at most {column}")));
        }
        self.width += 1;
        if name.is_empty() {
            return Ok(());
        }
        match self.places.get_mut(name) {
            Some((_, second)) => {
                second.get_or_insert(column);
            }
            None => {
                self.keys.push(name.to_owned());
                self.places.insert(name.to_owned(), (column, None));
            }
        }
        Ok(())
    }

    /// The column of that name; none when there is none, an error when there are two.
    pub(crate) fn column(&self, name: &str) -> Option<Result<usize>> {
        let (first, second) = self.places.get(name)?;
        Some(second.map_or(Ok(*first), |second| {
            Err(Error::format("a column occurs twice")
                .at(format_args!("line {}, columns {} and {}", self.line, first + 1, second + 1))
                .found(shown(name.as_bytes()))
                .advice("rename or remove one of the two"))
        }))
    }

    /// The column of that name, which must be there once.
    pub(super) fn needed(&self, name: &str) -> Result<usize> {
        self.column(name).unwrap_or_else(|| {
            let names: Vec<_> = self.keys.iter().map(|key| shown(key.as_bytes())).collect();
            Err(Error::format(format!("no column {}", shown(name.as_bytes())))
                .at(format_args!("line {}", self.line))
                .found(format_args!("columns {}", names.join(", "))))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        Header::read(text, &Options::default()).unwrap()
    }

    #[test]
    fn the_delimiter_is_the_one_that_occurs_most_outside_quotes() {
        for (text, delimiter) in [
            ("a,b\n;;;;\n", b','),
            ("a;b;c,d\n", b';'),
            ("a\tb\n", b'\t'),
            ("\"x;y;z\",b\n", b','),
            ("\"x\ny\";b\n", b';'),
            ("a,b;c\n", b','),
            ("alone\n", b','),
        ] {
            assert_eq!(header(text).delimiter, delimiter, "{text:?}");
        }
        let options = Options { delimiter: Some(b'|'), ..Options::default() };
        assert_eq!(Header::read("a,b|c\n", &options).unwrap().keys, ["a,b", "c"]);
    }

    #[test]
    fn columns_without_a_name_have_no_key() {
        let found = header(",epoch, val_F1 ,\"\"\r\n0,1,2,3\r\n");
        assert_eq!((found.width, &found.keys[..]), (4, &["epoch".to_owned(), "val_F1".to_owned()][..]));
        assert_eq!(found.column("val_F1").unwrap().unwrap(), 2);
        assert!(found.column("").is_none());
        assert_eq!(found.rows, (20, 2));
    }

    #[test]
    fn a_name_that_occurs_twice_is_an_error_only_when_asked_for() {
        let found = header("\na,b,a,a\n");
        assert_eq!(found.keys, ["a", "b"]);
        assert_eq!(found.needed("b").unwrap(), 1);
        let error = found.column("a").unwrap().unwrap_err();
        assert_eq!(error.place(), Some("line 2, columns 1 and 3"));
    }

    #[test]
    fn quoted_names_may_hold_line_ends_and_rows_know_where_they_start() {
        let found = header("\n \n\"a\n\"\"b\"\"\",c\n1,2\n");
        assert_eq!(found.keys, ["a\n\"b\"", "c"]);
        assert_eq!(found.rows, (15, 5));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (bytes, words) in
            [(&b""[..], "empty file"), (b"\xef\xbb\xbf \r\n", "empty file"), (b"a,b\n1,\xff2\n", "byte 6")]
        {
            let error = Window::whole(bytes, not_text)
                .and_then(|mut window| opened(&mut window, &Options::default()))
                .err()
                .unwrap();
            assert!(error.to_string().contains(words), "{bytes:?}");
        }
        for (text, words) in [("a,b\r1,2\r", "carriage return"), ("a,\"b\n", "line 1")] {
            let error = Header::read(text, &Options::default()).err().unwrap().to_string();
            assert!(error.contains(words), "{error}");
        }
        for delimiter in *b"\"\n\r\0\xff" {
            let options = Options { delimiter: Some(delimiter), ..Options::default() };
            assert!(Header::read("a,b\n", &options).is_err(), "{delimiter}");
        }
        let wide = ",".repeat(limits::COLUMNS);
        assert!(Header::read(&wide, &Options::default()).is_err());
    }

    #[test]
    fn the_opening_is_the_header_alone() {
        assert_eq!(opening(b"\xef\xbb\xbf\n\"a\nb\",c\r\n1,\xff"), Some("\"a\nb\",c\r"));
        assert_eq!(opening(b"\xff,a\n"), None);
    }
}
