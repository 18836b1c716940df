//! Graphs of other programs: the same ring in every format, packs, labels, and what each says of itself.

use crate::support::{Bench, codes, metric};
use serde_json::{Value as Json, json};

/// The files that SciPy, networkx and PyG wrote, in a folder of the test's own.
fn rings() -> Bench {
    let bench = Bench::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../calipers-io/tests/fixtures/graphs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        bench.write(&name, std::fs::read(&path).unwrap());
    }
    bench
}

fn without_scores(bench: &Bench, options: &str) -> Json {
    bench.report(&format!("independent-set --no-scores --graph {options}"))
}

#[test]
fn the_ring_of_five_is_the_same_graph_in_every_format() {
    let bench = rings();
    for file in ["RING_A.txt", "RING_graph_indicator.txt"] {
        bench.write(&format!("tu/{file}"), bench.bytes(file));
    }
    for given in [
        "ring.mtx",
        "ring.npz",
        "ring_coo.npz",
        "ring.graphml",
        "ring.json",
        "ring.pt",
        "tu",
        "tu --graph-format tu",
        "ring.npz --graph-format scipy",
        "ring.pt --graph-format pyg",
        "ring.graphml --graph-format graphml",
        "RING_A.txt --graph-format edgelist --index-base 1 --num-nodes 5",
    ] {
        let report = without_scores(&bench, given);
        assert_eq!(metric(&report, "baseline_size"), 2.0, "{given}");
        assert_eq!(metric(&report, "upper_bound"), 3.0, "{given}");
        assert_eq!(metric(&report, "one_directional_edges_total"), 0, "{given}");
    }
    // With the labels of the files themselves the best known set is that of the labels.
    for given in ["ring.pt", "ring.graphml", "RING_A.txt"] {
        let report = without_scores(&bench, &format!("{given} --labels @graph"));
        assert!(!codes(&report).contains(&"labels-missing"), "{given}");
    }
}

#[test]
fn packs_are_named_by_number_and_objects_of_pyg_bring_scores_and_labels() {
    let bench = rings();
    for (file, names) in [
        ("ring_list.pt", ["ring_list#0", "ring_list#1"]),
        ("ring_batch.pt", ["ring_batch#0", "ring_batch#1"]),
        ("ring_processed.pt", ["ring_processed#0", "ring_processed#1"]),
        ("ring_processed_dict.pt", ["ring_processed_dict#0", "ring_processed_dict#1"]),
    ] {
        let said = bench.run(&format!("independent-set {file} --per-unit u.csv --json r.json --quiet"));
        assert_eq!(said.status, 0, "{file}: {}", said.stderr);
        let table = bench.read("u.csv");
        let units: Vec<&str> = table.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(units, names);
        let report: Json = serde_json::from_str(&bench.read("r.json")).unwrap();
        assert_eq!(metric(&report, "solved"), 1.0, "{file}: the scores choose the labelled nodes");
        let as_graph = without_scores(&bench, file);
        assert_eq!(as_graph["units"], 2, "{file}");
    }
    let one = r#"{"nodes":[{"id":0},{"id":1}],"edges":[{"source":0,"target":1}]}"#;
    bench
        .write("pack.jsonl", format!("{one}\n{one}\n"))
        .write("packs/a.json", format!("[{one},{one},{one}]"));
    assert_eq!(without_scores(&bench, "pack.jsonl")["units"], 2);
    assert_eq!(without_scores(&bench, "packs")["units"], 3);
}

#[test]
fn the_number_of_nodes_is_said_by_the_object_and_never_guessed() {
    let bench = rings();
    let report = without_scores(&bench, "ring_num_nodes.pt");
    assert_eq!(metric(&report, "isolated_nodes_total"), 2);
    let line = "independent-set --no-scores --graph";
    bench.refuses(&format!("{line} ring_no_nodes.pt"), 1, &["how many nodes", "num_nodes"]);
    bench.refuses(&format!("{line} ring_hetero.pt"), 1, &["HeteroData", "edges in Python"]);
}

#[test]
fn names_of_nodes_and_stored_zeros_are_warned_of() {
    let bench = rings();
    let report = without_scores(&bench, "ring.graphml");
    assert_eq!(codes(&report), ["renumbered-nodes"]);
    let message = report["warnings"][0]["message"].as_str().unwrap();
    assert!(message.contains("n0, n1, n2"), "{message}");
    bench.write("z.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 1\n3 1 0\n3 2 4\n");
    let report = without_scores(&bench, "z.mtx");
    assert_eq!(codes(&report), ["stored-zeros"]);
    assert_eq!(report["warnings"][0]["units"], json!(["z"]));
}

#[test]
fn bad_graphs_are_refused_with_their_place() {
    let bench = rings();
    let line = |options: &str| format!("independent-set --no-scores --graph {options}");
    bench.write("alone/DS_A.txt", "1, 2\n2, 1\n");
    bench.refuses(&line("alone"), 1, &["alone/DS_A.txt", "give the folder", "--index-base 1"]);
    bench.refuses(&line("alone/DS_A.txt"), 1, &["DS_A.txt", "DS", "graph_indicator"]);
    bench.write("alone/DS_graph_indicator.txt", "1\n2\n");
    bench.refuses(&line("alone"), 1, &["line 1", "node 1 of graph 1", "node 2 of graph 2"]);
    bench.write("two/A_A.txt", "").write("two/B_A.txt", "");
    bench.refuses(&line("two"), 1, &["two TU data sets", "two/A_A.txt and two/B_A.txt"]);
    bench.write("label.graphml", bench.read("ring.graphml").replace(">1</data>", ">Ann</data>"));
    bench.refuses(&line("label.graphml --labels @graph"), 1, &["label.graphml", "`Ann` at node 0"]);
    assert_eq!(without_scores(&bench, "label.graphml")["units"], 1, "labels that nobody asks for do no harm");
    bench.write("doctype.graphml", "<!DOCTYPE x [<!ENTITY a \"b\">]>\n<graphml/>");
    bench.refuses(&line("doctype.graphml"), 1, &["doctype.graphml", "line 1"]);
    bench.write("both.json", r#"{"nodes":[],"links":[],"edges":[]}"#);
    bench.refuses(&line("both.json"), 1, &["both.json", "both 'links' and 'edges'"]);
    for (name, word) in
        [("a.gml", "write_graphml"), ("a.adjlist", "edge list"), ("a.mat", "save_npz"), ("a.bin", "PyG")]
    {
        bench.write(name, "x").refuses(&line(name), 1, &[name, word]);
    }
}
