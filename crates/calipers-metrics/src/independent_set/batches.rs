//! Visits to random nodes, put off and grouped by region: memory that does not fit the cache is
//! then touched region by region instead of all over.

/// Pairs (node, value) that wait to be visited.
///
/// *Correctness.* Visits to one node happen in the order in which they were added; nothing is said
/// about visits to different nodes.
#[derive(Debug)]
pub(super) struct Batches {
    /// A node's region is its number without this many low bits; `None` visits at once.
    shift: Option<u32>,
    waiting: Vec<(u32, u32)>,
    grouped: Vec<(u32, u32)>,
}

/// Graphs of fewer nodes fit the cache.
const FITS: usize = 1 << 18;
const REGIONS: usize = 256;
/// Visits to a batch: 32 MiB, many for each page of memory.
const BATCH: usize = 1 << 22;

impl Batches {
    pub(super) fn new(nodes: usize) -> Self {
        let shift = (nodes >= FITS).then(|| usize::BITS - nodes.leading_zeros() - REGIONS.ilog2());
        Self { shift, waiting: Vec::new(), grouped: Vec::new() }
    }

    /// Visits now or later.
    #[inline]
    pub(super) fn add(&mut self, node: u32, value: u32, visit: &mut impl FnMut(u32, u32)) {
        if self.shift.is_none() {
            visit(node, value);
            return;
        }
        self.waiting.push((node, value));
        if self.waiting.len() == BATCH {
            self.finish(visit);
        }
    }

    /// Makes all visits that wait.
    pub(super) fn finish(&mut self, visit: &mut impl FnMut(u32, u32)) {
        let region = |node: u32| (node >> self.shift.unwrap_or_default()) as usize % REGIONS;
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
            visit(node, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visit_is_made_and_those_to_one_node_in_order() {
        for nodes in [FITS as u32 / 3, FITS as u32, 5 * FITS as u32 + 3] {
            let mut last = vec![0; nodes as usize];
            let mut visits = 0;
            let mut visit = |node: u32, value: u32| {
                assert!(last[node as usize] < value);
                last[node as usize] = value;
                visits += 1;
            };
            let mut batches = Batches::new(nodes as usize);
            for value in 1..=1_000_000u32 {
                batches.add(value.wrapping_mul(2_654_435_761) % nodes, value, &mut visit);
            }
            batches.finish(&mut visit);
            batches.finish(&mut visit);
            assert_eq!(visits, 1_000_000);
        }
    }
}
