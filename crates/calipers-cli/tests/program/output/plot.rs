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
        ("plot a.state -o f.pdf", 2, "-o needs the figure"),
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

#[test]
fn several_models_are_drawn_in_one_figure() {
    let bench = Bench::new();
    assert_eq!(bench.run("demo --out demo").status, 0);
    for model in ["l1", "mcp"] {
        let line = format!("robustness demo/robustness/{model}.npz --state {model}.state --quiet");
        assert_eq!(bench.run(&line).status, 0, "{line}");
    }
    let said = bench.run("plot l1.state mcp.state");
    assert!(said.stdout.contains("bias-curve  ") && said.stdout.contains("differences  "), "{}", said.stdout);
    let said = bench.run("plot l1.state mcp.state bias-curve -o f.svg");
    assert_eq!((said.status, said.stderr.as_str()), (0, "wrote f.svg\n"));
    let svg = bench.read("f.svg");
    assert!(svg.contains(">l1<") && svg.contains(">mcp<"), "{svg}");
    bench.refuses("plot l1.state mcp.state bias-curve -o g.svg --report 1", 2, &["--report", "one file"]);
    bench.refuses("plot l1.state mcp.state bias-curv -o g.svg", 2, &["did you mean bias-curve?"]);
}

#[test]
fn configurations_are_drawn_with_all_their_runs() {
    let bench = Bench::new();
    let mut table = String::from("run,epoch,m\n");
    for run in 0..90 {
        (0..3).for_each(|epoch| table += &format!("cfg{}_{},{epoch},0.{epoch}\n", run / 45, run % 45));
    }
    bench.write("runs.csv", table);
    let measured = "training runs.csv --metric m --run-column run --group-by suffix --fold-by suffix";
    assert_eq!(bench.run(&format!("{measured} --state a.state --quiet")).status, 0);
    let said = bench.run("plot a.state");
    assert!(said.stdout.contains("Training curves: cfg0\n"), "{}", said.stdout);
    assert!(said.stdout.contains("Training curves: cfg1\n"), "90 runs are no reason to leave one out");
}
