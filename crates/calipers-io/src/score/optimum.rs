//! Known optima: a number per unit, from CSV, JSON or JSON lines.

use std::cell::Cell;

use calipers_core::Error;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::json::{CountedLines, refused, units};
use super::lines::{not_a_number, number};
use super::names::Register;
use super::records::Records;
use crate::text::without_mark;

/// A unit, its optimum, and the line that says so.
pub type Optimum = (String, f64, u64);

/// Reads CSV columns `unit` and `optimum`, or `graph` and `optimal_mis`; others are ignored.
pub fn parse_csv(bytes: &[u8]) -> Result<Vec<Optimum>, Error> {
    let mut records = Records::new(bytes, b',')?;
    let pair = |unit: &str, value: &str| records.column(unit).zip(records.column(value));
    let Some((unit, value)) = pair("unit", "optimum").or_else(|| pair("graph", "optimal_mis")) else {
        return Err(records.missing("no columns of optima", "unit,optimum or graph,optimal_mis"));
    };
    let mut optima = Vec::new();
    let mut register = Register::default();
    while let Some((line, row)) = records.next()? {
        let place = format_args!("line {line}").to_string();
        let (name, cell) = (row.cell(unit), row.cell(value));
        register.add(&name, line)?;
        let optimum = number(cell.as_bytes())
            .ok_or_else(|| not_a_number(cell.as_bytes()).at(format_args!("unit {name}")).at(&place))?;
        optima.push((name.into_owned(), optimum, line));
    }
    Ok(optima)
}

/// Reads a JSON object of numbers by unit.
pub fn parse_json(bytes: &[u8]) -> Result<Vec<Optimum>, Error> {
    let line = Cell::new(1);
    let mut reader = serde_json::Deserializer::from_reader(CountedLines::new(without_mark(bytes), &line));
    let read =
        reader.deserialize_map(Numbers { line: &line }).and_then(|optima| reader.end().map(|()| optima));
    let optima = read.map_err(|error| refused(&error, 1))?;
    let mut register = Register::default();
    for (unit, _, line) in &optima {
        register.add(unit, *line)?;
    }
    Ok(optima)
}

/// Reads JSON lines with `unit` and `optimum`; objects without an optimum are passed over.
pub fn parse_json_lines(bytes: &[u8]) -> Result<Vec<Optimum>, Error> {
    let units = units::parse(bytes)?;
    let empty = units.is_empty();
    let optima: Vec<_> =
        units.into_iter().filter_map(|unit| Some((unit.unit?, unit.optimum?, unit.line))).collect();
    if optima.is_empty() && !empty {
        return Err(Error::format("no object has the key `optimum`")
            .allowed("unit and optimum")
            .advice("write one object a line: {\"unit\": NAME, \"optimum\": N}"));
    }
    Ok(optima)
}

struct Numbers<'a> {
    line: &'a Cell<u64>,
}

impl<'de> Visitor<'de> for Numbers<'_> {
    type Value = Vec<Optimum>;

    crate::expecting!("an object of numbers by unit");

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut numbers = Vec::new();
        while let Some(unit) = entries.next_key()? {
            let line = self.line.get();
            numbers.push((unit, entries.next_value()?, line));
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn optima(list: &[(&str, f64, u64)]) -> Vec<Optimum> {
        list.iter().map(|(unit, optimum, line)| ((*unit).to_owned(), *optimum, *line)).collect()
    }

    #[test]
    fn all_three_forms_give_unit_number_and_line() {
        let expected = optima(&[("b", 3.0, 2), ("a", -1.5, 3)]);
        assert_eq!(parse_csv(b"unit,optimum\nb,3\na,-1.5\n").unwrap(), expected);
        assert_eq!(parse_csv(b"time,graph,optimal_mis\r\n1,b,3\r\n2,a,-1.5").unwrap(), expected);
        assert_eq!(parse_json(b"{\n\"b\": 3,\n \"a\":\n-1.5}\n").unwrap(), expected);
        let lines = b"{\"unit\":\"c\"}\n{\"unit\":\"b\",\"optimum\":3}\n{\"optimum\":-1.5,\"unit\":\"a\"}\n";
        assert_eq!(parse_json_lines(lines).unwrap(), expected);
    }

    #[test]
    fn repeats_words_and_missing_columns_are_refused() {
        for (text, word) in [
            ("unit,optimum\na,3\nb,1\na,3\n", "lines 2 and 4"),
            ("unit,optimum\na,x\n", "line 2, unit a"),
            ("unit,size\na,3\n", "`size`"),
            ("unit,optimal_mis\na,3\n", "graph,optimal_mis"),
        ] {
            let error = parse_csv(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(word), "{text:?}: {error}");
        }
        for (text, word) in [
            ("{\"a\":1,\n\"a\":1}", "lines 1 and 2"),
            ("{\"a\":\n\"1\"}", "line 2"),
            ("{\"a\":NaN}", "line 1"),
            ("{\"a\":null}", "null"),
            ("{\"a\":1} 2", "trailing"),
            ("[1]", "an object"),
            ("{\"a\":1", "not valid JSON"),
        ] {
            let error = parse_json(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(word), "{text:?}: {error}");
        }
        assert!(parse_json_lines(b"{\"unit\":\"a\"}\n").is_err());
        assert_eq!(parse_json_lines(b"").unwrap(), []);
    }
}
