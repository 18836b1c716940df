//! States, signed here so that the checksums let everything through: an error, or reports that can be written.

#![no_main]

use calipers::{report::json, states};
use libfuzzer_sys::fuzz_target;

/// A state of one section around these bytes, with every checksum right.
fn signed(payload: &[u8]) -> Vec<u8> {
    let mut state = b"CALIPERS\x02\0\0\0\x01\0\0\0".to_vec();
    state.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    state.extend_from_slice(payload);
    state.extend_from_slice(blake3::hash(payload).as_bytes());
    let hash = blake3::hash(&state);
    state.extend_from_slice(hash.as_bytes());
    state
}

fn use_all(bytes: &[u8]) {
    let Ok(ledgers) = states::from_bytes(bytes, "fuzz.state") else { return };
    assert_eq!(states::from_bytes(&states::to_bytes(&ledgers), "again").map(|all| all.len()).ok(), Some(ledgers.len()));
    for ledger in &ledgers {
        json::write(&[ledger.report()]);
        ledger.per_unit();
        ledger.explain_units();
    }
}

fuzz_target!(|bytes: &[u8]| {
    use_all(bytes);
    // A whole state among the seeds becomes its payload under new checksums.
    let payload = bytes.get(24..bytes.len().saturating_sub(64)).filter(|_| bytes.starts_with(b"CALIPERS"));
    use_all(&signed(payload.unwrap_or(bytes)));
});
