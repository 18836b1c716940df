//! Every kernel again, slow and obvious: straight from the definition, on sets of pairs.

use std::collections::{BTreeMap, BTreeSet};

/// A simple graph as a set of neighbours for each node, with the counts of what was dropped.
#[derive(Debug)]
pub(crate) struct SlowGraph {
    pub(crate) near: Vec<BTreeSet<u32>>,
    pub(crate) edges: BTreeSet<(u32, u32)>,
    pub(crate) self_loops: u64,
    pub(crate) duplicates: u64,
    pub(crate) one_directional: u64,
    pub(crate) isolated: u64,
}

impl SlowGraph {
    pub(crate) fn new(nodes: u32, both_directions: bool, entries: &[(u32, u32)]) -> Self {
        let proper: Vec<(u32, u32)> = entries.iter().copied().filter(|(u, v)| u != v).collect();
        let ordered: BTreeSet<(u32, u32)> = proper.iter().copied().collect();
        let edges: BTreeSet<(u32, u32)> = proper.iter().map(|&(u, v)| (u.min(v), u.max(v))).collect();
        let one_way = |&&(u, v): &&(u32, u32)| ordered.contains(&(u, v)) != ordered.contains(&(v, u));
        let mut near = vec![BTreeSet::new(); nodes as usize];
        for &(u, v) in &edges {
            near[u as usize].insert(v);
            near[v as usize].insert(u);
        }
        let distinct = if both_directions { ordered.len() } else { edges.len() };
        Self {
            self_loops: (entries.len() - proper.len()) as u64,
            duplicates: (proper.len() - distinct) as u64,
            one_directional: if both_directions { edges.iter().filter(one_way).count() as u64 } else { 0 },
            isolated: near.iter().filter(|near| near.is_empty()).count() as u64,
            near,
            edges,
        }
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.near.len() as u32
    }

    pub(crate) fn violations(&self, set: &[bool]) -> u64 {
        self.edges.iter().filter(|(u, v)| set[*u as usize] && set[*v as usize]).count() as u64
    }

    pub(crate) fn conflicted(&self, set: &[bool]) -> u64 {
        let inside = |v: &u32| set[*v as usize] && self.near[*v as usize].iter().any(|&w| set[w as usize]);
        (0..self.nodes()).filter(inside).count() as u64
    }

    pub(crate) fn is_maximal(&self, set: &[bool]) -> bool {
        let blocked = |v: u32| self.near[v as usize].iter().any(|&w| set[w as usize]);
        self.violations(set) == 0 && (0..self.nodes()).all(|v| set[v as usize] || blocked(v))
    }

    /// Takes nodes in the given order unless a neighbour is taken.
    pub(crate) fn take(&self, order: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut chosen = vec![false; self.near.len()];
        for v in order {
            if !self.near[v as usize].iter().any(|&w| chosen[w as usize]) {
                chosen[v as usize] = true;
            }
        }
        chosen
    }

    pub(crate) fn greedy(&self, keys: &[f64]) -> Vec<bool> {
        let mut order: Vec<u32> = (0..self.nodes()).collect();
        order.sort_by(|&a, &b| keys[b as usize].partial_cmp(&keys[a as usize]).unwrap().then(a.cmp(&b)));
        self.take(order)
    }

    /// Takes the remaining node for which `worth(node, residual degree)` is largest, then the lowest.
    pub(crate) fn adaptive(&self, worth: impl Fn(u32, u32) -> f64) -> Vec<bool> {
        let mut alive: BTreeSet<u32> = (0..self.nodes()).collect();
        let mut chosen = vec![false; self.near.len()];
        while !alive.is_empty() {
            let value = |v: u32| worth(v, self.near[v as usize].intersection(&alive).count() as u32);
            let best = *alive
                .iter()
                .max_by(|&&a, &&b| value(a).partial_cmp(&value(b)).unwrap().then(b.cmp(&a)))
                .unwrap();
            chosen[best as usize] = true;
            alive.remove(&best);
            alive.retain(|v| !self.near[best as usize].contains(v));
        }
        chosen
    }

    pub(crate) fn swap_search(&self, start: &[bool]) -> Vec<bool> {
        let mut chosen = start.to_vec();
        loop {
            let mut owned: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for v in (0..self.nodes()).filter(|&v| !chosen[v as usize]) {
                let owners: Vec<u32> =
                    self.near[v as usize].iter().copied().filter(|&w| chosen[w as usize]).collect();
                if let [x] = owners[..] {
                    owned.entry(x).or_default().push(v);
                }
            }
            let pair = |mine: &[u32]| {
                mine.iter().enumerate().find_map(|(i, &v)| {
                    let apart = |w: &&u32| !self.near[v as usize].contains(w);
                    mine[i + 1..].iter().find(apart).map(|&w| (v, w))
                })
            };
            let Some((x, (v, w))) = owned.iter().find_map(|(&x, mine)| Some((x, pair(mine)?))) else {
                return chosen;
            };
            chosen[x as usize] = false;
            chosen[v as usize] = true;
            chosen[w as usize] = true;
            for u in 0..self.nodes() {
                if !self.near[u as usize].iter().any(|&t| chosen[t as usize]) {
                    chosen[u as usize] = true;
                }
            }
        }
    }

    pub(crate) fn upper_bound(&self) -> u64 {
        let mut by_degree: Vec<u32> = (0..self.nodes()).collect();
        by_degree.sort_by_key(|&v| (self.near[v as usize].len(), v));
        let orders = [(0..self.nodes()).collect(), by_degree, self.elimination_order()];
        orders.iter().map(|order| self.clique_cover(order)).min().unwrap()
    }

    fn elimination_order(&self) -> Vec<u32> {
        let mut alive: BTreeSet<u32> = (0..self.nodes()).collect();
        let mut order = Vec::new();
        while !alive.is_empty() {
            let degree = |v: &u32| self.near[*v as usize].intersection(&alive).count();
            let next = *alive.iter().min_by_key(|v| (degree(v), **v)).unwrap();
            alive.remove(&next);
            order.push(next);
        }
        order
    }

    fn clique_cover(&self, order: &[u32]) -> u64 {
        let mut cliques: Vec<Vec<u32>> = Vec::new();
        for &v in order {
            let mut best: Option<usize> = None;
            for (at, clique) in cliques.iter().enumerate() {
                let adjacent = clique.iter().all(|w| self.near[v as usize].contains(w));
                if adjacent && best.is_none_or(|best| clique.len() > cliques[best].len()) {
                    best = Some(at);
                }
            }
            match best {
                Some(at) => cliques[at].push(v),
                None => cliques.push(vec![v]),
            }
        }
        cliques.len() as u64
    }

    /// The size of a largest independent set, by trying all sets.
    pub(crate) fn optimum(&self) -> u64 {
        let masks: Vec<u32> =
            self.near.iter().map(|near| near.iter().fold(0, |mask, w| mask | 1 << w)).collect();
        let independent =
            |set: &u32| (0..self.nodes()).all(|v| set >> v & 1 == 0 || set & masks[v as usize] == 0);
        (0..1u32 << self.nodes()).filter(independent).map(|set| u64::from(set.count_ones())).max().unwrap()
    }
}
