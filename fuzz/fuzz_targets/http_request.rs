//! The head of a request: read the same whole and in pieces, and only where nothing is left to guess.

#![no_main]

use calipers_io::http_request::{MOST_BYTES, Parsed, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes) {
        Parsed::Complete(request) => {
            assert!(bytes.len() <= MOST_BYTES && bytes.ends_with(b"\r\n\r\n"));
            assert!(request.path.starts_with('/') && !request.path.contains(['?', '#', '\r', '\n', '\0']));
            assert!(bytes.starts_with(b"GET ") || bytes.starts_with(b"HEAD ") || bytes.starts_with(b"\r\n"));
            // No beginning of a good request is refused, or taken for another one.
            for end in 0..bytes.len() {
                assert_eq!(parse(&bytes[..end]), Parsed::Partial);
            }
        }
        Parsed::Refused(status, why) => assert!((400..=505).contains(&status) && !why.is_empty()),
        Parsed::Partial => assert!(bytes.len() < MOST_BYTES),
    }
});
