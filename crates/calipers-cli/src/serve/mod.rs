//! A local page over a folder of reports and states: one request a connection, GET and HEAD alone.
//!
//! ```text
//! TcpListener on 127.0.0.1 -> calipers_io::http_request  the head, strictly read
//!                          -> gate      Host, Origin, token
//!                          -> routes    a fixed table; files by id from library
//!                          -> response  with every header that closes it
//! ```
//!
//! The standard library's sockets and a parser of heads are all it takes: no state is changed, no body
//! is read, and nothing is kept open between requests.

mod deadline;
pub mod gate;
pub mod library;
pub mod response;
pub mod routes;

use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use calipers::core::fault;
use calipers::io::http_request::{self, MOST_BYTES, Parsed, Request};
use calipers::{Error, Result};

use self::deadline::{Deadline, Pause};
use self::gate::{Gate, Pass};
use self::response::Response;
use self::routes::Routes;
use crate::emit;

/// The most connections at a time.
pub const MOST_CONNECTIONS: usize = 128;
/// How long a request may take to arrive.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How long an answer may take to leave, the whole of it.
const RESPONSE: Duration = Duration::from_secs(30);

/// A server that is bound and not yet answering.
pub struct Server {
    listener: TcpListener,
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    gate: Gate,
    routes: Routes,
    patience: Duration,
    open: AtomicUsize,
    started: Instant,
    /// Milliseconds after the start at which something was last asked for by a person.
    asked: AtomicU64,
    over: AtomicBool,
}

impl Server {
    /// Binds to this machine alone; port 0 takes any free one.
    pub fn bind(port: u16, routes: Routes) -> Result<Self> {
        Self::with_patience(port, routes, PATIENCE)
    }

    /// The same with another patience.
    pub fn with_patience(port: u16, routes: Routes, patience: Duration) -> Result<Self> {
        let cannot = |error: io::Error| {
            Error::io(format!("cannot listen on port {port}: {}", error.kind()))
                .advice("leave out --port to take any free one")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let gate = Gate::new(port)
            .map_err(|error| Error::io(format!("the system gives no random numbers: {error}")))?;
        let shared = Shared {
            gate,
            routes,
            patience,
            open: AtomicUsize::new(0),
            started: Instant::now(),
            asked: AtomicU64::new(0),
            over: AtomicBool::new(false),
        };
        Ok(Self { listener, port, shared: Arc::new(shared) })
    }

    /// The port it is bound to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address that lets in.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?{}", self.port, self.shared.gate.query())
    }

    /// Answers until nobody has asked for anything for `idle`; for ever without it.
    pub fn run(self, idle: Option<Duration>) -> Result<()> {
        if let Some(idle) = idle {
            let (shared, port) = (Arc::clone(&self.shared), self.port);
            std::thread::spawn(move || watch(&shared, port, idle));
        }
        let mut pause = Pause::default();
        for stream in self.listener.incoming() {
            if self.shared.over.load(Ordering::Acquire) {
                break;
            }
            match stream {
                Ok(stream) => {
                    pause.reset();
                    self.accept(stream);
                }
                Err(error) => {
                    if pause.is_to_be_told() {
                        emit::note(&format!("connections cannot be accepted for now: {error}"));
                    }
                    std::thread::sleep(pause.longer());
                }
            }
        }
        Ok(())
    }

    /// Answers while it is wanted; asks several times per second.
    pub fn run_while(self, wanted: impl Fn() -> bool) -> Result<()> {
        let (shared, port) = (Arc::clone(&self.shared), self.port);
        let serving = std::thread::spawn(move || self.run(None));
        while wanted() && !serving.is_finished() {
            std::thread::sleep(Duration::from_millis(100));
        }
        end(&shared, port);
        serving.join().unwrap_or_else(|_| Err(Error::io("the server stopped")))
    }

    fn accept(&self, stream: TcpStream) {
        let shared = Arc::clone(&self.shared);
        let Some(place) = Place::take(&shared) else {
            // So short an answer fits the system's buffer: nobody waits for it to be taken.
            let _ = stream.set_write_timeout(Some(Duration::from_millis(10)));
            let _ = Response::refusal(503, "too many connections").write(&mut &stream, false);
            return;
        };
        let work = move || {
            shared.serve(stream);
            drop(place);
        };
        // A thread that cannot be had leaves the connection to be closed.
        let _ = std::thread::Builder::new().name("connection".into()).spawn(work);
    }
}

/// One of the connections that may be open at a time.
struct Place(Arc<Shared>);

impl Place {
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let place = Self(Arc::clone(shared));
        (shared.open.fetch_add(1, Ordering::AcqRel) < MOST_CONNECTIONS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let response = match self.head(&mut stream) {
            Ok(Some(request)) => {
                let response = fault::caught(|| Ok(self.answer(&request)))
                    .unwrap_or_else(|error| Response::refusal(500, &error.to_string()));
                return self.say(&stream, &response, request.head_only);
            }
            Ok(None) => return,
            Err((status, why)) => Response::refusal(status, why),
        };
        self.say(&stream, &response, false);
    }

    /// The head of the request; nothing when the other side went away.
    fn head(&self, stream: &mut TcpStream) -> std::result::Result<Option<Request>, (u16, &'static str)> {
        let late = (408, "the request took too long to arrive");
        let end = Instant::now() + self.patience;
        let mut bytes = Vec::new();
        let mut block = [0; 2048];
        loop {
            let left =
                end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()).ok_or(late)?;
            stream.set_read_timeout(Some(left)).map_err(|_| late)?;
            match stream.read(&mut block) {
                Ok(0) if bytes.is_empty() => return Ok(None),
                Ok(0) => return Err((400, "the request ends in the middle")),
                Ok(length) => bytes.extend_from_slice(&block[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(late);
                }
                Err(_) => return Ok(None),
            }
            match http_request::parse(&bytes) {
                Parsed::Complete(request) => return Ok(Some(request)),
                Parsed::Refused(status, why) => return Err((status, why)),
                Parsed::Partial if bytes.len() > MOST_BYTES => return Err((431, "the head is too long")),
                Parsed::Partial => {}
            }
        }
    }

    fn answer(&self, request: &Request) -> Response {
        match self.gate.check(request) {
            Pass::Refused(status, why) => Response::refusal(status, why),
            Pass::Token(cookie) => {
                self.note();
                let more = vec![("Location", "/".to_owned()), ("Set-Cookie", cookie)];
                Response { status: 303, more, ..Response::new("text/plain; charset=utf-8", "") }
            }
            Pass::In => {
                // A page left open asks for the list for ever; that is nobody's wish.
                if request.path != "/list.json" {
                    self.note();
                }
                self.routes.answer(request)
            }
        }
    }

    fn note(&self) {
        self.asked.store(self.started.elapsed().as_millis() as u64, Ordering::Release);
    }

    /// Writes an answer and closes; whoever does not take it in time does not want it.
    fn say(&self, stream: &TcpStream, response: &Response, head_only: bool) {
        if response.write(&mut Deadline::new(stream, RESPONSE), head_only).is_err() {
            return;
        }
        let mut stream = stream;
        // What is still on its way would turn the close into a reset that swallows the answer.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(500).min(self.patience)));
        let mut rest = [0; 2048];
        for _ in 0..32 {
            if !matches!(stream.read(&mut rest), Ok(1..)) {
                break;
            }
        }
    }
}

/// Ends the server when nobody asked for anything for so long.
fn watch(shared: &Shared, port: u16, idle: Duration) {
    loop {
        let last = Duration::from_millis(shared.asked.load(Ordering::Acquire));
        let quiet = shared.started.elapsed().saturating_sub(last);
        if quiet >= idle {
            return end(shared, port);
        }
        std::thread::sleep((idle - quiet).min(Duration::from_secs(1)));
    }
}

fn end(shared: &Shared, port: u16) {
    shared.over.store(true, Ordering::Release);
    // The listener waits for one more connection: this one.
    let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
}
