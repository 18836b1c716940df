//! What rows keep by class: the entries that are there, side by side.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Entries in order of their keys, each key once: a map without room to grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Box<[(K, V)]>", bound(deserialize = "K: Deserialize<'de> + Ord, V: Deserialize<'de>"))]
pub struct Sparse<K, V>(Box<[(K, V)]>);

impl<K, V> Sparse<K, V> {
    /// Keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> + Clone {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &K> + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = &V> + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord, V> Sparse<K, V> {
    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        let at = self.0.binary_search_by(|(known, _)| known.cmp(key)).ok()?;
        Some(&self.0[at].1)
    }
}

impl<K, V> Default for Sparse<K, V> {
    fn default() -> Self {
        Self(Box::default())
    }
}

impl<K: Ord, V> From<BTreeMap<K, V>> for Sparse<K, V> {
    fn from(entries: BTreeMap<K, V>) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Sparse<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> Self {
        entries.into_iter().collect::<BTreeMap<K, V>>().into()
    }
}

impl<K: Ord, V> TryFrom<Box<[(K, V)]>> for Sparse<K, V> {
    type Error = &'static str;

    fn try_from(entries: Box<[(K, V)]>) -> Result<Self, Self::Error> {
        let ordered = entries.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if ordered { Ok(Self(entries)) } else { Err("entries are not in order of their keys") }
    }
}

impl<'a, K, V> IntoIterator for &'a Sparse<K, V> {
    type Item = &'a (K, V);
    type IntoIter = std::slice::Iter<'a, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_in_order_and_in_no_other() {
        let sparse: Sparse<u32, u64> = [(7, 1), (2, 5), (7, 3)].into_iter().collect();
        assert_eq!(sparse.iter().collect::<Vec<_>>(), [(&2, &5), (&7, &3)]);
        assert_eq!((sparse.get(&7), sparse.get(&3), sparse.len()), (Some(&3), None, 2));
        let text = serde_json::to_string(&sparse).unwrap();
        assert_eq!(serde_json::from_str::<Sparse<u32, u64>>(&text).unwrap(), sparse);
        for bad in ["[[7,3],[2,5]]", "[[2,5],[2,5]]"] {
            assert!(serde_json::from_str::<Sparse<u32, u64>>(bad).is_err(), "{bad}");
        }
    }
}
