//! The stores of S3, GCS and Azure, with credentials from the environment alone.

use std::collections::BTreeMap;
use std::env::var;
use std::fmt;
use std::future::Future;
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use calipers_core::{Error, Result};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::transfer::client;
use crate::remote::{Cause, Failure};

/// Where the metadata of an EC2 instance are served, and how long it may take to answer there.
const METADATA: ([u8; 4], u16, Duration) = ([169, 254, 169, 254], 80, Duration::from_secs(1));

/// Stores by scheme and bucket.
type Stores = BTreeMap<(&'static str, String), Arc<dyn ObjectStore>>;

/// What was opened before: connections and credentials are used again.
static STORES: Mutex<Stores> = Mutex::new(BTreeMap::new());

/// The store of a bucket.
pub(super) fn store(scheme: &'static str, bucket: &str) -> Result<Arc<dyn ObjectStore>> {
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = stores.get(&(scheme, bucket.to_owned())) {
        return Ok(Arc::clone(known));
    }
    let store = match scheme {
        "s3" => s3(bucket),
        "gs" => gcs(bucket),
        _ => azure(bucket),
    };
    let store = store.map_err(|error| {
        Error::io("the store cannot be reached").in_file(format!("{scheme}://{bucket}")).found(reason(&error))
    })?;
    stores.insert((scheme, bucket.to_owned()), Arc::clone(&store));
    Ok(store)
}

fn given(name: &str) -> Option<String> {
    var(name).ok().filter(|value| !value.is_empty())
}

/// One try per request of the store's: patience is ours.
fn once() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

fn s3(bucket: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(bucket)
        .with_retry(once())
        .with_http_connector(Patient)
        .with_region(given("AWS_REGION").or(given("AWS_DEFAULT_REGION")).unwrap_or("us-east-1".into()));
    if let Some(endpoint) = given("AWS_ENDPOINT_URL_S3").or(given("AWS_ENDPOINT_URL")) {
        builder = builder.with_allow_http(endpoint.starts_with("http:")).with_endpoint(endpoint);
    }
    let chain = [
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    ];
    if let (Some(key), Some(secret)) = (given("AWS_ACCESS_KEY_ID"), given("AWS_SECRET_ACCESS_KEY")) {
        builder = builder.with_access_key_id(key).with_secret_access_key(secret);
        if let Some(token) = given("AWS_SESSION_TOKEN") {
            builder = builder.with_token(token);
        }
    } else if chain.iter().any(|name| given(name).is_some()) {
        let keys = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(once());
        builder = keys.with_http_connector(Patient);
    } else if !has_metadata() {
        builder = builder.with_skip_signature(true);
    }
    Ok(Arc::new(builder.build()?))
}

/// Whether this is an instance of EC2 that may be asked for credentials.
fn has_metadata() -> bool {
    let (address, port, time) = METADATA;
    let disabled = given("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    !disabled && TcpStream::connect_timeout(&SocketAddr::from((address, port)), time).is_ok()
}

fn gcs(bucket: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    let mut builder = GoogleCloudStorageBuilder::new()
        .with_bucket_name(bucket)
        .with_retry(once())
        .with_http_connector(Patient);
    if let Some(host) = given("STORAGE_EMULATOR_HOST") {
        let base = if host.contains("://") { host } else { format!("http://{host}") };
        let options = ClientOptions::new().with_allow_http(base.starts_with("http:"));
        builder = builder.with_base_url(&base).with_client_options(options);
    }
    builder = match given("GOOGLE_APPLICATION_CREDENTIALS") {
        Some(file) => builder.with_application_credentials(file),
        None => builder.with_skip_signature(true),
    };
    Ok(Arc::new(builder.build()?))
}

fn azure(container: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    let builder = MicrosoftAzureBuilder::from_env()
        .with_container_name(container)
        .with_retry(once())
        .with_http_connector(Patient);
    let has_key = ["AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN"]
        .iter()
        .any(|name| given(name).is_some());
    Ok(Arc::new(builder.with_skip_signature(!has_key).build()?))
}

/// What a failure of a store is: one of ours, where a request has failed.
pub(super) fn failed(error: &object_store::Error, shown: &str) -> Error {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(inner) = source {
        if let Some(Spent(cause, tries)) = inner.downcast_ref::<Spent>() {
            let failure = Failure { cause: cause.clone(), address: shown.to_owned(), tries: *tries };
            return failure.into();
        }
        source = inner.source();
    }
    match error {
        object_store::Error::NotFound { .. } => Error::io("there is no such object").in_file(shown),
        other => Error::io("the store refuses the request").in_file(shown).found(reason(other)),
    }
}

/// The first line of what a library says, without addresses: they may hold what gives access.
fn reason(error: &object_store::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    let text = innermost.to_string();
    let line = text.lines().next().unwrap_or_default();
    let words = line.split_whitespace().filter(|word| !word.contains("://"));
    words.collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

/// Sends the requests of a store, and those again that may pass by themselves.
#[derive(Clone, Copy, Debug)]
struct Patient;

impl HttpConnector for Patient {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Self))
    }
}

/// A request that has failed for good, and how often it was tried.
#[derive(Debug)]
struct Spent(Cause, usize);

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} after {} tries", self.0, self.1)
    }
}

impl std::error::Error for Spent {}

impl HttpService for Patient {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let spent = |cause, tries| Err(HttpError::new(HttpErrorKind::Unknown, Spent(cause, tries)));
            let Ok(http) = client() else { return spent(Cause::Connection("no client".into()), 1) };
            let mut tries = 0;
            loop {
                tries += 1;
                let cause = match http.call(request.clone()).await {
                    Ok(answer) if answer.status().is_success() => return Ok(answer),
                    Ok(answer) => Cause::of_status(answer.status(), answer.headers()),
                    Err(error) if error.kind() == HttpErrorKind::Timeout => {
                        Cause::Silence(super::transfer::SILENCE)
                    }
                    Err(error) => Cause::Connection(innermost(&error)),
                };
                match cause.wait(tries) {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => return spent(cause, tries),
                }
            }
        })
    }
}

fn innermost(error: &HttpError) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner.to_string()
}
