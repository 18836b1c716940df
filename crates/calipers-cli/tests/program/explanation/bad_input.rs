//! Every bad input of an explanation run is refused with exit status 1 (or 2 for wrong usage) and a
//! message that says what, where, which value and what to do.

use crate::support::explanation::piped;
use crate::support::{Bench, f64s, i64s, npy, npz, texts};

/// Measures one JSON object; `line` are further options.
fn refuses(object: &str, line: &str, status: i32, parts: &[&str]) {
    let bench = Bench::new();
    bench.write("in/u.json", object);
    let mut parts = parts.to_vec();
    if status == 1 {
        parts.extend(["in/u.json", "unit u"]);
    }
    bench.refuses(&format!("explanation in {line}"), status, &parts);
}

fn file_refuses(name: &str, bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let bench = Bench::new();
    bench.write(name, bytes);
    let mut parts = parts.to_vec();
    parts.push(name);
    bench.refuses(&format!("explanation {name}"), 1, &parts);
}

#[test]
fn inputs_without_units_are_named() {
    let bench = Bench::new();
    bench.write("notes/readme.md", "x").write("none.json", "[]").write("blank.jsonl", "\n\n");
    bench.refuses("explanation notes", 1, &["no unit was found", "notes", ".npz"]);
    bench.refuses("explanation none.json blank.jsonl", 1, &["no unit was found", "none.json, blank.jsonl"]);
    bench.refuses("explanation missing.npz", 1, &["missing.npz", "cannot open"]);
    bench.refuses("explanation notes/readme.md", 1, &["notes/readme.md", ".jsonl"]);
    let said = piped(&bench, "explanation -", b"");
    assert!(said.status == 1 && said.stderr.contains("standard input is empty"), "{}", said.stderr);
    bench.refuses("explanation - -", 2, &["standard input", "once"]);
    bench.refuses("explanation --json", 2, &["--json"]);
}

#[test]
fn broken_array_files_say_what_they_are_not() {
    let whole = npz(&[("pred_mask", f64s(&[2], &[0.0, 1.0]))]);
    file_refuses("a.npz", "hello", &["not an npz file"]);
    file_refuses("a.npz", "", &["empty file"]);
    file_refuses("a.npz", &whole[..whole.len() - 30], &["byte"]);
    file_refuses(
        "a.npz",
        npz(&[("y_hat", npy("|O", &[1], b"\x80\x03."))]),
        &["object arrays are not read", "y_hat"],
    );
    file_refuses("a.npz", npz(&[("y_hat", texts(&["a"]))]), &["key y_hat", "text"]);
    file_refuses("a.safetensors", "{}", &["a.safetensors"]);
    file_refuses("a.pt", "hello", &["pt"]);
}

#[test]
fn broken_json_shows_line_column_key_and_index() {
    file_refuses("a.json", "{\"pred_mask\": [0.5}", &["not valid JSON", "line 1, column 19"]);
    file_refuses("a.json", "{\"y_hat\": [[1, 2],\n [3]]}", &["ragged", "line 2", "column", "y_hat", "[1]"]);
    file_refuses("a.json", "{\"pred_mask\": [0.5,\nNaN]}", &["line 2", "column 1", "pred_mask", "[1]"]);
    file_refuses("a.json", "{\"pred_mask\": {\"a\": [0, null]}}", &["null", "pred_mask.a", "[1]"]);
    file_refuses("a.json", "{\"y\": [0], \"y\": [1]}", &["`y` occurs twice", "line 1"]);
    file_refuses("a.json", "{\"pred_mask\": {}}", &["without types", "pred_mask"]);
    file_refuses("a.json", "{\"y\": null}", &["null", "key y"]);
    file_refuses("a.json", "{\"y\": [0]} 1", &["not valid JSON", "trailing"]);
    file_refuses("a.json", "{\"unit\": 7}", &["a name", "key unit"]);
    file_refuses("a.json", format!("{{\"z\": {}", "[".repeat(1000)), &["recursion", "key z"]);
    file_refuses("a.jsonl", "{\"unit\": \"a\", \"y\": [0]}\n[1]\n", &["line 2", "an object"]);
    file_refuses("a.jsonl", "\n{\"unit\": \"a\", \"y\": [0, \"1\"]}\n", &["line 2", "key y", "[1]"]);
}

#[test]
fn records_have_names_of_their_own() {
    let good = "{\"unit\": \"a\", \"pred_mask\": [0.5]}";
    file_refuses("a.jsonl", format!("{good}\n\n{{\"pred_mask\": [1]}}\n"), &["`unit`", "record 2, line 3"]);
    file_refuses("a.json", format!("[{good}, {{\"pred_mask\": [1]}}]"), &["`unit`", "record 2"]);
    file_refuses("a.jsonl", format!("{good}\n{good}\n"), &["unit a", "line 1", "line 2"]);
    file_refuses("a.json", "{\"unit\": \"\", \"pred_mask\": [1]}", &["empty unit name"]);
    let bench = Bench::new();
    bench.write("one/a.json", "{\"pred_mask\": [1]}").write("two/a.json", "{\"pred_mask\": [1]}");
    bench.refuses("explanation one two", 1, &["one/a.json", "two/a.json", "unit a"]);
}

#[test]
fn arrays_that_do_not_fit_are_refused_by_key() {
    refuses("{\"y\": [0]}", "", 1, &["no metric can be computed from the keys ['y']"]);
    refuses("{\"y_sub\": [0]}", "", 1, &["`y_sub` needs `y_hat`"]);
    refuses("{\"y_hat\": [0, 1, 0], \"y_sub\": [0, 1]}", "", 1, &["`y_sub` has 2 instances, `y_hat` has 3"]);
    refuses(
        "{\"y\": [0.0], \"y_hat\": [0], \"y_sub\": [0]}",
        "",
        1,
        &["`y` has dtype float64; integer labels are needed"],
    );
    let scores = "{\"y\": [1], \"y_hat\": [[0.5, 0.5]], \"y_sub\": [[0.25, 0.75]]}";
    refuses(scores, "", 1, &["declare --scores probs, log_probs or logits"]);
    refuses(scores, "--task binary --scores probs", 1, &["--task binary takes one; use --task multiclass"]);
    let flat = "{\"y_hat\": [0.5], \"y_sub\": [0.5]}";
    refuses(flat, "--scores probs", 1, &["multiclass scores are [N, C] with C >= 2"]);
    let wide = "{\"y_hat\": [[0.5, 0.5]], \"y_sub\": [[0.25, 0.5, 0.25]]}";
    refuses(wide, "--scores probs", 1, &["`y_sub` has 3 classes, `y_hat` has 2"]);
    let percent = "{\"y_hat\": [[50.0, 50.0]], \"y_sub\": [[0.5, 0.5]]}";
    refuses(percent, "--scores probs", 1, &["`y_hat` at instance 0, class 0 is 50.0", "100"]);
    let sums = "{\"y_hat\": [[0.5, 0.25]], \"y_sub\": [[0.5, 0.5]]}";
    refuses(sums, "--scores probs", 1, &["`y_hat`", "instance 0", "0.75"]);
    refuses(
        "{\"y_hat\": [[0.5, 0.0]], \"y_sub\": [[0.0, 0.0]]}",
        "--scores log_probs",
        1,
        &["instance 0, class 0 is 0.5"],
    );
    let label = "{\"y\": [0, 3], \"y_hat\": [[0.5, 0.5], [0.5, 0.5]], \"y_sub\": [[0.5, 0.5], [0.5, 0.5]]}";
    refuses(label, "--scores probs", 1, &["`y` label 3 at instance 1 is outside 0..1"]);
}

#[test]
fn instances_that_do_not_exist_are_refused() {
    let with = |index: &str| format!("{{\"y_hat\": [0, 1, 0], \"y_sub\": [0, 1, 1], \"index\": {index}}}");
    refuses(&with("[0, 8]"), "", 1, &["`index` entry 1 is 8; 0..2 are allowed"]);
    refuses(&with("[-1]"), "", 1, &["`index` entry 0 is -1; 0..2 are allowed"]);
    refuses(&with("[1, 1]"), "", 1, &["`index`", "twice"]);
    refuses(&with("[true, false]"), "", 1, &["`index` has shape [2]"]);
    refuses(&with("[0.0]"), "", 1, &["`index`", "float64"]);
}

#[test]
fn masks_that_do_not_fit_are_refused_by_key() {
    refuses(
        "{\"pred_mask\": [0, 1, 1], \"target_mask\": [0, 1]}",
        "",
        1,
        &["`target_mask` has shape [2], `pred_mask` has [3]"],
    );
    refuses(
        "{\"pred_mask\": [0.5, 1.5]}",
        "",
        1,
        &["`pred_mask` element 1 is 1.5, outside [0, 1]; declare --mask-scores logits or raw"],
    );
    refuses(
        "{\"pred_mask\": [1], \"target_mask\": [1], \"target_masks\": [[1]]}",
        "",
        1,
        &["`target_mask` and `target_masks`"],
    );
    refuses("{\"target_mask\": [1]}", "", 1, &["`pred_mask`"]);
    refuses("{\"pred_mask_samples\": [[1]]}", "", 1, &["`pred_mask`"]);
    refuses("{\"pred_mask\": {\"a\": [1]}, \"target_mask\": {\"b\": [1]}}", "", 1, &["['b']", "['a']"]);
    refuses("{\"pred_mask\": [1], \"target_masks\": []}", "", 1, &["`target_masks`"]);
    refuses("{\"y_hat\": [1], \"y_sub_samples\": []}", "", 1, &["`y_sub_samples`"]);
    let bench = Bench::new();
    bench.write("u.npz", npz(&[("pred_mask", f64s(&[2], &[0.5, f64::NAN]))]));
    bench.refuses(
        "explanation u.npz",
        1,
        &["u.npz", "`pred_mask` element 1 is nan; finite values are needed"],
    );
    let scores =
        |values: &[f64]| npz(&[("y_hat", f64s(&[1, 2], values)), ("y_sub", f64s(&[1, 2], &[0.0, 0.0]))]);
    bench.write("u.npz", scores(&[0.0, f64::NAN]));
    bench.refuses("explanation u.npz --scores logits", 1, &["`y_hat` at instance 0, class 1 is nan"]);
    bench.write("u.npz", scores(&[f64::NEG_INFINITY; 2]));
    bench.refuses("explanation u.npz --scores logits", 1, &["every class is -inf"]);
}

#[test]
fn curves_that_do_not_fit_are_refused_by_point() {
    refuses("{\"pos_fidelity\": [1.0]}", "", 1, &["`pos_fidelity` and `neg_fidelity`"]);
    refuses("{\"pos_fidelity\": [1.0, 1.0], \"neg_fidelity\": [0.0]}", "", 1, &["_fidelity`", "points"]);
    refuses(
        "{\"pos_fidelity\": [0.5, 1.5], \"neg_fidelity\": [0.0, 0.0]}",
        "",
        1,
        &["`pos_fidelity` at point 1 is 1.5"],
    );
    refuses(
        "{\"pos_fidelity\": [[1.0]], \"neg_fidelity\": [[0.0]]}",
        "",
        1,
        &["`pos_fidelity` has shape [1, 1]"],
    );
    refuses("{\"pos_fidelity\": [], \"neg_fidelity\": []}", "", 1, &["`pos_fidelity` has shape [0]"]);
    let x = "{\"pos_fidelity\": [1, 1, 1], \"neg_fidelity\": [0, 0, 0], \"x\": [0.0, 2.0, 1.0]}";
    refuses(x, "", 1, &["'x' must be given in ascending order (point 2: 1.0 after 2.0)"]);
    refuses("{\"y_hat\": [1], \"y_sub_sweep\": [[1]]}", "", 1, &["`x`"]);
}

#[test]
fn boundaries_of_batches_show_key_entry_and_value() {
    let batch = |key: &str, pointer: &[i64], names: &[&str]| {
        let mut members = vec![(key, i64s(&[pointer.len()], pointer))];
        if key == "ptr" {
            members.push(("y_hat", i64s(&[3], &[0, 1, 0])));
            members.push(("y_sub", i64s(&[3], &[0, 1, 1])));
        } else {
            members.push(("pred_mask", f64s(&[3], &[0.0, 1.0, 0.5])));
        }
        if !names.is_empty() {
            members.push(("unit", texts(names)));
        }
        npz(&members)
    };
    for key in ["ptr", "mask_ptr"] {
        file_refuses("a.npz", batch(key, &[1, 3], &[]), &[&format!("`{key}` entry 0 is 1")]);
        file_refuses("a.npz", batch(key, &[0, 2, 1, 3], &[]), &[&format!("`{key}` entry 2 is 1")]);
        file_refuses("a.npz", batch(key, &[0, 1, 2], &[]), &[&format!("`{key}` entry 2 is 2"), "3"]);
        file_refuses(
            "a.npz",
            batch(key, &[0, 1, 3], &["a"]),
            &["`unit` has 1 name", &format!("`{key}` has 2 units")],
        );
        file_refuses("a.npz", batch(key, &[0, 1, 3], &["a", "a"]), &["two units have one name", "unit a"]);
    }
    let named = |key: &str, bytes: Vec<u8>| npz(&[("unit", texts(&["a", "b"])), (key, bytes)]);
    file_refuses(
        "a.npz",
        named("y_hat", i64s(&[3], &[0; 3])),
        &["`y_hat` has 3 instances", "2 units", "`ptr`"],
    );
    file_refuses("a.npz", named("pred_mask", f64s(&[2], &[0.0; 2])), &["`pred_mask`", "`mask_ptr`"]);
    file_refuses("a.npz", named("index", i64s(&[1], &[0])), &["`index` is not allowed in a batched file"]);
    file_refuses("a.npz", named("pos_fidelity", f64s(&[1], &[0.0])), &["`pos_fidelity` is not allowed"]);
    file_refuses("a.npz", npz(&[("unit", i64s(&[1], &[1]))]), &["`unit`", "names"]);
}

#[test]
fn options_that_mean_nothing_are_wrong_usage() {
    let mask = "{\"pred_mask\": [1]}";
    for (line, parts) in [
        ("--threshold 1.5", &["--threshold is 1.5", "[0, 1]"][..]),
        ("--threshold nan", &["--threshold"]),
        ("--threshold x", &["--threshold"]),
        ("--pos-weight 0 --neg-weight 0", &["--pos-weight and --neg-weight", "positive"]),
        ("--neg-weight -1", &["--neg-weight is -1.0", ">= 0"]),
        ("--preset pyg --mask-scores raw", &["--mask-scores", "--preset pyg"]),
        ("--preset pyg --target-threshold 0.5", &["--target-threshold", "--preset pyg"]),
        ("--metrics recal", &["--metrics", "recal", "recall"]),
        ("--preset pyg --metrics jaccard", &["--preset pyg", "jaccard"]),
    ] {
        let said = {
            let bench = Bench::new();
            bench.write("u.json", mask);
            bench.run(&format!("explanation u.json {line}"))
        };
        assert_eq!(said.status, 2, "{line}: {}", said.stderr);
        parts.iter().for_each(|part| assert!(said.stderr.contains(part), "{line}: {}", said.stderr));
    }
    for (option, allowed) in [
        ("--task", "multiclass, binary, regression"),
        ("--scores", "probs, log_probs, logits"),
        ("--mask-scores", "probs, logits, raw"),
        ("--preset", "strict, document, pyg, graphxai"),
    ] {
        let bench = Bench::new();
        bench.write("u.json", mask);
        bench.refuses(&format!("explanation u.json {option} other"), 2, &[option, allowed]);
    }
    refuses_metric(mask, "auroc", "no unit has `target_mask`");
}

/// An id that no unit has the evidence for names the key that is missing.
fn refuses_metric(object: &str, id: &str, words: &str) {
    let bench = Bench::new();
    bench.write("u.json", object);
    bench.refuses(&format!("explanation u.json --metrics {id}"), 1, &[id, words]);
}

#[test]
fn states_that_contradict_each_other_do_not_merge() {
    let bench = Bench::new();
    bench.write("a/u.json", "{\"pred_mask\": [1]}").write("b/u.json", "{\"pred_mask\": [0]}");
    for (line, state) in [("a", "a"), ("b", "b"), ("a --threshold 0.25", "c")] {
        assert_eq!(bench.run(&format!("explanation {line} --state {state}.state --quiet")).status, 0);
    }
    bench.refuses("merge a.state c.state -o x.state", 1, &["threshold", "0.25"]);
    bench.refuses("merge a.state b.state -o x.state", 1, &["unit 'u'", "a.state", "b.state"]);
    assert!(!bench.path("x.state").exists());
}
