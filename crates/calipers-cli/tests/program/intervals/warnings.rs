//! What a reader of intervals is warned of, and when nothing is said.

use serde_json::Value as Json;

use crate::support::Bench;

/// Matrices of so many units in folders of five; the first `rare` units have the third class.
fn matrices(units: usize, rare: usize) -> Bench {
    let bench = Bench::new();
    let line = |unit: usize| {
        let (hits, missed, third) = (3 + unit * 7 % 11, unit % 3, if unit < rare { 5 } else { 0 });
        format!(
            "{{\"id\": \"v{}/{unit:02}\", \"confusion\": [[{hits}, {missed}, 0], [1, 4, 0], [0, 0, {third}]]}}\n",
            unit / 5
        )
    };
    bench.write("cms.jsonl", (0..units).map(line).collect::<String>());
    bench
}

const SEGMENTATION: &str = "segmentation --confusion cms.jsonl --classes 3 --measure overlap";

/// The message of a warning, where there is one.
fn message(report: &Json, code: &str) -> Option<String> {
    let all = report["warnings"].as_array().unwrap().iter();
    all.filter(|warning| warning["code"] == code)
        .map(|warning| warning["message"].as_str().unwrap().to_owned())
        .next()
}

fn codes_of_intervals(report: &Json) -> Vec<&str> {
    // Pixels that nobody ignores are 0 in every sample: `no-spread` has a test of its own.
    let known = ["few-units", "few-resamples", "rare-labels", "median-interval", "clusters-ignored"];
    let all = report["warnings"].as_array().unwrap().iter();
    all.filter_map(|warning| warning["code"].as_str()).filter(|code| known.contains(code)).collect()
}

#[test]
fn enough_of_everything_is_worth_no_warning() {
    let bench = matrices(40, 40);
    let report = bench.report(&format!("{SEGMENTATION} --bootstrap 200 --cluster-by none"));
    assert_eq!(codes_of_intervals(&report), Vec::<&str>::new());
    let without = bench.report(SEGMENTATION);
    assert_eq!(codes_of_intervals(&without), Vec::<&str>::new());
}

#[test]
fn fewer_than_twenty_sampling_units_are_few_and_one_is_too_few_for_any_interval() {
    for (units, few) in [(2, true), (19, true), (20, false)] {
        let bench = matrices(units, units);
        let report = bench.report(&format!("{SEGMENTATION} --bootstrap 200 --cluster-by none"));
        let said = message(&report, "few-units");
        assert_eq!(said.is_some(), few, "{units}");
        assert!(
            said.is_none_or(|said| said.contains(&format!("{units} units")) && said.contains("too short"))
        );
    }
    let bench = matrices(40, 40);
    let report = bench.report(&format!("{SEGMENTATION} --bootstrap 200 --cluster-by folder"));
    assert!(message(&report, "few-units").unwrap().contains("8 clusters"));
    let one = matrices(1, 1).report(&format!("{SEGMENTATION} --bootstrap 200"));
    assert_eq!(message(&one, "few-units"), None);
    assert_eq!(one["no_interval"]["segmentation.miou"], "1 unit; an interval needs at least 2");
}

#[test]
fn few_resamples_are_said_with_the_least_that_would_do() {
    let bench = matrices(40, 40);
    for (resamples, share, least) in
        [(199, "0.95", Some(200)), (200, "0.95", None), (999, "0.99", Some(1000))]
    {
        let line = format!("{SEGMENTATION} --cluster-by none --bootstrap {resamples} --confidence {share}");
        let said = message(&bench.report(&line), "few-resamples");
        assert_eq!(said.is_some(), least.is_some(), "{line}");
        assert!(said.is_none_or(|said| said.contains(&format!("at least {}", least.unwrap()))), "{line}");
    }
}

#[test]
fn numbers_without_spread_are_named_and_not_called_certain() {
    let bench = Bench::new();
    let line = |unit: usize| {
        format!("{{\"id\": \"{unit:02}\", \"confusion\": [[4, 1, 0], [0, 5, 0], [0, 0, 2]]}}\n")
    };
    bench.write("cms.jsonl", (0..30).map(line).collect::<String>());
    for method in ["expanded", "percentile", "bca"] {
        let report = bench.report(&format!("{SEGMENTATION} --bootstrap 200 --interval {method}"));
        let said = message(&report, "no-spread").unwrap();
        assert!(
            said.contains("segmentation.miou") && said.contains("not that a number is certain"),
            "{said}"
        );
        let miou = &report["metrics"]["segmentation.miou"];
        assert_eq!(report["intervals"]["segmentation.miou"], Json::Array(vec![miou.clone(); 2]), "{method}");
    }
}

#[test]
fn labels_in_fewer_than_five_sampling_units_are_rare() {
    for (rare, said) in [(4, true), (5, false)] {
        let report = matrices(40, rare).report(&format!("{SEGMENTATION} --bootstrap 200 --cluster-by none"));
        let found = message(&report, "rare-labels");
        assert_eq!(found.is_some(), said, "{rare}");
        assert!(found.is_none_or(|found| found.contains("1 label") && found.contains("(2)")), "{rare}");
    }
    // Eight units lie in two folders.
    let report = matrices(40, 8).report(&format!("{SEGMENTATION} --bootstrap 200 --cluster-by folder"));
    assert!(message(&report, "rare-labels").unwrap().contains("fewer than 5 clusters"));
}

#[test]
fn order_statistics_have_percentile_intervals_under_bca_alone() {
    let bench = Bench::new();
    for fold in 0..6 {
        let value = |epoch: usize| if epoch >= 3 + fold { 0.95 } else { 0.5 };
        let lines: String = (0..12).map(|epoch| format!("{epoch},{}\n", value(epoch))).collect();
        bench.write(&format!("runs/a/{fold}.csv"), format!("epoch,m\n{lines}"));
    }
    let line = "training runs --metric m --group-by folder --bootstrap 200 --interval";
    let report = bench.report(&format!("{line} bca"));
    let said = message(&report, "median-interval").unwrap();
    assert!(said.contains("training.velocity_median.a"), "{said}");
    let used = &report["bootstrap"]["percentile_used"];
    assert_eq!(used["training.velocity_median.a"], "an order statistic has no smooth jackknife");
    let percentile = bench.report(&format!("{line} percentile"));
    let of = |report: &Json| report["intervals"]["training.velocity_median"].clone();
    assert_eq!(of(&report), of(&percentile));
    assert_eq!(message(&bench.report(&format!("{line} expanded")), "median-interval"), None);
}

#[test]
fn folders_are_pointed_out_until_a_rule_is_given() {
    let bench = matrices(40, 40);
    let said =
        message(&bench.report(&format!("{SEGMENTATION} --bootstrap 200")), "clusters-ignored").unwrap();
    assert!(["8 folders", "--cluster-by folder", "--cluster-by none"].iter().all(|word| said.contains(word)));
    // One folder tells nothing apart.
    let report = matrices(5, 5).report(&format!("{SEGMENTATION} --bootstrap 200"));
    assert_eq!(message(&report, "clusters-ignored"), None);
}

#[test]
fn warnings_of_a_page_alone_stand_there_and_do_not_count() {
    let bench = matrices(10, 10);
    let said = bench.run(&format!("{SEGMENTATION} --html p.html --json r.json --strict --quiet"));
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(bench.read("p.html").contains("few-units") && !bench.read("r.json").contains("few-units"));
    let said = bench.run(&format!("{SEGMENTATION} --bootstrap 200 --strict --quiet"));
    assert_eq!(said.status, 3, "{}", said.stderr);
}
