//! A heap of nodes whose keys may fall while they wait: smallest key first, then smallest number.

/// Nodes ordered by (key, number). The keys live with the caller and are passed to every call; a
/// key may only change through [`NodeHeap::lowered`].
#[derive(Clone, Debug, Default)]
pub(super) struct NodeHeap {
    heap: Vec<u32>,
    places: Vec<u32>,
}

impl NodeHeap {
    /// The heap of the given nodes, all below `bound`.
    pub(super) fn new<K: Ord>(nodes: Vec<u32>, bound: usize, keys: &[K]) -> Self {
        if nodes.is_empty() {
            return Self::default();
        }
        let mut places = vec![0; bound];
        for (place, &node) in nodes.iter().enumerate() {
            places[node as usize] = place as u32;
        }
        let mut heap = Self { heap: nodes, places };
        // From the last node with a child up: below it everything is a heap already.
        for place in (0..heap.heap.len() / 2).rev() {
            heap.sink(place, keys);
        }
        heap
    }

    /// Takes out the first node.
    pub(super) fn pop<K: Ord>(&mut self, keys: &[K]) -> Option<u32> {
        let first = *self.heap.first()?;
        self.remove(first, keys);
        Some(first)
    }

    /// Takes out a node that is in the heap.
    pub(super) fn remove<K: Ord>(&mut self, node: u32, keys: &[K]) {
        let place = self.places[node as usize] as usize;
        self.heap.swap_remove(place);
        if let Some(&moved) = self.heap.get(place) {
            self.places[moved as usize] = place as u32;
            // The last node of the heap stands here now: it may be too large or too small for its new place.
            self.sink(place, keys);
            self.rise(self.places[moved as usize] as usize, keys);
        }
    }

    /// Says that the key of a node in the heap became smaller.
    pub(super) fn lowered<K: Ord>(&mut self, node: u32, keys: &[K]) {
        self.rise(self.places[node as usize] as usize, keys);
    }

    fn rise<K: Ord>(&mut self, mut place: usize, keys: &[K]) {
        while place > 0 {
            let above = (place - 1) / 2;
            if !self.before(place, above, keys) {
                return;
            }
            self.swap(place, above);
            place = above;
        }
    }

    fn sink<K: Ord>(&mut self, mut place: usize, keys: &[K]) {
        loop {
            let left = 2 * place + 1;
            if left >= self.heap.len() {
                return;
            }
            let right = left + 1;
            let below = if right < self.heap.len() && self.before(right, left, keys) { right } else { left };
            if !self.before(below, place, keys) {
                return;
            }
            self.swap(place, below);
            place = below;
        }
    }

    fn before<K: Ord>(&self, a: usize, b: usize, keys: &[K]) -> bool {
        let (a, b) = (self.heap[a], self.heap[b]);
        (&keys[a as usize], a) < (&keys[b as usize], b)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.places[self.heap[a] as usize] = a as u32;
        self.places[self.heap[b] as usize] = b as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nodes_leave_in_order_of_their_keys_at_that_time(
            mut keys in prop::collection::vec(0u32..40, 1..80),
            moves in prop::collection::vec((0..3, any::<prop::sample::Index>()), 0..200),
        ) {
            let mut alive: Vec<u32> = (0..keys.len() as u32).collect();
            let mut heap = NodeHeap::new(alive.clone(), keys.len(), &keys);
            for (action, pick) in moves {
                if alive.is_empty() {
                    break;
                }
                let node = alive[pick.index(alive.len())];
                match action {
                    0 => {
                        keys[node as usize] /= 2;
                        heap.lowered(node, &keys);
                    }
                    1 => {
                        heap.remove(node, &keys);
                        alive.retain(|&v| v != node);
                    }
                    _ => {
                        let first = alive.iter().copied().min_by_key(|&v| (keys[v as usize], v));
                        prop_assert_eq!(heap.pop(&keys), first);
                        alive.retain(|&v| Some(v) != first);
                    }
                }
            }
        }
    }
}
