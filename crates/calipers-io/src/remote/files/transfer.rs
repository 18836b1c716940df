//! One transfer: a part of an object, checked against what the server says of it and tried again.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use calipers_core::{Error, Result};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectStore};
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_MATCH, LAST_MODIFIED,
    RANGE,
};
use reqwest::{StatusCode, Url};

use super::Address;
use super::store::{failed, store};
use crate::remote::client::follow;
use crate::remote::{Cause, Failure};

/// How long to wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may send nothing.
pub(super) const SILENCE: Duration = Duration::from_secs(30);

/// Where an object is.
#[derive(Clone)]
pub(super) enum Target {
    /// On a web server.
    Web(Url),
    /// In a store, under a key; and how it is shown.
    Object(Arc<dyn ObjectStore>, Key, String),
}

/// A part of an object, and what the server says of the whole.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    /// How long the whole object is.
    pub(super) size: u64,
    /// What changes with the object.
    pub(super) tag: Option<String>,
    pub(super) modified: Option<SystemTime>,
}

/// The connections that all requests share.
pub(super) fn client() -> Result<&'static reqwest::Client> {
    static CLIENT: OnceLock<Option<reqwest::Client>> = OnceLock::new();
    let made = CLIENT.get_or_init(|| {
        reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .redirect(reqwest::redirect::Policy::custom(follow))
            .user_agent(concat!("calipers/", env!("CARGO_PKG_VERSION")))
            .build()
            .ok()
    });
    made.as_ref().ok_or_else(|| Error::io("connections cannot be made"))
}

impl Target {
    pub(super) fn of(address: &Address) -> Result<Self> {
        match address {
            Address::Web(url) => Ok(Self::Web(url.clone())),
            Address::Object { scheme, bucket, key } => {
                let path = Key::parse(key)
                    .map_err(|error| Error::usage("not a key").in_file(address.shown()).found(error))?;
                Ok(Self::Object(store(scheme, bucket)?, path, address.shown()))
            }
        }
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Self::Web(url) => crate::place::shown(url.as_str()),
            Self::Object(_, _, shown) => shown.clone(),
        }
    }

    /// Bytes of the object; all of it without a range. With a tag the object must still have it.
    pub(super) async fn get(self, range: Option<Range<u64>>, tag: Option<String>) -> Result<Part> {
        let shown = self.shown();
        let mut tries = 0;
        loop {
            tries += 1;
            let got = match &self {
                Self::Web(url) => web(url, range.clone(), tag.as_deref()).await,
                Self::Object(store, key, _) => {
                    object(&**store, key, range.clone(), tag.clone(), &shown).await
                }
            };
            let cause = match got {
                Ok(part) => {
                    return whole(part, range.as_ref(), tag.as_deref())
                        .map_err(|error| error.in_file(&shown));
                }
                Err(Broken::Told(error)) => return Err(error.in_file(&shown)),
                Err(Broken::Cause(Cause::Status(412, _))) => return Err(changed().in_file(&shown)),
                Err(Broken::Cause(cause)) => cause,
                Err(Broken::Short { found, allowed }) if cause_of_short().wait(tries).is_none() => {
                    return Err(Error::io("the body ends too early")
                        .in_file(&shown)
                        .at(format!("byte {found}"))
                        .found(format!("{found} bytes, after {tries} tries"))
                        .allowed(format!("{allowed} bytes, as announced"))
                        .advice("check the server, or download the file"));
                }
                Err(Broken::Short { .. }) => cause_of_short(),
            };
            match cause.wait(tries) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(Failure { cause, address: shown, tries }.into()),
            }
        }
    }
}

fn cause_of_short() -> Cause {
    Cause::Connection("the body ends too early".into())
}

/// Why a try gave nothing.
enum Broken {
    Cause(Cause),
    /// A body that is shorter than announced.
    Short {
        found: u64,
        allowed: u64,
    },
    /// What no other try would mend.
    Told(Error),
}

fn changed() -> Error {
    Error::io("the object changed while it was read")
        .allowed("the ETag of the first request")
        .advice("wait until it is written, then run again")
}

/// Whether a part is what was asked for.
fn whole(part: Part, range: Option<&Range<u64>>, tag: Option<&str>) -> Result<Part> {
    if let (Some(expected), Some(found)) = (tag, &part.tag)
        && expected != found
    {
        return Err(changed().found(found).allowed(expected));
    }
    let expected = range.map_or(part.size, |range| range.end.min(part.size).saturating_sub(range.start));
    if part.bytes.len() as u64 == expected {
        return Ok(part);
    }
    Err(Error::io("the body has another length than announced")
        .at(format!("byte {}", part.bytes.len()))
        .found(format!("{} bytes", part.bytes.len()))
        .allowed(format!("{expected} bytes")))
}

async fn web(url: &Url, range: Option<Range<u64>>, tag: Option<&str>) -> std::result::Result<Part, Broken> {
    let http = client().map_err(Broken::Told)?;
    let because = |error: reqwest::Error| Broken::Cause(Cause::of(&error, SILENCE));
    let mut request = http.get(url.clone());
    if let Some(range) = &range {
        request = request.header(RANGE, format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
    }
    // A weak tag matches nothing; it is compared with that of the answer.
    if let Some(tag) = tag.filter(|tag| !tag.starts_with("W/")) {
        request = request.header(IF_MATCH, tag);
    }
    let mut answer = request.send().await.map_err(because)?;
    let headers = answer.headers().clone();
    let total = content_range(&headers);
    let start = range.as_ref().map_or(0, |range| range.start);
    if answer.status() == StatusCode::RANGE_NOT_SATISFIABLE && start == 0 {
        // Nothing lies in any range of an empty file.
        return Box::pin(web(url, None, tag)).await;
    }
    if !answer.status().is_success() {
        return Err(Broken::Cause(Cause::of_status(answer.status(), &headers)));
    }
    if let Some(encoding) = text(&headers, CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
        return Err(Broken::Told(
            Error::io("the server sends the file in another form")
                .found(format!("Content-Encoding: {encoding}"))
                .allowed("the bytes of the file")
                .advice("serve the file as it is"),
        ));
    }
    let announced: Option<u64> = text(&headers, CONTENT_LENGTH).and_then(|length| length.parse().ok());
    let is_part = answer.status() == StatusCode::PARTIAL_CONTENT;
    let mut bytes = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(Some(chunk)) => {
                let room = bytes.try_reserve(chunk.len());
                room.map_err(|_| Broken::Told(Error::io("not enough memory for the file")))?;
                bytes.extend_from_slice(&chunk);
            }
            Ok(None) => break,
            Err(error) if error.is_timeout() => return Err(because(error)),
            Err(error) => {
                let found = bytes.len() as u64;
                return Err(match announced {
                    Some(allowed) => Broken::Short { found, allowed },
                    None => because(error),
                });
            }
        }
    }
    let size = match (is_part, total) {
        (true, Some((first, total))) if first == start => total,
        (true, other) => {
            let found = other.map_or("no Content-Range".into(), |(first, _)| format!("from byte {first}"));
            return Err(Broken::Told(
                Error::io("the server sends another part than was asked for")
                    .found(found)
                    .allowed(format!("from byte {start}")),
            ));
        }
        (false, _) => bytes.len() as u64,
    };
    // The whole file in answer to a range: the part is cut from it.
    if let Some(range) = range.filter(|_| !is_part) {
        let end = (range.end.min(size)) as usize;
        bytes.truncate(end);
        bytes.drain(..(range.start as usize).min(end));
    }
    let modified = text(&headers, LAST_MODIFIED).and_then(http_date);
    Ok(Part { bytes, size, tag: text(&headers, ETAG).map(str::to_owned), modified })
}

/// The first byte and the size of the whole, from `bytes 0-9/100`.
fn content_range(headers: &HeaderMap) -> Option<(u64, u64)> {
    let (range, total) = text(headers, CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    Some((range.split_once('-')?.0.parse().ok()?, total.parse().ok()?))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// What a date is worth here: it is only compared, so that its hash is as good.
fn http_date(date: &str) -> Option<SystemTime> {
    Some(instant(date))
}

/// A moment that stands for a tag or a date; another one for another text.
pub(super) fn instant(text: &str) -> SystemTime {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    SystemTime::UNIX_EPOCH + Duration::from_nanos(hasher.finish() >> 2)
}

async fn object(
    store: &dyn ObjectStore,
    key: &Key,
    range: Option<Range<u64>>,
    tag: Option<String>,
    shown: &str,
) -> std::result::Result<Part, Broken> {
    let told = |error: &object_store::Error| match error {
        object_store::Error::Precondition { .. } => Broken::Told(changed()),
        other => Broken::Told(failed(other, shown)),
    };
    let from_start = range.as_ref().is_none_or(|range| range.start == 0);
    let options =
        GetOptions { range: range.map(GetRange::Bounded), if_match: tag.clone(), ..GetOptions::default() };
    let got = match store.get_opts(key, options).await {
        // Nothing lies in any range of an empty object.
        Err(error) if from_start && is_unsatisfiable(&failed(&error, shown)) => {
            store.get_opts(key, GetOptions { if_match: tag, ..GetOptions::default() }).await
        }
        got => got,
    };
    let got = got.map_err(|error| told(&error))?;
    let meta = got.meta.clone();
    let allowed = got.range.end - got.range.start;
    let bytes = got.bytes().await.map_err(|_| Broken::Short { found: 0, allowed })?;
    let modified = Some(instant(&meta.last_modified.to_rfc3339()));
    Ok(Part { bytes: bytes.to_vec(), size: meta.size, tag: meta.e_tag, modified })
}

fn is_unsatisfiable(error: &Error) -> bool {
    error.to_string().contains("status 416")
}
