//! Steps, samples and packs: graphs without nodes keep their rows, and nothing of another length
//! or axis than it should have is taken for something else.

use serde_json::json;

use crate::support::{Bench, f64s, i64s, metric, npz, path3, path3_unit, texts};

fn with(members: &[(&str, Vec<u8>)]) -> Bench {
    let bench = Bench::new();
    bench.write("g.npz", npz(members));
    bench
}

fn empty(axis: &'static str, rows: usize) -> Vec<(&'static str, Vec<u8>)> {
    vec![("edge_index", i64s(&[2, 0], &[])), (axis, f64s(&[rows, 0], &[])), ("labels", i64s(&[0], &[]))]
}

#[test]
fn a_graph_without_nodes_has_as_many_steps_as_its_array() {
    let bench = with(&empty("logits_steps", 3));
    let report = bench.report("independent-set g.npz");
    assert_eq!(*metric(&report, "num_violations_by_step"), json!([0.0, 0.0, 0.0]));
    assert_eq!(*metric(&report, "postprocessed_size_by_step"), json!([0.0, 0.0, 0.0]));
    let reason = |id: &str| report["undefined"][format!("independent_set.{id}")].clone();
    assert_eq!(reason("steps_to_solve"), "graph has no nodes");
    assert_eq!(reason("accuracy_by_step"), "graph has no nodes");
    assert_eq!(reason("best_of_size"), "no samples given");
    let published = bench.report("independent-set g.npz --preset document");
    assert_eq!(*metric(&published, "steps_to_solve"), 1);
}

#[test]
fn a_graph_without_nodes_does_not_shorten_the_curves_of_the_others() {
    let bench = Bench::new();
    bench.write("d/a.npz", npz(&empty("logits_samples", 4)));
    let scores = f64s(&[2, 3], &[1.0, -1.0, 2.0, 1.0, 3.0, 2.0]);
    bench.write("d/b.npz", npz(&[("edge_index", path3()), ("logits_samples", scores)]));
    let report = bench.report("independent-set d");
    assert_eq!(*metric(&report, "best_of_curve"), json!([1.0, 1.0]));
    bench.write("d/a.npz", npz(&empty("logits_samples", 1)));
    assert_eq!(*metric(&bench.report("independent-set d"), "best_of_curve"), json!([1.0]));
}

#[test]
fn rows_of_another_width_than_the_graph_show_both_lengths() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    let graph = "independent-set --graph g.gph";
    bench.write("s.npy", f64s(&[2, 6], &[0.5; 12]));
    let steps = format!("{graph} --scores s.npy --scores-are probs --axis steps");
    bench.refuses(&steps, 1, &["s.npy", "rows of 6", "3 nodes"]);
    bench.write("s.npz", npz(&[("logits_samples", f64s(&[6, 1], &[0.0; 6]))]));
    bench.refuses(&format!("{graph} --scores s.npz"), 1, &["s.npz", "rows of 1", "3 nodes"]);
    bench.write("s.jsonl", "\n{\"unit\": \"g\", \"logits\": [1, 2]}\n");
    bench.refuses(&format!("{graph} --scores s.jsonl"), 1, &["s.jsonl", "line 2", "unit g", "2 values", "3"]);
    bench.write("l.jsonl", "{\"unit\": \"g\", \"labels\": \"01010\"}\n");
    let audit = format!("{graph} --no-scores --labels l.jsonl");
    bench.refuses(&audit, 1, &["l.jsonl", "line 1", "5 values", "3"]);
    bench.write("s.csv", "node,probs\n0,0.5\n1,0.5\n");
    bench.refuses(&format!("{graph} --scores s.csv"), 1, &["s.csv", "2 values", "3 nodes"]);
    with(&[("edge_index", path3()), ("logits_steps", f64s(&[3, 2], &[0.0; 6]))]).refuses(
        "independent-set g.npz",
        1,
        &["entry", "2 nodes"],
    );
}

#[test]
fn boundaries_must_cover_all_values_of_a_pack() {
    let bench = Bench::new();
    bench.write("p.g6", "A_\nA_\n");
    let graphs = "independent-set --graph p.g6";
    let scores = |ptr: &[i64], logits: usize| {
        bench.write(
            "p.npz",
            npz(&[("ptr", i64s(&[ptr.len()], ptr)), ("logits", f64s(&[logits], &vec![1.0; logits]))]),
        );
    };
    scores(&[0, 2, 4], 5);
    bench.refuses(&format!("{graphs} --scores p.npz"), 1, &["p.npz", "ptr", "index 2", "4", "5"]);
    scores(&[0, 2, 4], 3);
    bench.refuses(&format!("{graphs} --scores p.npz"), 1, &["p.npz", "ptr", "index 2", "4", "3"]);
    scores(&[0, 1, 4], 4);
    bench.refuses(&format!("{graphs} --scores p.npz"), 1, &["p.npz", "p#0", "1 values", "2 nodes"]);
    bench.write("l/p.npz", npz(&[("batch", i64s(&[4], &[0, 0, 1, 1])), ("y", i64s(&[5], &[1, 0, 1, 0, 1]))]));
    let labels = format!("{graphs} --no-scores --labels l/p.npz");
    bench.refuses(&labels, 1, &["l/p.npz", "batch", "4 numbers", "5"]);
    scores(&[0, 2, 4], 4);
    assert_eq!(*metric(&bench.report(&format!("{graphs} --scores p.npz")), "num_pred_1s_total"), 4);
}

#[test]
fn names_and_numbers_of_graphs_must_agree_with_the_boundaries() {
    let bench = Bench::new();
    bench.write("p.g6", "A_\nA_\n").write("n.txt", "a\nb\n");
    let names = ["a"];
    bench.write(
        "s.npz",
        npz(&[("ptr", i64s(&[3], &[0, 2, 4])), ("logits", f64s(&[4], &[1.0; 4])), ("names", texts(&names))]),
    );
    bench.refuses(
        "independent-set --graph p.g6 --names n.txt --scores s.npz",
        1,
        &["s.npz", "1 names", "2 names"],
    );
    let mut pack = path3_unit();
    pack.push(("ptr", i64s(&[2], &[0, 3])));
    pack.push(("num_graphs", i64s(&[], &[2])));
    with(&pack).refuses("independent-set g.npz", 1, &["ptr", "num_graphs", "2", "1 graphs"]);
    let mut unit = path3_unit();
    unit.push(("name", texts(&["a", "b"])));
    with(&unit).refuses("independent-set g.npz", 1, &["name", "2 names"]);
}

#[test]
fn an_option_that_contradicts_the_name_of_a_key_is_refused_with_both() {
    let bench = with(&[("edge_index", path3()), ("logits_steps", f64s(&[2, 3], &[0.5; 6]))]);
    bench.refuses("independent-set g.npz --axis samples", 1, &["g.npz", "logits_steps", "--axis samples"]);
    bench.report("independent-set g.npz --axis steps");
    let bench = with(&path3_unit());
    bench.refuses("independent-set g.npz --scores-are probs", 1, &["'logits'", "--scores-are probs"]);
    bench.report("independent-set g.npz --scores-are logits");
    bench.write("g.gph", "p edge 2 1\ne 1 2\n").write("s.jsonl", "{\"unit\": \"g\", \"logits\": [1, 2]}\n");
    let line = "independent-set --graph g.gph --scores s.jsonl --axis steps";
    bench.refuses(line, 1, &["g.gph", "--axis steps", "logits"]);
}

#[test]
fn an_optimum_that_is_no_whole_number_is_not_taken_for_a_file() {
    let bench = with(&path3_unit());
    for value in ["1.5", "-1", "+2.5", "-0.5", "1e30", ".5"] {
        let line = format!("independent-set g.npz --optimum {value}");
        bench.refuses(&line, 1, &["--optimum", value, "whole number, 0 or more"]);
    }
    bench.refuses("independent-set g.npz --optimum 2.csv", 1, &["cannot open", "2.csv"]);
    let report = bench.report("independent-set g.npz --optimum 2");
    assert_eq!(*metric(&report, "optimal_size"), 2.0);
}

#[test]
fn labels_beside_a_set_are_the_labels_and_the_set_is_the_prediction() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    bench.write("both.csv", "node,set,labels\n0,1,0\n1,0,1\n2,1,1\n");
    bench.write("both.jsonl", "{\"unit\": \"g\", \"set\": [0, 2], \"labels\": \"011\"}\n");
    for file in ["both.csv", "both.jsonl"] {
        let report = bench.report(&format!("independent-set --graph g.gph --scores {file} --labels {file}"));
        let count = |id: &str| metric(&report, id).as_u64().unwrap();
        assert_eq!(
            [count("tp_total"), count("fp_total"), count("fn_total"), count("tn_total")],
            [1, 1, 1, 0]
        );
    }
}

#[test]
fn labels_of_the_graph_files_need_a_format_that_holds_labels() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n").write("g.txt", "0 1 1 0 label 1 0 1\n");
    let line = "independent-set --graph g.gph --no-scores --labels @graph";
    bench.refuses(line, 1, &["g.gph", "@graph", "gpickle, graphml"]);
    let report =
        bench.report("independent-set --graph g.txt --graph-format ml4co --no-scores --labels @graph");
    assert_eq!(*metric(&report, "num_true_1s_total"), 2);
}

#[test]
fn a_chosen_node_out_of_range_is_said_of_the_file_that_chooses_it() {
    let bench = Bench::new();
    bench.write("g.gph", "p edge 3 1\ne 1 2\n");
    bench.write("results.json", r#"{"g": {"mis": [0, 7], "found_mis": true, "vertices": 2}}"#);
    bench.refuses("independent-set results.json --graph g.gph", 1, &["results.json", "unit g", "7", "N = 3"]);
}

#[test]
fn one_pack_of_graphs_and_one_of_scores_pair_whatever_their_names() {
    let bench = Bench::new();
    bench.write("graphs.g6", "Bo\nA_\n").write("names.txt", "path\nedge\n");
    let scores = ("logits", f64s(&[5], &[1.0, -1.0, 2.0, 3.0, -3.0]));
    let ptr = ("ptr", i64s(&[3], &[0, 3, 5]));
    bench.write("scores.npz", npz(&[scores.clone(), ptr.clone()]));
    for names in ["", " --names names.txt"] {
        let report = bench.report(&format!("independent-set --graph graphs.g6 --scores scores.npz{names}"));
        assert_eq!(*metric(&report, "num_pred_1s_total"), 3);
        assert_eq!(*metric(&report, "num_violations_total"), 1);
    }
    // Names that the pack gives itself are kept.
    bench.write("scores.npz", npz(&[scores, ptr, ("names", texts(&["edge", "path"]))]));
    let line = "independent-set --graph graphs.g6 --scores scores.npz --names names.txt";
    bench.refuses(line, 1, &["unit edge", "3", "2 nodes"]);
}
