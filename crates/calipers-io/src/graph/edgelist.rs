//! Edge lists: two node numbers per line, further columns ignored.

use calipers_core::{Error, Result};

use super::{GraphOptions, MAX_NODES, StoredGraph, check_nodes};
use crate::memory;
use crate::text::{Line, Lines, leading_whole, not_whole, shown};

/// Reads an edge list.
///
/// Numbers are separated by blanks, tabs, a comma or a semicolon. Lines that begin with `#` or
/// `%` are comments; the first other line may be a header (two words that are no numbers). The
/// number of nodes is the one in `options`, else the largest node number + 1.
pub fn parse(bytes: &[u8], options: &GraphOptions) -> Result<StoredGraph> {
    let base = options.index_base;
    if base > 1 {
        return Err(Error::usage("unknown index base").found(base).allowed("0 or 1"));
    }
    let given = options.scored.or(options.nodes).map(check_nodes).transpose()?;
    let mut entries = Vec::new();
    let mut header_allowed = true;
    let (mut least, mut largest) = (u64::MAX, 0);
    for line in Lines::new(bytes) {
        let line = line?;
        let Some((u, v)) = edge(line.text) else {
            if is_skipped(line.text) || (header_allowed && is_header(line.text)) {
                header_allowed &= is_skipped(line.text);
                continue;
            }
            return Err(no_edge(line));
        };
        header_allowed = false;
        least = least.min(u).min(v);
        largest = largest.max(u).max(v);
        // Cut numbers never leave this function: the check below finds them.
        let entry = (u.wrapping_sub(base.into()) as u32, v.wrapping_sub(base.into()) as u32);
        memory::push("the edges", &mut entries, entry)
            .map_err(|error| error.at(format_args!("line {}", line.number)))?;
    }
    if entries.is_empty() {
        return Ok(StoredGraph { nodes: Some(given.unwrap_or(0)), ..StoredGraph::default() });
    }
    let base = u64::from(base);
    let numbers = base..given.unwrap_or(MAX_NODES) + base;
    if numbers.contains(&least) && numbers.contains(&largest) {
        let nodes = given.unwrap_or(largest + 1 - base);
        return Ok(StoredGraph { nodes: Some(nodes), entries, ..StoredGraph::default() });
    }
    let error = out_of_range(bytes, numbers, given);
    let runs_from_1 = base == 0 && least >= 1 && Some(largest) == given;
    Err(if runs_from_1 { error.advice("the numbers run from 1 to N: --index-base 1?") } else { error })
}

/// The two numbers at the start of the line, when that is what it holds.
fn edge(text: &[u8]) -> Option<(u64, u64)> {
    let text = text.trim_ascii_start();
    let (u, length) = leading_whole(text)?;
    let text = after_separator(&text[length..])?;
    let (v, length) = leading_whole(text)?;
    let rest = &text[length..];
    (rest.is_empty() || after_separator(rest).is_some()).then_some((u, v))
}

/// What follows one separator: blanks, or one comma or semicolon with blanks around it.
fn after_separator(text: &[u8]) -> Option<&[u8]> {
    let rest = text.trim_ascii_start();
    match rest.first() {
        Some(b',' | b';') => Some(rest[1..].trim_ascii_start()),
        _ => (rest.len() < text.len()).then_some(rest),
    }
}

/// Whether the line is blank or a comment.
fn is_skipped(text: &[u8]) -> bool {
    matches!(text.trim_ascii_start().first(), None | Some(b'#' | b'%'))
}

fn fields(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text.trim_ascii()).filter(|text| !text.is_empty());
    std::iter::from_fn(move || {
        let text = rest?;
        let ends = |byte: &u8| matches!(byte, b',' | b';') || byte.is_ascii_whitespace();
        let (field, after) = text.split_at(text.iter().position(ends).unwrap_or(text.len()));
        rest = after_separator(after);
        Some(field)
    })
}

/// Whether the first two fields are names: a sign, a digit or a point makes a number.
fn is_header(text: &[u8]) -> bool {
    let is_name = |field: &[u8]| field.first().is_some_and(|first| !b"+-.0123456789".contains(first));
    let mut fields = fields(text);
    fields.next().is_some_and(is_name) && fields.next().is_some_and(is_name)
}

fn no_edge(line: Line<'_>) -> Error {
    let is_whole = |field: &[u8]| leading_whole(field).is_some_and(|(_, length)| length == field.len());
    match fields(line.text).take(2).find(|field| !is_whole(field)) {
        Some(word) => not_whole(word, line.number),
        None => Error::format("one number instead of two")
            .at(format_args!("line {}", line.number))
            .found(shown(line.text))
            .allowed("two node numbers")
            .advice("complete the line; isolated nodes need none: --num-nodes says how many nodes there are"),
    }
}

/// The error for the first node number outside the allowed ones, found by reading once more.
fn out_of_range(bytes: &[u8], numbers: std::ops::Range<u64>, nodes: Option<u64>) -> Error {
    let first = Lines::new(bytes).flatten().find_map(|line| {
        let (u, v) = edge(line.text)?;
        [u, v].into_iter().find(|number| !numbers.contains(number)).map(|number| (line.number, number))
    });
    let mut error = Error::value("node number out of range");
    if let Some((line, number)) = first {
        error = error.at(format_args!("line {line}")).found(number);
    }
    let (first, last) = (numbers.start, numbers.end.saturating_sub(1));
    let error = match nodes {
        Some(0) => error.allowed("none: N = 0"),
        Some(nodes) => error.allowed(format_args!("{first} to {last} (N = {nodes})")),
        None => error.allowed(format_args!("{first} to {last}")),
    };
    error.advice("check that the graph and its scores or --num-nodes belong together")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, nodes: Option<u64>, index_base: u32) -> Result<StoredGraph> {
        parse(text.as_bytes(), &GraphOptions { nodes, scored: None, index_base })
    }

    fn refusal(text: &str, nodes: Option<u64>, index_base: u32) -> String {
        read(text, nodes, index_base).unwrap_err().to_string()
    }

    #[test]
    fn every_separator_comment_and_further_column_is_understood() {
        let text = "# c\n% c\nsource, target,w\n0 1\n1\t2\n2,3\r\n 3 ; 4 \n4 , 0, 0.5,x\n\n0 0 # loop";
        let graph = read(text, None, 0).unwrap();
        assert_eq!(graph.entries, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 0)]);
        assert_eq!((graph.nodes, graph.declared_edges), (Some(5), None));
    }

    #[test]
    fn the_number_of_nodes_is_given_or_the_largest_number_and_one() {
        assert_eq!(read("0 1\n", Some(9), 0).unwrap().nodes, Some(9));
        assert_eq!(read("1 2\n", None, 1).unwrap(), read("0 1\n", None, 0).unwrap());
        assert_eq!(read("", None, 0).unwrap().nodes, Some(0));
        assert_eq!(read("a b\n", Some(3), 1).unwrap().nodes, Some(3));
        assert_eq!(read("0 4294967294", None, 0).unwrap().nodes, Some(MAX_NODES));
    }

    #[test]
    fn numbers_beyond_the_nodes_name_line_number_and_what_to_try() {
        let error = refusal("1 2\n2 3\n", Some(3), 0);
        assert!(error.contains("line 2") && error.contains("found: 3") && error.contains("N = 3"), "{error}");
        assert!(error.contains("--index-base 1?"), "{error}");
        assert!(!refusal("0 2\n2 3\n", Some(3), 0).contains("--index-base"));
        assert!(!refusal("1 2\n2 4\n", Some(3), 0).contains("--index-base"));
        assert!(refusal("1 2\n0 3\n", None, 1).contains("line 2"));
        assert!(refusal("1 4\n", Some(3), 1).contains("1 to 3"));
        assert!(refusal("0 0\n", Some(0), 0).contains("N = 0"));
        assert!(refusal("0 4294967295\n", None, 0).contains("4294967295"));
        assert!(refusal("0 18446744073709551615\n", None, 0).contains("18446744073709551615"));
    }

    #[test]
    fn a_header_is_two_names_and_comes_once_before_the_edges() {
        for (text, word) in [
            ("a b\nc d\n0 1\n", "`c`"),
            ("0 1\na b\n", "`a`"),
            ("0 b\n", "`b`"),
            ("-1 -2\n0 1\n", "`-1`"),
            ("1.5 2.5\n", "`1.5`"),
            ("nodes\n0 1\n", "`nodes`"),
            ("7\n", "one number"),
            ("1,,2\n", "``"),
            (",1,2\n", "``"),
            ("1 2x\n", "`2x`"),
            ("0 18446744073709551616\n", "`18446744073709551616`"),
        ] {
            let error = refusal(text, None, 0);
            assert!(error.contains(word) && error.contains("at: line"), "{text:?}: {error}");
        }
        assert!(read("0 1", None, 2).is_err());
    }
}
