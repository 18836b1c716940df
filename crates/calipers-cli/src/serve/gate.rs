//! Who may ask: a browser on this machine, at our own address, that was given the token.

use calipers::io::http_request::Request;

/// The secret of one server, and the name of the cookie that carries it.
#[derive(Clone)]
pub struct Gate {
    token: String,
    cookie: String,
}

/// What the gate says to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// It may be answered.
    In,
    /// It brought the token in its address: the cookie to keep it in.
    Token(String),
    /// A status, and why.
    Refused(u16, &'static str),
}

const KEY: &str = "token=";

impl Gate {
    /// A gate with a new token of 128 bits. Cookies do not tell ports apart, so their names do.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { token, cookie: format!("calipers-{port}") })
    }

    /// The part of an address that lets in.
    pub fn query(&self) -> String {
        format!("{KEY}{}", self.token)
    }

    /// Checks host, origin and token, in this order.
    pub fn check(&self, request: &Request) -> Pass {
        if !is_here(&request.host) {
            return Pass::Refused(421, "this server answers to localhost only");
        }
        let own = format!("http://{}", request.host);
        if request.origin.as_ref().is_some_and(|origin| !origin.eq_ignore_ascii_case(&own)) {
            return Pass::Refused(403, "a request from another site");
        }
        let site = request.fetch_site.as_deref();
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Pass::Refused(403, "a request from another site");
        }
        if request.cookie.split("; ").any(|pair| {
            pair.split_once('=').is_some_and(|(name, value)| name == self.cookie && same(value, &self.token))
        }) {
            return Pass::In;
        }
        match request.query.strip_prefix(KEY) {
            Some(token) if request.path == "/" && same(token, &self.token) => {
                let Self { cookie, token } = self;
                Pass::Token(format!("{cookie}={token}; Path=/; HttpOnly; SameSite=Strict"))
            }
            _ => Pass::Refused(403, "open the address that `calipers serve` printed: it holds a token"),
        }
    }
}

/// Whether two texts are equal, in a time that does not say where they differ.
fn same(given: &str, secret: &str) -> bool {
    given.len() == secret.len()
        && given.bytes().zip(secret.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// Whether a `Host` header names this machine: another name that leads here is an attack by DNS.
fn is_here(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => return address == "::1",
        Some((address, port)) => match port.strip_prefix(':') {
            Some(port) => (if address == "::1" { "localhost" } else { "" }, Some(port)),
            None => return false,
        },
        None => match host.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (host, None),
        },
    };
    let digits = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let port_is_one = port.is_none_or(|port| digits(port) && port.parse::<u16>().is_ok_and(|port| port > 0));
    let name = name.to_ascii_lowercase();
    port_is_one && matches!(name.as_str(), "localhost" | "localhost." | "127.0.0.1" | "127.0.0.1.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate { token: "0123456789abcdef0123456789abcdef".into(), cookie: "calipers-80".into() }
    }

    fn request() -> Request {
        let gate = gate();
        Request {
            path: "/".into(),
            host: "localhost:80".into(),
            cookie: format!("x=y; {}={}", gate.cookie, gate.token),
            ..Request::default()
        }
    }

    fn status(request: &Request) -> u16 {
        match gate().check(request) {
            Pass::In => 200,
            Pass::Token(_) => 303,
            Pass::Refused(status, _) => status,
        }
    }

    #[test]
    fn forty_hosts_are_told_apart() {
        let here = [
            "localhost",
            "LOCALHOST",
            "LocalHost",
            "localhost.",
            "localhost:1",
            "localhost.:8000",
            "localhost:65535",
            "127.0.0.1",
            "127.0.0.1:8000",
            "127.0.0.1.",
            "[::1]",
            "[::1]:8000",
            "localhost:080",
        ];
        let elsewhere = [
            "",
            ".",
            ":80",
            "evil.com",
            "evil.com:8000",
            "localhost.evil.com",
            "evil.com.localhost",
            "localhost..",
            "localhost:",
            "localhost:0",
            "localhost:65536",
            "localhost:80:80",
            "localhost:8a",
            "localhost:-1",
            "localhost: 80",
            "localhost 80",
            " localhost",
            "localhost@evil.com",
            "evil.com@localhost",
            "127.0.0.2",
            "127.1",
            "0.0.0.0",
            "0177.0.0.1",
            "2130706433",
            "0x7f.0.0.1",
            "[::]",
            "[::1",
            "::1",
            "[::1]8000",
            "[::1]:",
            "[::ffff:127.0.0.1]",
            "[0:0:0:0:0:0:0:1]",
            "[::1%25lo]",
            "localhost/",
            "localhost#",
            "localhost,evil.com",
            "http://localhost",
            "127.0.0.1.nip.io",
            "127.0.0.1:80.evil.com",
            "localh\u{f6}st",
        ];
        for host in here {
            assert_eq!(status(&Request { host: host.into(), ..request() }), 200, "{host}");
        }
        for host in elsewhere {
            assert_eq!(status(&Request { host: host.into(), ..request() }), 421, "{host}");
        }
        assert!(here.len() + elsewhere.len() >= 40);
    }

    #[test]
    fn other_origins_and_sites_are_refused() {
        for origin in [
            "null",
            "",
            "http://evil.com",
            "https://localhost:80",
            "http://localhost",
            "http://localhost:81",
            "http://localhost:80.evil.com",
            "http://127.0.0.1:80",
            "file://",
            "http://localhost:80/",
            "localhost:80",
        ] {
            assert_eq!(status(&Request { origin: Some(origin.into()), ..request() }), 403, "{origin}");
        }
        assert_eq!(status(&Request { origin: Some("http://LOCALHOST:80".into()), ..request() }), 200);
        for (site, expected) in [
            ("same-origin", 200),
            ("none", 200),
            ("same-site", 403),
            ("cross-site", 403),
            ("", 403),
            ("None", 403),
        ] {
            assert_eq!(status(&Request { fetch_site: Some(site.into()), ..request() }), expected, "{site}");
        }
    }

    #[test]
    fn the_token_is_taken_from_the_address_once_and_then_from_the_cookie() {
        let bare = Request { cookie: String::new(), ..request() };
        assert_eq!(status(&bare), 403);
        let query = gate().query();
        let Pass::Token(cookie) = gate().check(&Request { query: query.clone(), ..bare.clone() }) else {
            panic!("the token does not let in")
        };
        assert!(
            cookie.starts_with("calipers-80=0123") && cookie.ends_with("; HttpOnly; SameSite=Strict"),
            "{cookie}"
        );
        for wrong in [
            String::new(),
            "token=".into(),
            query.to_uppercase(),
            format!("{query}0"),
            query[..query.len() - 1].into(),
            format!("x=1&{query}"),
            query.replace("token", "Token"),
            query.replace('0', "1"),
        ] {
            assert_eq!(status(&Request { query: wrong.clone(), ..bare.clone() }), 403, "{wrong}");
        }
        assert_eq!(status(&Request { query, path: "/list.json".into(), ..bare.clone() }), 403);
        for cookie in [
            "calipers-80=",
            "calipers-81=0123456789abcdef0123456789abcdef",
            "0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!(status(&Request { cookie: cookie.into(), ..bare.clone() }), 403, "{cookie}");
        }
    }

    #[test]
    fn two_gates_have_two_tokens() {
        let [a, b] = [1, 2].map(|port| Gate::new(port).unwrap().query());
        assert_eq!(a.len(), KEY.len() + 32);
        assert_ne!(a, b);
    }
}
