//! No command writes over what it reads, or twice to one place (rule R3).

use crate::support::two_runs;

#[test]
fn r3_an_output_that_is_an_input_is_refused_in_eight_spellings_and_every_byte_stays() {
    let bench = two_runs();
    let whole = bench.path("z.state").display().to_string();
    std::fs::hard_link(bench.path("z.state"), bench.path("hard.state")).unwrap();
    std::fs::create_dir(bench.path("sub")).unwrap();
    let mut spellings = vec![
        "z.state",
        "./z.state",
        ".//z.state",
        "in/../z.state",
        "sub/../z.state",
        whole.as_str(),
        "hard.state",
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".", bench.path("here")).unwrap();
        spellings.push("here/z.state");
    }
    let before = bench.bytes("z.state");
    for target in spellings {
        for line in [
            format!("show z.state --json {target}"),
            format!("show z.state --html {target}"),
            format!("show z.state --state {target}"),
            format!("compare x.state z.state --csv {target}"),
            format!("compare z.state x.state --json {target}"),
            format!("merge x.state z.state -o all.state --json {target}"),
        ] {
            bench.refuses(&line, 2, &["would write over an input"]);
            assert_eq!(bench.bytes("z.state"), before, "{line}");
            assert!(!bench.path("all.state").exists(), "{line}");
        }
    }
    bench.refuses("plot z.json sizes -o ./z.json", 2, &["would write over an input"]);
    bench.refuses("independent-set in/a.npz --json in/../in/a.npz", 2, &["--json would write over an input"]);
    bench.write("names.txt", "a\n");
    bench.refuses("independent-set in --units names.txt --csv names.txt", 2, &["--csv", "--units"]);
    assert_eq!(bench.read("names.txt"), "a\n");
    bench.refuses("independent-set in --json in/a.npz", 2, &["--json would write over an input"]);
    assert_eq!(
        bench.run("merge x.state z.state -o x.state").status,
        0,
        "the new one holds all that was in it"
    );
}

#[test]
fn r3_two_outputs_are_never_one_file() {
    let bench = two_runs();
    std::fs::create_dir(bench.path("sub")).unwrap();
    for [a, b] in [["o", "./o"], ["o", "sub/../o"], ["sub/o", "./sub//o"]] {
        bench.refuses(&format!("show x.state --json {a} --csv {b}"), 2, &["name one file"]);
        bench.refuses(&format!("compare x.state z.state --json {a} --html {b}"), 2, &["name one file"]);
    }
    bench.write("o", "old");
    std::fs::hard_link(bench.path("o"), bench.path("p")).unwrap();
    bench.refuses("show x.state --json o --csv p", 2, &["--json and --csv name one file"]);
    bench.refuses("compare x.state z.state --json - --csv -", 2, &["share standard output"]);
    assert_eq!(bench.read("o"), "old");
    assert_eq!(bench.run("show x.state --json /dev/null --csv /dev/null -q").status, 0, "devices take both");
}
