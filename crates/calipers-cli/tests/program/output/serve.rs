//! `calipers serve` against everything that is not a browser opening its page.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use calipers::io::http_request::MOST_BYTES;
use calipers_cli::serve::library::Library;
use calipers_cli::serve::routes::Routes;
use calipers_cli::serve::{MOST_CONNECTIONS, Server};

const REPORT: &str = r#"{"calipers": "0.1.0", "protocol": {"name": "training"}, "units": 3, "metrics": {},
    "undefined": {}, "warnings": [], "inputs": []}"#;

struct Served {
    folder: tempfile::TempDir,
    port: u16,
    /// The `Cookie` header that lets in.
    cookie: String,
    query: String,
}

/// An answer: its status and its whole text.
struct Answer(u16, String);

impl Served {
    fn start(patience: Duration) -> Self {
        let folder = tempfile::tempdir().expect("the test can serve and ask");
        std::fs::write(folder.path().join("a.json"), REPORT).expect("the test can serve and ask");
        let routes = Routes::new(Library::open(folder.path()).expect("the test can serve and ask"), 1, false);
        let server = Server::with_patience(0, routes, patience).expect("the test can serve and ask");
        let (port, address) = (server.port(), server.address());
        let query = address.split_once('?').expect("the test can serve and ask").1.to_owned();
        std::thread::spawn(move || server.run(None));
        let token = query.strip_prefix("token=").expect("the test can serve and ask");
        let cookie = format!("Cookie: calipers-{port}={token}\r\n");
        Self { folder, port, cookie, query }
    }

    /// Sends bytes, ends the stream and reads everything that comes back.
    fn ask(&self, bytes: &[u8]) -> Answer {
        let mut stream =
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("the test can serve and ask");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("the test can serve and ask");
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer(status, text)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", self.cookie).as_bytes())
    }

    fn id(&self) -> String {
        let Answer(_, list) = self.get("/list.json");
        list.split("\"id\":\"").nth(1).expect("the test can serve and ask")[..16].to_owned()
    }
}

const PATIENT: Duration = Duration::from_secs(10);

#[test]
fn the_token_becomes_a_cookie_and_the_cookie_opens_every_page() {
    let served = Served::start(PATIENT);
    let Answer(status, text) =
        served.ask(format!("GET /?{} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", served.query).as_bytes());
    assert_eq!(status, 303, "{text}");
    assert!(text.contains("Location: /\r\n") && text.contains("HttpOnly; SameSite=Strict"), "{text}");
    assert_eq!(served.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").0, 403);
    for path in ["/", "/list.js", "/list.css", "/list.json", &format!("/report/{}", served.id())] {
        let Answer(status, text) = served.get(path);
        assert_eq!(status, 200, "{path}: {text}");
        for header in ["nosniff", "frame-ancestors 'none'", "no-referrer", "no-store", "default-src 'none'"] {
            assert!(text.contains(header), "{header} at {path}");
        }
    }
    let Answer(status, text) = served.get(&format!("/compare/{0}/{0}", served.id()));
    assert!(status == 200 && text.contains("Reports side by side"), "{text}");
}

#[test]
fn head_has_no_body_and_an_unchanged_list_is_not_sent_again() {
    let served = Served::start(PATIENT);
    let Answer(status, text) =
        served.ask(format!("HEAD / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", served.cookie).as_bytes());
    assert!(status == 200 && text.ends_with("\r\n\r\n"), "{text}");
    let Answer(_, text) = served.get("/list.json");
    let tag = text.split("ETag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    let again = |tag: &str| {
        let cookie = &served.cookie;
        served.ask(
            format!("GET /list.json HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {tag}\r\n{cookie}\r\n")
                .as_bytes(),
        )
    };
    assert_eq!(again(&tag).0, 304);
    std::fs::write(served.folder.path().join("b.json"), REPORT).unwrap();
    let Answer(status, text) = again(&tag);
    assert!(status == 200 && text.contains("b.json"), "{text}");
}

#[test]
fn no_path_leads_out_of_the_routes() {
    let served = Served::start(PATIENT);
    let id = served.id();
    let outside = [
        "/../../etc/passwd",
        "/..",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/%2E%2E%2F",
        "/%252e%252e/",
        "/..%5c..%5cwindows",
        "/..%2fetc",
        concat!("//proc/self/", "root", "/etc/passwd"),
        "//etc/passwd",
        "/%00",
        "/a.json",
        "/report/a.json",
        "/report/../a.json",
        "/report/%2e%2e",
        "/report/..%2fa.json",
        "/report/?path=/etc/passwd",
        "/report/0000000000000000?path=/etc/passwd",
        "/report/",
        "/report//",
        "/report/0000000000000000",
        "/report/%30000000000000000",
        "/report/0000000000000000/..",
        "/list.json/../a.json",
        "/./list.json",
        "/list.json/",
        "/LIST.JSON",
        "/list.jsonx",
        "/list%2ejson",
        "/compare/a/b",
        "/compare/../..",
        "/file:///etc/passwd",
        "/report/....//....//etc",
        "/\\..\\..\\etc",
        "/;/list.json",
        "/list.json;x",
        "/static/list.js",
        "/list.html",
    ];
    assert!(outside.len() >= 30);
    for path in outside {
        let Answer(status, text) = served.get(path);
        assert!((400..500).contains(&status), "{path}: {text}");
        assert!(!text.contains("root:") && !text.contains("\"units\""), "{path}: {text}");
    }
    let upper = id.to_uppercase();
    if upper != id {
        assert_eq!(served.get(&format!("/report/{upper}")).0, 404);
    }
    assert_eq!(served.get(&format!("/report/{id}?path=../../etc/passwd")).0, 200, "a query changes nothing");
}

/// Requests that no browser sends, by family of mistake.
fn malformed(cookie: &str) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    let good = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n").into_bytes();
    // Cut off anywhere.
    all.extend((1..good.len()).step_by(2).map(|end| good[..end].to_vec()));
    // A control byte anywhere.
    for byte in [0u8, 1, 7, 8, 11, 12, 27, 127] {
        all.extend((0..good.len()).step_by(11).map(|at| [&good[..at], &[byte], &good[at..]].concat()));
    }
    let methods = [
        "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "Get", "GETT",
        "G ET", "", " GET", "PRI", "HEAD2", "\u{e9}",
    ];
    all.extend(methods.map(|m| format!("{m} / HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n").into_bytes()));
    let targets = [
        "",
        "*",
        "list.json",
        "http://localhost/",
        "http://evil.com/",
        "localhost:80",
        "/#x",
        "/ /",
        "/\t",
        "\\",
        "/\u{fc}",
        "?",
        "#",
        "//evil.com#",
        "/list.json#",
    ];
    all.extend(targets.map(|t| format!("GET {t} HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n").into_bytes()));
    let versions = [
        "",
        "HTTP",
        "HTTP/",
        "HTTP/1",
        "HTTP/1.",
        "HTTP/0.9",
        "HTTP/1.0",
        "HTTP/1.2",
        "HTTP/2",
        "HTTP/2.0",
        "HTTP/3",
        "http/1.1",
        "HTTPS/1.1",
        "HTTP/1.1 ",
        "HTTP/1.1x",
        "HTTP/11",
    ];
    all.extend(versions.map(|v| format!("GET / {v}\r\nHost: localhost\r\n{cookie}\r\n").into_bytes()));
    let headers = [
        "Host: evil.com",
        "Host: localhost",
        "Host:",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "transfer-encoding:\tchunked",
        "Transfer-Encoding : chunked",
        "Content-Length: 1",
        "Content-Length: -1",
        "Content-Length: 00",
        "Content-Length: 18446744073709551616",
        "Content-Length: 0, 5",
        "Content-Length: a",
        "Upgrade: websocket",
        "Upgrade: h2c",
        "Expect: 100-continue",
        "Origin: null",
        "Origin: http://evil.com",
        "Origin: http://localhost\r\nOrigin: http://localhost",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "X",
        ": x",
        " x: y",
        "X:\r\n folded",
        "X\u{0}: y",
        "X : y",
        "X: \u{7f}",
        "(x): y",
        "X:\ny",
        "X: y\r",
        "If-None-Match: a\r\nIf-None-Match: b",
    ];
    all.extend(
        headers.map(|h| format!("GET / HTTP/1.1\r\nHost: localhost\r\n{cookie}{h}\r\n\r\n").into_bytes()),
    );
    all.push(good.iter().copied().filter(|byte| *byte != b'\r').collect());
    all.push(good.iter().copied().filter(|byte| *byte != b'\n').collect());
    all.push([&good[..], &good[..]].concat());
    all.push([&good[..], b"0\r\n\r\n"].concat());
    all.push([b"\r\n\r\n\x16\x03\x01\x02\x00\x01\x00", &good[..]].concat());
    all.push(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec());
    all.push(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec());
    all.push(vec![0xff; 300]);
    all.push(
        [b"GET /".as_slice(), &vec![b'a'; MOST_BYTES], b" HTTP/1.1\r\nHost: localhost\r\n\r\n"].concat(),
    );
    let many: String = (0..100_000).map(|i| format!("X{i}: 1\r\n")).collect();
    all.push(format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").into_bytes());
    all
}

#[test]
fn hundreds_of_malformed_requests_are_refused_and_the_server_lives() {
    let served = Served::start(PATIENT);
    let all = malformed(&served.cookie);
    assert!(all.len() >= 200, "{}", all.len());
    for bytes in &all {
        let Answer(status, text) = served.ask(bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
        // A head that is refused before it is read to its end may be answered by a reset alone.
        assert!(status == 0 || (400..=505).contains(&status), "{status} for {shown:?}: {text}");
        assert!(!text.contains("<!doctype"), "{shown:?}");
    }
    assert_eq!(served.get("/").0, 200);
}

#[test]
fn a_body_of_any_size_is_refused_before_it_is_read() {
    let served = Served::start(PATIENT);
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).unwrap();
    let head =
        format!("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n{}\r\n", served.cookie);
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.set_read_timeout(Some(PATIENT)).unwrap();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
}

#[test]
fn slow_requests_are_ended_and_too_many_are_turned_away() {
    let patience = Duration::from_millis(1500);
    let served = Served::start(patience);
    let start = Instant::now();
    let mut slow = TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).unwrap();
    slow.set_read_timeout(Some(PATIENT)).unwrap();
    for byte in b"GET / HT" {
        // A byte now and then does not win time.
        slow.write_all(&[*byte]).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut text = String::new();
    slow.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    assert!(start.elapsed() < patience + Duration::from_secs(5));
    let held: Vec<TcpStream> = (0..MOST_CONNECTIONS + 40)
        .map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).unwrap())
        .collect();
    let turned_away = (0..40).any(|_| served.get("/").0 == 503);
    assert!(turned_away, "no connection was turned away");
    drop(held);
    let answered = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        served.get("/").0 == 200
    });
    assert!(answered, "the server does not recover");
}

#[test]
fn only_this_machine_is_listened_to_and_a_taken_port_is_said() {
    let served = Served::start(PATIENT);
    let folder = tempfile::tempdir().unwrap();
    let routes = || Routes::new(Library::open(folder.path()).unwrap(), 1, false);
    let error = Server::bind(served.port, routes()).err().unwrap().to_string();
    assert!(error.contains(&served.port.to_string()) && error.contains("--port"), "{error}");
    let addresses = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = format!(":{:04X}", served.port);
    let listening: Vec<&str> =
        addresses.lines().filter(|line| line.contains(&port) && line.contains(" 0A ")).collect();
    assert!(listening.iter().all(|line| line.contains("0100007F:")), "{listening:?}");
}

#[test]
fn a_server_that_nobody_asks_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let routes = Routes::new(Library::open(folder.path()).unwrap(), 1, false);
    let server = Server::bind(0, routes).unwrap();
    let start = Instant::now();
    server.run(Some(Duration::from_millis(300))).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(300));
}
