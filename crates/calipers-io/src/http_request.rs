//! The head of an HTTP request: read strictly, for nothing here needs to be lenient.

/// The longest head that is read.
pub const MOST_BYTES: usize = 16 * 1024;
/// The most header lines.
pub const MOST_HEADERS: usize = 64;

/// What is asked for, and by whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Whether only the head of the answer is wanted.
    pub head_only: bool,
    /// The path, undecoded: no route has a character that would need it.
    pub path: String,
    /// What stands behind the question mark.
    pub query: String,
    /// The `Host` header.
    pub host: String,
    /// The `Origin` header.
    pub origin: Option<String>,
    /// The `Sec-Fetch-Site` header.
    pub fetch_site: Option<String>,
    /// The `Cookie` headers, joined.
    pub cookie: String,
    /// The `If-None-Match` header.
    pub if_none_match: Option<String>,
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// The head is not complete yet.
    Partial,
    /// A request that may be answered.
    Complete(Request),
    /// A status that ends the connection, and why.
    Refused(u16, &'static str),
}

/// Reads the bytes that have arrived so far.
///
/// ```
/// use calipers_io::http_request::{Parsed, parse};
/// assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: local"), Parsed::Partial);
/// assert!(matches!(parse(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), Parsed::Complete(_)));
/// assert!(matches!(parse(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n"), Parsed::Refused(405, _)));
/// ```
pub fn parse(bytes: &[u8]) -> Parsed {
    if let Some(why) = bad_byte(bytes) {
        return Parsed::Refused(400, why);
    }
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut raw = httparse::Request::new(&mut headers);
    match raw.parse(bytes) {
        Ok(httparse::Status::Partial) if bytes.len() < MOST_BYTES => Parsed::Partial,
        Ok(httparse::Status::Complete(length)) if length <= MOST_BYTES && length < bytes.len() => {
            Parsed::Refused(400, "one request a connection, and no body")
        }
        Ok(httparse::Status::Complete(length)) if length <= MOST_BYTES => {
            checked(&raw).unwrap_or_else(|(status, why)| Parsed::Refused(status, why))
        }
        Ok(_) => Parsed::Refused(431, "the head of the request is too long"),
        Err(httparse::Error::TooManyHeaders) => Parsed::Refused(431, "too many headers"),
        Err(httparse::Error::Version) => Parsed::Refused(505, "HTTP/1.1 is spoken here"),
        Err(_) => Parsed::Refused(400, "not an HTTP request"),
    }
}

/// Control bytes, and line ends that are not CR LF: two readers could see two requests in them.
fn bad_byte(bytes: &[u8]) -> Option<&'static str> {
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\r' if bytes.get(at + 1).is_some_and(|next| *next != b'\n') => return Some("a bare CR"),
            b'\n' if at == 0 || bytes[at - 1] != b'\r' => return Some("a bare LF"),
            b'\r' | b'\n' | b'\t' => {}
            0..=31 | 127 => return Some("a control byte"),
            _ => {}
        }
    }
    None
}

type Refusal = (u16, &'static str);

fn checked(raw: &httparse::Request<'_, '_>) -> Result<Parsed, Refusal> {
    let head_only = match raw.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err((405, "only GET and HEAD are answered")),
    };
    if raw.version != Some(1) {
        return Err((505, "HTTP/1.1 is spoken here"));
    }
    let target = raw.path.unwrap_or_default();
    if !target.starts_with('/') || target.contains('#') || !target.is_ascii() {
        return Err((400, "the target of a request begins with / and is ASCII"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request { head_only, path: path.into(), query: query.into(), ..Request::default() };
    let mut host = None;
    for header in raw.headers.iter() {
        let Ok(value) = std::str::from_utf8(header.value) else {
            return Err((400, "a header that is no text"));
        };
        let value = value.trim_matches([' ', '\t']);
        match header.name.to_ascii_lowercase().as_str() {
            "host" => once(&mut host, value)?,
            "origin" => once(&mut request.origin, value)?,
            "sec-fetch-site" => once(&mut request.fetch_site, value)?,
            "if-none-match" => once(&mut request.if_none_match, value)?,
            "cookie" if request.cookie.is_empty() => request.cookie = value.into(),
            "cookie" => request.cookie.extend(["; ", value]),
            "content-length" if value == "0" => {}
            "content-length" | "transfer-encoding" => return Err((413, "a request has no body here")),
            "upgrade" => return Err((400, "no other protocol is spoken here")),
            "expect" => return Err((417, "nothing is expected here")),
            _ => {}
        }
    }
    request.host = host.ok_or((400, "a request names its host"))?;
    Ok(Parsed::Complete(request))
}

fn once(slot: &mut Option<String>, value: &str) -> Result<(), Refusal> {
    match slot.replace(value.to_owned()) {
        None => Ok(()),
        Some(_) => Err((400, "a header that may stand once stands twice")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> u16 {
        match parse(text.as_bytes()) {
            Parsed::Refused(status, _) => status,
            Parsed::Complete(_) => 200,
            Parsed::Partial => 0,
        }
    }

    fn with(headers: &str) -> u16 {
        status(&format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"))
    }

    #[test]
    fn a_browser_is_understood() {
        let text = "HEAD /list.json?x=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nCookie: a=b\r\nOrigin: http://127.0.0.1:80\r\n\
                    Sec-Fetch-Site: same-origin\r\nIf-None-Match: \"e\"\r\nCookie: c=d\r\nAccept: */*\r\n\r\n";
        let Parsed::Complete(request) = parse(text.as_bytes()) else {
            panic!("{:?}", parse(text.as_bytes()))
        };
        assert_eq!((request.path.as_str(), request.query.as_str()), ("/list.json", "x=1"));
        assert_eq!((request.head_only, request.cookie.as_str()), (true, "a=b; c=d"));
        assert_eq!(request.if_none_match.as_deref(), Some("\"e\""));
    }

    #[test]
    fn a_head_is_partial_until_its_last_byte() {
        let text = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(parse(&text[..end]), Parsed::Partial, "{end}");
        }
        assert!(matches!(parse(text), Parsed::Complete(_)));
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        assert_eq!(status("GET / HTTP/1.1\nHost: localhost\n\n"), 400);
        assert_eq!(status("GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(with("Host: evil\r\n"), 400);
        assert_eq!(with("Transfer-Encoding: chunked\r\n"), 413);
        assert_eq!(with("Content-Length: 5\r\n"), 413);
        assert_eq!(with("Content-Length: 0\r\n"), 200);
        assert_eq!(with("X: a\r\n b\r\n"), 400);
        assert_eq!(with("X : a\r\n"), 400);
        assert_eq!(with("Upgrade: websocket\r\n"), 400);
        assert_eq!(with("Expect: 100-continue\r\n"), 417);
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"), 505);
        assert_eq!(status("GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400);
        assert_eq!(status("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"), 405);
    }

    #[test]
    fn a_head_that_never_ends_is_refused_at_the_limit() {
        let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}", "a".repeat(MOST_BYTES));
        assert_eq!(status(&long), 431);
        let many: String = (0..=MOST_HEADERS).map(|i| format!("X{i}: 1\r\n")).collect();
        assert_eq!(with(&many), 431);
    }
}
