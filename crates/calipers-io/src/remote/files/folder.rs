//! The files below an address: the keys of a store, or what `listing.txt` says of a web server.

use std::future::poll_fn;

use calipers_core::{Error, Result};
use object_store::ObjectStoreExt;
use object_store::path::Path as Key;

use super::Address;
use super::runtime::wait;
use super::store::failed;
use super::transfer::Target;
use crate::archive::member_path;
use crate::place::Kind;

/// What says which files a folder of a web server holds.
const LISTING: &str = "listing.txt";

/// What an address leads to.
pub fn kind(address: &Address, given: &str) -> Result<Kind> {
    match address {
        Address::Web(_) => Ok(if given.ends_with('/') { Kind::Folder } else { Kind::File }),
        Address::Object { key, .. } => {
            let Target::Object(store, path, shown) = Target::of(address)? else { return Ok(Kind::File) };
            if key.is_empty() || given.ends_with('/') {
                return Ok(Kind::Folder);
            }
            let (head, error) = wait(async move {
                let found = store.head(&path).await;
                Ok(match found {
                    Ok(_) => (true, None),
                    Err(error) => (false, Some(failed(&error, &shown))),
                })
            })?;
            match error {
                None if head => Ok(Kind::File),
                Some(error)
                    if error.to_string().contains("status 404") || error.what().contains("no such") =>
                {
                    let below = listing(address)?;
                    if below.is_empty() { Err(nothing(address)) } else { Ok(Kind::Folder) }
                }
                Some(error) => Err(error),
                None => Err(nothing(address)),
            }
        }
    }
}

fn nothing(address: &Address) -> Error {
    Error::io("there is no such object, and none below it")
        .in_file(address.shown())
        .advice("check the bucket and the key")
}

/// The paths of all files below an address, in byte order.
pub fn listing(address: &Address) -> Result<Vec<String>> {
    let mut paths = match address {
        Address::Web(_) => web(address)?,
        Address::Object { .. } => keys(address)?,
    };
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}

fn keys(address: &Address) -> Result<Vec<String>> {
    let Target::Object(store, prefix, shown) = Target::of(address)? else { return Ok(Vec::new()) };
    let below = prefix.clone();
    let found: Vec<(Key, u64)> = wait(async move {
        let (mut listed, mut found) = (store.list(Some(&below)), Vec::new());
        // All pages, one after the other.
        while let Some(object) = poll_fn(|context| listed.as_mut().poll_next(context)).await {
            let object = object.map_err(|error| failed(&error, &shown))?;
            found.push((object.location, object.size));
        }
        Ok(found)
    })?;
    let relative = |(key, size): &(Key, u64)| {
        let key = key.as_ref();
        let path = match prefix.as_ref() {
            "" => key,
            prefix => key.strip_prefix(prefix)?.strip_prefix('/')?,
        };
        Some((path.to_owned(), *size)).filter(|(path, _)| !path.is_empty())
    };
    let paths: Vec<(String, u64)> = found.iter().filter_map(relative).collect();
    // What stands for a folder in a store without folders is an empty object of its name.
    let is_folder = |path: &str| {
        paths.iter().any(|(other, _)| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
    };
    Ok(paths
        .iter()
        .filter(|(path, size)| *size > 0 || !is_folder(path))
        .map(|(path, _)| path.clone())
        .collect())
}

fn web(address: &Address) -> Result<Vec<String>> {
    let Address::Web(url) = address else { return Ok(Vec::new()) };
    let mut listing = url.clone();
    listing.set_query(None);
    let folder = listing.path().trim_end_matches('/').to_owned();
    listing.set_path(&format!("{folder}/{LISTING}"));
    let part = wait(Target::Web(listing).get(None, None)).map_err(|error| {
        error
            .allowed(format!("{LISTING} below the address, with one path per line"))
            .advice("web servers list no folders: give a zip or tar, or write listing.txt with find -type f")
    })?;
    let text = String::from_utf8(part.bytes)
        .map_err(|_| Error::format("the listing is not UTF-8").in_file(address.shown()).at(LISTING))?;
    let mut paths = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let path = member_path("listing", line.as_bytes()).map_err(|error| error.in_file(address.shown()))?;
        match path {
            Some(path) if path.contains(['?', '#', '%']) => {
                return Err(Error::value("the listing names a file that has no address")
                    .in_file(address.shown())
                    .found(path)
                    .allowed("names without ?, # and %"));
            }
            Some(path) if path != LISTING => paths.push(path),
            _ => {}
        }
    }
    Ok(paths)
}
