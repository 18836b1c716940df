//! The keys of the rows as a tree: which of them are wanted, and their names joined with dots.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Error, Result};

use super::syntax::string;

/// Bytes that the joined names may take beyond the size of the file.
const FREE_NAMES: usize = 1 << 20;

/// A key below the keys it is nested in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node(u32);

impl Node {
    /// The row itself.
    pub(super) const ROW: Self = Self(0);
}

/// Every key that was seen.
pub(super) struct Keys {
    branches: Vec<Branch>,
    names: Vec<String>,
    /// Bytes that may still be spent on names.
    room: usize,
}

#[derive(Default)]
struct Branch {
    /// The key between quotes.
    quoted: String,
    /// Whether JSON can write the key so: whether it holds nothing to escape.
    plain: bool,
    parent: u32,
    depth: usize,
    children: BTreeMap<String, u32>,
    /// The key that came first inside this one, the last time.
    first: u32,
    /// The key that came next beside this one, the last time.
    next: u32,
    /// The wanted value this is.
    source: Option<u32>,
    listed: bool,
    /// The row in which it was seen last, from 1.
    row: u64,
}

impl Branch {
    fn new(key: &str, parent: u32, depth: usize) -> Self {
        Self { quoted: format!("\"{key}\""), plain: string::is_plain(key), parent, depth, ..Self::default() }
    }

    fn key(&self) -> &str {
        &self.quoted[1..self.quoted.len() - 1]
    }
}

impl Keys {
    /// No key yet, for a file of so many bytes.
    pub(super) fn new(length: usize) -> Self {
        let row = Branch::new("", 0, 0);
        Self { branches: vec![row], names: Vec::new(), room: length.saturating_add(FREE_NAMES) }
    }

    /// The key that followed `before` inside `parent` the last time, as it may stand in the file:
    /// rows mostly have the same keys in the same order.
    #[inline]
    pub(super) fn expected(&self, parent: Node, before: Option<Node>) -> Option<(Node, &str)> {
        let guess = self.guess(parent, before);
        let guessed = &self.branches[guess as usize];
        (guess != 0 && guessed.plain).then_some((Node(guess), &guessed.quoted))
    }

    /// Its number, or 0.
    #[inline]
    fn guess(&self, parent: Node, before: Option<Node>) -> u32 {
        match before {
            Some(before) => self.branches[before.0 as usize].next,
            None => self.branches[parent.0 as usize].first,
        }
    }

    /// The key inside `parent`, which follows `before` there; true where it is new.
    #[inline]
    pub(super) fn child(&mut self, parent: Node, before: Option<Node>, key: &str) -> (Node, bool) {
        let guess = self.guess(parent, before);
        if guess != 0 && self.branches[guess as usize].key() == key {
            return (Node(guess), false);
        }
        let count = self.branches.len() as u32;
        let above = &mut self.branches[parent.0 as usize];
        let (node, new) = match above.children.get(key) {
            Some(node) => (*node, false),
            None => {
                above.children.insert(key.to_owned(), count);
                let depth = above.depth + 1;
                self.branches.push(Branch::new(key, parent.0, depth));
                (count, true)
            }
        };
        match before {
            Some(before) => self.branches[before.0 as usize].next = node,
            None => self.branches[parent.0 as usize].first = node,
        }
        (Node(node), new)
    }

    /// Notes the row in which a key is seen, from 1; true where it was already seen in it.
    #[inline]
    pub(super) fn seen(&mut self, node: Node, row: u64) -> bool {
        std::mem::replace(&mut self.branches[node.0 as usize].row, row) == row
    }

    /// How many keys deep it is.
    pub(super) fn depth(&self, node: Node) -> usize {
        self.branches[node.0 as usize].depth
    }

    /// The wanted value this key holds.
    #[inline]
    pub(super) fn source(&self, node: Node) -> Option<usize> {
        self.branches[node.0 as usize].source.map(|source| source as usize)
    }

    /// Makes a key the holder of a wanted value.
    pub(super) fn set_source(&mut self, node: Node, source: usize) {
        self.branches[node.0 as usize].source = Some(source as u32);
    }

    /// Whether a key is the other or nested in it.
    pub(super) fn within(&self, mut node: Node, other: Node) -> bool {
        while node != other && node != Node::ROW {
            node = Node(self.branches[node.0 as usize].parent);
        }
        node == other
    }

    /// Whether the joined name of a key is this one, without joining it.
    pub(super) fn is_named(&self, node: Node, name: &str) -> bool {
        let branch = &self.branches[node.0 as usize];
        match name.strip_suffix(branch.key()) {
            Some(rest) if branch.parent == 0 => rest.is_empty(),
            Some(rest) => rest.strip_suffix('.').is_some_and(|rest| self.is_named(Node(branch.parent), rest)),
            None => false,
        }
    }

    /// Adds a key that holds a value to the list of names.
    #[inline]
    pub(super) fn list(&mut self, node: Node) -> Result<()> {
        if self.branches[node.0 as usize].listed { Ok(()) } else { self.list_new(node) }
    }

    #[cold]
    fn list_new(&mut self, node: Node) -> Result<()> {
        self.branches[node.0 as usize].listed = true;
        let mut parts = Vec::new();
        let mut above = node;
        while above != Node::ROW {
            let branch = &self.branches[above.0 as usize];
            parts.push(branch.key());
            above = Node(branch.parent);
        }
        let length = parts.iter().map(|part| part.len()).sum::<usize>() + parts.len() - 1;
        // One long key around many short ones would otherwise fill the memory.
        self.room = self.room.checked_sub(length).ok_or_else(|| {
            Error::format("the names of the nested keys take more room than the file")
                .advice("shorten the keys that other keys are nested in")
        })?;
        parts.reverse();
        self.names.push(parts.join("."));
        Ok(())
    }

    /// The names, each once, in the order of first appearance.
    pub(super) fn names(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        self.names.iter().filter(|name| seen.insert(name.as_str())).cloned().collect()
    }
}
