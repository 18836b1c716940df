//! The format of a file without a name, by what it starts with.
//!
//! Only what cannot be mistaken is recognised: two columns of numbers may be an edge list, METIS or
//! ml4co, and a column of them labels or chosen nodes.

use crate::compress::Compression;

/// The compression that the first bytes announce.
pub fn compression(bytes: &[u8]) -> Compression {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        Compression::Gzip
    } else if bytes.starts_with(b"BZh") {
        Compression::Bzip2
    } else {
        Compression::None
    }
}

/// The ending that a file of arrays would have.
pub fn array_ending(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x93NUMPY") {
        return Some(".npy");
    }
    if bytes.starts_with(b"PK") {
        let of_arrays = first_member(bytes).is_none_or(|name| name.ends_with(b".npy"));
        return Some(if of_arrays { ".npz" } else { ".pt" });
    }
    let (length, head) = bytes.split_first_chunk::<8>()?;
    let fits = u64::from_le_bytes(*length) <= head.len() as u64;
    (fits && head.starts_with(b"{")).then_some(".safetensors")
}

/// The ending that a graph file would have.
pub fn graph_ending(bytes: &[u8]) -> Option<&'static str> {
    if let Some(ending) = array_ending(bytes) {
        return Some(ending);
    }
    if bytes.first() == Some(&0x80) && bytes.get(1).is_some_and(|protocol| (2..=5).contains(protocol)) {
        return Some(".gpickle");
    }
    if bytes.starts_with(b">>sparse6<<") || bytes.starts_with(b":") {
        return Some(".s6");
    }
    if bytes.starts_with(b">>graph6<<") {
        return Some(".g6");
    }
    let first = first_line(bytes)?;
    if matches!(first.split(u8::is_ascii_whitespace).next(), Some(b"c" | b"p")) {
        return Some(".dimacs");
    }
    first.iter().all(|byte| (63..=126).contains(byte)).then_some(".g6")
}

/// The ending that a file of scores or labels would have.
pub fn score_ending(bytes: &[u8]) -> Option<&'static str> {
    if let Some(ending) = array_ending(bytes) {
        return Some(ending);
    }
    let first = first_line(bytes)?;
    if first.starts_with(b"{") {
        return Some(".jsonl");
    }
    if matches!(first.split(u8::is_ascii_whitespace).next(), Some(b"c" | b"s")) {
        return Some(".vc");
    }
    let has_column = |delimiter: u8| {
        first.split(|byte| *byte == delimiter).any(|cell| matches!(cell.trim_ascii(), b"node" | b"\"node\""))
    };
    [(b',', ".csv"), (b'\t', ".tsv")]
        .into_iter()
        .find_map(|(delimiter, ending)| has_column(delimiter).then_some(ending))
}

/// The name of the first member of a zip archive.
fn first_member(bytes: &[u8]) -> Option<&[u8]> {
    let length = u16::from_le_bytes(*bytes.get(26..)?.first_chunk()?);
    bytes.starts_with(b"PK\x03\x04").then(|| bytes.get(30..30 + usize::from(length)))?
}

/// The first line that is not empty.
fn first_line(bytes: &[u8]) -> Option<&[u8]> {
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_mistaken_is_recognised() {
        let graphs: &[(&[u8], &str)] = &[
            (b"c made by hand\np edge 3 2\ne 1 2\n", ".dimacs"),
            (b"\np edge 3 2\r\n", ".dimacs"),
            (b":Fa@x^\n", ".s6"),
            (b">>graph6<<DQc\n", ".g6"),
            (b"DQc\nDQc", ".g6"),
            (b"\x80\x04\x95", ".gpickle"),
            (b"\x93NUMPY\x01\x00", ".npy"),
            (b"\x02\0\0\0\0\0\0\0{}", ".safetensors"),
        ];
        for (bytes, ending) in graphs {
            assert_eq!(graph_ending(bytes), Some(*ending), "{bytes:?}");
        }
        let scores: &[(&[u8], &str)] = &[
            (b"{\"unit\": \"a\"}\n", ".jsonl"),
            (b"unit,node,logits\n", ".csv"),
            (b"node\tprobs\n", ".tsv"),
            (b"c cover\ns vc 3 1\n", ".vc"),
        ];
        for (bytes, ending) in scores {
            assert_eq!(score_ending(bytes), Some(*ending), "{bytes:?}");
        }
        assert_eq!(compression(b"\x1f\x8b\x08"), Compression::Gzip);
        assert_eq!(compression(b"BZh9"), Compression::Bzip2);
        assert_eq!(compression(b"BZ"), Compression::None);
    }

    #[test]
    fn what_can_be_two_things_is_not_guessed() {
        for bytes in
            [&b""[..], b"\n\n", b"0 1\n1 2\n", b"3 2\n2\n1 3\n2\n", b"\xff\xff\xff\xff\xff\xff\xff\xff{"]
        {
            assert_eq!(graph_ending(bytes), None, "{bytes:?}");
        }
        for bytes in [&b""[..], b"0\n1\n1\n", b"0.5\n", b"unit,logits\n"] {
            assert_eq!(score_ending(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn archives_are_told_apart_by_their_first_member() {
        let archive = |name: &str| {
            let mut bytes = b"PK\x03\x04".to_vec();
            bytes.resize(26, 0);
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend([0; 2]);
            bytes.extend(name.as_bytes());
            bytes
        };
        assert_eq!(array_ending(&archive("edge_index.npy")), Some(".npz"));
        assert_eq!(array_ending(&archive("archive/data.pkl")), Some(".pt"));
        assert_eq!(array_ending(b"PK\x05\x06"), Some(".npz"));
        assert_eq!(array_ending(&archive("x.npy")[..32]), Some(".npz"));
    }
}
