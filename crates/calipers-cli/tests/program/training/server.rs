//! Runs from a tracking server: one that behaves, and servers that do not.
#![cfg(feature = "remote")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::support::Said;

/// What a server was asked.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    authorization: Option<String>,
    body: Json,
}

/// What it answers.
struct Answer {
    status: u16,
    body: String,
    after: Duration,
    headers: String,
}

impl Answer {
    fn of(status: u16, body: impl Into<String>) -> Self {
        Self { status, body: body.into(), after: Duration::ZERO, headers: String::new() }
    }

    fn json(body: Json) -> Self {
        Self::of(200, body.to_string())
    }
}

/// A server on this machine that answers as it is told, and remembers what it was asked.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn new(answer: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (heard, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &heard, &*answer));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Runs `calipers training` on an address of this server.
    fn run(&self, scheme: &str, words: &[&str]) -> Said {
        run(&format!("{scheme}{}", self.address), words, &[])
    }
}

fn serve(
    stream: TcpStream,
    heard: &Mutex<Vec<Asked>>,
    answer: &dyn Fn(&Asked, usize) -> Answer,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    let mut first = String::new();
    while {
        first.clear();
        reader.read_line(&mut first).ok()? > 0
    } {
        let mut words = first.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let (mut length, mut authorization) = (0, None);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            match name.to_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "authorization" => authorization = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pair =
            |pair: &str| pair.split_once('=').map(|(key, value)| (key.to_owned(), value.replace("%2F", "/")));
        let asked = Asked {
            method,
            path: path.into(),
            query: query.split('&').filter_map(pair).collect(),
            authorization,
            body: serde_json::from_slice(&body).unwrap_or(Json::Null),
        };
        let before = {
            let mut heard = heard.lock().ok()?;
            heard.push(asked.clone());
            heard.len() - 1
        };
        let Answer { status, body, after, headers } = answer(&asked, before);
        std::thread::sleep(after);
        let head = format!("HTTP/1.1 {status} said\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).ok()?;
    }
    Some(())
}

fn run(input: &str, words: &[&str], environment: &[(&str, &str)]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(["training", input, "--metric", "val/F1"])
        .args(words)
        .current_dir(folder.path())
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("MLFLOW_TRACKING_TOKEN")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    Said::from(output)
}

/// Two experiments, three runs, two pages of the values of one of them.
fn store(asked: &Asked, _: usize) -> Answer {
    let api = "/api/2.0/mlflow";
    let point = |value: Json, timestamp: Json, step: Json| json!({"key": "val/F1", "value": value, "timestamp": timestamp, "step": step});
    let run = |id: &str, name: &str, experiment: &str| {
        json!({
            "info": {"run_uuid": id, "run_id": id, "run_name": name, "experiment_id": experiment, "status": "FINISHED",
                "start_time": 1_700_000_000_000_i64, "lifecycle_stage": "active"},
            "data": {"metrics": [{"key": "loss", "value": 1}, {"key": "val/F1", "value": 1}],
                "params": [{"key": "lr", "value": "0.1"}], "tags": [{"key": "fold", "value": name}]},
        })
    };
    match asked.path.strip_prefix(api) {
        Some("/experiments/search") => Answer::json(match asked.body["page_token"].as_str() {
            None => json!({"experiments": [{"experiment_id": "1", "name": "one"}], "next_page_token": "p"}),
            Some(_) => json!({"experiments": [{"experiment_id": "2", "name": "two"}]}),
        }),
        Some("/runs/search") => {
            assert_eq!(asked.body["experiment_ids"], json!(["1", "2"]));
            Answer::json(
                json!({"runs": [run("b1", "fold1", "2"), run("b0", "fold0", "1")], "next_page_token": ""}),
            )
        }
        Some("/metrics/get-history") => {
            assert_eq!(asked.query["max_results"], "25000");
            let of = asked.query["run_id"].as_str();
            Answer::json(match (of, asked.query.get("page_token")) {
                ("b0", None) => json!({"metrics": [point(0.95.into(), "2".into(), 1.into()),
                    point(0.5.into(), 1.into(), 0.into())], "next_page_token": "next"}),
                ("b0", Some(_)) => json!({"metrics": [point("NaN".into(), 3.into(), "2".into())]}),
                _ => json!({"metrics": [point(0.92.into(), 1.into(), 0.into())]}),
            })
        }
        _ => Answer::of(404, "no such page"),
    }
}

fn report(said: &Said) -> Json {
    assert_eq!(said.status, 0, "{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn the_runs_of_all_pages_are_measured_and_recorded() {
    let server = Server::new(store);
    let said = server.run("mlflow+http://", &["--json", "-", "--quiet", "--threads", "2"]);
    let report = report(&said);
    assert_eq!(report["units"], 2);
    assert_eq!(report["metrics"]["training.velocity_wise"]["all"], 1.5);
    let inputs = report["inputs"].as_array().unwrap();
    let lines = "1 0.5 0\n2 0.95 1\n3 NaN 2\n";
    assert_eq!(inputs[0]["path"], format!("mlflow+http://{}/runs/b0", server.address));
    assert_eq!(inputs[0]["bytes"], lines.len());
    assert_eq!(inputs[0]["blake3"], calipers::core::Digest::of(lines.as_bytes()).to_string());
    assert_eq!((&inputs[0]["format"], &inputs[0]["x"]), (&json!("mlflow"), &json!("step")));
    let asked = server.asked();
    // Two pages of experiments, one of runs, three of values: nothing else, and nothing written.
    assert_eq!(asked.len(), 6, "{asked:?}");
    for one in &asked {
        let read = one.method == "GET" && one.path.ends_with("/get-history");
        assert!(read || one.method == "POST" && one.path.ends_with("/search"), "{one:?}");
    }
}

#[test]
fn a_bare_address_and_the_environment_name_the_same_server() {
    let server = Server::new(store);
    let bare = report(&server.run("http://", &["--json", "-", "--quiet"]));
    let uri = format!("http://{}", server.address);
    let named = run("mlflow:", &["--json", "-", "--quiet"], &[("MLFLOW_TRACKING_URI", &uri)]);
    assert_eq!(bare["metrics"], report(&named)["metrics"]);
    let said = run("mlflow:", &[], &[]);
    assert_eq!(said.status, 2);
    assert!(said.stderr.contains("MLFLOW_TRACKING_URI"), "{}", said.stderr);
}

#[test]
fn a_report_from_a_server_is_verified_against_it() {
    let server = Server::new(store);
    let said = server.run("mlflow+http://", &["--json", "-", "--quiet"]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("report.json"), &said.stdout).unwrap();
    let verified = Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(["verify", "report.json"])
        .current_dir(folder.path())
        .env("NO_PROXY", "127.0.0.1")
        .output()
        .unwrap();
    let verified = Said::from(verified);
    assert_eq!(verified.status, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn credentials_are_sent_and_never_shown() {
    let server = Server::new(store);
    let given = format!("mlflow+http://me:s%40cret@{}/", server.address);
    let said = run(&given, &["--json", "-"], &[]);
    assert_eq!(server.asked()[0].authorization.as_deref(), Some("Basic bWU6c0BjcmV0"));
    assert!(!format!("{}{}", said.stdout, said.stderr).contains("cret"), "{}", said.stdout);

    let plain = format!("mlflow+http://{}", server.address);
    run(&plain, &[], &[("MLFLOW_TRACKING_USERNAME", "u"), ("MLFLOW_TRACKING_PASSWORD", "p")]);
    assert_eq!(server.asked().last().unwrap().authorization.as_deref(), Some("Basic dTpw"));
    run(&plain, &[], &[("MLFLOW_TRACKING_TOKEN", "t0k")]);
    assert_eq!(server.asked().last().unwrap().authorization.as_deref(), Some("Bearer t0k"));
}

#[test]
fn a_server_that_does_not_know_us_is_told_apart_and_asked_once() {
    for status in [401, 403] {
        let server = Server::new(move |_, _| Answer::of(status, "who are you"));
        let said = server.run("mlflow+http://", &[]);
        assert_eq!(said.status, 1);
        for part in
            [&status.to_string(), "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_TOKEN", &server.address]
        {
            assert!(said.stderr.contains(part), "{}", said.stderr);
        }
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn a_server_that_fails_once_is_asked_again() {
    let server = Server::new(|asked, before| match before {
        0 => Answer { headers: "retry-after: 0\r\n".into(), ..Answer::of(503, "later") },
        _ => store(asked, before),
    });
    assert_eq!(report(&server.run("mlflow+http://", &["--json", "-", "--quiet"]))["units"], 2);
    assert_eq!(server.asked().len(), 7);
}

#[test]
fn a_server_that_always_fails_is_given_up_after_four_tries() {
    let server = Server::new(|_, _| Answer { headers: "retry-after: 0\r\n".into(), ..Answer::of(500, "") });
    let said = server.run("mlflow+http://", &[]);
    assert_eq!((said.status, server.asked().len()), (1, 4));
    assert!(said.stderr.contains("500") && said.stderr.contains("4 tries"), "{}", said.stderr);
}

#[test]
fn what_is_not_json_and_pages_without_end_are_refused() {
    let page = Server::new(|_, _| Answer::of(200, "<html>a page</html>"));
    let said = page.run("http://", &[]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("not JSON") && said.stderr.contains("<html>"), "{}", said.stderr);

    let endless = Server::new(|_, _| Answer::json(json!({"experiments": [], "next_page_token": "again"})));
    let said = endless.run("http://", &[]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("page token") && said.stderr.contains("again"), "{}", said.stderr);
    assert_eq!(endless.asked().len(), 2);
}

#[test]
fn silence_ends_with_the_time_out() {
    let server = Server::new(|_, _| Answer { after: Duration::from_secs(20), ..Answer::of(200, "{}") });
    let began = std::time::Instant::now();
    let said = server.run("mlflow+http://", &["--timeout", "0.2"]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("0.2 s") && said.stderr.contains("--timeout"), "{}", said.stderr);
    assert!(began.elapsed() < Duration::from_secs(15), "four tries and the waits between them");
}

#[test]
fn nobody_there_is_said_with_the_address() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = run(&format!("mlflow+http://me:secret@{free}"), &[], &[]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains(&free.to_string()) && !said.stderr.contains("secret"), "{}", said.stderr);
}

#[test]
fn a_redirect_is_followed_five_times() {
    let circle = Server::new(|asked, _| Answer {
        headers: format!("location: {}\r\n", asked.path),
        ..Answer::of(307, "")
    });
    let said = circle.run("mlflow+http://", &[]);
    assert_eq!((said.status, circle.asked().len()), (1, 6));
    assert!(said.stderr.contains("redirect"), "{}", said.stderr);
}

#[test]
fn other_addresses_are_wrong_usage() {
    for (input, part) in
        [("ftp://host/key", "ftp://"), ("mlflow+http:///x", "host"), ("sqlite:///", "sqlite")]
    {
        let said = run(input, &[], &[]);
        assert_eq!(said.status, 2, "{input}: {}", said.stderr);
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
}
