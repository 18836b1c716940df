//! The binary on whole data sets: shards, threads, forms of output, exit statuses.

use serde_json::Value as Json;

use crate::support::{Bench, codes, f64s, i64s, metric, npz, path3_unit};

/// A folder of ten units, each a path with its own logits.
fn ten() -> Bench {
    let bench = Bench::new();
    for unit in 0..10 {
        let mut members = path3_unit();
        members[1] = ("logits", f64s(&[3], &[1.0 + f64::from(unit), f64::from(unit) - 4.5, 0.25]));
        bench.write(&format!("val/u{unit}.npz"), npz(&members));
    }
    bench
}

#[test]
fn threads_shards_and_merge_orders_give_the_same_bytes() {
    let bench = ten();
    let whole = bench.run("independent-set val --json - --quiet").stdout;
    for threads in ["1", "2", "7"] {
        assert_eq!(
            bench.run(&format!("independent-set val --json - --quiet --threads {threads}")).stdout,
            whole
        );
    }
    for shards in [2, 3, 12] {
        let mut names: Vec<String> = Vec::new();
        for i in 1..=shards {
            let said =
                bench.run(&format!("independent-set val --shard {i}/{shards} --state {i}.state --quiet"));
            assert_eq!(said.status, 0, "{}", said.stderr);
            names.push(format!("{i}.state"));
        }
        let forward = names.join(" ");
        names.reverse();
        let backward = names.join(" ");
        let first = bench.run(&format!("merge {forward} -o ab.state --json - --quiet"));
        let second = bench.run(&format!("merge {backward} 1.state -o ba.state --json - --quiet"));
        assert_eq!(first.stdout, whole, "{}", first.stderr);
        assert_eq!(second.stdout, whole);
        assert_eq!(bench.bytes("ab.state"), bench.bytes("ba.state"));
        assert_eq!(bench.run("show ab.state --json - --quiet").stdout, whole);
    }
}

#[test]
fn a_pack_and_a_folder_of_its_graphs_give_the_same_numbers() {
    let bench = ten();
    let mut logits = Vec::new();
    let (mut us, mut vs) = (Vec::new(), Vec::new());
    for unit in 0..10i64 {
        logits.extend([1.0 + unit as f64, unit as f64 - 4.5, 0.25]);
        us.extend([0, 1, 1, 2].map(|node: i64| node + 3 * unit));
        vs.extend([1, 0, 2, 1].map(|node: i64| node + 3 * unit));
    }
    us.extend(vs);
    let names: Vec<String> = (0..10).map(|unit| format!("u{unit}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    bench.write(
        "pack.npz",
        npz(&[
            ("edge_index", i64s(&[2, 40], &us)),
            ("logits", f64s(&[30], &logits)),
            ("labels", i64s(&[30], &[1, 0, 1].repeat(10))),
            ("ptr", i64s(&[11], &(0..=10).map(|i| 3 * i).collect::<Vec<_>>())),
            ("names", crate::support::texts(&names)),
        ]),
    );
    let (folder, pack) = (bench.report("independent-set val"), bench.report("independent-set pack.npz"));
    assert_eq!(folder["metrics"], pack["metrics"]);
    assert_eq!(folder["warnings"], pack["warnings"]);
    bench.run("independent-set val --per-unit a.csv --quiet");
    bench.run("independent-set pack.npz --per-unit b.csv --quiet");
    assert_eq!(bench.read("a.csv"), bench.read("b.csv"));
}

#[test]
fn every_form_of_output_is_written_whole() {
    let bench = ten();
    let said = bench.run(
        "independent-set val --json r.json --csv r.csv --per-unit u.csv --state s.state --bootstrap 50 --quiet",
    );
    assert_eq!((said.status, said.stdout.as_str()), (0, ""));
    let report: Json = serde_json::from_str(&bench.read("r.json")).unwrap();
    assert_eq!(report["units"], 10);
    assert_eq!(report["calipers"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["protocol"]["name"], "independent_set");
    assert_eq!(report["protocol"]["scores"], "logits");
    assert_eq!(report["inputs"][0]["path"], "val/u0.npz");
    assert!(report["intervals"]["independent_set.accuracy"].is_array());
    assert_eq!(bench.read("u.csv").lines().count(), 11);
    assert!(bench.read("u.csv").starts_with("unit,nodes,edges,self_loops,"));
    for form in ["u.jsonl", "u.parquet"] {
        assert_eq!(bench.run(&format!("show s.state --per-unit {form} --quiet")).status, 0);
        assert!(!bench.bytes(form).is_empty());
    }
    assert!(bench.run("show s.state").stdout.contains("accuracy"));
    assert!(bench.run("show r.json --markdown").stdout.contains("|"));
    assert!(bench.run("show r.json --latex").stdout.contains("\\begin{tabular}"));
    let again = bench.run("show r.json --json - --quiet").stdout;
    assert_eq!(again, bench.read("r.json"));
    bench.refuses("show r.json --per-unit x.csv", 2, &["needs a state"]);
    bench.refuses("show r.json --state x.state", 2, &["needs a state"]);
}

#[test]
fn warnings_reach_stderr_the_report_and_under_strict_the_exit_status() {
    let bench = Bench::new();
    let mut unit = path3_unit();
    unit[0] = ("edge_index", i64s(&[2, 3], &[0, 1, 1, 1, 0, 1]));
    bench.write("g.npz", npz(&unit));
    let said = bench.run("independent-set g.npz --json - --strict");
    assert_eq!(said.status, 3);
    assert!(said.stderr.contains("warning[self-loops]"), "{}", said.stderr);
    let report: Json = serde_json::from_str(&said.stdout).unwrap();
    assert!(codes(&report).contains(&"self-loops"));
    assert_eq!(bench.run("independent-set g.npz --json -").status, 0);
}

#[test]
fn a_failed_run_leaves_no_output_behind() {
    let bench = Bench::new();
    bench.write("g.npz", "not an archive");
    bench.write("old.json", "old");
    assert_eq!(bench.run("independent-set g.npz --json old.json --state s.state").status, 1);
    assert_eq!(bench.read("old.json"), "old");
    let left: Vec<String> = std::fs::read_dir(bench.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = ten();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_calipers"))
        .args(["list"])
        .current_dir(bench.path("."))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_metric_can_be_listed_and_explained() {
    let bench = Bench::new();
    let list = bench.run("list").stdout;
    for id in ["loss_bce", "steps_to_solve_median", "certified_ratio"] {
        assert!(list.contains(id), "{id}");
        let said = bench.run(&format!("explain independent_set.{id}")).stdout;
        for heading in ["Measures", "Formula", "Undefined when", "Reference", "Example"] {
            assert!(said.contains(heading), "{heading} is missing in\n{said}");
        }
    }
    bench.refuses("explain loss_bec", 2, &["loss_bce"]);
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(bench.run(&format!("completions {shell}")).stdout.contains("independent-set"), "{shell}");
    }
    assert!(bench.run("man").stdout.contains(".TH calipers"));
    assert!(bench.run("man independent-set").stdout.contains("feasibility"));
}

#[test]
fn the_demo_needs_nothing_and_is_the_same_every_time() {
    let bench = Bench::new();
    let first = bench.run("demo");
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(first.stdout.contains("approx_ratio_postprocessed"));
    let report = bench.read("calipers-demo/report.json");
    let reports: Json = serde_json::from_str(&report).unwrap();
    assert_eq!(metric(&reports[0], "label_certified_optimal"), 1.0);
    assert!(first.stdout.contains("multi-head"), "{}", first.stdout);
    for (report, miou, nll) in [(&reports[1], 0.6..0.8, 0.3..0.5), (&reports[2], 0.8..0.95, 0.1..0.2)] {
        assert_eq!(report["units"], 12);
        let number = |id: &str| report["metrics"][format!("segmentation.{id}")].as_f64().unwrap();
        assert!(miou.contains(&number("miou")) && nll.contains(&number("nll")), "{}", report["metrics"]);
        assert!(number("biou").is_normal() && number("ece").is_normal());
        assert_eq!(report["warnings"].as_array().unwrap().len(), 0, "{}", report["warnings"]);
    }
    bench.run("demo");
    assert_eq!(bench.read("calipers-demo/report.json"), report);
}
