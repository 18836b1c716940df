//! The requests to a server.

use calipers_core::{Error, Result};
use reqwest::{Client, RequestBuilder, Url};

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The address without credentials; messages may show it.
    url: Url,
    /// JSON to send; without it the request is a GET.
    json: Option<String>,
}

impl Request {
    /// A GET of an address with these parameters.
    pub fn get(address: &str, parameters: &[(&str, &str)]) -> Result<Self> {
        let mut url = url(address)?;
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        Ok(Self { url, json: None })
    }

    /// A POST of JSON to an address.
    pub fn post(address: &str, json: String) -> Result<Self> {
        Ok(Self { url: url(address)?, json: Some(json) })
    }

    /// The address without its parameters, which may be long.
    pub fn shown(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.to_string()
    }

    /// The request as the client sends it.
    pub(super) fn build(&self, client: &Client, who: Option<&Authorization>) -> RequestBuilder {
        let url = self.url.clone();
        let request = match &self.json {
            None => client.get(url),
            Some(json) => client.post(url).header("content-type", "application/json").body(json.clone()),
        };
        match who {
            None => request,
            Some(Authorization::Basic(name, password)) => request.basic_auth(name, Some(password)),
            Some(Authorization::Bearer(token)) => request.bearer_auth(token),
        }
    }
}

/// The address; credentials in it are refused, since addresses are shown.
fn url(address: &str) -> Result<Url> {
    let bad = |why: String| Error::value("not an address").found(why).allowed("http://HOST:PORT/PATH");
    let url = Url::parse(address).map_err(|error| bad(error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("an address with credentials".into()));
    }
    Ok(url)
}

/// Who asks. It is never printed.
#[derive(Clone)]
pub enum Authorization {
    /// A name and a password.
    Basic(String, String),
    /// A token.
    Bearer(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_escaped_and_not_shown() {
        let request = Request::get("http://h:1/a", &[("metric_key", "val/F1 &x")]).unwrap();
        assert_eq!(request.url.as_str(), "http://h:1/a?metric_key=val%2FF1+%26x");
        assert_eq!(request.shown(), "http://h:1/a");
    }

    #[test]
    fn an_address_that_would_show_credentials_is_refused_without_them() {
        let error = Request::get("http://me:secret@h/", &[]).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        assert!(Request::post("no address", String::new()).is_err());
    }
}
