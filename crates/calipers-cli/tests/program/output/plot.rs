//! `calipers plot`: every figure of every report of the demo, in every format and style.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::Bench;

/// The reports of the demo with the names of their figures.
fn listed(bench: &Bench) -> Vec<(String, Vec<String>)> {
    let said = bench.run("plot demo/report.json --root demo/..");
    assert_eq!(said.status, 0, "{}", said.stderr);
    let mut reports: Vec<(String, Vec<String>)> = Vec::new();
    for line in said.stdout.lines() {
        match line.strip_prefix("--report ").and_then(|rest| rest.split_once(':')) {
            Some((number, _)) => reports.push((number.to_owned(), Vec::new())),
            None if line.contains("(not drawn: ") => {}
            None => reports.last_mut().unwrap().1.push(line.split_whitespace().next().unwrap().to_owned()),
        }
    }
    reports
}

#[test]
fn every_report_of_the_demo_has_figures_and_one_of_each_is_drawn() {
    let bench = Bench::new();
    assert_eq!(bench.run("demo --out demo").status, 0);
    let reports = listed(&bench);
    assert!(reports.len() >= 5 && reports.iter().all(|(_, names)| !names.is_empty()), "{reports:?}");
    for (i, (number, names)) in reports.iter().enumerate() {
        let unique: BTreeSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
        let (format, head) = [("pdf", &b"%PDF-"[..]), ("svg", b"<?xml"), ("png", b"\x89PNG")][i % 3];
        let name = &names[i % names.len()];
        let line = format!("plot demo/report.json {name} --report {number} --style slides -o f.{format}");
        let said = bench.run(&line);
        assert_eq!((said.status, said.stderr), (0, format!("wrote f.{format}\n")), "{line}");
        assert!(std::fs::read(bench.path(&format!("f.{format}"))).unwrap().starts_with(head), "{line}");
    }
}

fn map() -> Bench {
    let bench = Bench::new();
    let row = "{\"id\": \"a\", \"confusion\": [[30, 1, 0], [0, 2, 4], [1, 1, 9]]}\n";
    bench.write("cms.jsonl", row);
    let said =
        bench.run("segmentation --confusion cms.jsonl --classes 3 --state a.state --json a.json --quiet");
    assert_eq!(said.status, 0, "{}", said.stderr);
    bench
}

#[test]
fn a_figure_is_the_same_from_a_state_and_a_report_and_every_time() {
    let bench = map();
    for format in ["pdf", "svg", "png"] {
        let bytes = |file: &str| {
            assert_eq!(bench.run(&format!("plot {file} confusion -o f.{format} --width 84mm")).status, 0);
            std::fs::read(bench.path(&format!("f.{format}"))).unwrap()
        };
        let first = bytes("a.state");
        assert_eq!(first, bytes("a.state"));
        assert_eq!(first, bytes("a.json"));
    }
    let svg = bench.run("plot a.state confusion -o - --width 84mm").stdout;
    assert_eq!(svg, bench.read("f.svg"));
    assert!(svg.contains("width=\"238.11pt\""), "{}", &svg[..300]);
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn words_of_a_pdf_are_text() {
    if Command::new("pdftotext").arg("-v").output().is_err() {
        eprintln!("skipped: there is no pdftotext");
        return;
    }
    let bench = map();
    assert_eq!(bench.run("plot a.state confusion -o f.pdf").status, 0);
    let said = Command::new("pdftotext").arg(bench.path("f.pdf")).arg("-").output().unwrap();
    let text = String::from_utf8(said.stdout).unwrap();
    for word in ["prediction", "truth", "100 % of the row", "97"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(text.matches("prediction").count(), 1, "{text}");
}

#[test]
fn what_cannot_be_drawn_is_answered_with_what_can() {
    let bench = map();
    for (line, status, part) in [
        ("plot a.state confuson -o f.pdf", 2, "did you mean confusion?"),
        ("plot a.state confusion", 2, "-o confusion.pdf"),
        ("plot a.state confusion -o f.jpg", 2, "pdf, svg, png"),
        ("plot a.state confusion -o f.pdf --width 3", 2, "3.3in"),
        ("plot a.state confusion -o f.pdf --width 1in", 2, "in this style"),
        ("plot a.state confusion -o f.pdf --style poster", 2, "paper, slides, dark"),
        ("plot a.state confusion -o f.pdf --report 2", 2, "--report 2"),
        ("plot a.state worst-images -o f.pdf", 1, "worst-images is not drawn"),
        ("plot none.state confusion -o f.pdf", 1, "none.state"),
    ] {
        let said = bench.run(line);
        assert!(
            said.status == status && said.stderr.contains(part),
            "{line}: {}\n{}",
            said.status,
            said.stderr
        );
        assert!(!bench.path("f.pdf").exists(), "{line}");
    }
    let said = bench.run("plot a.json confusion -o a.json");
    assert!(said.status != 0);
}
