//! Sends requests and waits for their answers.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use calipers_core::{Error, Result, stop};
use reqwest::redirect::{Attempt, Policy};
use tokio::runtime::{Builder, Runtime};

use super::{Authorization, Cause, Failure, Request};

/// How long to wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The most redirects of one request.
const REDIRECTS: usize = 5;
/// How often a waiting thread asks whether the work is still wanted.
const ASK: Duration = Duration::from_millis(50);
/// The longest answer.
const MOST_BYTES: usize = 512 << 20;

/// How a client behaves.
#[derive(Clone)]
pub struct Settings {
    /// How long a request may take, from its first byte to the last of its answer.
    pub timeout: Duration,
    /// Who asks.
    pub authorization: Option<Authorization>,
}

/// Connections to servers.
pub struct Client {
    runtime: Runtime,
    sender: Sender,
}

/// Sends requests inside work that a client waits for.
#[derive(Clone)]
pub struct Sender(Arc<Parts>);

struct Parts {
    http: reqwest::Client,
    settings: Settings,
}

impl Client {
    /// A client without connections yet.
    pub fn new(settings: Settings) -> Result<Self> {
        let cannot = |why: String| Error::io("connections cannot be made").found(why);
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(|error| cannot(error.to_string()))?;
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .timeout(settings.timeout)
            .redirect(Policy::custom(follow))
            .user_agent(concat!("calipers/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| cannot(error.to_string()))?;
        Ok(Self { runtime, sender: Sender(Arc::new(Parts { http, settings })) })
    }

    /// The sender for work that this client waits for.
    pub fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Waits for work, and for as long as it is wanted; what was begun beside it moves on meanwhile.
    pub fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(async {
            let mut work = pin!(work);
            loop {
                match tokio::time::timeout(ASK, &mut work).await {
                    Ok(done) => return done,
                    Err(_) => stop::wanted()?,
                }
            }
        })
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}

impl Sender {
    /// The bytes of the answer. What may pass by itself is tried again.
    pub async fn send(&self, request: &Request) -> std::result::Result<Vec<u8>, Failure> {
        let mut tries = 0;
        loop {
            tries += 1;
            let cause = match self.once(request).await {
                Ok(bytes) => return Ok(bytes),
                Err(cause) => cause,
            };
            match cause.wait(tries) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(Failure { cause, address: request.shown(), tries }),
            }
        }
    }

    async fn once(&self, request: &Request) -> std::result::Result<Vec<u8>, Cause> {
        let Parts { http, settings } = &*self.0;
        let because = |error: reqwest::Error| Cause::of(&error, settings.timeout);
        let who = settings.authorization.as_ref();
        let mut answer = request.build(http, who).send().await.map_err(because)?;
        if !answer.status().is_success() {
            return Err(Cause::of_status(answer.status(), answer.headers()));
        }
        let mut bytes = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(because)? {
            if bytes.len() + part.len() > MOST_BYTES {
                return Err(Cause::TooLong(MOST_BYTES));
            }
            bytes.extend_from_slice(&part);
        }
        Ok(bytes)
    }
}

/// Follows a redirect that keeps what protects the request. Credentials stay with the first host.
pub(super) fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let was_safe = attempt.previous().iter().any(|url| url.scheme() == "https");
    let refused = match attempt.url().scheme() {
        _ if attempt.previous().len() > REDIRECTS => Some(format!("more than {REDIRECTS} redirects")),
        "https" => None,
        "http" if !was_safe => None,
        scheme => Some(format!("a redirect to {scheme}")),
    };
    match refused {
        None => attempt.follow(),
        Some(why) => attempt.error(why),
    }
}
