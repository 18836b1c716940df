//! Solution files: the numbers of the chosen nodes, from 1, with `#` comments.

use calipers_core::{Error, Result};

use crate::text::{Fields, Lines, node_from_1};

/// Reads the chosen nodes of a graph with the given number of nodes.
pub fn parse(bytes: &[u8], nodes: u64) -> Result<Vec<bool>> {
    let mut chosen = vec![false; nodes as usize];
    for line in Lines::new(bytes) {
        let mut line = line?;
        let comment = line.text.iter().position(|byte| *byte == b'#');
        line.text = &line.text[..comment.unwrap_or(line.text.len())];
        mark(line.fields(), line.number, &mut chosen)?;
    }
    Ok(chosen)
}

/// Marks every node of a line, each for the first time; says how many they are.
pub(super) fn mark(mut fields: Fields<'_>, line: u64, marked: &mut [bool]) -> Result<u64> {
    let mut count = 0;
    while let Some(number) = fields.whole()? {
        let node = node_from_1(number, marked.len() as u64, line)? as usize;
        if std::mem::replace(&mut marked[node], true) {
            let error = Error::value("a node is listed twice").at(format_args!("line {line}"));
            return Err(error.found(number).allowed("every node once").advice("take the second one away"));
        }
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_counted_from_1_and_comments_skipped() {
        assert_eq!(parse(b"# 3 nodes\n1\n 4 # 2\r\n\n", 4).unwrap(), [true, false, false, true]);
        assert_eq!(parse(b"2 3", 3).unwrap(), [false, true, true]);
        assert_eq!(parse(b"", 1).unwrap(), [false]);
    }

    #[test]
    fn nodes_outside_the_graph_and_repeats_name_their_line() {
        for text in ["1\n0\n", "1\n5\n", "1\n1\n", "1\nx\n", "1\n-2\n"] {
            assert_eq!(parse(text.as_bytes(), 4).unwrap_err().place(), Some("line 2"));
        }
    }
}
