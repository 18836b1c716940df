//! Visits to random nodes, put off and grouped by region: memory that does not fit the cache is
//! then touched region by region instead of all over.

/// Pairs (node, value) that wait to be visited.
///
/// *Correctness.* Visits to one node happen in the order in which they were added; nothing is said
/// about visits to different nodes.
#[derive(Debug)]
pub(super) struct Batches {
    /// A node's region is its number without this many low bits.
    shift: u32,
    /// So many visits to a region are made together.
    batch: usize,
    /// The pairs of each region, one region after the other.
    waiting: Vec<(u32, u32)>,
    /// How many pairs of each region wait.
    counts: [u32; REGIONS],
}

/// Graphs of fewer nodes fit the cache.
const FITS: usize = 1 << 18;
const REGIONS: usize = 256;
/// Memory for visits that wait. The more of them a region gets at once, the fewer times it is fetched.
const BYTES_PER_NODE: usize = 32;

impl Batches {
    /// Batches for a graph of so many nodes; `None` when it is faster to visit at once.
    pub(super) fn for_nodes(nodes: usize) -> Option<Self> {
        let shift = (usize::BITS - nodes.leading_zeros()).saturating_sub(REGIONS.ilog2());
        (nodes >= FITS).then(|| Self {
            shift,
            batch: BYTES_PER_NODE * nodes / (size_of::<(u32, u32)>() * REGIONS),
            waiting: Vec::new(),
            counts: [0; REGIONS],
        })
    }

    /// Puts a visit off, until many wait for the region of the node.
    #[inline]
    pub(super) fn add(&mut self, node: u32, value: u32, each: impl FnMut(u32, u32)) {
        if self.waiting.is_empty() {
            self.waiting.resize(REGIONS * self.batch, (0, 0));
        }
        let region = (node >> self.shift) as usize % REGIONS;
        let count = &mut self.counts[region];
        self.waiting[region * self.batch + *count as usize] = (node, value);
        *count += 1;
        if *count as usize == self.batch {
            self.visit_region(region, each);
        }
    }

    /// Makes all visits that wait.
    pub(super) fn visit(&mut self, mut each: impl FnMut(u32, u32)) {
        for region in 0..REGIONS {
            self.visit_region(region, &mut each);
        }
    }

    fn visit_region(&mut self, region: usize, mut each: impl FnMut(u32, u32)) {
        let count = std::mem::take(&mut self.counts[region]) as usize;
        for &(node, value) in self.waiting.iter().skip(region * self.batch).take(count) {
            each(node, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visit_is_made_and_those_to_one_node_in_order() {
        assert!(Batches::for_nodes(FITS - 1).is_none());
        for nodes in [FITS as u32, 5 * FITS as u32 + 3] {
            let mut last = vec![0; nodes as usize];
            let mut visits = 0;
            let mut each = |node: u32, value: u32| {
                assert!(last[node as usize] < value);
                last[node as usize] = value;
                visits += 1;
            };
            let mut batches = Batches::for_nodes(nodes as usize).unwrap();
            batches.visit(&mut each);
            for value in 1..=1_000_000u32 {
                // Most regions are never full, the first often is.
                let node = value.wrapping_mul(2_654_435_761) % nodes;
                batches.add(if value % 3 == 0 { node % 7 } else { node }, value, &mut each);
                if value % 300_000 == 0 {
                    batches.visit(&mut each);
                }
            }
            batches.visit(&mut each);
            batches.visit(&mut each);
            assert_eq!(visits, 1_000_000);
        }
    }
}
