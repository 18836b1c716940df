//! A graph as a file has it, before anything is asked of it.

use calipers_core::{Error, Result};

/// Entries of an adjacency matrix, or edges, as they were stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub(super) nodes: usize,
    pub(super) entries: Vec<(u32, u32)>,
    /// The value of each entry; every one is 1 without them.
    pub(super) values: Option<Vec<f64>>,
    pub(super) listed: Listed,
}

/// Which directions of an edge a file lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// Both, as the entries of a matrix.
    BothWays,
    /// One of them.
    Once,
}

impl Stored {
    /// A graph whose entries are all 1.
    pub(super) fn unweighted(nodes: usize, entries: Vec<(u32, u32)>, listed: Listed) -> Self {
        Self { nodes, entries, values: None, listed }
    }

    /// The entries that are not 0, with their values.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, u32, f64)> + '_ {
        let value = |place: usize| self.values.as_ref().map_or(1.0, |values| values[place]);
        let valued = self.entries.iter().enumerate().map(move |(place, &(i, j))| (i, j, value(place)));
        valued.filter(|(_, _, value)| value.abs() > 0.0 || value.is_nan())
    }

    /// The edges i < j in order, if this is a graph without directions, loops, weights and repeats.
    /// Otherwise the error names the first entry against that, and counts each kind of them.
    pub(super) fn simple_edges(&self) -> Result<Vec<(u32, u32)>> {
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(self.entries.len());
        let (mut loops, mut weights) = (Kind::new("self loops"), Kind::new("weights other than 1"));
        for (i, j, value) in self.entries() {
            if i == j {
                loops.meet(i, j, value);
            } else {
                if value.total_cmp(&1.0).is_ne() {
                    weights.meet(i, j, value);
                }
                edges.push((i, j));
            }
        }
        let (mut repeats, mut lonely) =
            (Kind::new("repeated edges"), Kind::new("entries without their reverse"));
        match self.listed {
            Listed::Once => edges.iter_mut().for_each(|(i, j)| (*i, *j) = ((*i).min(*j), (*i).max(*j))),
            Listed::BothWays => {}
        }
        edges.sort_unstable();
        edges.dedup_by(|again, first| {
            let same = again == first;
            if same {
                repeats.meet(first.0, first.1, 1.0);
            }
            same
        });
        if self.listed == Listed::BothWays {
            for &(i, j) in edges.iter().filter(|(i, j)| edges.binary_search(&(*j, *i)).is_err()) {
                lonely.meet(i, j, 1.0);
            }
            edges.retain(|(i, j)| i < j);
        }
        let kinds = [loops, weights, repeats, lonely];
        match kinds.iter().find(|kind| kind.count > 0) {
            None => Ok(edges),
            Some(first) => {
                let counts = kinds.iter().filter(|kind| kind.count > 0);
                let counts: Vec<String> =
                    counts.map(|kind| format!("{} {}", kind.count, kind.name)).collect();
                Err(Error::value("the graph is not an undirected one with edges of weight 1")
                    .at(format!("entry [{}, {}]", first.entry.0, first.entry.1))
                    .found(format!("{}; {} in all", first.shown(), counts.join(", ")))
                    .allowed("symmetric, 0 and 1 only, nothing on the diagonal"))
            }
        }
    }
}

/// One way in which entries can be against the rules: how often, and the first of them.
struct Kind {
    name: &'static str,
    count: u64,
    entry: (u32, u32),
    value: f64,
}

impl Kind {
    fn new(name: &'static str) -> Self {
        Self { name, count: 0, entry: (0, 0), value: 1.0 }
    }

    fn meet(&mut self, i: u32, j: u32, value: f64) {
        if self.count == 0 {
            (self.entry, self.value) = ((i, j), value);
        }
        self.count += 1;
    }

    fn shown(&self) -> String {
        let (i, j) = self.entry;
        match self.name {
            "weights other than 1" => self.value.to_string(),
            "repeated edges" => format!("({i}, {j}) a second time"),
            "self loops" => format!("a loop at node {i}"),
            _ => format!("({i}, {j}) without ({j}, {i})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(entries: &[(u32, u32)]) -> Stored {
        Stored::unweighted(4, entries.to_vec(), Listed::BothWays)
    }

    #[test]
    fn both_ways_of_listing_give_the_same_edges() {
        let once = Stored::unweighted(4, vec![(3, 1), (0, 1)], Listed::Once);
        assert_eq!(once.simple_edges().unwrap(), [(0, 1), (1, 3)]);
        assert_eq!(both(&[(3, 1), (1, 0), (0, 1), (1, 3)]).simple_edges().unwrap(), [(0, 1), (1, 3)]);
    }

    #[test]
    fn an_entry_of_0_is_no_edge() {
        let entries = vec![(0, 1), (1, 0), (2, 2)];
        let stored = Stored { values: Some(vec![1.0, 1.0, 0.0]), ..both(&entries) };
        assert_eq!(stored.simple_edges().unwrap(), [(0, 1)]);
    }

    #[test]
    fn the_first_fault_is_placed_and_every_kind_is_counted() {
        let said = |stored: &Stored| stored.simple_edges().unwrap_err().to_string();
        let text = said(&both(&[(1, 1), (0, 1), (2, 3), (2, 2)]));
        for part in ["entry [1, 1]", "2 self loops", "2 entries without their reverse"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
        let text = said(&Stored { values: Some(vec![0.5, 1.0]), ..both(&[(0, 1), (1, 0)]) });
        assert!(text.contains("entry [0, 1]") && text.contains("found: 0.5; 1 weights"), "{text}");
        let text = said(&Stored::unweighted(4, vec![(0, 1), (1, 0)], Listed::Once));
        assert!(text.contains("a second time") && text.contains("1 repeated edges"), "{text}");
        assert!(said(&both(&[(0, 1), (0, 1), (1, 0)])).contains("1 repeated"));
        let text = said(&Stored { values: Some(vec![f64::NAN]), ..both(&[(0, 1)]) });
        assert!(text.contains("NaN"), "{text}");
    }
}
