//! What people see first: the numbers that matter, selections, tables for papers and the files that were
//! written.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::Value as Json;

use crate::support::segmentation::{grey, metric};
use crate::support::{Bench, Said};

const RING: &str = "independent-set --graph ring.col --scores ring.txt --scores-are logits --optimum 2";

/// A ring of five nodes with one logit for each.
fn ring() -> Bench {
    let bench = Bench::new();
    bench.write("ring.col", "p edge 5 5\ne 1 2\ne 2 3\ne 3 4\ne 4 5\ne 5 1\n");
    bench.write("ring.txt", "2.0\n-1.0\n1.5\n0.5\n-3.0\n");
    bench
}

const CLASSES: [&str; 7] = ["sky", "road", "sidewalk", "building", "tree", "car", "pedestrian"];
const SCENES: &str = "segmentation --truth gt --pred out --classes names.txt --measure overlap,boundary";

/// Pictures of seven classes, a tenth of the pixels wrong.
fn scenes() -> Bench {
    let bench = Bench::new();
    bench.write("names.txt", CLASSES.join("\n"));
    for scene in 0..6_u32 {
        let truth: Vec<u8> = (0..256).map(|at| ((at / 37 + scene) % 7) as u8).collect();
        let wrong = |(at, id): (usize, &u8)| if at as u32 % 10 == scene { (id + 1) % 7 } else { *id };
        bench.write(&format!("gt/{scene}.png"), grey(16, &truth));
        bench.write(
            &format!("out/{scene}.png"),
            grey(16, &truth.iter().enumerate().map(wrong).collect::<Vec<_>>()),
        );
    }
    bench
}

/// Logs of so many runs, in groups of five folds.
fn runs(count: usize) -> Bench {
    let mut table = String::from("run,epoch,m\n");
    for run in 0..count {
        for epoch in 0..12 {
            let value = 1.0 - 0.6 / (1.0 + (epoch * (run % 7 + 1)) as f64);
            writeln!(table, "cfg{}_{},{epoch},{value}", run / 5, run % 5).unwrap();
        }
    }
    let bench = Bench::new();
    bench.write("runs.csv", table);
    bench
}

fn lines(said: &Said, most: usize) -> Vec<&str> {
    assert_eq!(said.status, 0, "{}", said.stderr);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(lines.len() <= most, "{} lines:\n{}", lines.len(), said.stdout);
    lines
}

#[test]
fn the_first_screen_is_short_and_says_what_more_there_is() {
    let bench = ring();
    let said = bench.run(RING);
    let shown = lines(&said, 20);
    assert!(
        shown.iter().any(|line| line.contains("postprocessed_size") && line.contains("2.0000")),
        "{shown:?}"
    );
    assert!(shown.last().unwrap().ends_with("more numbers: --all"), "{shown:?}");
    let all = bench.run(&format!("{RING} --all"));
    assert!(all.stdout.lines().count() > 50 && !all.stdout.contains("--all"), "{}", all.stdout);

    let said = scenes().run(SCENES);
    let shown = lines(&said, 30);
    let heading = shown.iter().find(|line| line.contains("iou ↑")).unwrap();
    assert!(heading.contains("precision ↑") && heading.contains("f1 ↑"), "{heading}");
    for class in CLASSES {
        assert_eq!(shown.iter().filter(|line| line.trim_start().starts_with(class)).count(), 1, "{class}");
    }
    let columns = |line: &&str| line.split_whitespace().skip(1).map(str::len).collect::<Vec<_>>();
    let rows: Vec<Vec<usize>> = shown
        .iter()
        .filter(|line| CLASSES.iter().any(|class| line.trim_start().starts_with(class)))
        .map(columns)
        .collect();
    assert!(rows.iter().all(|row| *row == rows[0]), "one format for a column: {rows:?}");

    let said = runs(100).run("training runs.csv --metric m --run-column run --group-by suffix");
    let shown = lines(&said, 40);
    assert!(shown[0].starts_with("100 runs of 20 groups"), "{shown:?}");
    assert!(shown.iter().any(|line| line.contains("cfg19")), "{shown:?}");
    lines(&runs(100).run("training runs.csv --metric m --run-column run"), 40);
}

#[test]
fn a_narrow_terminal_drops_columns_and_no_line_is_wider_than_a_wide_one() {
    let bench = scenes();
    let said = bench.run(&format!("{SCENES} --bootstrap 100"));
    assert!(said.stdout.contains("Intervals hold 95 %") && said.stdout.contains(" ["), "{}", said.stdout);
    assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
}

#[test]
fn intervals_are_written_as_the_distance_of_their_farther_end_where_that_is_asked_for() {
    let bench = scenes();
    let said = bench.run(&format!("{SCENES} --bootstrap 100 --plus-minus"));
    assert!(said.stdout.contains("± 0.") && said.stdout.contains("farther end"), "{}", said.stdout);
    assert!(!said.stdout.contains(" ["), "{}", said.stdout);
    let said = bench.run(&format!("{SCENES} --bootstrap 100 --plus-minus --latex --select miou"));
    assert!(said.stdout.contains("$\\pm$ 0."), "{}", said.stdout);
}

#[test]
fn a_hundred_runs_with_intervals_and_warnings_fit_on_a_screen() {
    let said =
        runs(100).run("training runs.csv --metric m --run-column run --group-by suffix --bootstrap 50");
    let shown = lines(&said, 40);
    assert!(shown.iter().any(|line| line.contains("20 strata of 5 runs")), "{shown:?}");
    assert!(shown.last().unwrap().ends_with("more numbers: --all"), "{shown:?}");
}

#[test]
fn selected_numbers_come_alone_and_in_their_order_in_every_form() {
    let bench = scenes();
    let select = "--select Pixel-Accuracy,mIoU,iou,pixel_accuracy";
    let said = bench.run(&format!("{SCENES} {select} --json - --quiet"));
    let report: Json = serde_json::from_str(&said.stdout).unwrap();
    let ids: Vec<&String> = report["metrics"].as_object().unwrap().keys().collect();
    assert_eq!(ids, ["segmentation.pixel_accuracy", "segmentation.miou", "segmentation.iou"]);
    let csv = bench.run(&format!("{SCENES} {select} --csv - --quiet")).stdout;
    assert!(csv.lines().nth(1).unwrap().starts_with("segmentation.pixel_accuracy,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 2 + 7);
    for form in ["--markdown", "--latex", ""] {
        let text = bench.run(&format!("{SCENES} {select} {form}")).stdout.replace('\\', "");
        let place = |word: &str| text.find(word).unwrap_or_else(|| panic!("{word} is missing in {text}"));
        assert!(place("pixel_accuracy") < place("miou") && place("miou") < place("pedestrian"), "{text}");
        assert!(!text.contains("kappa") && !text.contains("more numbers"), "{text}");
    }
    let page = bench.run(&format!("{SCENES} {select} --html -")).stdout;
    // Tables let long ids break after `_`; warnings speak of all that was measured.
    assert!(page.contains("pixel_<wbr>accuracy") && !page.contains("truth_<wbr>pixels"), "{select}");
    bench.run(&format!("{SCENES} {select} --json few.json --state s.state"));
    assert_eq!(bench.run("verify few.json").status, 0);
    let shown = bench.run("show s.state --select mean_f1 --json - --quiet");
    let shown: Json = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["metrics"].as_object().unwrap().len(), 1, "a state keeps everything");
    bench.refuses(&format!("{SCENES} --select mioo"), 2, &["mioo", "segmentation.miou"]);
    bench.refuses(&format!("{SCENES} --select loss_bce"), 2, &["loss_bce"]);
    assert!(bench.run("explain mIoU").stdout.starts_with("segmentation.miou\n"));
}

#[test]
fn every_file_that_is_written_is_named_and_nothing_else_is_taken_for_one() {
    let bench = ring();
    let forms = "--json r.json --csv r.csv --html r.html --markdown=r.md --latex r.tex --per-unit u.csv --state r.state";
    let said = bench.run(&format!("{RING} {forms}"));
    for name in ["r.json", "r.csv", "r.html", "r.md", "r.tex", "u.csv", "r.state"] {
        assert!(said.stderr.contains(&format!("wrote {name}\n")), "{}", said.stderr);
        assert!(!bench.bytes(name).is_empty());
    }
    assert_eq!(said.stdout, "");
    assert!(!bench.run(&format!("{RING} {forms} --quiet")).stderr.contains("wrote"));
    assert_eq!(bench.run(&format!("{RING} --latex")).stdout, bench.read("r.tex"));
    assert_eq!(bench.run(&format!("{RING} --markdown -q")).stdout, bench.read("r.md"));
    // Any other next word is an input.
    assert_eq!(bench.run("show --latex r.json").stdout, bench.read("r.tex"));
    assert!(bench.run("show --markdown r.state").stdout.starts_with("**independent\\_set**"));
    bench.refuses(&format!("{RING} --latex=no/such/folder/r.tex"), 1, &["no/such/folder"]);
    bench.refuses(&format!("{RING} --markdown --latex"), 2, &["share standard output"]);
    bench.refuses(&format!("{RING} --json same --latex=same"), 2, &["--json and --latex name one file"]);
}

#[test]
fn a_plain_locale_gets_plain_signs_and_everyone_else_arrows() {
    let bench = ring();
    let run = |locale: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_calipers"));
        command.args(RING.split(' ')).current_dir(bench.path(".")).env_remove("LANG").env_remove("LC_CTYPE");
        match locale {
            Some(locale) => command.env("LC_ALL", locale),
            None => command.env_remove("LC_ALL"),
        };
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(run(Some("C")).is_ascii() && run(Some("C")).contains(" ^ "));
    assert!(run(None).contains('↑') && run(Some("C.UTF-8")).contains('↑'));
    assert_eq!(run(None).chars().count(), run(Some("C")).chars().count());
}

/// What pdflatex says of a document with these tables; nothing where it is not installed.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn compiled(bench: &Bench, text: &str) -> Option<String> {
    let document = format!(
        "\\documentclass{{article}}\n\\usepackage[utf8]{{inputenc}}\n\\usepackage[T1]{{fontenc}}\n\
         \\usepackage{{booktabs,graphicx}}\n\\begin{{document}}\n{text}\n\\end{{document}}\n"
    );
    bench.write("paper.tex", document);
    let run = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "paper.tex"])
        .current_dir(bench.path("."))
        .output();
    match run {
        Ok(said) => {
            let text = String::from_utf8_lossy(&said.stdout).into_owned();
            assert!(said.status.success(), "{text}");
            Some(text)
        }
        Err(_) => {
            eprintln!("skipped: pdflatex is not installed");
            None
        }
    }
}

#[test]
fn tables_for_papers_compile_without_a_warning_and_are_no_wider_than_a_line() {
    let bench = scenes();
    bench.run(&format!("{SCENES} --state a.state --quiet"));
    bench.run(&format!("{} --state b.state --quiet", SCENES.replace("--pred out", "--pred gt")));
    let graphs = ring();
    let logs = runs(100);
    let texts = [
        bench.run(&format!("{SCENES} --latex")),
        bench.run(&format!("{SCENES} --latex --bootstrap 100")),
        bench.run(&format!("{SCENES} --latex --all --bootstrap 100")),
        bench.run("compare a.state b.state --latex --resamples 200"),
        graphs.run(&format!("{RING} --latex --all")),
        logs.run("training runs.csv --metric m --run-column run --group-by suffix --latex --all"),
    ];
    for said in texts {
        assert_eq!(said.status, 0, "{}", said.stderr);
        assert!(said.stdout.contains("\\toprule"), "{}", said.stdout);
        let Some(log) = compiled(&bench, &said.stdout) else { return };
        for word in ["Warning", "Overfull", "Underfull", "Missing character"] {
            assert!(!log.contains(word), "{log}\n{}", said.stdout);
        }
    }
}

#[test]
fn the_best_value_of_a_line_is_bold_in_a_table_for_papers() {
    let bench = scenes();
    bench.run(&format!("{SCENES} --state a.state --quiet"));
    bench.run(&format!("{} --state b.state --quiet", SCENES.replace("--pred out", "--pred gt")));
    let line = "compare a.state b.state --select miou,pixel_accuracy --resamples 200";
    let latex = bench.run(&format!("{line} --latex")).stdout;
    assert!(latex.contains("& \\textbf{1.0") && latex.contains("miou $\\uparrow$"), "{latex}");
    let markdown = bench.run(&format!("{line} --markdown=c.md"));
    assert!(markdown.stderr.contains("wrote c.md"), "{}", markdown.stderr);
    assert!(bench.read("c.md").contains("**1.0"), "{}", bench.read("c.md"));
}

#[test]
fn json_keeps_every_bit_whatever_the_tables_round() {
    let report = scenes().report(SCENES);
    let miou = metric(&report, "miou").as_f64().unwrap();
    assert!(miou.to_string().len() > 10, "{miou}");
}
