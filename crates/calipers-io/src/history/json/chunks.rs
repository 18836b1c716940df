//! Histories that are rows, read one chunk of the file at a time: a list of objects, or one object
//! per line.

use calipers_core::Result;

use super::super::chunks::Chunks;
use super::super::window::Window;
use super::super::{Origin, Places, Table, Wanted};
use super::rows::{Held, Rows};
use super::syntax::scan::{Scanner, Start, empty};

/// What messages call a row of a list.
const ROW: &str = "row";

/// A document that is a list of rows.
pub(super) struct ListedRows<'a> {
    window: Window<'a>,
    start: Start,
    rows: Rows,
    wanted: Wanted,
    part: Part,
}

/// Which part of the document comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Bracket,
    Rows,
    End,
    Nothing,
}

impl<'a> ListedRows<'a> {
    /// Before the first bracket of a file of so many bytes.
    pub(super) fn new(window: Window<'a>, length: usize, wanted: &Wanted) -> Self {
        let rows = Rows::new(length, wanted);
        Self { window, start: Start::default(), rows, wanted: wanted.clone(), part: Part::Bracket }
    }

    /// Reads on through the text in the buffer; returns how much of it is done with.
    fn read(&mut self) -> (usize, Result<()>) {
        let (text, last) = (self.window.text(), self.window.is_last());
        let depth = usize::from(self.part == Part::Rows);
        let mut scan = Scanner::within(text, self.start, depth);
        let mut held = Held::new();
        let mut used = 0;
        let mut step = |part: &mut Part, rows: &mut Rows| -> Result<bool> {
            match *part {
                Part::Bracket => match scan.peek() {
                    Some(b'[') => {
                        let more = scan.open(b']')?;
                        if scan.peek().is_none() && !last {
                            return Ok(false);
                        }
                        *part = if more { Part::Rows } else { Part::End };
                    }
                    None if last => return Err(empty()),
                    None => return Ok(false),
                    Some(_) => return Err(scan.unexpected("the rows are not in a list", "a list of objects")),
                },
                Part::Rows => {
                    if !rows.item(&mut scan, &mut held, ROW)? {
                        *part = Part::End;
                    }
                }
                Part::End => {
                    scan.end()?;
                    if last {
                        *part = Part::Nothing;
                    }
                    used = text.len();
                    return Ok(false);
                }
                Part::Nothing => return Ok(false),
            }
            used = scan.at();
            Ok(true)
        };
        let outcome = loop {
            match step(&mut self.part, &mut self.rows) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        (used, outcome)
    }
}

impl Chunks for ListedRows<'_> {
    fn next(&mut self) -> Result<Option<Table>> {
        if self.part == Part::Nothing {
            return Ok(None);
        }
        let first = self.rows.count;
        while self.part != Part::Nothing && self.rows.count == first {
            let (used, outcome) = self.read();
            // A row may go on after the text in the buffer.
            if self.window.is_last() || (used == 0 && self.window.is_long()) {
                outcome?;
            }
            self.start.pass(&self.window.text()[..used]);
            if self.part != Part::Nothing {
                self.window.pass(used)?;
            }
        }
        let places = Places::Numbered(ROW, first.into());
        Ok(Some(self.rows.take(&self.wanted, Origin::Table, places)))
    }
}

/// A file of one row per line; blank lines are passed over.
pub(super) struct Lines<'a> {
    window: Window<'a>,
    start: Start,
    rows: Rows,
    wanted: Wanted,
    /// How many lines were passed.
    passed: u64,
    /// Where the last line begins, if it is cut off and no row.
    cut_at: Option<u64>,
    ended: bool,
}

impl<'a> Lines<'a> {
    /// Before the first line of a file of so many bytes.
    pub(super) fn new(window: Window<'a>, length: usize, wanted: &Wanted) -> Self {
        let rows = Rows::new(length, wanted);
        Self {
            window,
            start: Start::default(),
            rows,
            wanted: wanted.clone(),
            passed: 0,
            cut_at: None,
            ended: false,
        }
    }
}

impl Chunks for Lines<'_> {
    fn next(&mut self) -> Result<Option<Table>> {
        if self.ended {
            return Ok(None);
        }
        let mut lines: Vec<u64> = Vec::new();
        let mut too_long = false;
        while !self.ended && lines.is_empty() {
            self.ended = self.window.is_last();
            let text = self.window.text();
            let all = self.ended || too_long;
            let end =
                if all { Some(text.len()) } else { memchr::memrchr(b'\n', text.as_bytes()).map(|at| at + 1) };
            let text = &text[..end.unwrap_or(0)];
            let mut scan = Scanner::within(text, self.start, 0);
            let mut held = Held::new();
            let mut at = 0;
            while at < text.len() {
                let start = at;
                at = scan.line(at)? + 1;
                self.passed += 1;
                if scan.peek().is_some() {
                    if let Err(error) = self.rows.read(&mut scan, &mut held).and_then(|()| scan.end()) {
                        // The program that writes the file has not finished this line.
                        if self.ended && self.rows.count > 0 && is_cut(&text[start..]) {
                            self.cut_at = Some(self.window.start() + start as u64);
                            break;
                        }
                        return Err(error);
                    }
                    self.rows.keep(&held, |_| format!("line {}", self.passed))?;
                    lines.push(self.passed);
                }
            }
            self.start.pass(text);
            too_long = text.is_empty() && self.window.is_long();
            let used = text.len();
            self.window.pass(used)?;
        }
        if self.rows.count == 0 {
            return Err(empty());
        }
        let first = lines.first().copied().unwrap_or(1);
        let unbroken = lines.last().is_none_or(|last| last - first + 1 == lines.len() as u64);
        let places = if unbroken { Places::LinesFrom(first) } else { Places::Lines(lines) };
        let table = self.rows.take(&self.wanted, Origin::Table, places);
        Ok(Some(Table { cut_at: self.cut_at, ..table }))
    }
}

/// Whether a line is the beginning of an object without its end.
fn is_cut(line: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for byte in line.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    line.trim_ascii_start().starts_with('{') && !line.contains('\n') && (quoted || depth > 0)
}
