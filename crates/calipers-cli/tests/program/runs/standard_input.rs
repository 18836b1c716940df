//! The binary with "-" in the place of a file.

use serde_json::Value as Json;

use crate::support::{Bench, f64s, i64s, npz, path3, path3_unit};

fn report(bench: &Bench, line: &str, input: &[u8]) -> Json {
    let said = bench.run_on(&format!("{line} --json - --quiet"), input);
    assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn a_unit_on_standard_input_gives_the_numbers_of_its_file() {
    let bench = Bench::new();
    let bytes = npz(&path3_unit());
    bench.write("stdin.npz", &bytes);
    let file = bench.report("independent-set stdin.npz");
    let stream = report(&bench, "independent-set -", &bytes);
    assert_eq!(file["metrics"], stream["metrics"]);
    let input = &stream["inputs"][0];
    assert_eq!((&input["path"], &input["blake3"]), (&"-".into(), &file["inputs"][0]["blake3"]));
    assert_eq!(input["bytes"], bytes.len());
    bench.run("independent-set stdin.npz --per-unit file.csv --quiet");
    bench.run_on("independent-set - --per-unit stream.csv --quiet", &bytes);
    assert_eq!(bench.read("file.csv"), bench.read("stream.csv"));
    assert!(bench.read("stream.csv").lines().nth(1).unwrap().starts_with("stdin,"));
}

#[test]
fn graphs_scores_labels_and_results_are_told_by_their_content() {
    let bench = Bench::new();
    bench.write("g.npy", path3());
    bench.write("g.gph", "p edge 3 2\ne 1 2\ne 2 3\n");
    bench.write("logits.npy", f64s(&[3], &[1.0, -1.0, 2.0]));
    let expected = bench.report("independent-set --graph g.gph --scores logits.npy --scores-are logits");
    let lines: [(&str, Vec<u8>); 5] = [
        ("--graph - --scores logits.npy --scores-are logits", bench.bytes("g.gph")),
        ("--graph - --scores logits.npy --scores-are logits", b":Bd\n".to_vec()),
        ("--graph - --graph-format edgelist --scores logits.npy --scores-are logits", b"0 1\n1 2\n".to_vec()),
        ("--graph g.gph --scores -", b"node,logits\n0,1.0\n1,-1.0\n2,2.0\n".to_vec()),
        ("--graph g.gph --scores - --scores-are logits", bench.bytes("logits.npy")),
    ];
    for (line, input) in lines {
        let found = report(&bench, &format!("independent-set {line}"), &input);
        assert_eq!(found["metrics"], expected["metrics"], "{line}");
        let stream = found["inputs"].as_array().unwrap().iter().find(|input| input["path"] == "-").unwrap();
        assert_eq!(stream["bytes"], input.len(), "{line}");
    }
    let labelled = report(
        &bench,
        "independent-set --graph g.npy --scores logits.npy --scores-are logits --labels -",
        &i64s(&[3], &[1, 0, 1]),
    );
    assert_eq!(
        labelled["metrics"],
        bench.write("u.npz", npz(&path3_unit())).report("independent-set u.npz")["metrics"]
    );
    let results = report(
        &bench,
        "independent-set - --graph g.gph",
        br#"{"g": {"mis": [0, 2], "found_mis": true, "vertices": 2}}"#,
    );
    assert_eq!(crate::support::metric(&results, "is_independent"), 1.0);
}

#[test]
fn standard_input_is_read_once_and_never_guessed_at() {
    let bench = Bench::new();
    bench.write("logits.npy", f64s(&[3], &[1.0, -1.0, 2.0]));
    let refuses = |line: &str, input: &[u8], status: i32, parts: &[&str]| {
        let said = bench.run_on(&format!("independent-set {line}"), input);
        assert_eq!(said.status, status, "{line}\n{}", said.stderr);
        for part in parts {
            assert!(
                said.stderr.contains(part),
                "'{part}' is missing in the answer to {line}:\n{}",
                said.stderr
            );
        }
    };
    refuses("--graph - --scores -", b"", 2, &["only once"]);
    refuses("- -", b"", 2, &["only once"]);
    refuses("- --names -", b"", 2, &["--names", "give a file"]);
    refuses("- --optimum -", b"", 2, &["--optimum", "give a file"]);
    refuses("-", b"", 1, &["standard input is empty"]);
    refuses("-", b"0 1\n", 1, &["not an array file", ".npz", "--graph"]);
    refuses(
        "--graph - --scores logits.npy --scores-are logits",
        b"0 1\n1 2\n",
        1,
        &["content", "--graph-format"],
    );
}
