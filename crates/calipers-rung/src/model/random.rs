//! Random numbers that are counted, not drawn in sequence, so that any order of work gives the same ones.

/// What a stream of random numbers is for; streams of one seed are independent of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Splits of the nodes; the counter is the node.
    Splits,
    /// Initial weights, counted through all layers.
    Initial,
    /// Dropout; the counter runs over epochs, nodes and hidden units.
    Dropout,
    /// Samples of attacked graphs; the counter runs over samples and pairs.
    Samples,
    /// The random attack.
    Insertions,
    /// Blocks of pairs that an attack considers; the counter runs on from block to block.
    Blocks,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of the 64-bit numbers that leaves no visible relation between neighbours.
pub fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The numbers of one stream under one seed.
#[derive(Clone, Copy, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The stream under this seed.
    pub fn new(seed: u64, stream: Stream) -> Self {
        Self(mix(seed.wrapping_add(STEP.wrapping_mul(stream as u64 + 1))))
    }

    /// The k-th 64-bit number.
    pub fn draw(self, k: u64) -> u64 {
        mix(self.0.wrapping_add(STEP.wrapping_mul(k.wrapping_add(1))))
    }

    /// The k-th number in [0, 1), a multiple of 2^-53.
    pub fn uniform(self, k: u64) -> f64 {
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        (self.draw(k) >> 11) as f64 * UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_and_counters_do_not_share_numbers() {
        let streams = [
            Stream::Splits,
            Stream::Initial,
            Stream::Dropout,
            Stream::Samples,
            Stream::Insertions,
            Stream::Blocks,
        ];
        assert!(streams.iter().enumerate().all(|(number, &stream)| stream as usize == number));
        let mut seen: Vec<u64> =
            streams.iter().flat_map(|&stream| (0..100).map(move |k| Draws::new(3, stream).draw(k))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 600);
    }

    #[test]
    fn uniform_numbers_stay_below_one_and_average_a_half() {
        let draws = Draws::new(u64::MAX, Stream::Samples);
        let sum: f64 =
            (0..10_000).map(|k| draws.uniform(k)).inspect(|u| assert!((0.0..1.0).contains(u))).sum();
        assert!((sum / 10_000.0 - 0.5).abs() < 0.02, "{sum}");
    }
}
