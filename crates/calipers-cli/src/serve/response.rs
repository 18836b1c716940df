//! Answers, and the headers that every one of them carries.

use std::io::{self, Write};

/// What a page of the server itself may do.
pub const OWN_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'";

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
    /// What the page may do.
    pub policy: String,
    /// The hash that stands for the content.
    pub etag: Option<String>,
    /// Further headers.
    pub more: Vec<(&'static str, String)>,
}

impl Response {
    /// A body of a type.
    pub fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self { status: 200, kind, body, policy: OWN_POLICY.into(), etag: None, more: Vec::new() }
    }

    /// A refusal in a sentence.
    pub fn refusal(status: u16, why: &str) -> Self {
        let more = if status == 405 { vec![("Allow", "GET, HEAD".into())] } else { Vec::new() };
        Self { status, more, ..Self::new("text/plain; charset=utf-8", format!("{why}\n")) }
    }

    /// The same content under a hash: nothing is sent to who has it already.
    #[must_use]
    pub fn tagged(mut self, known: Option<&str>) -> Self {
        let tag = format!("\"{}\"", &blake3_hex(&self.body)[..32]);
        if known == Some(tag.as_str()) {
            self.status = 304;
            self.body.clear();
        }
        self.etag = Some(tag);
        self
    }

    /// Writes head and body, or the head alone.
    pub fn write(&self, out: &mut dyn Write, head_only: bool) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
             Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\nContent-Security-Policy: {}; frame-ancestors 'none'\r\n",
            self.status,
            reason(self.status),
            self.kind,
            self.body.len(),
            self.policy
        );
        let etag = self.etag.iter().map(|tag| ("ETag", tag));
        for (name, value) in self.more.iter().map(|(name, value)| (*name, value)).chain(etag) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        out.write_all(head.as_bytes())?;
        if !head_only {
            out.write_all(&self.body)?;
        }
        out.flush()
    }
}

fn blake3_hex(bytes: &[u8]) -> String {
    calipers::core::Digest::of(bytes).to_string()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(response: &Response, head_only: bool) -> String {
        let mut bytes = Vec::new();
        response.write(&mut bytes, head_only).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn every_answer_forbids_frames_sniffing_referrers_and_caches() {
        for response in
            [Response::new("text/html", "x"), Response::refusal(404, "no"), Response::refusal(405, "no")]
        {
            let text = text(&response, false);
            for header in [
                "frame-ancestors 'none'",
                "X-Content-Type-Options: nosniff",
                "Referrer-Policy: no-referrer",
                "Cache-Control: no-store",
                "Cross-Origin-Resource-Policy: same-origin",
                "default-src 'none'",
                "Connection: close",
            ] {
                assert!(text.contains(header), "{header} in {text}");
            }
            assert!(!text.contains("Access-Control"), "{text}");
        }
    }

    #[test]
    fn who_has_the_content_gets_its_hash_alone() {
        let response = Response::new("text/plain", "content").tagged(None);
        let tag = response.etag.clone().unwrap();
        let again = Response::new("text/plain", "content").tagged(Some(&tag));
        assert_eq!((again.status, again.body.len()), (304, 0));
        assert_eq!(Response::new("text/plain", "other").tagged(Some(&tag)).status, 200);
        assert!(text(&response, true).contains("Content-Length: 7\r\n"));
        assert!(text(&response, true).ends_with("\r\n\r\n"));
    }
}
