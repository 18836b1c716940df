//! Score, label and optimum files in text forms.

pub mod confusion;
pub mod cover;
mod json;
pub mod json_lines;
pub mod lines;
pub mod names;
pub mod node_list;
pub mod optimum;
mod records;
pub mod results_json;
pub mod table;

/// A text format of scores and labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScoreFormat {
    /// One value per line, in node order.
    Lines,
    /// The chosen nodes, from 1.
    NodeList,
    /// A vertex cover, from 1; the set is the rest.
    Cover,
    /// Rows of nodes with named columns.
    Table,
    /// One object per unit.
    JsonLines,
}

impl ScoreFormat {
    /// All formats, in the order of the documentation.
    pub const ALL: &'static [Self] =
        &[Self::Lines, Self::NodeList, Self::Cover, Self::Table, Self::JsonLines];

    /// The file endings that mean this format, after `.gz` and `.bz2` are taken off; an ending
    /// comes before those that it ends with.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Lines => &[".txt", ".result"],
            Self::NodeList => &[".opt.sol", ".bst.sol", ".sol"],
            Self::Cover => &[".vc"],
            Self::Table => &[".csv", ".tsv"],
            Self::JsonLines => &[".jsonl"],
        }
    }

    /// The format that a file name's ending means.
    pub fn of_name(file_name: &str) -> Option<Self> {
        let ends = |format: &&Self| format.endings().iter().any(|ending| file_name.ends_with(ending));
        Self::ALL.iter().find(ends).copied()
    }
}

/// What one unit of a table or of JSON lines holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnitColumns {
    /// The unit's name; a table of one graph may leave it out.
    pub unit: Option<String>,
    /// The line where the unit first occurs, from 1.
    pub line: u64,
    /// The line of each node, where nodes have lines of their own.
    pub lines: Vec<u64>,
    /// A logit per node.
    pub logits: Option<Vec<f64>>,
    /// A probability per node.
    pub probs: Option<Vec<f64>>,
    /// The chosen nodes.
    pub set: Option<NodeSet>,
    /// A label per node.
    pub labels: Option<Vec<f64>>,
    /// The known optimum.
    pub optimum: Option<f64>,
}

/// A set of nodes as a file writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeSet {
    /// The numbers of the chosen nodes, from 0, none twice.
    Listed(Vec<u64>),
    /// One value per node.
    Values(Vec<f64>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_say_the_format() {
        for format in ScoreFormat::ALL {
            for ending in format.endings() {
                assert_eq!(ScoreFormat::of_name(&format!("a.b{ending}")), Some(*format));
            }
        }
        assert_eq!(ScoreFormat::of_name("a.json"), None);
    }
}
