//! States joined on the disk are the states joined in memory, whatever they hold beside rows.

use std::path::PathBuf;

use calipers::core::input_files::{BELOW, ROLE};
use calipers::core::provenance::{Content, Fact, Setting};
use calipers::core::{Accumulator, Digest, Input, InputFiles, Listing, Protocol, SplitMix64};
use calipers::states;

use super::{Sample, UNITS, bytes, name, of};

const ROUNDS: usize = 12;

pub(crate) fn states_joined_on_the_disk_have_the_bytes_of_those_in_memory<P>(
    sample: &Sample<P>,
    random: &mut SplitMix64,
) where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let folder = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let shards = 1 + random.below(5) as u32;
        let parts: Vec<PathBuf> = (1..=shards)
            .map(|shard| {
                let path = folder.path().join(format!("{round}-{shard}.state"));
                std::fs::write(&path, bytes(&part(sample, (shard, shards), random))).unwrap();
                path
            })
            .collect();
        let merged = states::merge_all(parts.iter().map(|path| states::read(path))).unwrap().unwrap();
        let target = folder.path().join("all.state");
        let joined = states::large::join(&parts, &target).unwrap().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), states::to_bytes(&merged), "{} states", parts.len());
        assert_eq!(joined[0].units as usize, merged[0].units());
        assert_eq!(joined[0].left_out, merged[0].provenance().left_out.len());
        assert_eq!(joined[0].listings, merged[0].provenance().listings);
    }
    refused(sample, &folder.path().join("all.state"), folder.path().join("bad.state"));
    let names = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with('.')), "nothing is left over");
}

/// A state of some of the units, which others may have too.
fn part<P: Protocol>(
    sample: &Sample<P>,
    (shard, shards): (u32, u32),
    random: &mut SplitMix64,
) -> Accumulator<P> {
    let mut units: Vec<usize> = (0..UNITS).collect();
    units.retain(|_| random.below(3) == 0);
    let mut part = of(sample, units);
    let facts: Vec<usize> = (0..UNITS).filter(|_| random.below(4) == 0).collect();
    let fact = |unit: &usize| Fact { code: "seen".into(), unit: name(*unit), detail: "x".into() };
    part.provenance.facts.extend(facts.iter().map(fact));
    let content = |unit: &usize| Content { unit: name(*unit).into(), truth: [*unit as u8; 16] };
    part.provenance.contents.extend(facts.iter().map(content));
    let file = |unit: usize, role: &str| {
        let notes = [(ROLE, role), (BELOW, "data")].map(|(key, text)| (key.to_owned(), text.to_owned()));
        let input =
            Input { bytes: 3, blake3: Digest([unit as u8; 32]), notes: std::sync::Arc::new(notes.into()) };
        (format!("data/{unit}").into_boxed_str(), input)
    };
    let roles = ["truth", "scores"];
    let files = facts.iter().map(|unit| file(*unit, roles[random.below(2) as usize])).collect();
    part.provenance.inputs = InputFiles::new(files).unwrap();
    part.provenance.readings.insert([("other".to_owned(), Setting::Number(random.below(2)))].into());
    part.provenance.listings.insert(Some(Listing::of(["a"])), shard, shards + random.below(2) as u32);
    for unit in (0..UNITS).filter(|_| random.below(5) == 0) {
        if !part.has(&name(unit)) {
            part.provenance.left_out.insert(name(unit).as_str().into(), format!("reason {shard}"));
        }
    }
    part
}

fn refused<P>(sample: &Sample<P>, target: &std::path::Path, other: PathBuf)
where
    P: Protocol + Send + Sync,
    P::Row: Send + Sync,
{
    let first = other.with_file_name("first.state");
    let whole = bytes(&of(sample, 0..3));
    std::fs::write(&first, &whole).unwrap();
    let before = std::fs::read(target).unwrap();
    let said = |bytes: &[u8]| {
        std::fs::write(&other, bytes).unwrap();
        let states = [first.clone(), other.clone()];
        let in_memory =
            states::merge_all(states.iter().map(|path| states::read(path))).map(drop).unwrap_err();
        let error = match states::large::join(&states, target) {
            Err(error) => error,
            // What does not look like the others is read as a whole.
            Ok(joined) => {
                assert!(joined.is_none());
                in_memory.clone()
            }
        };
        assert_eq!(error.kind(), in_memory.kind(), "{error}\n{in_memory}");
        assert_eq!(std::fs::read(target).unwrap(), before, "{error}");
        error.to_string()
    };
    let mut conflicting = of(sample, []);
    (sample.add)(&mut conflicting, &name(0), 1);
    let text = said(&bytes(&conflicting));
    assert!(["unit 00", "first.state", "bad.state"].iter().all(|word| text.contains(word)), "{text}");
    let text = said(&bytes(&Accumulator::new(sample.other.clone())));
    assert!(text.contains("different protocols"), "{text}");
    for at in (0..whole.len()).step_by(7) {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        assert!(said(&flipped).contains("bad.state"));
        assert!(said(&whole[..at]).contains("bad.state"));
    }
    said(&[&whole[..], b"x"].concat());
}
