//! Which texts name an MLflow store instead of a file or folder.

use std::path::PathBuf;

use calipers_core::{Error, Result};

/// Stands for what `MLFLOW_TRACKING_URI` says.
const BY_ENVIRONMENT: &str = "mlflow:";
/// The variable that MLflow itself reads.
const TRACKING_URI: &str = "MLFLOW_TRACKING_URI";
/// What tells the address of a tracking server from that of a file.
const SCHEME: &str = "mlflow+";
const SQLITE: &str = "sqlite:///";

/// A store of MLflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Store {
    /// A database file, or a folder of its file store.
    Path(PathBuf),
    /// A tracking server.
    Server(Address),
}

/// The address of a tracking server.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    /// As given, without credentials, query and a last `/`.
    shown: String,
    /// The name and password in the address itself.
    credentials: Option<(String, String)>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Address {
    /// The address as messages and reports show it: as given, without credentials.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// What requests begin with.
    pub fn base(&self) -> &str {
        self.shown.strip_prefix(SCHEME).unwrap_or(&self.shown)
    }

    /// The name and password in the address itself.
    pub fn credentials(&self) -> Option<(&str, &str)> {
        self.credentials.as_ref().map(|(name, password)| (name.as_str(), password.as_str()))
    }

    /// The address after a scheme that was recognised.
    fn parse(scheme: &str, rest: &str) -> Result<Self> {
        let bad = |why: &str| {
            Error::usage("not the address of a tracking server")
                .found(why)
                .allowed("mlflow+http://HOST:PORT or mlflow+https://HOST:PORT/PREFIX")
        };
        let rest = rest.split(['?', '#']).next().unwrap_or("").trim_end_matches('/');
        let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
        let (user, host) = host.rsplit_once('@').map_or((None, host), |(user, host)| (Some(user), host));
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(bad("an address without a host"));
        }
        let credentials = user
            .map(|user| -> Result<(String, String)> {
                let (name, password) = user.split_once(':').unwrap_or((user, ""));
                let decoded = |text| decoded(text).ok_or_else(|| bad("credentials that cannot be read"));
                Ok((decoded(name)?, decoded(password)?))
            })
            .transpose()?;
        let path = path.map_or_else(String::new, |path| format!("/{path}"));
        Ok(Self { shown: format!("{scheme}://{host}{path}"), credentials })
    }
}

/// The store that an input names; none where it is a path. `named` says that the format of MLflow was
/// asked for, so that any address is that of its server.
pub fn store(input: &str, named: bool) -> Result<Option<Store>> {
    if input == BY_ENVIRONMENT {
        return by_environment(std::env::var(TRACKING_URI).ok().as_deref()).map(Some);
    }
    if let Some(path) = input.strip_prefix(SQLITE) {
        return database(path).map(Some);
    }
    let Some((scheme, rest)) = input.split_once("://") else { return Ok(None) };
    let without_path =
        || rest.split(['?', '#']).next().is_some_and(|rest| !rest.trim_end_matches('/').contains('/'));
    match scheme {
        "mlflow+http" | "mlflow+https" => {}
        "http" | "https" if named || without_path() => {}
        // The address of a file or folder.
        "http" | "https" | "s3" | "gs" | "az" => return Ok(None),
        _ => {
            return Err(Error::usage("an address of a kind that is not read")
                .found(format!("{scheme}://"))
                .allowed(
                    "mlflow+http://, mlflow+https://, http:// or https:// of a tracking server, sqlite:///; \
                     http://, https://, s3://, gs:// and az:// of files",
                ));
        }
    }
    Address::parse(scheme, rest).map(|address| Some(Store::Server(address)))
}

/// The store that the environment names.
fn by_environment(address: Option<&str>) -> Result<Store> {
    let Some(address) = address.filter(|address| !address.is_empty()) else {
        return Err(Error::usage(format!("{BY_ENVIRONMENT} stands for the store in {TRACKING_URI}"))
            .found("the variable is not set")
            .advice("set it, or name the server with mlflow+http://HOST:PORT"));
    };
    if let Some(path) = address.strip_prefix(SQLITE) {
        return database(path);
    }
    match address.split_once("://") {
        Some((scheme @ ("http" | "https"), rest)) => {
            // Shown so that it means the same server on the command line, with a path, too.
            Address::parse(&format!("{SCHEME}{scheme}"), rest).map(Store::Server)
        }
        Some(("file", path)) => Ok(Store::Path(path.into())),
        None => Ok(Store::Path(address.strip_prefix("file:").unwrap_or(address).into())),
        Some((scheme, _)) => Err(Error::usage("a store of MLflow of a kind that is not read")
            .found(format!("{scheme}:// in {TRACKING_URI}"))
            .allowed("http://, https://, sqlite:///, file:// or a folder")),
    }
}

fn database(path: &str) -> Result<Store> {
    if path.is_empty() {
        return Err(Error::usage("a database in memory cannot be read")
            .found(SQLITE)
            .allowed("sqlite:///FILE, with four slashes where FILE begins with one"));
    }
    Ok(Store::Path(path.into()))
}

/// Text without its percent signs.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(match byte {
            b'%' => (digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(input: &str, named: bool) -> Address {
        match store(input, named).unwrap() {
            Some(Store::Server(address)) => address,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_address_is_shown_as_given_without_what_is_secret() {
        for (given, named, shown, base) in [
            ("mlflow+http://h:5000", false, "mlflow+http://h:5000", "http://h:5000"),
            ("mlflow+https://me:a%40b@h/x/y/?k=1", false, "mlflow+https://h/x/y", "https://h/x/y"),
            ("http://127.0.0.1:5000/", false, "http://127.0.0.1:5000", "http://127.0.0.1:5000"),
            ("https://h/prefix", true, "https://h/prefix", "https://h/prefix"),
        ] {
            let address = server(given, named);
            assert_eq!((address.shown(), address.base()), (shown, base));
        }
        let secret = server("mlflow+http://me:a%40b@h", false);
        assert_eq!(secret.credentials(), Some(("me", "a@b")));
        assert!(!format!("{secret:?}").contains("a@b"));
    }

    #[test]
    fn a_database_and_a_path_are_no_servers() {
        assert_eq!(store("sqlite:///a/b.db", false).unwrap(), Some(Store::Path("a/b.db".into())));
        assert_eq!(store("sqlite:////a/b.db", false).unwrap(), Some(Store::Path("/a/b.db".into())));
        assert_eq!(store("logs/a.csv", true).unwrap(), None);
        assert_eq!(store("mlflow", false).unwrap(), None);
        assert_eq!(store("http://h/a/b.csv", false).unwrap(), None);
        assert_eq!(store("s3://bucket/key", false).unwrap(), None);
    }

    #[test]
    fn an_address_of_another_kind_is_wrong_usage() {
        for input in ["ftp://host/key", "mlflow+http:///x", "sqlite:///"] {
            let error = store(input, false).unwrap_err();
            assert_eq!(error.kind(), calipers_core::ErrorKind::Usage, "{input}");
        }
        let error = store("ftp://me:secret@h/a.csv", false).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn the_environment_names_any_store() {
        let shown = |address: &str| match by_environment(Some(address)).unwrap() {
            Store::Server(address) => address.shown().to_owned(),
            Store::Path(path) => path.display().to_string(),
        };
        assert_eq!(shown("http://h:1/p"), "mlflow+http://h:1/p");
        assert_eq!(shown("sqlite:///m.db"), "m.db");
        assert_eq!(shown("file:///a/b"), "/a/b");
        assert_eq!(shown("./mlruns"), "./mlruns");
        assert!(by_environment(None).unwrap_err().to_string().contains("MLFLOW_TRACKING_URI"));
        assert!(by_environment(Some("databricks://x")).is_err());
    }
}
