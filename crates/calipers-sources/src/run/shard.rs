//! Which shard a unit is in: its name alone decides, so that files that come or go move no other unit.

/// Which part of the units a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which shard, from 1.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}

impl Shard {
    /// The only one.
    pub(crate) const WHOLE: Self = Self { index: 1, of: 1 };

    /// Whether the unit of that name is in this shard: the first 8 bytes of the hash of the name, as a
    /// little-endian number, modulo the number of shards.
    pub fn takes(self, name: &str) -> bool {
        let hash = blake3::hash(name.as_bytes());
        let [a, b, c, d, e, f, g, h, ..] = *hash.as_bytes();
        let number = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        number % u64::from(self.of) + 1 == u64::from(self.index)
    }

    /// Whether there are other shards beside it.
    pub fn is_part(self) -> bool {
        self.of > 1
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, of)) if index >= 1 && index <= of => Ok(Self { index, of }),
            _ => Err("a shard is written I/N with 1 <= I <= N".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_in_one_shard_of_any_number() {
        for of in [1, 2, 3, 64] {
            for name in ["", "a", "frankfurt/000000", "größe"] {
                let takers = (1..=of).filter(|index| Shard { index: *index, of }.takes(name)).count();
                assert_eq!(takers, 1, "{name} {of}");
            }
        }
    }

    #[test]
    fn the_shard_is_the_start_of_the_hash_as_a_little_endian_number() {
        // BLAKE3 of the empty text begins with af1349b9f5f9a1a6.
        let number = 0xa6a1_f9f5_b949_13af_u64;
        assert!(Shard { index: (number % 1000) as u32 + 1, of: 1000 }.takes(""));
    }

    #[test]
    fn a_shard_outside_its_split_is_refused() {
        for text in ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
    }
}
