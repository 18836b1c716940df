//! The table of graph formats: names and file endings.

use std::fmt;
use std::str::FromStr;

use calipers_core::{Error, Result};

/// A format that stores graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GraphFormat {
    /// `p WORD n m`, then `e u v` or `u v`, from 1.
    Dimacs,
    /// One line of neighbours per node, from 1.
    Metis,
    /// Two node numbers per line.
    Edgelist,
    /// One dense graph per line, six bits a character.
    Graph6,
    /// One sparse graph per line, six bits a character.
    Sparse6,
    /// A pickled networkx graph.
    Gpickle,
    /// `u v u v ... label y0 y1 ...`, one graph per line.
    Ml4co,
    /// An `edge_index` array.
    Arrays,
}

impl GraphFormat {
    /// All formats, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self::Dimacs,
        Self::Metis,
        Self::Edgelist,
        Self::Graph6,
        Self::Sparse6,
        Self::Gpickle,
        Self::Ml4co,
        Self::Arrays,
    ];

    /// The format's name, as `--graph-format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dimacs => "dimacs",
            Self::Metis => "metis",
            Self::Edgelist => "edgelist",
            Self::Graph6 => "graph6",
            Self::Sparse6 => "sparse6",
            Self::Gpickle => "gpickle",
            Self::Ml4co => "ml4co",
            Self::Arrays => "arrays",
        }
    }

    /// The file endings that mean this format, after `.gz` and `.bz2` are taken off.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Dimacs => &[".gph", ".col", ".clq", ".mis", ".dimacs", ".gr"],
            Self::Metis => &[".graph", ".metis"],
            Self::Edgelist => &[".edges", ".edgelist", ".el", ".txt", ".csv", ".tsv"],
            Self::Graph6 => &[".g6"],
            Self::Sparse6 => &[".s6"],
            Self::Gpickle => &[".gpickle", ".pickle"],
            Self::Ml4co => &[],
            Self::Arrays => &[".npz", ".npy", ".safetensors", ".pt"],
        }
    }

    /// The format that a file name's ending means.
    pub fn of_name(file_name: &str) -> Option<Self> {
        let ends = |format: &&Self| format.endings().iter().any(|ending| file_name.ends_with(ending));
        Self::ALL.iter().find(ends).copied()
    }

    /// Whether a file holds one graph per line.
    pub fn is_pack(self) -> bool {
        matches!(self, Self::Graph6 | Self::Sparse6 | Self::Ml4co)
    }
}

impl fmt::Display for GraphFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for GraphFormat {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.iter().find(|format| format.name() == name).copied().ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|format| format.name()).collect();
            Error::usage("unknown graph format").found(name).allowed(names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_no_ending_has_two_meanings() {
        let mut endings: Vec<_> = GraphFormat::ALL.iter().flat_map(|format| format.endings()).collect();
        let all = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), all);
        for format in GraphFormat::ALL {
            assert_eq!(format.to_string().parse(), Ok(*format));
            for ending in format.endings() {
                assert_eq!(GraphFormat::of_name(&format!("a.b{ending}")), Some(*format));
            }
        }
        assert!("gr".parse::<GraphFormat>().unwrap_err().to_string().contains("sparse6"));
    }

    #[test]
    fn the_last_ending_decides() {
        assert_eq!(GraphFormat::of_name("soc-sign-bitcoinalpha.csv.gr"), Some(GraphFormat::Dimacs));
        assert_eq!(GraphFormat::of_name("notes.md"), None);
        assert_eq!(GraphFormat::of_name("gr"), None);
    }
}
