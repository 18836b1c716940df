//! Intervals as the command line writes them: those of the oracle, the same on every face, and refused
//! where they cannot be made.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::support::Bench;

/// Every pair of bounds, or number, by its path.
fn flat(path: &str, json: &Json, out: &mut BTreeMap<String, Json>) {
    match json {
        Json::Object(entries) => entries.iter().for_each(|(key, below)| {
            flat(&if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, below, out);
        }),
        leaf => _ = out.insert(path.into(), leaf.clone()),
    }
}

fn paths(json: &Json) -> BTreeMap<String, Json> {
    let mut all = BTreeMap::new();
    flat("", json, &mut all);
    all
}

fn report(bench: &Bench, line: &str) -> Json {
    let said = bench.run(&format!("{line} --json - --quiet"));
    assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn reports_have_the_intervals_of_the_oracle() {
    let cases: Json =
        serde_json::from_str(include_str!("../../../../../oracles/intervals/cases.json")).unwrap();
    let mut seen = 0;
    for case in cases["cases"].as_array().unwrap().iter().filter(|case| case["cli"].is_object()) {
        let bench = Bench::new();
        for (name, text) in case["cli"]["files"].as_object().unwrap() {
            bench.write(name, text.as_str().unwrap());
        }
        let words: Vec<&str> =
            case["cli"]["argv"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
        for method in case["methods"].as_array().unwrap().iter().filter_map(Json::as_str) {
            let said = bench.run_words(&[&words[..], &[method]].concat());
            assert_eq!(said.status, 0, "{}", said.stderr);
            let report: Json = serde_json::from_str(&said.stdout).unwrap();
            let expected = &case["expected"][method];
            let (metrics, found) = (paths(&report["metrics"]), paths(&report["intervals"]));
            for (path, value) in case["expected"]["metrics"].as_object().unwrap() {
                assert_eq!(metrics[path].as_f64(), value.as_f64(), "{} {path}", case["name"]);
                let place = format!("{} {method} {path}", case["name"]);
                let numbers = |json: Option<&Json>| -> Option<Vec<f64>> {
                    json?.as_array()?.iter().map(Json::as_f64).collect()
                };
                assert_eq!(numbers(found.get(path)), numbers(expected["intervals"].get(path)), "{place}");
                for key in ["no_interval", "percentile_used"] {
                    let here = if key == "no_interval" { &report[key] } else { &report["bootstrap"][key] };
                    assert_eq!(here.get(path).is_some(), expected[key].get(path).is_some(), "{place} {key}");
                }
                seen += 1;
            }
            assert_eq!(report["bootstrap"]["strata"], case["expected"]["strata"], "{}", case["name"]);
            assert_eq!(report["bootstrap"]["method"], method);
        }
    }
    assert!(seen > 30, "{seen}");
}

/// Two configurations of five folds each.
fn folds() -> Bench {
    let bench = Bench::new();
    for (group, speed) in [("fast", 3), ("slow", 5)] {
        for fold in 0..5 {
            let value = |epoch: usize| if epoch >= speed + fold % 3 && epoch != 9 { 0.95 } else { 0.5 };
            let lines: String = (0..12).map(|epoch| format!("{epoch},{}\n", value(epoch))).collect();
            bench.write(&format!("runs/{group}/{fold}.csv"), format!("epoch,m\n{lines}"));
        }
    }
    bench
}

const TRAINING: &str = "training runs --metric m --group-by folder";

#[test]
fn runs_are_drawn_inside_their_group_and_sizes_have_no_interval() {
    let bench = folds();
    let with = report(&bench, &format!("{TRAINING} --bootstrap 200"));
    let count = &with["intervals"]["training.saturation_count"];
    assert_eq!(count, &json!({"fast": [5.0, 5.0], "slow": [5.0, 5.0]}));
    assert!(with["intervals"].get("training.fold_count").is_none());
    assert!(with["no_interval"].get("training.fold_count.fast").is_none());
    let codes: Vec<&str> =
        with["warnings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert!(codes.contains(&"few-units") && codes.contains(&"no-spread"), "{codes:?}");
    // The family's own ids are the percentile interval, whatever is asked for.
    let percentile = report(&bench, &format!("{TRAINING} --bootstrap 200 --interval percentile"));
    for id in ["velocity_wise", "velocity_rmst", "stability_wise", "divergence_rate"] {
        let own = &percentile["metrics"][format!("training.{id}_ci")];
        assert_eq!(own, &percentile["intervals"][format!("training.{id}")], "{id}");
        assert_eq!(own, &with["metrics"][format!("training.{id}_ci")], "{id}");
    }
    // A group's interval does not change when another group is added.
    std::fs::remove_dir_all(bench.path("runs/slow")).unwrap();
    let alone = report(&bench, &format!("{TRAINING} --bootstrap 200"));
    let of = |report: &Json| report["intervals"]["training.velocity_wise"]["fast"].clone();
    assert_eq!(of(&alone), of(&with));
}

#[test]
fn a_state_shows_the_bytes_of_its_measuring_command() {
    let bench = folds();
    let measure = |options: &str| {
        let line = format!("{TRAINING} {options} --json a.json --state a.state --quiet");
        assert_eq!(bench.run(&line).status, 0);
        bench.read("a.json")
    };
    let wanted = measure("--bootstrap 60 --seed 3 --confidence 0.9");
    assert_eq!(bench.run("show a.state --json b.json --quiet").status, 0);
    assert_eq!(bench.read("b.json"), wanted, "the protocol says how");
    measure("");
    let shown = bench.run("show a.state --bootstrap 60 --seed 3 --confidence 0.9 --json b.json --quiet");
    assert_eq!((shown.status, bench.read("b.json") == wanted), (0, true), "{}", shown.stderr);
}

fn matrices() -> Bench {
    let bench = Bench::new();
    let line = |unit: usize| {
        let (a, b) = (3 + unit * 7 % 11, unit % 4);
        format!("{{\"id\": \"seq{}/{unit:02}\", \"confusion\": [[{a}, 1], [{b}, 5]]}}\n", unit % 6)
    };
    bench.write("cms.jsonl", (0..36).map(line).collect::<String>());
    let table: String = (0..36).map(|unit| format!("seq{}/{unit:02},p{}\n", unit % 6, unit % 9)).collect();
    bench.write("who.csv", format!("unit,patient\n{table}"));
    bench
}

const SEGMENTATION: &str = "segmentation --confusion cms.jsonl --classes 2 --measure overlap";

/// The script of a page that holds the intervals of its reports.
fn on_page(page: &str) -> Json {
    let start = page.find("id=\"intervals\">").unwrap() + "id=\"intervals\">".len();
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

#[test]
fn every_face_shows_the_same_intervals() {
    let bench = matrices();
    for (family, files) in [(SEGMENTATION, &bench), (TRAINING, &folds())] {
        let json = report(files, &format!("{family} --bootstrap 2000"));
        let line = format!("{family} --html page.html --json plain.json --quiet");
        assert_eq!(files.run(&line).status, 0);
        let page = on_page(&files.read("page.html"));
        let plain = files.read("plain.json");
        assert!(!plain.contains("\"intervals\"") && !plain.contains("few-units"), "{plain}");
        for key in ["bootstrap", "intervals", "no_interval"] {
            assert_eq!(page[0][key], json[key], "{family} {key}");
        }
    }
    let json = report(&bench, &format!("{SEGMENTATION} --bootstrap 100"));
    let csv = bench.run(&format!("{SEGMENTATION} --bootstrap 100 --csv - --quiet")).stdout;
    let intervals = paths(&json["intervals"]);
    for (path, bounds) in &intervals {
        let line = csv.lines().find(|line| line.split(',').next() == Some(path)).unwrap();
        assert!(line.ends_with(&format!(",{},{}", bounds[0], bounds[1])), "{line} {bounds}");
    }
    assert!(intervals.contains_key("segmentation.iou.1"));
}

#[test]
fn clusters_come_from_folders_expressions_and_tables_and_verify_reads_them_again() {
    let bench = matrices();
    let with = |rule: &str| report(&bench, &format!("{SEGMENTATION} --bootstrap 50 --cluster-by {rule}"));
    let drawn = |report: &Json| {
        let bootstrap = &report["bootstrap"];
        (bootstrap["sampling_unit"].clone(), bootstrap["strata"]["all"]["sampling_units"].clone())
    };
    assert_eq!(drawn(&with("folder")), (json!("cluster"), json!(6)));
    assert_eq!(with("folder")["intervals"], with("regex:^[^/]+")["intervals"]);
    assert_eq!(drawn(&with("none")), (json!("unit"), json!(36)));
    let codes = |report: &Json| report["warnings"].to_string();
    assert!(!codes(&with("none")).contains("clusters-ignored"));
    assert!(codes(&report(&bench, &format!("{SEGMENTATION} --bootstrap 50"))).contains("clusters-ignored"));
    let line = format!("{SEGMENTATION} --bootstrap 50 --cluster-by who.csv:patient --json c.json --quiet");
    assert_eq!(bench.run(&line).status, 0);
    let found: Json = serde_json::from_str(&bench.read("c.json")).unwrap();
    assert_eq!(drawn(&found), (json!("cluster"), json!(9)));
    let roles = found["inputs"].as_array().unwrap().iter().filter(|input| input["role"] == "clusters");
    assert_eq!(roles.count(), 1);
    let verified = bench.run("verify c.json");
    assert_eq!(verified.status, 0, "{}{}", verified.stdout, verified.stderr);
    bench.write("who.csv", bench.read("who.csv").replace(",p8", ",p7"));
    assert_eq!(bench.run("verify c.json").status, 3);
}

#[test]
fn what_cannot_be_drawn_is_refused_before_any_draw() {
    let bench = matrices();
    bench.write("flat.jsonl", "{\"id\": \"a\", \"confusion\": [[1, 0], [0, 1]]}\n");
    bench.write("short.csv", "unit,patient\nseq0/00,p\n");
    bench.write("empty.csv", "unit,patient\nseq0/00,\n");
    bench.write("twice.csv", "unit,patient\nseq0/00,p\nseq0/00,q\n");
    let flat = "segmentation --confusion flat.jsonl --classes 2 --measure overlap";
    for (line, status, words) in [
        (format!("{SEGMENTATION} --bootstrap 9 --interval t"), 2, &["expanded", "percentile", "bca"][..]),
        (format!("{SEGMENTATION} --interval bca"), 2, &["--interval needs --bootstrap or --html"]),
        (format!("{SEGMENTATION} --bootstrap 0 --interval bca"), 2, &["needs --bootstrap"]),
        (format!("{SEGMENTATION} --cluster-by folder"), 2, &["--cluster-by needs --bootstrap or --html"]),
        (format!("{SEGMENTATION} --bootstrap 9 --cluster-by folders"), 2, &["FILE.csv:COLUMN"]),
        (format!("{SEGMENTATION} --bootstrap 9 --cluster-by regex:("), 2, &["unclosed group"]),
        (format!("{SEGMENTATION} --bootstrap 9 --confidence 1"), 2, &["--confidence"]),
        (format!("{flat} --bootstrap 9 --cluster-by folder"), 1, &["'a'", "folder", "1 such unit"]),
        (format!("{SEGMENTATION} --bootstrap 9 --cluster-by regex:seq1"), 1, &["seq0/00", "30 such units"]),
        (format!("{SEGMENTATION} --bootstrap 9 --cluster-by no.csv:patient"), 1, &["no.csv"]),
        (format!("{SEGMENTATION} --bootstrap 9 --cluster-by who.csv:patent"), 1, &["did you mean patient?"]),
        (
            format!("{SEGMENTATION} --bootstrap 9 --cluster-by short.csv:patient"),
            1,
            &["no row", "35 such units"],
        ),
        (format!("{SEGMENTATION} --bootstrap 9 --cluster-by empty.csv:patient"), 1, &["line 2"]),
        (format!("{SEGMENTATION} --bootstrap 9 --cluster-by twice.csv:patient"), 1, &["lines 2 and 3"]),
        (format!("{SEGMENTATION} --bootstrap 4294967295"), 2, &["do not fit into memory", "at most"]),
    ] {
        let said = bench.run(&line);
        assert_eq!(said.status, status, "{line}\n{}", said.stderr);
        assert!(words.iter().all(|word| said.stderr.contains(word)), "{line}\n{}", said.stderr);
    }
    let one = report(&bench, &format!("{SEGMENTATION} --bootstrap 9 --cluster-by regex:s"));
    assert_eq!(one["no_interval"]["segmentation.miou"], "1 cluster; an interval needs at least 2");
    assert_eq!(one["intervals"], json!({}));
    for form in ["", "--markdown", "--latex"] {
        let said = bench.run(&format!("{SEGMENTATION} --bootstrap 9 --cluster-by regex:s {form}")).stdout;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("(1 cluster; an interval needs at least 2)"), "{said}");
    }
}
