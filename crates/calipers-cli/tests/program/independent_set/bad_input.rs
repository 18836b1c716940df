//! Every bad input is refused with exit status 1 (or 2 for wrong usage) and a message that says
//! what, where, which value and what to do.

use crate::support::{Bench, f64s, i64s, npy, npz, path3, path3_unit, texts};

trait Advises {
    /// Refuses with a status and a message holding all of `parts`; one about an input also says
    /// what to do.
    fn advises(&self, line: &str, status: i32, parts: &[&str]);
}

impl Advises for Bench {
    fn advises(&self, line: &str, status: i32, parts: &[&str]) {
        self.refuses(line, status, parts);
        if status == 1 {
            self.refuses(line, status, &[" help: "]);
        }
    }
}

/// A bench with one array file.
fn with(members: &[(&str, Vec<u8>)]) -> Bench {
    let bench = Bench::new();
    bench.write("g.npz", npz(members));
    bench
}

/// The path of three nodes with one array replaced or added.
fn path3_with(key: &'static str, bytes: Vec<u8>) -> Bench {
    let mut unit = path3_unit();
    unit.retain(|(name, _)| *name != key);
    unit.push((key, bytes));
    with(&unit)
}

const MEASURE: &str = "independent-set g.npz";

#[test]
fn a_missing_empty_or_cut_file_is_named() {
    let bench = Bench::new();
    bench.advises("independent-set nowhere.npz", 1, &["cannot open", "nowhere.npz"]);
    bench.write("g.npz", "");
    bench.advises(MEASURE, 1, &["empty file", "g.npz"]);
    let whole = npz(&path3_unit());
    bench.write("g.npz", &whole[..whole.len() - 30]);
    bench.advises(MEASURE, 1, &["npz: broken archive at byte", "g.npz"]);
    std::fs::create_dir(bench.path("empty")).unwrap();
    bench.advises("independent-set empty", 1, &["no array files", "empty"]);
}

#[test]
fn missing_keys_list_the_keys_that_were_found() {
    with(&[("logits", f64s(&[3], &[0.0; 3])), ("x", f64s(&[1], &[0.0]))]).advises(
        MEASURE,
        1,
        &["edge_index", "keys logits, x"],
    );
    with(&[("edge_index", path3()), ("labels", i64s(&[3], &[1, 0, 1]))]).advises(
        MEASURE,
        1,
        &["no scores", "keys edge_index, labels", "--no-scores"],
    );
}

#[test]
fn two_keys_for_one_thing_are_both_named() {
    path3_with("probs", f64s(&[3], &[0.5; 3])).advises(MEASURE, 1, &["logits", "probs"]);
    path3_with("y", i64s(&[3], &[1, 0, 1])).advises(MEASURE, 1, &["labels", "y"]);
}

#[test]
fn a_wrong_edge_index_shows_type_or_shape() {
    path3_with("edge_index", f64s(&[2, 4], &[0.0; 8])).advises(MEASURE, 1, &["edge_index", "f64"]);
    path3_with("edge_index", i64s(&[4, 2], &[0; 8])).advises(MEASURE, 1, &["[4,2]", "[2,M]", "transpose"]);
    path3_with("edge_index", i64s(&[4], &[0; 4])).advises(MEASURE, 1, &["[4]", "[2,M]"]);
}

#[test]
fn a_node_out_of_range_shows_entry_value_and_size() {
    path3_with("edge_index", i64s(&[2, 2], &[0, 3, 1, 0])).advises(MEASURE, 1, &["entry 1", "3", "3 nodes"]);
    path3_with("edge_index", i64s(&[2, 2], &[0, 1, -1, 0])).advises(
        MEASURE,
        1,
        &["entry 0", "-1", "3 nodes"],
    );
}

#[test]
fn other_lengths_show_both() {
    path3_with("labels", i64s(&[2], &[1, 0])).advises(MEASURE, 1, &["labels", "3", "2"]);
    path3_with("num_nodes", i64s(&[], &[5])).advises(MEASURE, 1, &["num_nodes", "3", "5"]);
}

#[test]
fn scores_that_are_no_numbers_show_their_node() {
    path3_with("logits", f64s(&[3], &[1.0, f64::NAN, 2.0])).advises(MEASURE, 1, &["NaN", "node 1"]);
    path3_with("logits", f64s(&[3], &[1.0, 2.0, f64::INFINITY])).advises(MEASURE, 1, &["inf", "node 2"]);
    let steps = f64s(&[2, 3], &[0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0]);
    let mut unit = path3_unit();
    unit.retain(|(name, _)| *name != "logits");
    unit.push(("logits_steps", steps));
    with(&unit).advises(MEASURE, 1, &["step", "node 1"]);
}

#[test]
fn integer_scores_show_their_type() {
    path3_with("logits", i64s(&[3], &[1, 0, 1])).advises(MEASURE, 1, &["logits", "i64"]);
}

#[test]
fn values_outside_their_range_show_node_and_value() {
    let probs = |values: &[f64]| with(&[("edge_index", path3()), ("probs", f64s(&[3], values))]);
    probs(&[0.5, 1.5, 0.0]).advises(MEASURE, 1, &["node 1", "1.5", "logits? a 0-100 scale?"]);
    probs(&[0.5, 0.5, -0.25]).advises(MEASURE, 1, &["node 2", "-0.25"]);
    for (value, text) in [(0.3, "0.3"), (2.0, "2"), (-1.0, "-1"), (f64::NAN, "NaN")] {
        path3_with("labels", f64s(&[3], &[1.0, value, 0.0])).advises(
            MEASURE,
            1,
            &["node 1", text, "soft labels are not supported"],
        );
    }
    with(&[("edge_index", path3()), ("set", i64s(&[3], &[0, 2, 1]))]).advises(MEASURE, 1, &["node 1", "2"]);
}

#[test]
fn two_axes_need_a_word() {
    path3_with("logits", f64s(&[2, 3], &[0.0; 6])).advises(MEASURE, 1, &["[2,3]", "--axis"]);
    path3_with("logits", f64s(&[0, 3], &[])).advises(
        "independent-set g.npz --axis samples",
        1,
        &["[0,3]", "0 samples"],
    );
}

#[test]
fn scores_without_a_kind_are_wrong_usage() {
    let members = [("edge_index", path3()), ("scores", f64s(&[3], &[0.5; 3]))];
    with(&members).advises(MEASURE, 2, &["--scores-are"]);
    let bench = Bench::new();
    bench.write("g.edges", "0 1\n1 2\n").write("s.npy", f64s(&[3], &[1.0; 3])).write("s.sol", "1\n3\n");
    bench.advises("independent-set --graph g.edges --scores s.npy", 2, &["--scores-are"]);
    bench.advises("independent-set --graph g.edges --scores s.sol", 2, &["--scores-are"]);
}

#[test]
fn broken_pack_boundaries_show_index_and_value() {
    let pack = |key: &'static str, values: &[i64]| {
        with(&[
            ("edge_index", path3()),
            ("logits", f64s(&[3], &[0.0; 3])),
            (key, i64s(&[values.len()], values)),
        ])
    };
    pack("ptr", &[1, 3]).advises(MEASURE, 1, &["ptr", "index 0", "1"]);
    pack("ptr", &[0, 3, 2, 3]).advises(MEASURE, 1, &["ptr", "index 2", "2"]);
    pack("ptr", &[0, 2]).advises(MEASURE, 1, &["ptr", "index 1", "2", "3"]);
    pack("batch", &[0, 1, 0]).advises(MEASURE, 1, &["batch", "index 2", "0"]);
    pack("batch", &[-1, 0, 0]).advises(MEASURE, 1, &["batch", "index 0", "-1"]);
    let mut both = path3_unit();
    both.push(("ptr", i64s(&[3], &[0, 3, 3])));
    both.push(("batch", i64s(&[3], &[0, 0, 1])));
    with(&both).advises(MEASURE, 1, &["ptr", "batch", "disagree"]);
}

#[test]
fn an_edge_between_two_graphs_shows_entry_and_graphs() {
    let mut pack = path3_unit();
    pack.push(("ptr", i64s(&[3], &[0, 2, 3])));
    with(&pack).advises(MEASURE, 1, &["entry 2", "graph 0", "graph 1"]);
}

#[test]
fn names_must_be_as_many_as_graphs_and_differ() {
    let pack = |names: &[&str]| {
        with(&[
            ("edge_index", i64s(&[2, 0], &[])),
            ("logits", f64s(&[2], &[0.0; 2])),
            ("ptr", i64s(&[3], &[0, 1, 2])),
            ("names", texts(names)),
        ])
    };
    pack(&["a"]).advises(MEASURE, 1, &["names", "1 names", "2 names"]);
    pack(&["a", "a"]).advises(MEASURE, 1, &["'a'", "g.npz"]);
    let bench = Bench::new();
    bench.write("x/g.npz", npz(&path3_unit())).write("y/g.npz", npz(&path3_unit()));
    bench.advises("independent-set x y", 1, &["'g'", "x/g.npz", "y/g.npz"]);
    bench.write("p.g6", "A_\nA_\n").write("n.txt", "one\n");
    bench.advises(
        "independent-set --graph p.g6 --no-scores --names n.txt",
        1,
        &["1 names", "2 graphs", "n.txt"],
    );
}

#[test]
fn units_of_different_kinds_are_both_named() {
    let bench = Bench::new();
    bench.write("d/a.npz", npz(&path3_unit()));
    bench.write("d/b.npz", npz(&[("edge_index", path3()), ("probs", f64s(&[3], &[0.5; 3]))]));
    bench.advises("independent-set d", 1, &["unit a", "unit b", "logits", "probs"]);
}

#[test]
fn graph_texts_show_the_line() {
    let bench = Bench::new();
    let refuses = |name: &str, text: &str, parts: &[&str]| {
        bench.write(name, text);
        bench.advises(&format!("independent-set --graph {name} --no-scores"), 1, &[parts, &[name]].concat());
    };
    refuses("a.gph", "e 1 2\n", &["p"]);
    refuses("b.gph", "p edge 2 1\ne 0 1\n", &["line 2", "0"]);
    refuses("c.gph", "p edge 2 1\ne 1 3\n", &["line 2", "3"]);
    refuses("d.gph", "p edge 2 1\ne 1 x\n", &["line 2", "x"]);
    refuses("a.graph", "3 2\n2\n1 3\n", &["line"]);
    refuses("b.graph", "2 1\n2\n9\n", &["line 3", "9"]);
    refuses("c.graph", "3 5\n2\n1 3\n2\n", &["5"]);
    refuses("a.g6", "C\u{7f}~\n", &["line 1", "byte"]);
    refuses("b.g6", "C\n", &["line 1"]);
    refuses("a.s6", ":\u{1}\n", &["line 1", "byte"]);
}

#[test]
fn a_few_bytes_cannot_ask_for_all_the_memory() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 4294967295 1\ne 1 2\n");
    bench.advises("independent-set --graph g.gph --no-scores", 1, &["4294967295 nodes", "g.gph"]);
    bench.write("g.s6", ":~~@?????\n");
    bench.advises("independent-set --graph g.s6 --no-scores", 1, &["nodes", "g.s6"]);
    with(&[("edge_index", path3()), ("num_nodes", i64s(&[], &[1 << 40]))]).advises(
        "independent-set g.npz --no-scores",
        1,
        &["1099511627776 nodes"],
    );
}

#[test]
fn edge_lists_that_count_from_1_are_recognised() {
    let bench = Bench::new();
    bench.write("g.edges", "1 2\n2 3\n").write("s.npy", f64s(&[3], &[1.0; 3]));
    let line = "independent-set --graph g.edges --scores s.npy --scores-are logits";
    bench.advises(line, 1, &["line 2", "3", "--index-base 1"]);
    let report = bench.report(&format!("{line} --index-base 1"));
    assert_eq!(crate::support::metric(&report, "edges_total"), 2);
}

#[test]
fn unpaired_files_are_named_with_both_folders() {
    let bench = Bench::new();
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        bench.write(&format!("graphs/{name}.gph"), "p edge 2 1\ne 1 2\n");
    }
    bench.write("scores/a.sol", "1\n").write("scores/z.sol", "1\n");
    let line = "independent-set --graph graphs --scores scores --scores-are set";
    bench.advises(line, 1, &["z", "graphs", "scores"]);
    std::fs::remove_file(bench.path("scores/z.sol")).unwrap();
    bench.advises(line, 1, &["b, c, d, e, f and 1 more", "graphs", "scores"]);
    bench.write("labels/y.sol", "1\n");
    bench.advises(
        "independent-set --graph graphs --labels labels --no-scores",
        1,
        &["labels without a graph", "y"],
    );
}

#[test]
fn solution_files_show_the_line() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    let refuses = |name: &str, text: &str, parts: &[&str]| {
        bench.write(name, text);
        let line = format!("independent-set --graph g.gph --scores {name} --scores-are set");
        bench.advises(&line, 1, &[parts, &[name]].concat());
    };
    refuses("a.sol", "1\n4\n", &["line 2", "4"]);
    refuses("a.vc", "c x\ns vc 4 1\n1\n", &["line 2", "4", "3"]);
    refuses("a.result", "0\n1\n2\n", &["line 3", "2"]);
    refuses("b.result", "0\n1\n", &["line 2", "2 values", "3 nodes"]);
}

#[test]
fn tables_show_unit_node_and_line() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    let refuses = |name: &str, text: &str, parts: &[&str]| {
        bench.write(name, text);
        bench.advises(
            &format!("independent-set --graph g.gph --scores {name}"),
            1,
            &[parts, &[name]].concat(),
        );
    };
    refuses("a.csv", "unit,node,logits\ng,0,1\ng,2,1\n", &["g", "1"]);
    refuses("b.csv", "unit,node,logits\ng,0,1\ng,1,1\ng,1,1\n", &["g", "node 1", "lines 3 and 4"]);
    refuses("c.csv", "unit,node,logits\nh,0,1\nh,1,1\nh,2,1\n", &["unknown unit 'h'", "line 2"]);
    refuses("a.jsonl", "{\"unit\": \"h\", \"logits\": [1, 2, 3]}\n", &["unknown unit 'h'", "line 1"]);
    refuses("b.jsonl", "{\"unit\": \"g\", \"logits\": [1, NaN, 3]}\n", &["line 1"]);
    refuses("c.jsonl", "{\"unit\": \"g\", \"set\": [0, 3]}\n", &["3", "N = 3"]);
    refuses("d.csv", "node,logits\n0,1\n1,1\n", &["unit g, lines 2 to 3", "2 values", "3 nodes"]);
}

#[test]
fn label_files_show_the_line_of_the_label_and_must_hold_one() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    let refuses = |name: &str, text: &str, parts: &[&str]| {
        bench.write(name, text);
        let line = format!("independent-set --graph g.gph --no-scores --labels {name}");
        bench.advises(&line, 1, &[parts, &[name]].concat());
    };
    refuses("a.csv", "node,labels\n0,1\n2,0.3\n1,0\n", &["unit g, line 3, node 2", "0.3"]);
    refuses("b.csv", "node,logits\n0,1\n1,0\n2,0\n", &["there are no labels", "labels or set"]);
    refuses("a.jsonl", "{\"unit\": \"g\", \"logits\": [1, 2, 3]}\n", &["there are no labels"]);
}

#[test]
fn a_kind_that_the_file_contradicts_is_refused() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    bench.write("s.jsonl", "{\"unit\": \"g\", \"logits\": [1, 2, 3]}\n");
    bench.write("results.json", r#"{"g": {"mis": [0], "found_mis": true, "vertices": 1}}"#);
    let named = ["--scores-are probs", "'logits' names logits", "s.jsonl"];
    bench.advises("independent-set --graph g.gph --scores s.jsonl --scores-are probs", 1, &named);
    for option in ["--no-scores", "--scores-are logits"] {
        let line = format!("independent-set results.json --graph g.gph {option}");
        bench.advises(&line, 2, &[option.split(' ').next().unwrap(), "results.json"]);
    }
    bench.report("independent-set results.json --graph g.gph --scores-are set");
}

#[test]
fn impossible_optima_show_unit_and_value() {
    for (value, text) in [(-2.0, "-2"), (1.5, "1.5"), (4.0, "4")] {
        path3_with("optimum", f64s(&[1], &[value])).advises(MEASURE, 1, &["optimum", text]);
    }
    let bench = with(&path3_unit());
    bench.write("o.csv", "unit,optimum\ng,-1\n");
    bench.advises("independent-set g.npz --optimum o.csv", 1, &["unit g", "-1", "o.csv"]);
    bench.advises("independent-set g.npz --optimum 7", 1, &["unit g", "7", "3"]);
    bench.write("o.csv", "unit,optimum\ng,7\n");
    bench.advises("independent-set g.npz --optimum o.csv", 1, &["unit g", "7", "file: o.csv"]);
}

#[test]
fn numbers_and_names_of_containers_are_shown_as_they_were_found() {
    path3_with("num_nodes", i64s(&[], &[-3])).advises(MEASURE, 1, &["num_nodes", "found: -3", "0 or more"]);
    path3_with("name", texts(&[""])).advises(MEASURE, 1, &["key name", "an empty unit name"]);
    path3_with("ptr", i64s(&[1], &[0])).advises(MEASURE, 1, &["no units", "file: g.npz", "0 graphs"]);
}

#[test]
fn no_output_is_written_over_an_input_or_another_output() {
    let bench = with(&path3_unit());
    bench.advises("independent-set g.npz --json o.json --csv o.json", 2, &["--json and --csv", "o.json"]);
    let before = bench.bytes("g.npz");
    bench.advises("independent-set g.npz --json ./g.npz", 2, &["--json would write over an input", "g.npz"]);
    assert_eq!(bench.bytes("g.npz"), before);
    assert_eq!(bench.run("independent-set g.npz --json /dev/null --csv /dev/null --quiet").status, 0);
}

#[test]
fn benchmark_results_show_graph_and_numbers() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    bench.write("results.json", r#"{"g": {"mis": [0, 2], "found_mis": true, "vertices": 3}}"#);
    bench.advises("independent-set results.json --graph g.gph", 1, &["g", "2", "3", "results.json"]);
    bench.write("results.json", r#"{"h": {"mis": [0], "found_mis": true, "vertices": 1}}"#);
    bench.advises("independent-set results.json --graph g.gph", 1, &["unknown graph 'h'", "results.json"]);
    bench.write("results.json", r#"{"g": {"mis": [0, 2], "found_mis": true, "vertices": 2}}"#);
    let report = bench.report("independent-set results.json --graph g.gph");
    assert_eq!(crate::support::metric(&report, "num_pred_1s_total"), 2);
    bench.write("results.json", r#"{"g.gph.gz": {"mis": [2], "found_mis": true, "vertices": 1}}"#);
    let report = bench.report("independent-set results.json --graph g.gph");
    assert_eq!(crate::support::metric(&report, "num_pred_1s_total"), 1);
}

#[test]
fn loops_can_be_refused() {
    path3_with("edge_index", i64s(&[2, 2], &[0, 2, 1, 2])).advises(
        "independent-set g.npz --self-loops error",
        1,
        &["unit g", "node 2"],
    );
}

#[test]
fn pickles_are_never_executed() {
    let bench = Bench::new();
    // cos\nsystem\n(S'touch owned'\ntR. - the classic: it would run a command.
    bench.write("g.gpickle", b"cos\nsystem\n(S'touch owned'\ntR.");
    bench.advises("independent-set --graph g.gpickle --no-scores", 1, &["g.gpickle"]);
    assert!(!bench.path("owned").exists());
    bench.write("g.npz", npz(&[("edge_index", npy("|O", &[1], b"cos\nsystem\n(S'touch owned'\ntR."))]));
    bench.advises("independent-set g.npz --no-scores", 1, &["g.npz"]);
    assert!(!bench.path("owned").exists());
}

#[test]
fn an_ambiguous_folder_is_refused() {
    let bench = Bench::new();
    bench.write("d/a.txt", "0 1\n");
    bench.advises("independent-set --graph d --scores d --scores-are set", 1, &["d/a.txt"]);
}

#[test]
fn wrong_usage_is_status_2() {
    let bench = with(&path3_unit());
    for line in [
        "independent-set g.npz --preset document --pos-weight graph",
        "independent-set g.npz --preset document --reference labels",
        "independent-set g.npz --preset trm-mis-head --decoders swap",
        "independent-set",
        "independent-set --graph g.npz",
        "independent-set g.npz --scores s.npy",
        "independent-set g.npz --feasibility-weight -1",
        "independent-set g.npz --json - --csv -",
        "independent-set g.npz --per-unit table.txt",
        "explain no_such_metric",
    ] {
        bench.advises(line, 2, &[]);
    }
    for line in ["independent-set g.npz --shard 3/2", "independent-set g.npz --preset exact", "nonsense", ""]
    {
        assert_eq!(bench.run(line).status, 2, "{line}");
    }
}

#[test]
fn states_that_do_not_fit_name_the_field_or_the_unit() {
    let bench = with(&path3_unit());
    bench.run("independent-set g.npz --state a.state --quiet");
    bench.run("independent-set g.npz --state b.state --quiet --seed 9");
    bench.advises("merge a.state b.state -o c.state", 1, &["protocol.seed", "0", "9", "a.state", "b.state"]);
    let mut unit = path3_unit();
    unit[1] = ("logits", f64s(&[3], &[1.0, 1.0, 1.0]));
    bench.write("h/g.npz", npz(&unit));
    bench.run("independent-set h/g.npz --state c.state --quiet");
    bench.advises("merge a.state c.state -o d.state", 1, &["unit 'g'", "a.state", "c.state"]);
    assert!(!bench.path("d.state").exists());
    let mut bytes = bench.bytes("a.state");
    bytes[40] ^= 1;
    bench.write("e.state", &bytes);
    bench.advises("show e.state", 1, &["e.state", "bytes 24 to"]);
}
