//! States that somebody edited and signed again: refused with a message, or as good as any other state.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use calipers::core::{Accumulator, Protocol, SplitMix64};
use calipers::report::json;
use calipers::{reports, states};
use serde_json::{Value as Json, json};

/// How many edits are tried for each protocol: 2,000 in all, and a million in a campaign.
const EDITS: usize = 90;
const EDITS_OF_A_CAMPAIGN: usize = 40_000;

/// Where the payload of the only section begins, and how long a hash is.
const HEAD: usize = 24;
const HASH: usize = 32;

/// How many edited states were tried, and how many of them are as good as any other.
static TRIED: AtomicUsize = AtomicUsize::new(0);
static TAKEN: AtomicUsize = AtomicUsize::new(0);

#[expect(clippy::print_stdout, reason = "a campaign reads its figures here")]
pub(super) fn figure() {
    let [tried, taken] = [&TRIED, &TAKEN].map(|count| count.load(Ordering::Relaxed));
    println!("figure T40: {tried} edited states, {taken} as good as any other, 0 panics");
}

/// A state of one section, taken apart.
struct Parts {
    name: String,
    protocol: Json,
    /// Rows and provenance.
    rest: Vec<u8>,
}

pub(super) fn edited_states_are_refused_or_reported<P: Protocol>(whole: &Accumulator<P>) {
    let bytes = states::to_bytes(&[Box::new(whole.clone())]);
    let parts = Parts::of(&bytes);
    assert_eq!(parts.signed(), bytes, "taken apart and put together");
    assert!(is_taken(&bytes), "the state itself is refused");
    let mut random = SplitMix64::new(26);
    let is_campaign = std::env::var_os("CALIPERS_CAMPAIGN").is_some();
    for _ in 0..if is_campaign { EDITS_OF_A_CAMPAIGN } else { EDITS } {
        let (what, edited) = if random.below(2) == 0 {
            parts.with_another_parameter(&mut random)
        } else {
            parts.with_other_bytes(&mut random)
        };
        let done = catch_unwind(AssertUnwindSafe(|| is_taken(&edited)));
        assert!(done.is_ok(), "{} after {what}", P::NAME);
        TRIED.fetch_add(1, Ordering::Relaxed);
        TAKEN.fetch_add(usize::from(done.unwrap_or(false)), Ordering::Relaxed);
    }
}

/// Opens a state; if that succeeds, everything that can be made of it.
fn is_taken(bytes: &[u8]) -> bool {
    let Ok(ledgers) = states::from_bytes(bytes, "edited.state") else { return false };
    assert_eq!(states::to_bytes(&ledgers), bytes, "what is read is what is written");
    for ledger in &ledgers {
        let text = json::write(&[ledger.report()]);
        reports::read(text.as_bytes(), "edited.json").expect("a report that was written is read");
        ledger.per_unit();
        ledger.explain_units();
    }
    true
}

impl Parts {
    fn of(state: &[u8]) -> Self {
        let payload = &state[HEAD..state.len() - 2 * HASH];
        let (name, rest) = postcard::take_from_bytes::<String>(payload).expect("a name");
        let (protocol, rest) = postcard::take_from_bytes::<String>(rest).expect("a protocol");
        Self { name, protocol: serde_json::from_str(&protocol).expect("JSON"), rest: rest.to_vec() }
    }

    fn signed(&self) -> Vec<u8> {
        signed(&self.name, &self.protocol, &self.rest)
    }

    fn with_another_parameter(&self, random: &mut SplitMix64) -> (String, Vec<u8>) {
        let mut places = Vec::new();
        leaves(&self.protocol, String::new(), &mut places);
        let place = &places[random.below(places.len() as u64) as usize];
        let values = values();
        let value = values[random.below(values.len() as u64) as usize].clone();
        let mut protocol = self.protocol.clone();
        *protocol.pointer_mut(place).expect("a place of this protocol") = value.clone();
        (format!("{place} = {value:.60}"), signed(&self.name, &protocol, &self.rest))
    }

    fn with_other_bytes(&self, random: &mut SplitMix64) -> (String, Vec<u8>) {
        let mut rest = self.rest.clone();
        let edits = 1 + random.below(3);
        let mut what = Vec::new();
        for _ in 0..edits {
            let at = random.below(rest.len() as u64) as usize;
            let byte = match random.below(4) {
                0 => rest[at] ^ 1 << random.below(8),
                1 => rest[at].wrapping_add(1),
                2 => 0xff,
                _ => random.below(256) as u8,
            };
            rest[at] = byte;
            what.push(format!("byte {at} = {byte}"));
        }
        (what.join(", "), signed(&self.name, &self.protocol, &rest))
    }
}

fn signed(name: &str, protocol: &Json, rest: &[u8]) -> Vec<u8> {
    let mut payload = postcard::to_stdvec(&(name, protocol.to_string())).expect("text");
    payload.extend_from_slice(rest);
    let mut state = b"CALIPERS\x02\0\0\0\x01\0\0\0".to_vec();
    state.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    state.extend_from_slice(&payload);
    state.extend_from_slice(blake3::hash(&payload).as_bytes());
    let hash = blake3::hash(&state);
    state.extend_from_slice(hash.as_bytes());
    state
}

/// Every place below the root, as JSON pointers.
fn leaves(value: &Json, place: String, places: &mut Vec<String>) {
    if !place.is_empty() {
        places.push(place.clone());
    }
    match value {
        Json::Object(entries) => {
            for (key, value) in entries {
                let key = key.replace('~', "~0").replace('/', "~1");
                leaves(value, format!("{place}/{key}"), places);
            }
        }
        Json::Array(entries) => {
            entries.iter().enumerate().for_each(|(at, value)| leaves(value, format!("{place}/{at}"), places));
        }
        _ => {}
    }
}

/// Twenty values of every kind.
fn values() -> [Json; 20] {
    [
        json!(null),
        json!(true),
        json!(false),
        json!(-1),
        json!(0),
        json!(1),
        json!(7),
        json!(255),
        json!(65_536),
        json!(u32::MAX),
        json!(9_007_199_254_740_993_u64),
        json!(u64::MAX),
        json!(-1.5),
        json!(1e308),
        json!(""),
        json!("x\u{0}\n"),
        json!("y".repeat(5000)),
        json!([]),
        json!([1, 0]),
        json!({"a": 1}),
    ]
}
