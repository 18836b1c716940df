//! A table of mixed cells, as CSV for programs and as Markdown and LaTeX for papers.

use super::csv::{Lines, guarded};
use super::latex::{self, Tabular};
use super::markdown;
use crate::number::{rounded, shortest};

/// Columns by name and rows of cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// The headings; one may be empty.
    pub columns: Vec<String>,
    /// As many cells a row as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing is known.
    Empty,
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
    /// A word or number that stands out.
    Bold(String),
    /// A switch.
    Flag(bool),
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Empty, Self::Number)
    }
}

impl Cell {
    /// Every digit; whole numbers without a point, as people type them.
    fn exact(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.0}"),
            Self::Number(x) => shortest(*x),
            Self::Text(text) | Self::Bold(text) => guarded(text),
            Self::Flag(true) => "True".into(),
            Self::Flag(false) => "False".into(),
        }
    }

    /// Rounded for reading; `text` makes words safe in the form at hand.
    fn readable(&self, text: fn(&str) -> String) -> String {
        match self {
            Self::Empty => "–".into(),
            Self::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.0}"),
            Self::Number(x) => rounded(*x),
            Self::Text(words) | Self::Bold(words) => text(words),
            Self::Flag(on) => on.to_string(),
        }
    }
}

impl Grid {
    /// The columns before the one of that name; all of them without it.
    pub fn before(&self, column: &str) -> Self {
        let end = self.columns.iter().position(|name| name == column).unwrap_or(self.columns.len());
        let rows = self.rows.iter().map(|row| row[..end].to_vec()).collect();
        Self { columns: self.columns[..end].to_vec(), rows }
    }

    /// Lines of cells separated by commas, quoted where needed.
    pub fn csv(&self) -> String {
        let mut lines = Lines::new();
        lines.push(&self.columns);
        for row in &self.rows {
            lines.push(row.iter().map(Cell::exact));
        }
        lines.finish()
    }

    /// A Markdown table of the columns that hold anything.
    pub fn markdown(&self) -> String {
        let columns = self.filled();
        let heading = columns.iter().map(|i| markdown::escaped(&self.columns[*i]));
        let rules = columns.iter().map(|i| if self.is_text(*i) { ":--".into() } else { "--:".into() });
        let mut text = line(heading) + &line(rules);
        for row in &self.rows {
            text += &line(columns.iter().map(|i| match &row[*i] {
                Cell::Bold(words) => format!("**{}**", markdown::escaped(words)),
                cell => cell.readable(markdown::escaped),
            }));
        }
        text
    }

    /// A booktabs table of the columns that hold anything.
    pub fn latex(&self) -> String {
        let columns = self.filled();
        let alignment: String = columns.iter().map(|i| if self.is_text(*i) { 'l' } else { 'r' }).collect();
        let mut table = Tabular::new(&alignment);
        table.row(&columns.iter().map(|i| latex::escaped(&self.columns[*i])).collect::<Vec<_>>());
        table.rule();
        for row in &self.rows {
            let cells = columns.iter().map(|i| match &row[*i] {
                Cell::Empty => "--".into(),
                Cell::Bold(words) => format!("\\textbf{{{}}}", latex::escaped(words)),
                cell => cell.readable(latex::escaped),
            });
            table.row(&cells.collect::<Vec<_>>());
        }
        format!("{}{}", latex::PACKAGES, table.finish())
    }

    /// The columns in which some cell is not empty; a column without a name counts rows and is left out.
    fn filled(&self) -> Vec<usize> {
        let filled =
            |i: &usize| !self.columns[*i].is_empty() && self.rows.iter().any(|row| row[*i] != Cell::Empty);
        (0..self.columns.len()).filter(filled).collect()
    }

    /// Whether a column holds words; numbers with signs, marks, intervals or counts are none.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        let number = |c: char| c.is_ascii_digit() || "+-.,[]<>*=/ –".contains(c);
        let is_word = |cell: &Cell| matches!(cell, Cell::Text(text) if !text.chars().all(number));
        self.rows.iter().any(|row| is_word(&row[column]))
    }
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Grid {
        Grid {
            columns: ["", "name", "V", "none", "ok"].map(String::from).to_vec(),
            rows: vec![
                vec![
                    Cell::Number(0.0),
                    Cell::Text("a_b|c,".into()),
                    Cell::Number(0.1),
                    Cell::Empty,
                    Cell::Flag(true),
                ],
                vec![Cell::Number(1.0), Cell::Text("=d".into()), Cell::Number(3.0), Cell::Empty, Cell::Empty],
            ],
        }
    }

    #[test]
    fn csv_keeps_every_digit_and_no_formula() {
        assert_eq!(small().csv(), ",name,V,none,ok\n0,\"a_b|c,\",0.1,,True\n1,'=d,3,,\n");
    }

    #[test]
    fn papers_get_the_columns_that_hold_something() {
        let expected =
            "| name | V | ok |\n| :-- | --: | --: |\n| a\\_b\\|c, | 0.1000 | true |\n| =d | 3 | – |\n";
        assert_eq!(small().markdown(), expected);
        assert_eq!(small().before("V").markdown().lines().next(), Some("| name |"));
        let latex = small().latex();
        assert!(
            latex.contains("\\begin{tabular}{lrr}") && latex.contains("a\\_b\\textbar{}c, & 0.1000 & true"),
            "{latex}"
        );
        assert!(latex.contains("=d & 3 & --"), "{latex}");
    }
}
