//! Which lists of unit names the rows came from, and which shards of each list are here.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::{Error, Result};
use crate::input_files::Digest;
use crate::report::Warning;

/// A list of unit names, identified by their number and by the hash of the sorted names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Listing {
    /// How many names it has.
    pub names: u64,
    /// The hash of the names, in byte order, joined by newlines.
    pub blake3: Digest,
}

impl Listing {
    /// The listing of names, whatever their order; a name that comes twice counts once.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let mut hasher = blake3::Hasher::new();
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                hasher.update(b"\n");
            }
            hasher.update(name.as_bytes());
        }
        Self { names: names.len() as u64, blake3: hasher.finalize().into() }
    }
}

/// Shards by how many a listing was divided into.
type Splits = BTreeMap<u32, BTreeSet<u32>>;

/// Listings and their shards. Without any, units were not listed but given one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listings(BTreeMap<Option<Listing>, Splits>);

/// How many shards a sentence names.
const NAMED: usize = 20;

impl Listings {
    /// Adds shard `index` of `of`; a listing that is not known is one of the first state format.
    pub fn insert(&mut self, listing: Option<Listing>, index: u32, of: u32) {
        self.0.entry(listing).or_default().entry(of).or_default().insert(index);
        self.close(listing);
    }

    /// Adds what another state has.
    pub(crate) fn merge(&mut self, other: Self) {
        for (listing, splits) in other.0 {
            let ours = self.0.entry(listing).or_default();
            for (of, have) in splits {
                ours.entry(of).or_default().extend(have);
            }
            self.close(listing);
        }
    }

    /// Keeps a listing whose shards are all there as one shard, so that merged states have the bytes
    /// of one run. What is not known stays as it is: it may be several listings.
    fn close(&mut self, listing: Option<Listing>) {
        if let (Some(_), Some(splits)) = (listing, self.0.get_mut(&listing))
            && splits.iter().any(is_complete)
        {
            *splits = Splits::from([(1, BTreeSet::from([1]))]);
        }
    }

    /// The shards that are here, in words.
    pub fn shards(&self) -> String {
        self.0.values().map(shards).collect::<Vec<_>>().join("; ")
    }

    /// Whether the shards of every listing are all there.
    pub fn are_whole(&self) -> bool {
        self.0.values().flatten().all(is_complete)
    }

    /// Refuses a state of which shards are missing.
    pub fn require_whole(&self) -> Result<()> {
        if self.are_whole() {
            return Ok(());
        }
        let said: Vec<String> = self.warnings().into_iter().map(|warning| warning.message).collect();
        Err(Error::value("shards are missing, so that a report would be of a part of the units")
            .found(said.join("; "))
            .advice("merge the states of all shards, or say --partial for a report of these units"))
    }

    /// What a reader should know of listings that are not whole.
    pub fn warnings(&self) -> Vec<Warning> {
        let open: Vec<(&Option<Listing>, &Splits)> =
            self.0.iter().filter(|(_, splits)| !splits.iter().all(is_complete)).collect();
        let warning = |code: &str, message| Warning { code: code.into(), message, units: Vec::new() };
        let mut warnings = Vec::new();
        if !open.is_empty() {
            let missing = open.iter().flat_map(|(_, splits)| splits.iter().filter_map(missing));
            warnings.push(warning("missing-shards", missing.collect::<Vec<_>>().join("; ")));
        }
        if open.len() > 1 {
            let counts = open.iter().map(|(listing, splits)| {
                let units =
                    listing.map_or("an unknown number of".into(), |listing| listing.names.to_string());
                format!("{units} units for {}", shards(splits))
            });
            let counts = counts.collect::<Vec<_>>().join(", ");
            let message = format!("the shards are of different lists of units: {counts}");
            warnings.push(warning("listings-differ", message));
        }
        warnings
    }

    /// Refuses what no run would have recorded.
    pub(crate) fn check(&self) -> Result<()> {
        for (listing, splits) in &self.0 {
            for (of, have) in splits {
                let beyond = have.iter().find(|index| !(1..=*of).contains(*index));
                let found = beyond.map_or(String::new(), |index| format!("shard {index} of {of}"));
                check::keep(beyond.is_none(), "listings", found, format_args!("shards 1 to {of}"))?;
            }
            let is_one = splits.len() == 1 && splits.contains_key(&1);
            let is_open = splits.values().all(|have| !have.is_empty()) && !splits.iter().any(is_complete);
            let is_joined = !splits.is_empty() && (listing.is_none() || is_one || is_open);
            check::keep(
                is_joined,
                "listings",
                "shards that were not joined",
                "a listing of whole shards as one",
            )?;
        }
        Ok(())
    }
}

fn is_complete((of, have): (&u32, &BTreeSet<u32>)) -> bool {
    have.len() == *of as usize
}

/// A sentence about the missing shards of one split; none where all are there.
fn missing((of, have): (&u32, &BTreeSet<u32>)) -> Option<String> {
    let missing = (*of as usize).checked_sub(have.len()).filter(|missing| *missing > 0)?;
    let named = (1..=*of).filter(|i| !have.contains(i)).take(NAMED);
    let mut named = named.map(|i| format!("{i}/{of}")).collect::<Vec<_>>().join(", ");
    if missing > NAMED {
        named.push_str(&format!(" and {} more", missing - NAMED));
    }
    Some(format!("expected {of} shards, have {}, missing {named}", have.len()))
}

/// The shards that are here.
fn shards(splits: &Splits) -> String {
    let all = || splits.iter().flat_map(|(of, have)| have.iter().map(move |index| format!("{index}/{of}")));
    let named = all().take(NAMED).collect::<Vec<_>>().join(", ");
    let word = if all().count() == 1 { "shard" } else { "shards" };
    let more = if all().count() > NAMED { ", .." } else { "" };
    format!("{word} {named}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(count: usize) -> Option<Listing> {
        let names: Vec<String> = (0..count).map(|at| format!("u{at}")).collect();
        Some(Listing::of(names.iter().map(String::as_str)))
    }

    fn of(shards: &[(Option<Listing>, u32, u32)]) -> Listings {
        let mut listings = Listings::default();
        shards.iter().for_each(|&(listing, index, of)| listings.insert(listing, index, of));
        listings
    }

    fn said(listings: &Listings) -> Vec<(String, String)> {
        listings.warnings().into_iter().map(|warning| (warning.code, warning.message)).collect()
    }

    #[test]
    fn a_listing_is_the_hash_of_its_sorted_names() {
        let some = Listing::of(["b", "a", "b"]);
        assert_eq!((some.names, some.blake3), (2, Digest::of(b"a\nb")));
        assert_eq!(Listing::of([]).blake3, Digest::of(b""));
    }

    #[test]
    fn all_shards_in_any_order_and_grouping_are_one_run() {
        let (whole, all) = (of(&[(listing(9), 1, 1)]), [2, 3, 1, 2].map(|index| (listing(9), index, 3)));
        assert_eq!(of(&all), whole);
        let (mut left, mut right) = (of(&all[..2]), of(&all[2..]));
        assert!(!left.are_whole());
        left.merge(right.clone());
        right.merge(of(&all[..2]));
        assert!(left == whole && right == whole && whole.are_whole() && whole.warnings().is_empty());
        left.insert(listing(9), 1, 7);
        assert_eq!(left, whole, "a further shard of a whole listing adds nothing");
    }

    #[test]
    fn missing_shards_are_named_for_every_split() {
        let mixed = of(&[(listing(40), 1, 4), (listing(40), 1, 3)]);
        let [(code, message)] = said(&mixed).try_into().unwrap();
        assert_eq!(code, "missing-shards");
        assert_eq!(
            message,
            "expected 3 shards, have 1, missing 2/3, 3/3; expected 4 shards, have 1, missing 2/4, 3/4, 4/4"
        );
        let error = mixed.require_whole().unwrap_err().to_string();
        assert!(error.contains("2/3, 3/3") && error.contains("--partial"), "{error}");
    }

    #[test]
    fn shards_of_two_listings_say_so_with_both_counts() {
        let grown = of(&[(listing(1000), 1, 2), (listing(1200), 2, 2)]);
        let codes: Vec<String> = said(&grown).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, ["missing-shards", "listings-differ"]);
        let message = &said(&grown)[1].1;
        assert!(message.contains("1000 units for shard 1/2, 1200 units for shard 2/2"), "{message}");
        assert!(of(&[(listing(3), 1, 1), (listing(4), 1, 1)]).are_whole(), "two whole runs are whole");
    }

    #[test]
    fn an_unknown_listing_counts_every_split_as_it_always_did() {
        let mut old = of(&[(None, 1, 2), (None, 2, 2)]);
        assert!(old.are_whole());
        old.insert(None, 1, 3);
        assert_eq!(said(&old)[0].1, "expected 3 shards, have 1, missing 2/3, 3/3");
    }

    #[test]
    fn shards_that_cannot_exist_are_told() {
        for (index, said) in [(3, "shard 3 of 2"), (0, "shard 0 of 2")] {
            let error = of(&[(listing(2), index, 2)]).check().unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(of(&[(listing(2), 1, 2), (None, 1, 1)]).check().is_ok());
        let unjoined = Listings([(listing(2), Splits::from([(2, BTreeSet::from([1, 2]))]))].into());
        assert!(unjoined.check().is_err());
        assert!(Listings([(listing(2), Splits::new())].into()).check().is_err());
    }
}
