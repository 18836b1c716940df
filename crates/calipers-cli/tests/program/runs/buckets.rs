//! Buckets of Google and containers of Azure, as a server on this machine plays them: the report of the folder.
#![cfg(feature = "remote")]

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::addresses::{Answer, Asked, LINE, files, not_found, part, server, without_root};

/// The keys of all files below a folder.
fn keys(folder: &Path) -> Vec<String> {
    let (mut folders, mut keys) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(path) = folders.pop() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => keys.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned()),
            }
        }
    }
    keys.sort();
    keys
}

/// A path without escapes: every store has its own.
fn decoded(path: &str) -> String {
    let (first, rest) = path.split_at(path.find('%').unwrap_or(path.len()));
    match rest.get(1..3).and_then(|code| u8::from_str_radix(code, 16).ok()) {
        Some(byte) => format!("{first}{}{}", char::from(byte), decoded(&rest[3..])),
        None => path.to_owned(),
    }
}

/// The answer of a store: a list of keys as `list` writes it, or an object.
fn answered(folder: &Path, asked: &Asked, list: fn(&[String]) -> String) -> Answer {
    let plain = decoded(&asked.path);
    let (path, query) = plain.split_once('?').unwrap_or((&plain, ""));
    let key = path.strip_prefix("/evidence").unwrap().trim_start_matches('/');
    let (head, body) = if key.is_empty() {
        let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
        let found: Vec<String> = keys(folder).into_iter().filter(|key| key.starts_with(prefix)).collect();
        let text = format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>{}", list(&found));
        (format!("200 OK\r\nContent-Length: {}", text.len()), text.into_bytes())
    } else {
        std::fs::read(folder.join(key)).map_or_else(|_| not_found(), |bytes| part(&bytes, asked, "1"))
    };
    (format!("{head}\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT"), body)
}

const GOOGLE: fn(&[String]) -> String = |keys| {
    let object = |key: &String| {
        format!(
            "<Contents><Key>{key}</Key><Size>1</Size><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag></Contents>"
        )
    };
    format!("<ListBucketResult>{}</ListBucketResult>", keys.iter().map(object).collect::<String>())
};

const AZURE: fn(&[String]) -> String = |keys| {
    let blob = |key: &String| {
        format!(
            "<Blob><Name>{key}</Name><Properties><Last-Modified>Mon, 01 Jan 2024 00:00:00 GMT</Last-Modified><Content-Length>1</Content-Length><Content-Type>x</Content-Type><Etag>1</Etag></Properties></Blob>"
        )
    };
    let blobs: String = keys.iter().map(blob).collect();
    format!("<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker/></EnumerationResults>")
};

#[test]
fn buckets_of_google_and_containers_of_azure_give_the_report_of_the_folder() {
    let bench = files();
    let of_folder = without_root(bench.report(&LINE.replace("@", "data").replace("/ ", " ")), "data");
    for (root, list, host) in [
        ("gs://evidence", GOOGLE, "STORAGE_EMULATOR_HOST"),
        ("az://evidence", AZURE, "AZURE_STORAGE_ENDPOINT"),
    ] {
        let folder: PathBuf = bench.path("data");
        let address = server(move |asked| answered(&folder, asked, list));
        let environment = [(host, address.as_str()), ("AZURE_STORAGE_ACCOUNT_NAME", "someone")];
        let line = LINE.replace('@', root).replace("/ ", " ");
        let said = bench.run_in(&format!("{line} --json r.json --quiet"), &environment);
        assert_eq!(said.status, 0, "{root}\n{}", said.stderr);
        let report: Json = serde_json::from_str(&bench.read("r.json")).unwrap();
        assert_eq!(without_root(report, root), of_folder, "{root}");
        let said = bench.run_in("verify r.json", &environment);
        assert_eq!(said.status, 0, "{root}\n{}{}", said.stdout, said.stderr);
        let gone = line.replace("/gt", "/none");
        let said = bench.run_in(&gone, &environment);
        assert_eq!(said.status, 1, "{root}\n{}", said.stderr);
        assert!(said.stderr.contains(&format!("{root}/none")), "{}", said.stderr);
    }
}
