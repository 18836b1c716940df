//! The page: written by every command, the same for any number of threads, and never by half.

use crate::support::{Bench, f64s, npz, path3_unit};

fn graphs() -> Bench {
    let bench = Bench::new();
    for unit in 0..4 {
        let mut members = path3_unit();
        members[1] = ("logits", f64s(&[3], &[1.0 + f64::from(unit), f64::from(unit) - 4.5, 0.25]));
        bench.write(&format!("val/u{unit}.npz"), npz(&members));
    }
    bench
}

fn written(bench: &Bench, line: &str) -> String {
    let said = bench.run(&format!("{line} --html page.html --quiet"));
    assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
    let page = bench.read("page.html");
    std::fs::remove_file(bench.path("page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{line}");
    page
}

#[test]
fn a_page_is_the_same_from_a_run_a_state_and_a_report_and_for_any_number_of_threads() {
    let bench = graphs();
    let page = written(&bench, "independent-set val --threads 1");
    assert_eq!(written(&bench, "independent-set val --threads 3 --state a.state --json a.json"), page);
    assert_eq!(written(&bench, "show a.state"), page);
    assert_eq!(written(&bench, "show a.json"), page);
    assert_eq!(written(&bench, "merge a.state a.state -o b.state"), page);
    assert!(page.contains("Intervals hold 95 % (expanded): 2000 resamples of 4 units, seed 0."));
    assert!(!bench.read("a.json").contains("intervals"), "they are the page's own");
}

#[test]
fn every_family_and_its_own_forms_have_a_page() {
    let bench = Bench::new();
    bench.write("cms.jsonl", "{\"id\": \"a\", \"confusion\": [[3, 1], [0, 2]]}\n");
    bench.write("units.jsonl", "{\"unit\": \"a\", \"pred_mask\": [0.9, 0.1], \"target_mask\": [1, 0]}\n");
    bench.write("run.csv", "epoch,val\n0,0.5\n1,0.95\n2,0.96\n");
    for line in [
        "segmentation --confusion cms.jsonl --classes 2",
        "explanation units.jsonl",
        "training run.csv --metric val",
        "training run.csv --metric val --bootstrap 50",
    ] {
        assert!(written(&bench, line).contains("<h3>All numbers</h3>"), "{line}");
    }
}

#[test]
fn a_report_whose_inputs_have_changed_is_not_drawn_from_them() {
    let bench = graphs();
    assert_eq!(bench.run("independent-set val --json a.json --quiet").status, 0);
    bench.write("val/u2.npz", npz(&path3_unit()));
    let page = written(&bench, "show a.json");
    assert!(page.contains("val/u2.npz has changed") && !page.contains("class=\"units\""));
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_work() {
    let bench = graphs();
    for (line, part) in [
        ("independent-set val --html none/page.html", "none/page.html"),
        ("independent-set val --html val", "the output is a folder"),
        ("independent-set val --html - --json -", "two outputs"),
    ] {
        let said = bench.run(line);
        assert!(said.status != 0 && said.stderr.contains(part), "{line}\n{}", said.stderr);
    }
    let page = bench.run("independent-set val --html -").stdout;
    assert!(page.starts_with("<!doctype html>"));
}
