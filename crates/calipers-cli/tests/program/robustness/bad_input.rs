//! Every bad input of a run over attacked models is refused with exit status 1 (or 2 for wrong
//! usage) and a message that says what, where, which value and what to do.

use crate::support::robustness::{Members, by_hand, with, without};
use crate::support::{Bench, f64s, i64s, npy, npz, texts};

/// Measures one run; `line` are further options.
fn refuses_with(members: &Members, line: &str, parts: &[&str]) {
    let bench = Bench::new();
    bench.write("in/a.npz", npz(members));
    let mut parts = parts.to_vec();
    parts.extend(["in/a.npz", "help: "]);
    bench.refuses(&format!("robustness in/a.npz {line}"), 1, &parts);
}

fn refuses(members: &Members, parts: &[&str]) {
    refuses_with(members, "", parts);
}

fn file_refuses(name: &str, bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let bench = Bench::new();
    bench.write(name, bytes);
    let mut parts = parts.to_vec();
    parts.push(name);
    bench.refuses(&format!("robustness {name}"), 1, &parts);
}

#[test]
fn files_that_are_no_runs_say_what_they_lack() {
    refuses(&without(&["clean"]), &["`clean` is missing", "keys attacked_0.5, edges, flips_0.5, labels"]);
    refuses(&without(&["attacked_0.5"]), &["attacked_<budget>", "keys clean, edges"]);
    file_refuses("a.npz", npz(&[]), &["`clean` is missing", "no keys"]);
    let bench = Bench::new();
    bench.write("notes/readme.md", "x");
    bench.refuses("robustness notes", 1, &["no run was found", "notes", ".npz or .safetensors"]);
    bench.refuses("robustness notes/readme.md", 1, &["notes/readme.md", ".npz or .safetensors"]);
    bench.refuses("robustness missing.npz", 1, &["missing.npz", "cannot open"]);
    bench.refuses("robustness", 2, &["nothing to measure"]);
    bench.refuses("robustness - -", 2, &["standard input", "once"]);
    let said = bench.run_on("robustness -", b"");
    assert!(said.status == 1 && said.stderr.contains("standard input is empty"), "{}", said.stderr);
}

#[test]
fn shapes_that_do_not_fit_are_shown_side_by_side() {
    let attacked = f64s(&[3, 2], &[0.0; 6]);
    refuses(&with(&[("attacked_0.5", attacked)]), &["key attacked_0.5", "(3, 2)", "(4, 2)"]);
    refuses(&with(&[("attacked_0.5", f64s(&[4, 3], &[0.0; 12]))]), &["(4, 3)", "(4, 2)", "unit a/0.5"]);
    refuses(&with(&[("clean", f64s(&[8], &[0.0; 8]))]), &["key clean", "shape (8,)", "(nodes, columns)"]);
    let deep = f64s(&[1, 4, 2], &[0.0; 8]);
    refuses(&with(&[("attacked_0.5", deep)]), &["key attacked_0.5", "shape (1, 4, 2)", "(nodes, columns)"]);
    let [none, thin] = [[0, 2], [4, 0]].map(|shape| f64s(&shape, &[]));
    refuses(&vec![("clean", none.clone()), ("attacked_0.5", none)], &["no nodes", "key clean"]);
    refuses(&vec![("clean", thin.clone()), ("attacked_0.5", thin)], &["no columns", "key clean"]);
}

#[test]
fn numbers_that_cannot_be_squared_are_placed_and_counted() {
    let mut values = [0.5; 8];
    (values[5], values[6]) = (f64::NAN, f64::NEG_INFINITY);
    let bad = f64s(&[4, 2], &values);
    let words = ["[2, 1]", "nan, and 2 such values in all"];
    refuses(&with(&[("attacked_0.5", bad.clone())]), &["key attacked_0.5", words[0], words[1]]);
    refuses(&with(&[("clean", bad.clone())]), &["key clean", words[0], words[1]]);
    let good = f64s(&[4, 2], &[0.5; 8]);
    let logits = [("clean_logits", good), ("attacked_logits_0.5", bad)];
    refuses(&with(&logits), &["key attacked_logits_0.5", words[0]]);
    values = [0.5; 8];
    values[7] = -2e145;
    refuses(
        &with(&[("clean", f64s(&[4, 2], &values))]),
        &["key clean", "[3, 1]", "-2e145", "1e145", "overflow"],
    );
}

#[test]
fn arrays_of_other_things_than_numbers_are_named_and_never_unpickled() {
    for (descr, named) in [("|O", "object"), ("<c16", "<c16"), ("<M8[s]", "<M8[s]")] {
        let array = npy(descr, &[1], &[0; 16][..if descr == "<M8[s]" { 8 } else { 16 }]);
        refuses(&with(&[("clean", array.clone())]), &["clean", named]);
        refuses(&with(&[("labels", array)]), &["labels", named]);
    }
    refuses(&with(&[("clean", texts(&["a", "b"]))]), &["key clean"]);
    refuses(&with(&[("labels", texts(&["a", "b", "c", "d"]))]), &["key labels", "text"]);
    refuses(&with(&[("edges", texts(&["a", "b"]))]), &["key edges", "text"]);
    let bools = npy("|b1", &[4, 2], &[1; 8]);
    refuses(&with(&[("clean", bools)]), &["key clean", "bool"]);
}

#[test]
fn budgets_are_decimal_fractions_given_once() {
    let attacked = by_hand()[1].1.clone();
    for (key, text) in [("attacked_five", "five"), ("attacked_-0.1", "-0.1"), ("attacked_nan", "nan")] {
        let word = format!("\"{text}\" is not a decimal fraction >= 0");
        refuses(&with(&[(key, attacked.clone())]), &[&word, key]);
    }
    let twice = with(&[("attacked_0.50", attacked.clone())]);
    refuses(&twice, &["same condition twice", "`attacked_0.5` and `attacked_0.50`", "budget 0.5"]);
    let plain = || {
        let mut members = without(&["attacked_0.5", "flips_0.5"]);
        members.push(("attacked", attacked.clone()));
        members
    };
    let plus = |key: &'static str, bytes: Vec<u8>| {
        let mut members = plain();
        members.push((key, bytes));
        members
    };
    refuses(&plain(), &["`attacked` has no budget", "`budget`", "--budget"]);
    refuses(&plus("budget", f64s(&[], &[-0.5])), &["key budget", "\"-0.5\" is not a decimal fraction"]);
    refuses(&plus("budget", f64s(&[2], &[0.1, 0.2])), &["key budget", "2 numbers", "`budgets`"]);
    refuses(&plus("budget", texts(&["0.1"])), &["key budget", "text"]);
    let (one, two) = (f64s(&[1, 4, 2], &[0.0; 8]), f64s(&[2], &[0.1, 0.2]));
    let slabs = |attacked: &Vec<u8>| {
        let mut members = plus("budgets", two.clone());
        members.iter_mut().find(|(key, _)| *key == "attacked").unwrap().1.clone_from(attacked);
        members
    };
    refuses(&slabs(&one), &["differ in length", "shape (1, 4, 2), 2 budgets", "key attacked"]);
    refuses(&slabs(&attacked), &["three axes", "shape (4, 2)", "(budgets, nodes, columns)"]);
    let budget = plus("budget", f64s(&[], &[0.1]));
    refuses_with(&budget, "--budget 0.2", &["0.1 in the file, --budget 0.2"]);
    refuses_with(&by_hand(), "--budget 0.2", &["--budget 0.2", "there is none"]);
}

#[test]
fn labels_are_one_whole_class_for_each_test_node() {
    refuses(&with(&[("labels", i64s(&[3], &[0, 1, 0]))]), &["key labels", "length 3", "length 4"]);
    let fraction = f64s(&[4], &[0.0, 1.0, 2.7, 0.0]);
    refuses(&with(&[("labels", fraction)]), &["key labels", "node 2", "2.7", "whole"]);
    let outside = i64s(&[4], &[0, 1, 2, 0]);
    refuses(&with(&[("labels", outside)]), &["labels, node 2", "found: 2", "0 to 1"]);
    refuses(&with(&[("labels", i64s(&[4], &[0, -1, 0, 0]))]), &["labels, node 1", "-1", "0 to 1"]);
    refuses(&with(&[("labels", i64s(&[4, 1], &[0; 4]))]), &["key labels", "shape (4, 1)"]);
}

#[test]
fn node_lists_and_masks_name_nodes_once() {
    let listed = |nodes: &[i64]| with(&[("test_idx", i64s(&[nodes.len()], nodes))]);
    refuses(&listed(&[0, -1]), &["key test_idx", "position 1", "-1", "0 to 3, there are 4 nodes"]);
    refuses(&listed(&[4]), &["key test_idx", "position 0", "found: 4"]);
    refuses(&listed(&[2, 1, 2]), &["key test_idx", "position 2", "node 2"]);
    let mask = |mask: &[u8]| npy("|b1", &[mask.len()], mask);
    refuses(&with(&[("train_mask", mask(&[1, 0]))]), &["key train_mask", "length 2", "length 4"]);
    refuses(&with(&[("val_mask", i64s(&[4], &[0, 2, 0, 0]))]), &["key val_mask", "node 1", "0 and 1"]);
    let both = with(&[("test_mask", mask(&[1, 1, 1, 0]))]);
    refuses(&both, &["test_idx and test_mask", "different nodes", "node 3"]);
    refuses(&with(&[("test_idx", mask(&[1, 1, 1, 0]))]), &["key test_idx", "bool", "`test_mask`"]);
    refuses_with(&without(&["test_idx"]), "--nodes test", &["--nodes test", "test_idx"]);
    refuses_with(&by_hand(), "--nodes not-train", &["--nodes not-train", "train_idx"]);
}

#[test]
fn graphs_are_simple_and_given_in_one_form() {
    let edges = |edges: &[i64]| with(&[("edges", i64s(&[edges.len() / 2, 2], edges))]);
    refuses(&with(&[("edges", i64s(&[2, 4], &[0; 8]))]), &["key edges", "looks transposed", "(2, 4)"]);
    refuses(&edges(&[0, 1, 1, 4]), &["key edges", "row 1", "found: 4", "0 to 3"]);
    refuses(&edges(&[0, 1, 2, 2]), &["key edges", "self loop", "row 1", "(2, 2)"]);
    refuses(&edges(&[0, 1, 2, 3, 1, 0]), &["key edges", "repeated edge", "rows 0 and 2", "(0, 1)"]);
    let index = |shape: [usize; 2], ends: &[i64]| {
        let mut members = without(&["edges"]);
        members.push(("edge_index", i64s(&shape, ends)));
        members
    };
    refuses(&index([3, 2], &[0; 6]), &["key edge_index", "looks transposed", "(3, 2)"]);
    refuses(&index([2, 2], &[0, 9, 1, 0]), &["key edge_index", "column 1", "found: 9", "0 to 3"]);
    refuses(
        &index([2, 4], &[0, 1, 1, 2, 1, 0, 2, 3]),
        &["key edge_index", "(1, 2) without (2, 1)", "2 such", "use `edges` if each edge is listed once"],
    );
    refuses(&index([2, 1], &[3, 3]), &["key edge_index", "self loop", "column 0"]);
    refuses(&index([2, 3], &[0, 1, 0, 1, 0, 1]), &["key edge_index", "repeated edge", "columns 0 and 2"]);
    let floats = with(&[("edges", f64s(&[1, 2], &[0.0, 1.0]))]);
    refuses(&floats, &["key edges", "whole numbers", "f64"]);
    let flips = |flips: &[i64]| with(&[("flips_0.5", i64s(&[flips.len() / 2, 2], flips))]);
    refuses(&flips(&[0, 7]), &["key flips_0.5", "row 0", "found: 7"]);
    refuses(&flips(&[0, 3, 3, 0]), &["key flips_0.5", "repeated flip", "rows 0 and 1"]);
    refuses(&without(&["edges"]), &["`flips_0.5`", "`edge_index` or `edges`"]);
    let two = with(&[("edges_attacked_0.5", i64s(&[1, 2], &[0, 1]))]);
    refuses(&two, &["two forms", "`edges_attacked_0.5` and `flips_0.5`"]);
    let two = with(&[("edge_index", i64s(&[2, 2], &[0, 1, 1, 0]))]);
    refuses(&two, &["two forms", "`edge_index` and `edges`"]);
}

#[test]
fn class_scores_are_given_for_both_graphs() {
    let logits = || f64s(&[4, 2], &[0.0; 8]);
    let lonely = with(&[("clean_logits", logits())]);
    refuses(&lonely, &["`clean_logits` without `attacked_logits_0.5`"]);
    refuses(&with(&[("attacked_logits_0.5", logits())]), &["`attacked_logits", "`clean_logits`"]);
    let short = [("clean_logits", f64s(&[3, 2], &[0.0; 6])), ("attacked_logits_0.5", logits())];
    refuses(&with(&short), &["clean_logits", "(3, 2)", "4 nodes"]);
}

#[test]
fn damaged_files_are_refused_with_member_and_byte() {
    let whole = npz(&by_hand());
    for (name, bytes) in [("a.npz", &whole[..whole.len() - 30]), ("a.npz", &whole[..40])] {
        file_refuses(name, bytes, &["byte"]);
    }
    file_refuses("a.npz", "", &["empty file"]);
    file_refuses("a.npz", "hello", &["npz"]);
    let mut flipped = whole.clone();
    let at = whole.windows(8).position(|bytes| bytes == 4.0f64.to_le_bytes()).unwrap();
    flipped[at] ^= 1;
    file_refuses("a.npz", &flipped, &["checksum is wrong", "member clean.npy, byte ", "as declared"]);
    file_refuses("a.safetensors", "{}", &["safetensors", "byte"]);
    let head = "{\"clean\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]}}";
    let cut = [&(head.len() as u64).to_le_bytes()[..], head.as_bytes(), &[0; 4]].concat();
    file_refuses("a.safetensors", cut, &["the header says 8 bytes, the file has 4", "byte"]);
}

#[test]
fn units_have_names_of_their_own() {
    let bench = Bench::new();
    let run = npz(&by_hand());
    bench.write("one/a.npz", &run).write("two/a.npz", &run);
    let words = ["one/a.npz", "two/a.npz", "unit a/0.5", "two files hold one run"];
    bench.refuses("robustness one/a.npz two/a.npz", 1, &words);
    let other = with(&[("attacked_0.5", f64s(&[4, 2], &[0.0; 8]))]);
    bench.write("other/a.npz", npz(&other));
    bench.run("robustness one/a.npz --state 1.state --quiet");
    bench.run("robustness other/a.npz --state 2.state --quiet");
    let words = ["unit 'a/0.5' has two different rows", "1.state", "2.state"];
    bench.refuses("merge 1.state 2.state -o all.state", 1, &words);
    bench.run("robustness one/a.npz --bins 7 --state 3.state --quiet");
    let words = ["protocol.bins", "50 in 1.state", "7 in 3.state"];
    bench.refuses("merge 1.state 3.state -o all.state", 1, &words);
}

#[test]
fn options_that_mean_nothing_are_wrong_usage() {
    let bench = Bench::new();
    bench.write("a.npz", npz(&by_hand()));
    for (flags, parts) in [
        ("--preset loose", &["loose", "strict", "document", "rung-fork"][..]),
        ("--bins 0", &["--bins is 0", "1 to 100000"]),
        ("--bins 100001", &["1 to 100000"]),
        ("--hist-range 2,1", &["--hist-range", "LO < HI"]),
        ("--hist-range 1,1", &["--hist-range", "LO < HI"]),
        ("--hist-range 1", &["--hist-range", "LO,HI"]),
        ("--hist-range 0,inf", &["--hist-range", "finite"]),
        ("--ddof -1", &["--ddof", "-1", "whole numbers, from 0 on"]),
        ("--ddof 0.5", &["--ddof", "0.5", "whole numbers, from 0 on"]),
        ("--bins -1", &["--bins", "-1", "whole numbers, 1 to 100000"]),
        ("--cutoff -1", &["--cutoff is -1"]),
        ("--nodes train", &["all", "test", "not-train"]),
        ("--features both", &["logits", "other"]),
        ("--budget five", &["\"five\" is not a decimal fraction >= 0"]),
        ("--attack a/b", &["--attack", "a/b"]),
        ("--per-node nodes.txt", &["--per-node", ".csv, .jsonl, .parquet"]),
        ("--threads 0", &["--threads"]),
        ("--shard 3/2", &["I/N"]),
    ] {
        bench.refuses(&format!("robustness a.npz {flags}"), 2, parts);
    }
}
