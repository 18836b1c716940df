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
    waiting: Vec<(u32, u32)>,
    grouped: Vec<(u32, u32)>,
}

/// Graphs of fewer nodes fit the cache.
const FITS: usize = 1 << 18;
const REGIONS: usize = 256;
/// Visits to a batch: 32 MiB, many for each page of memory.
const BATCH: usize = 1 << 20;

impl Batches {
    /// Batches for a graph of so many nodes; `None` when it is faster to visit at once.
    pub(super) fn for_nodes(nodes: usize) -> Option<Self> {
        let shift = (usize::BITS - nodes.leading_zeros()).saturating_sub(REGIONS.ilog2());
        (nodes >= FITS).then(|| Self { shift, waiting: Vec::new(), grouped: Vec::new() })
    }

    /// Puts a visit off. True when it is time to make all visits that wait.
    #[inline]
    pub(super) fn add(&mut self, node: u32, value: u32) -> bool {
        self.waiting.push((node, value));
        self.waiting.len() >= BATCH
    }

    /// Makes all visits that wait.
    pub(super) fn visit(&mut self, mut each: impl FnMut(u32, u32)) {
        let region = |node: u32| (node >> self.shift) as usize % REGIONS;
        let mut places = [0; REGIONS];
        for &(node, _) in &self.waiting {
            places[region(node)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        self.grouped.resize(self.waiting.len(), (0, 0));
        for &pair in &self.waiting {
            let place = &mut places[region(pair.0)];
            self.grouped[*place] = pair;
            *place += 1;
        }
        self.waiting.clear();
        for &(node, value) in &self.grouped {
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
            for value in 1..=1_000_000u32 {
                assert!(!batches.add(value.wrapping_mul(2_654_435_761) % nodes, value));
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
