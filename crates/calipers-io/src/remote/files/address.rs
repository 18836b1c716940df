//! Addresses: what is meant, and how it is shown.

use calipers_core::{Error, Result};
use reqwest::Url;

/// An address of a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A file of a web server; with its credentials and parameters.
    Web(Url),
    /// A key in a bucket or container.
    Object {
        /// `s3`, `gs` or `az`.
        scheme: &'static str,
        /// The bucket or container.
        bucket: String,
        /// The key, without a slash at its end.
        key: String,
    },
}

/// The schemes of object stores.
const STORES: [&str; 3] = ["s3", "gs", "az"];

impl Address {
    /// Reads an address as it was given.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |why: &str| {
            Error::usage(format!("not an address: {why}"))
                .found(crate::place::shown(text))
                .allowed("s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY, http://.. or https://..")
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| bad("no scheme"))?;
        if let Some(scheme) = STORES.iter().find(|known| **known == scheme) {
            let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
            if bucket.is_empty() {
                return Err(bad("no bucket"));
            }
            return Ok(Self::Object { scheme, bucket: bucket.into(), key: key.trim_matches('/').into() });
        }
        match Url::parse(text) {
            Ok(url) if matches!(scheme, "http" | "https") && url.has_host() => Ok(Self::Web(url)),
            Ok(_) => Err(bad("another scheme")),
            Err(error) => Err(bad(&error.to_string())),
        }
    }

    /// The address without what gives access: user, password and parameters.
    pub fn shown(&self) -> String {
        match self {
            Self::Object { scheme, bucket, key } => format!("{scheme}://{bucket}/{key}"),
            Self::Web(url) => crate::place::shown(url.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart_and_shown_without_what_gives_access() {
        let object = Address::parse("s3://b/deep/k.png").unwrap();
        assert_eq!(object, Address::Object { scheme: "s3", bucket: "b".into(), key: "deep/k.png".into() });
        for (text, shown) in [
            ("https://me:secret@h:8/a/x.zip?X-Amz-Signature=secret#part", "https://h:8/a/x.zip"),
            ("gs://b/folder/", "gs://b/folder"),
        ] {
            assert_eq!(Address::parse(text).unwrap().shown(), shown);
        }
        for text in ["ftp://h/x", "s3:///key", "http://", "file:///etc/passwd", "nothing"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
