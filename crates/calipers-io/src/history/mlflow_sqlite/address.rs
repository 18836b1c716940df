//! How SQLite is told to read a file as it is on the disk.

use std::path::Path;

const SCHEME: &str = "file://";

/// The address of a file that is only read and does not change: nothing is looked for or written
/// beside it. Every byte of the path that could mean something else is escaped.
pub(super) fn of(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let mut address = String::from(SCHEME);
    for byte in path.as_os_str().as_encoded_bytes() {
        let byte = if cfg!(windows) && *byte == b'\\' { b'/' } else { *byte };
        // A drive stands behind a slash of its own.
        if byte != b'/' && address == SCHEME {
            address.push('/');
        }
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address.push_str("?mode=ro&immutable=1");
    Some(address)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_an_address_is_escaped() {
        for (path, expected) in [
            ("/a/mlflow.db", "file:///a/mlflow.db?mode=ro&immutable=1"),
            ("//a", "file:////a?mode=ro&immutable=1"),
            (
                "/a?mode=rwc#b %41&\\\u{e9}",
                "file:///a%3Fmode%3Drwc%23b%20%2541%26%5C%C3%A9?mode=ro&immutable=1",
            ),
        ] {
            assert_eq!(of(Path::new(path)).as_deref(), Some(expected));
        }
        assert!(of(Path::new("a.db")).unwrap().starts_with("file:///"));
        assert_eq!(of(Path::new("")), None);
    }
}
