//! Vertex covers: `s vc n k`, then the cover's nodes from 1. The independent set is the rest.

use calipers_core::{Error, Result};

use super::node_list::mark;
use crate::text::{Fields, Lines, shown};

/// Reads a cover of a graph with the given number of nodes; true are the nodes outside the cover.
pub fn parse(bytes: &[u8], nodes: u64) -> Result<Vec<bool>> {
    let mut covered = vec![false; nodes as usize];
    let mut announced: Option<u64> = None;
    let mut listed = 0;
    for line in Lines::new(bytes) {
        let line = line?;
        let place = format_args!("line {}", line.number).to_string();
        let mut fields = line.fields();
        match line.text.trim_ascii_start().first() {
            None | Some(b'c') => {}
            Some(b's') if announced.is_some() => {
                return Err(Error::format("a second s line")
                    .at(place)
                    .allowed("one line s vc n k")
                    .advice("give every cover a file of its own"));
            }
            Some(b's') => {
                announced = Some(solution_line(&mut fields, nodes).map_err(|error| error.at(place))?)
            }
            Some(_) if announced.is_none() => {
                return Err(no_solution_line("no s line before the cover").at(place));
            }
            Some(_) => listed += mark(fields, line.number, &mut covered)?,
        }
    }
    let Some(announced) = announced else {
        return Err(no_solution_line("no s line").at("end of file"));
    };
    if listed != announced {
        let error = Error::format("the number of cover nodes differs from the s line").at("end of file");
        let error = error.found(format_args!("{listed} nodes")).allowed(announced);
        return Err(error.advice("the file is cut, or k is wrong"));
    }
    Ok(covered.into_iter().map(|covered| !covered).collect())
}

fn no_solution_line(what: &str) -> Error {
    Error::format(what).allowed("s vc n k").advice("begin the cover with this line")
}

fn solution_line(fields: &mut Fields<'_>, nodes: u64) -> Result<u64> {
    let (head, kind) = (fields.word().unwrap_or_default(), fields.word().unwrap_or_default());
    if (head, kind) != (b"s", b"vc") {
        let found = shown(&[head, kind].join(&b' '));
        return Err(no_solution_line("not a vertex cover").found(found));
    }
    let found = fields.expect_whole("the number of nodes (s vc n k)")?;
    let announced = fields.expect_whole("the size of the cover (s vc n k)")?;
    fields.end("s vc n k")?;
    if found != nodes {
        let error = Error::value("the number of nodes differs from the graph").found(found);
        return Err(error.allowed(nodes).advice("is this the cover of another graph?"));
    }
    Ok(announced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_what_the_cover_leaves() {
        let text = b"c cover\ns vc 4 2\r\n2\nc\n3\r\n";
        assert_eq!(parse(text, 4).unwrap(), [true, false, false, true]);
        assert!(parse(b"s vc 0 0\n", 0).unwrap().is_empty());
    }

    #[test]
    fn contradictions_name_their_line_and_both_numbers() {
        for (text, words) in [
            ("s vc 5 2\n1\n2\n", ["line 1", "5"]),
            ("s vc 4 2\n1\n", ["end of file", "1 nodes"]),
            ("s vc 4 2\n1\n5\n", ["line 3", "1 to 4"]),
            ("s vc 4 2\n1\n1\n", ["line 3", "twice"]),
            ("s vc 4 2\n1\nx\n", ["line 3", "`x`"]),
            ("1\ns vc 4 1\n", ["line 1", "s vc n k"]),
            ("s td 4 1\n", ["line 1", "`s td`"]),
            ("s vc 4\n", ["line 1", "size of the cover"]),
            ("s vc 4 0\ns vc 4 0\n", ["line 2", "second"]),
            ("c\n", ["no s line", "s vc n k"]),
        ] {
            let error = parse(text.as_bytes(), 4).unwrap_err().to_string();
            assert!(words.iter().all(|word| error.contains(word)), "{text:?}: {error}");
        }
    }
}
