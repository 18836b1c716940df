//! `calipers verify`: reports of every family measured again from what they name.

use crate::support::{Bench, f64s, i64s, npz, path3, path3_unit};

fn identical(bench: &Bench, file: &str) {
    let said = bench.run(&format!("verify {file}"));
    assert_eq!(said.status, 0, "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("identical"), "{}", said.stdout);
}

/// Measures with a line of options, then verifies.
fn repeats(bench: &Bench, line: &str) {
    let said = bench.run(&format!("{line} --json report.json --quiet"));
    assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
    identical(bench, "report.json");
}

#[test]
fn the_demo_of_every_family_is_identical_when_measured_again() {
    let bench = Bench::new();
    assert_eq!(bench.run("demo --out d").status, 0);
    identical(&bench, "d/report.json");
    let said = bench.run("verify d/report.json --quiet --threads 3");
    assert_eq!((said.status, said.stdout.as_str()), (0, ""));
    let text = bench.read("d/report.json");
    bench.write("d/report.json", text.replacen("\"segmentation.miou\": 0.", "\"segmentation.miou\": 0.9", 1));
    let said = bench.run("verify d/report.json");
    assert_eq!(said.status, 3, "{}", said.stderr);
    assert!(said.stdout.contains("report 2 of 7, segmentation: 1 difference"), "{}", said.stdout);
    assert!(said.stdout.contains("segmentation.miou: 0.9"), "{}", said.stdout);
}

fn graphs() -> Bench {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.write(&format!("in/{name}.npz"), npz(&path3_unit()));
    }
    bench
}

#[test]
fn a_changed_a_missing_and_an_added_input_are_told_apart() {
    let bench = graphs();
    repeats(&bench, "independent-set in/");
    bench.write("in/c.npz", npz(&path3_unit()));
    identical(&bench, "report.json");
    let whole = bench.bytes("in/a.npz");
    bench.write("in/a.npz", npz(&[("edge_index", path3()), ("logits", f64s(&[3], &[1.0, 1.0, 2.0]))]));
    let said = bench.run("verify report.json");
    assert_eq!(said.status, 3, "{}", said.stderr);
    assert!(
        said.stdout.contains("in/a.npz has changed") && !said.stdout.contains("in/b.npz"),
        "{}",
        said.stdout
    );
    std::fs::remove_file(bench.path("in/a.npz")).unwrap();
    bench.refuses("verify report.json", 1, &["in/a.npz", "cannot be read", "--root"]);
    bench.write("in/a.npz", whole);
    identical(&bench, "report.json");
}

#[test]
fn paths_are_relative_to_the_root_that_is_given() {
    let bench = graphs();
    repeats(&bench, "independent-set in/");
    std::fs::create_dir(bench.path("moved")).unwrap();
    std::fs::rename(bench.path("in"), bench.path("moved/in")).unwrap();
    identical(&bench, "report.json --root moved");
    bench.refuses("verify report.json --root nowhere", 1, &["nowhere"]);
}

#[test]
fn standard_input_and_old_reports_cannot_be_read_again() {
    let bench = graphs();
    let unit = bench.bytes("in/a.npz");
    assert_eq!(bench.run_on("independent-set - --json report.json --quiet", &unit).status, 0);
    bench.refuses("verify report.json", 1, &["standard input cannot be read again"]);
    bench.run("independent-set in/ --json report.json --quiet");
    let text = bench.read("report.json");
    bench.write("report.json", text.replace("\"role\": \"input\"", "\"rule\": \"input\""));
    bench.refuses("verify report.json", 1, &["does not say what an input was read as", "in/a.npz"]);
    bench.write("report.json", "[]");
    bench.refuses("verify report.json", 1, &["no report"]);
}

#[test]
fn an_edited_report_differs_even_where_its_numbers_do_not() {
    let bench = graphs();
    repeats(&bench, "independent-set in/");
    bench.write("report.json", bench.read("report.json").replace("  ", " "));
    let said = bench.run("verify report.json");
    assert_eq!(said.status, 3);
    assert!(said.stdout.contains("not as calipers writes it"), "{}", said.stdout);
}

#[test]
fn graphs_scores_and_labels_in_files_of_their_own_are_found_again() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        bench.write(&format!("g/{name}.edges"), "0 1\n1 2\n");
    }
    let line =
        |unit: &str| format!("{{\"unit\": \"{unit}\", \"logits\": [1, -1, 2], \"labels\": [1, 0, 1]}}\n");
    bench.write("both.jsonl", line("a") + &line("b"));
    let graph = "independent-set --graph g --graph-format edgelist --scores both.jsonl --labels both.jsonl";
    repeats(&bench, graph);
    assert!(bench.read("report.json").contains("\"role\": \"labels, scores\""));
    repeats(&bench, &format!("{graph} --optimum 2"));
    bench.write("best.csv", "unit,optimum\na,2\nb,2\n");
    repeats(&bench, &format!("{graph} --optimum best.csv --bootstrap 50 --seed 3"));
    bench.write("s/a_pred.txt", "0.9\n0.1\n0.8\n").write("s/b_pred.txt", "0.9\n0.1\n0.8\n");
    repeats(
        &bench,
        "independent-set --graph g --graph-format edgelist --scores s --scores-are probs --pair-strip _pred",
    );
    repeats(
        &bench,
        "independent-set --graph g --graph-format edgelist --num-nodes 3 --no-scores --index-base 0",
    );
}

#[test]
fn a_shard_and_merged_shards_are_verified_as_what_they_are() {
    let bench = graphs();
    for shard in [1, 2] {
        let said = bench.run(&format!(
            "independent-set in --shard {shard}/2 --state {shard}.state --quiet --partial --json {shard}.json"
        ));
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    identical(&bench, "1.json");
    assert_eq!(bench.run("merge 1.state 2.state -o all.state --json all.json --quiet").status, 0);
    identical(&bench, "all.json");
    identical(&bench, "all.state");
    assert_eq!(bench.run("independent-set in --json whole.json --quiet").status, 0);
    assert_eq!(bench.read("all.json"), bench.read("whole.json"));
}

#[test]
fn a_file_measured_alone_merges_with_its_folder() {
    let bench = graphs();
    assert_eq!(bench.run("independent-set in/a.npz --state a.state --quiet").status, 0);
    assert_eq!(bench.run("independent-set in --state all.state --json whole.json --quiet").status, 0);
    for line in ["merge a.state all.state -o m.state", "merge all.state a.state -o m.state"] {
        let said = bench.run(&format!("{line} --json m.json --quiet"));
        assert_eq!(said.status, 0, "{}", said.stderr);
        assert_eq!(bench.read("m.json"), bench.read("whole.json"));
    }
    identical(&bench, "m.json");
}

#[test]
fn a_choice_of_metrics_and_given_curves_of_explanations_are_found_again() {
    let bench = Bench::new();
    let unit = |name: &str| {
        format!("{{\"unit\": \"{name}\", \"pred_mask\": [0.9, 0.1, 0.4], \"target_mask\": [1, 0, 0]}}\n")
    };
    bench.write("masks.jsonl", unit("a") + &unit("b"));
    repeats(&bench, "explanation masks.jsonl");
    repeats(&bench, "explanation masks.jsonl --metrics recall,auroc --bootstrap 20");
}

#[test]
fn histories_of_several_metrics_are_measured_together_again() {
    let bench = Bench::new();
    for (group, fold) in [("x", 0), ("x", 1), ("y", 0)] {
        let rows: String = (0..8).map(|e| format!("{e};0,{};0,{}\n", e + 1, 9 - e)).collect();
        bench.write(&format!("logs/{group}/{fold}.csv"), format!("epoch;acc;loss\n{rows}"));
    }
    let line = "training logs --metric acc --metric loss --threshold 0.5 --group-by folder --decimal comma";
    repeats(&bench, line);
    repeats(&bench, &format!("{line} --bootstrap 20 --sweep 0.3,0.6 --x epoch"));
    bench.write("runs.json", r#"{"p": {"x": {"runs": {"0": {"name": "x/0"}, "1": {"name": "x/1"}}}, "y": {"runs": {"0": {"name": "y/0"}}}},
        "q": {}}"#);
    repeats(
        &bench,
        "training logs --metric acc --decimal comma --threshold 0.5 --runs runs.json --project p --group-by runs",
    );
}

#[test]
fn segmentations_by_suffix_by_head_and_by_matrix_are_found_again() {
    let bench = Bench::new();
    for name in ["one", "two"] {
        bench.write(&format!("gt/{name}_gt.npy"), i64s(&[2, 2], &[0, 1, 1, 255]));
        bench.write(&format!("out/{name}.npy"), i64s(&[2, 2], &[0, 1, 0, 0]));
        bench.write(&format!("h1/{name}.npy"), f64s(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]));
        bench.write(&format!("h2/{name}.npy"), f64s(&[2, 2, 2], &[2.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]));
    }
    bench.write("names.txt", "sky\ncar\n");
    bench.write("gt/three_gt.npy", i64s(&[1, 1], &[0]));
    bench.write("out/four.npy", i64s(&[1, 1], &[0]));
    repeats(
        &bench,
        "segmentation --truth gt --pred out --classes names.txt --ignore 255 --truth-suffix _gt.npy --allow-missing",
    );
    let head = |name: &str| {
        format!(
            "[[heads]]\nname = \"{name}\"\npath = \"../{name}\"\nkind = \"logits\"\nchannels = [\"a\", \"b\"]\n"
        )
    };
    bench.write(
        "cfg/two.toml",
        format!(
            "[data]\ntruth = \"../gt\"\ntruth_suffix = \"_gt.npy\"\nallow_missing = true\n\
             [labels]\noriginal = [\"a\", \"b\"]\nignore = [255]\n{}{}",
            head("h1"),
            head("h2")
        ),
    );
    repeats(&bench, "segmentation cfg/two.toml --bootstrap 30");
    assert!(bench.read("report.json").contains("\"role\": \"pred.1\""));
    bench.write("cm.jsonl", "{\"id\": \"a\", \"confusion\": [[3, 1], [0, 2]]}\n");
    repeats(&bench, "segmentation --confusion cm.jsonl --classes 2");
    let maps = |values: &[i64]| npz(&[("one", i64s(&[2, 2], values)), ("two", i64s(&[2, 2], values))]);
    bench.write("gt.npz", maps(&[0, 1, 1, 255])).write("out.npz", maps(&[0, 1, 0, 0]));
    repeats(&bench, "segmentation --truth gt.npz --pred out.npz --classes 2 --ignore 255");
}
