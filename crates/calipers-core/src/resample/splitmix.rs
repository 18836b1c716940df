//! SplitMix64, the one source of randomness: ten lines that any language can repeat.

/// What one output adds to the state.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The SplitMix64 generator: its outputs follow from the seed alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator whose state is `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The generator of `seed` after that many outputs: the state only counts, so that any part of
    /// the stream can be had on its own.
    pub const fn after(seed: u64, outputs: u64) -> Self {
        Self(seed.wrapping_add(STEP.wrapping_mul(outputs)))
    }

    /// The next output.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A draw from `0..n`: the high word of `next * n`. `n` is not 0.
    pub const fn below(&mut self, n: u64) -> u64 {
        ((self.next_u64() as u128 * n as u128) >> 64) as u64
    }

    /// A draw from [0, 1), a multiple of 2^-53.
    pub const fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_outputs_of_seed_0_are_the_published_ones() {
        let mut random = SplitMix64::new(0);
        let first: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(first, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn the_stream_can_be_entered_anywhere() {
        let mut random = SplitMix64::new(u64::MAX - 3);
        (0..1000).for_each(|_| _ = random.next_u64());
        assert_eq!(SplitMix64::after(u64::MAX - 3, 1000), random);
    }
}
