//! Files on a web server: one that behaves gives the report of the folder, one that does not an error.
#![cfg(feature = "remote")]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use crate::support::segmentation::grey;
use crate::support::{Bench, f64s, i64s, npz};

/// What was asked: the path, the first byte of the range and the tag to match.
pub(super) struct Asked {
    pub(super) path: String,
    range: Option<(usize, usize)>,
    authorization: bool,
}

/// A whole answer: a status line with headers, and a body.
pub(super) type Answer = (String, Vec<u8>);

/// A server on this machine that answers as it is told; its address.
pub(super) fn server(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || serve(&stream, &*answer));
        }
    });
    address
}

fn serve(mut stream: &TcpStream, answer: &dyn Fn(&Asked) -> Answer) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or_default();
    let mut asked = Asked { path: path.to_owned(), range: None, authorization: false };
    for line in lines.take_while(|line| !line.is_empty()) {
        let line = line.to_ascii_lowercase();
        if let Some((from, to)) = line.strip_prefix("range: bytes=").and_then(|range| range.split_once('-')) {
            asked.range = Some((from.parse().unwrap(), to.parse().unwrap()));
        }
        asked.authorization |= line.starts_with("authorization: basic");
    }
    let (head, body) = answer(&asked);
    let _ = stream.write_all(format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").as_bytes());
    let _ = stream.write_all(&body);
}

/// A part of a file, as a server with ranges gives it.
pub(super) fn part(bytes: &[u8], asked: &Asked, tag: &str) -> Answer {
    let Some((from, to)) = asked.range else {
        return (format!("200 OK\r\nContent-Length: {}\r\nETag: \"{tag}\"", bytes.len()), bytes.to_vec());
    };
    let end = (to + 1).min(bytes.len());
    let range = format!("Content-Range: bytes {from}-{}/{}", end - 1, bytes.len());
    let body = bytes[from..end].to_vec();
    (format!("206 Partial Content\r\nContent-Length: {}\r\n{range}\r\nETag: \"{tag}\"", body.len()), body)
}

pub(super) fn not_found() -> Answer {
    ("404 Not Found\r\nContent-Length: 0".into(), Vec::new())
}

/// Files of two families, and a listing of each folder.
pub(super) fn files() -> Bench {
    let bench = Bench::new();
    for (name, truth, pred) in [("a", [0, 0, 1], [0, 1, 1]), ("city/b c", [1, 1, 0], [1, 1, 0])] {
        bench.write(&format!("data/gt/{name}.png"), grey(3, &truth));
        bench.write(&format!("data/out/{name}.png"), grey(3, &pred));
    }
    let unit =
        [("edge_index", i64s(&[2, 4], &[0, 1, 1, 2, 1, 0, 2, 1])), ("logits", f64s(&[3], &[1.0, -1.0, 1.0]))];
    bench.write("data/sets/a.npz", npz(&unit));
    for folder in ["gt", "out"] {
        bench.write(&format!("data/{folder}/listing.txt"), "./a.png\ncity/b c.png\n");
    }
    bench.write("data/logs/a.csv", "epoch,m\n0,0.5\n1,0.7\n").write("data/logs/listing.txt", "a.csv\n");
    let column = concat!(env!("CARGO_MANIFEST_DIR"), "/../calipers-io/tests/fixtures/columns/images.parquet");
    bench.write("data/images.parquet", std::fs::read(column).unwrap());
    bench
}

/// Serves the folder of a bench; with ranges, or whole files alone.
fn serving(bench: &Bench, ranges: bool) -> String {
    let folder = bench.path("data");
    server(move |asked| match std::fs::read(folder.join(asked.path[1..].replace("%20", " "))) {
        Ok(bytes) if ranges => part(&bytes, asked, "1"),
        Ok(bytes) => (format!("200 OK\r\nContent-Length: {}", bytes.len()), bytes),
        Err(_) => not_found(),
    })
}

pub(super) const LINE: &str = "segmentation --truth @/gt/ --pred @/out/ --classes 2";

pub(super) fn without_root(mut report: Json, root: &str) -> Json {
    for input in report["inputs"].as_array_mut().unwrap() {
        for key in ["path", "below"] {
            if let Some(path) = input[key].as_str() {
                input[key] = json!(path.strip_prefix(root).unwrap());
            }
        }
    }
    report
}

#[test]
fn a_web_server_gives_the_report_of_the_folder() {
    let bench = files();
    let columns = "segmentation --truth @/images.parquet:mask --pred @/images.parquet:out --classes 256";
    for (line, ranges) in [
        (LINE, true),
        (LINE, false),
        ("independent-set @/sets/a.npz", true),
        ("training @/logs/ --metric m", true),
        (columns, true),
    ] {
        let address = serving(&bench, ranges);
        let of_folder = without_root(bench.report(&line.replace('@', "data")), "data");
        let report = bench.report(&line.replace('@', &address));
        assert_eq!(without_root(report, &address), of_folder, "{line}");
        bench.run(&format!("{} --json r.json --quiet", line.replace('@', &address)));
        let said = bench.run("verify r.json");
        assert_eq!(said.status, 0, "{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn an_archive_on_a_server_is_a_folder() {
    let bench = files();
    let tar = std::process::Command::new("tar")
        .args(["-cf", "all.tar", "gt", "out"])
        .current_dir(bench.path("data"))
        .status();
    assert!(tar.unwrap().success());
    let root = format!("{}/all.tar", serving(&bench, true));
    let of_folder = without_root(bench.report(&LINE.replace('@', "data")), "data");
    let report = bench.report(&LINE.replace('@', &root).replace("/ ", " "));
    assert_eq!(without_root(report, &root)["metrics"], of_folder["metrics"]);
}

#[test]
fn small_objects_are_asked_for_once_and_several_at_a_time() {
    const OBJECTS: usize = 40;
    let bench = Bench::new();
    let scores = |shift: f64| f64s(&[3, 2], &[0.2 + shift, 0.1, 0.3, 0.9, 0.4, 0.5 - shift]);
    let edges = i64s(&[2, 4], &[0, 1, 1, 2, 1, 0, 2, 1]);
    let set = npz(&[("edge_index", edges), ("logits", f64s(&[3], &[1.0, -1.0, 1.0]))]);
    let mask = npz(&[("pred_mask", f64s(&[3], &[0.1, 0.7, 0.2]))]);
    let run = [("clean", scores(0.0)), ("attacked_0.1", scores(-0.4)), ("labels", i64s(&[3], &[0, 1, 1]))];
    for (folder, bytes) in [("sets", set), ("masks", mask), ("runs", npz(&run))] {
        let names: Vec<String> = (0..OBJECTS).map(|number| format!("{number}.npz")).collect();
        names.iter().for_each(|name| _ = bench.write(&format!("data/{folder}/{name}"), &bytes));
        bench.write(&format!("data/{folder}/listing.txt"), names.join("\n"));
    }
    for line in ["independent-set @/sets/", "explanation @/masks/ --mask-scores raw", "robustness @/runs/"] {
        let (asked, at_once, most) =
            (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let (counted, highest, data) = (Arc::clone(&asked), Arc::clone(&most), bench.path("data"));
        let address = server(move |asked| {
            counted.fetch_add(1, Ordering::SeqCst);
            highest.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(20));
            at_once.fetch_sub(1, Ordering::SeqCst);
            std::fs::read(data.join(&asked.path[1..]))
                .map_or_else(|_| not_found(), |bytes| part(&bytes, asked, "1"))
        });
        let report = bench.report(&format!("{} --threads 2", line.replace('@', &address)));
        assert_eq!(report["units"], OBJECTS, "{line}");
        assert_eq!(asked.load(Ordering::SeqCst), OBJECTS + 1, "{line}: each object and the listing");
        let most = most.load(Ordering::SeqCst);
        assert!((4..=16).contains(&most), "{line}: {most} requests at once");
    }
}

#[test]
fn what_an_address_does_not_give_is_said() {
    let bench = files();
    let address = serving(&bench, true);
    let line = |truth: &str| format!("segmentation --truth {truth} --pred data/out --classes 2");
    bench.refuses(&line(&format!("{address}/none/")), 1, &["/none/listing.txt", "status 404", "zip or tar"]);
    let alone = format!("segmentation --truth {address}/none.png --pred data/out/a.png --classes 2");
    bench.refuses(&alone, 1, &["/none.png", "status 404, after 1 try"]);
    bench.refuses(&line("ftp://h/x"), 2, &["not an address", "ftp://h/x", "s3://"]);
    bench.refuses(&format!("{LINE} --json {address}/r.json").replace('@', "data"), 2, &["outputs are local"]);
    let resume = format!("{LINE} --resume s3://b/r").replace('@', "data");
    bench.refuses(&resume, 2, &["outputs are local", "s3://b/r"]);
}

#[test]
fn what_may_pass_is_tried_again_and_what_may_not_is_refused_at_once() {
    let bench = files();
    let gt = bench.bytes("data/gt/a.png");
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let bytes = gt.clone();
    let address = server(move |asked| match counted.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => ("503 Busy\r\nRetry-After: 0\r\nContent-Length: 0".into(), Vec::new()),
        _ => part(&bytes, asked, "1"),
    });
    let line = |truth: &str| format!("segmentation --truth {truth} --pred data/out/a.png --classes 2");
    assert_eq!(bench.report(&line(&format!("{address}/a.png")))["units"], 1);
    assert_eq!(tries.load(Ordering::SeqCst), 3);
    let busy = server(|_| ("429 Busy\r\nRetry-After: 0\r\nContent-Length: 0".into(), Vec::new()));
    bench.refuses(&line(&format!("{busy}/a.png")), 1, &["status 429, after 4 tries", "/a.png"]);
    let short = server(|_| ("200 OK\r\nContent-Length: 5000".into(), vec![0; 10]));
    bench.refuses(&line(&format!("{short}/a.png")), 1, &["ends too early", "byte 10", "5000 bytes"]);
    let bytes = gt.clone();
    let packed = server(move |_| {
        (format!("200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}", bytes.len()), bytes.clone())
    });
    bench.refuses(&line(&format!("{packed}/a.png")), 1, &["Content-Encoding: gzip"]);
    let wrong =
        server(|_| ("206 Partial\r\nContent-Range: bytes 7-8/9\r\nContent-Length: 2".into(), vec![0; 2]));
    bench.refuses(&line(&format!("{wrong}/a.png")), 1, &["another part", "from byte 7", "from byte 0"]);
    for (to, word) in
        [("file:///etc/passwd", "a redirect that is not followed"), ("/a.png", "more than 5 redirects")]
    {
        let away = server(move |_| (format!("302 Found\r\nLocation: {to}\r\nContent-Length: 0"), Vec::new()));
        bench.refuses(&line(&format!("{away}/a.png")), 1, &[word, "/a.png"]);
    }
}

#[test]
fn a_file_that_changes_between_two_parts_is_refused() {
    let bench = files();
    // The second image lies behind the part that is fetched first.
    bench.write("data/gt/a.txt", vec![b' '; 3 << 20]);
    let tar = std::process::Command::new("tar")
        .args(["-cf", "all.tar", "gt/a.txt", "gt/city"])
        .current_dir(bench.path("data"))
        .status();
    assert!(tar.unwrap().success());
    let (bytes, tag) = (bench.bytes("data/all.tar"), Arc::new(AtomicUsize::new(0)));
    let address = server(move |asked| {
        let tag = tag.fetch_add(1, Ordering::SeqCst).to_string();
        part(&bytes, asked, &tag)
    });
    let line = format!("segmentation --truth {address}/all.tar/gt --pred data/out --classes 2");
    bench.refuses(&line, 1, &["all.tar", "changed while it was read", "\"0\"", "\"1\""]);
}

#[test]
fn what_gives_access_is_never_shown() {
    let bench = files();
    let seen: Arc<Mutex<Vec<(String, bool)>>> = Arc::default();
    let (noted, bytes) = (Arc::clone(&seen), bench.bytes("data/sets/a.npz"));
    let address = server(move |asked| {
        noted.lock().unwrap().push((asked.path.clone(), asked.authorization));
        if asked.path.starts_with("/a.npz") { part(&bytes, asked, "1") } else { not_found() }
    });
    let secret = address.replace("http://", "http://me:hush@");
    let report = bench.report(&format!("independent-set {secret}/a.npz?token=hush"));
    let (path, authorized) = seen.lock().unwrap()[0].clone();
    assert_eq!((path.as_str(), authorized), ("/a.npz?token=hush", true), "the server is given both");
    assert_eq!(report["inputs"][0]["path"], format!("{address}/a.npz"));
    assert!(!report.to_string().contains("hush"));
    let said = bench.run(&format!("independent-set {secret}/b.npz?token=hush"));
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("status 404") && !said.stderr.contains("hush"), "{}", said.stderr);
}
