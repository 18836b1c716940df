//! Runs that say which model they are of: one report is about one model.

use serde_json::{Value as Json, json};

use crate::support::robustness::{warnings, with};
use crate::support::{Bench, f64s, i64s, npy, npz, texts};

/// The run worked out by hand, with a name for its model and what else is given.
fn run_of(model: &str, more: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let mut changes = vec![("model", texts(&[model]))];
    changes.extend_from_slice(more);
    npz(&with(&changes))
}

fn split(number: i64) -> (&'static str, Vec<u8>) {
    ("split", npy("<i8", &[1], &number.to_le_bytes()))
}

fn units(bench: &Bench, line: &str) -> Vec<String> {
    let said = bench.run(&format!("robustness {line} --quiet --per-unit units.csv"));
    assert_eq!(said.status, 0, "{}", said.stderr);
    bench.read("units.csv").lines().skip(1).map(|line| line.split(',').next().unwrap().into()).collect()
}

/// A safetensors file of a run of two nodes with this metadata.
fn safetensors(metadata: &Json) -> Vec<u8> {
    let tensor = |start: usize| json!({"dtype": "F32", "shape": [2, 1], "data_offsets": [start, start + 8]});
    let head = json!({"__metadata__": metadata, "attacked_0.1": tensor(0), "clean": tensor(8)}).to_string();
    let mut file = (head.len() as u64).to_le_bytes().to_vec();
    file.extend(head.as_bytes());
    file.extend([1f32, 2.0, 3.0, 4.0].iter().flat_map(|value| value.to_le_bytes()));
    file
}

#[test]
fn a_file_says_its_model_and_its_run() {
    let bench = Bench::new();
    bench.write("x.npz", run_of("mcp", &[split(3), ("seed", npy("|u1", &[1], &[7]))]));
    let report = bench.report("robustness x.npz");
    assert_eq!(report["protocol"]["model"], "mcp");
    assert_eq!(warnings(&report).get("unknown_keys"), None);
    assert_eq!(units(&bench, "x.npz"), ["split3-seed7/0.5"]);
    assert_eq!(units(&bench, "x.npz --run a"), ["a/0.5"]);
    assert_eq!(units(&bench, "x.npz --run-by regex:(?P<run>.)"), ["x/0.5"]);
    bench.write("y.npz", npz(&with(&[("run", npy("|S2", &[1], b"r1"))])));
    assert_eq!(units(&bench, "y.npz"), ["r1/0.5"]);
    assert_eq!(bench.report("robustness y.npz")["protocol"]["model"], Json::Null);
    assert_eq!(bench.report("robustness y.npz --model-name l1")["protocol"]["model"], "l1");
    bench.write("z.safetensors", safetensors(&json!({"model": "l1", "split": "2", "other": 1})));
    assert_eq!(bench.report("robustness z.safetensors")["protocol"]["model"], "l1");
    assert_eq!(units(&bench, "z.safetensors"), ["split2/0.1"]);
}

#[test]
fn files_of_several_models_are_refused_with_the_way_out() {
    let bench = Bench::new();
    bench.write("l1.npz", run_of("l1", &[])).write("mcp.npz", run_of("mcp", &[]));
    bench.write("none.npz", npz(&with(&[]))).write("more/mcp.npz", run_of("mcp", &[split(1)]));
    let advice = "measure each model on its own with --state";
    let both = ["several models", "l1 in l1.npz, mcp in mcp.npz", advice, "calipers compare"];
    bench.refuses("robustness l1.npz mcp.npz", 1, &both);
    bench.refuses("robustness l1.npz none.npz", 1, &["no name in none.npz, l1 in l1.npz", "--model-name"]);
    bench.refuses(
        "robustness mcp.npz --model-name l1",
        1,
        &["l1 on the command line, mcp in the file", "mcp.npz", advice],
    );
    assert_eq!(units(&bench, "mcp.npz none.npz --model-name mcp"), ["mcp/0.5", "none/0.5"]);
    assert_eq!(units(&bench, "mcp.npz more/mcp.npz"), ["mcp/0.5", "split1/0.5"]);
}

#[test]
fn names_of_files_say_run_and_model() {
    let bench = Bench::new();
    for name in ["mcp_s0", "mcp_s1", "l1_s0"] {
        bench.write(&format!("runs/{name}.npz"), npz(&with(&[])));
    }
    let rule = "--run-by regex:(?P<model>[^/]+)_(?P<run>s[0-9])$";
    let report = bench.report(&format!("robustness runs/mcp_s0.npz runs/mcp_s1.npz {rule}"));
    assert_eq!(report["protocol"]["model"], "mcp");
    bench.refuses(
        &format!("robustness runs {rule}"),
        1,
        &["several models", "l1 in runs/l1_s0.npz, mcp in runs/mcp_s0.npz"],
    );
    bench.write("odd.npz", npz(&with(&[])));
    let found = ["odd.npz", "does not match a run", "(?P<run>s[0-9])"];
    bench.refuses("robustness odd.npz --run-by regex:(?P<run>s[0-9])", 1, &found);
    bench.refuses("robustness odd.npz --run-by regex:(?P<run>", 2, &["--run-by", "unclosed group"]);
    bench.refuses("robustness odd.npz --run-by folder", 2, &["--run-by", "regex:PATTERN"]);
    bench.refuses("robustness odd.npz --run-by regex:odd", 2, &["neither run nor model"]);
    bench.refuses("robustness runs --run x", 2, &["--run names one run", "3 files", "--run-by"]);
}

#[test]
fn two_files_of_one_run_and_budget_are_refused() {
    let bench = Bench::new();
    let other = f64s(&[4, 2], &[3.0, 0.0, 0.0, 2.0, 1.0, 3.0, 0.0, 2.0]);
    bench.write("a.npz", npz(&with(&[split(0)])));
    bench.write("b.npz", npz(&with(&[split(0), ("attacked_0.1", other)])));
    bench.refuses(
        "robustness a.npz b.npz",
        1,
        &["two files hold one run", "unit split0/0.5", "a.npz and in b.npz"],
    );
}

#[test]
fn keys_that_are_no_names_are_refused_with_file_and_key() {
    let bench = Bench::new();
    for (file, key, value, found) in [
        ("a.npz", "model", i64s(&[1], &[3]), "i64"),
        ("b.npz", "model", texts(&["a", "b"]), "(2,)"),
        ("c.npz", "model", texts(&[""]), "\"\""),
        ("d.npz", "run", texts(&["a/b"]), "\"a/b\""),
        ("e.npz", "split", i64s(&[1], &[-1]), "-1"),
    ] {
        bench.write(file, npz(&with(&[(key, value)])));
        bench.refuses(&format!("robustness {file}"), 1, &[file, &format!("key {key}"), found]);
    }
    bench.write("f.safetensors", safetensors(&json!({"seed": "three"})));
    bench.refuses("robustness f.safetensors", 1, &["f.safetensors", "key seed", "\"three\""]);
    bench.refuses("robustness a.npz --model-name=", 2, &["--model-name"]);
}

#[test]
fn states_of_different_models_do_not_merge() {
    let bench = Bench::new();
    for model in ["l1", "mcp"] {
        bench.write(&format!("{model}.npz"), run_of(model, &[]));
        assert_eq!(bench.run(&format!("robustness {model}.npz --state {model}.state --quiet")).status, 0);
    }
    let said = ["different protocols", "protocol.model", "\"l1\" in l1.state, \"mcp\" in mcp.state"];
    bench.refuses("merge l1.state mcp.state -o all.state", 1, &said);
}

#[test]
fn reports_of_named_models_are_verified() {
    let bench = Bench::new();
    bench.write("runs/mcp_s0.npz", npz(&with(&[]))).write("x.npz", npz(&with(&[split(1)])));
    for line in [
        "robustness runs --run-by regex:(?P<model>.*)_(?P<run>.*)",
        "robustness x.npz --model-name l1 --run first",
        "robustness x.npz",
    ] {
        assert_eq!(bench.run(&format!("{line} --json r.json --quiet")).status, 0);
        let said = bench.run("verify r.json");
        assert_eq!(said.status, 0, "{line}\n{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn tiles_of_a_page_are_numbers_that_exist() {
    let bench = Bench::new();
    let other = f64s(&[4, 2], &[3.0, 0.0, 0.0, 2.0, 1.0, 3.0, 0.0, 2.0]);
    bench.write("a.npz", npz(&with(&[("attacked_0.1", other)])));
    assert_eq!(bench.run("robustness a.npz --html a.html --quiet").status, 0);
    let page = bench.read("a.html");
    let tiles = page.split("class=\"cards of-").nth(1).unwrap().split("</ul>").next().unwrap();
    assert!(tiles.contains("accuracy_auc") && tiles.contains("bias_slope"), "{tiles}");
    assert!(!tiles.contains("report holds"), "{tiles}");
}
