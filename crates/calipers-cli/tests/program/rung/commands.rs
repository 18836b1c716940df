//! Training, attacking, writing features and converting checkpoints, through the program.

use crate::support::rung::{GRAPH, bench};
use crate::support::{Bench, i64s};

const MCP: &str = "--penalty mcp --weights exact --gamma 3";

fn done(bench: &Bench, line: &str) -> String {
    let said = bench.run(line);
    assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
    assert!(said.stdout.is_empty(), "{}", said.stdout);
    said.stderr
}

#[test]
fn a_model_is_trained_attacked_and_measured() {
    let bench = bench();
    let train = "robustness train --graph g.npz --splits s.json --hidden 8 --epochs 120 --seed 4";
    let lines = done(&bench, &format!("{train} {MCP} --out t.safetensors"));
    for part in [
        "epoch   50 of 120",
        "epoch  100 of 120",
        "epoch  120 of 120",
        "loss ",
        "train accuracy 1.0000",
        "val accuracy ",
        "wrote t.safetensors",
    ] {
        assert!(lines.contains(part), "{part} is missing in {lines}");
    }
    assert_eq!(lines.lines().count(), 4, "{lines}");
    assert!(done(&bench, &format!("{train} {MCP} --out again.safetensors --threads 1 --quiet")).is_empty());
    assert_eq!(bench.bytes("t.safetensors"), bench.bytes("again.safetensors"));
    let lines = done(
        &bench,
        "robustness attack --graph g.npz --splits s.json --model t.safetensors --budgets 0.20,0.5 --steps 20 --samples 10 --out flips",
    );
    assert!(lines.contains("budget 0.20:") && lines.contains("of 4 flips"), "{lines}");
    let first = bench.bytes("flips/0.5.npy");
    done(
        &bench,
        "robustness attack --graph g.npz --splits s.json --model t.safetensors --budgets 0.5 --steps 20 --samples 10 --out again --threads 1 --quiet",
    );
    assert_eq!(bench.bytes("again/0.5.npy"), first);
    let words = [
        "robustness",
        "--graph",
        "g.npz",
        "--splits",
        "s.json",
        "--model",
        "t.safetensors",
        "--flips",
        "flips/{budget}.npy",
        "--budgets",
        "0.20,0.5",
        "--json",
        "r.json",
        "--quiet",
    ];
    let said = bench.run_words(&words);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(bench.read("r.json").contains("\"robustness.bias_curve\""));
}

#[test]
fn a_random_attack_inserts_as_many_edges_as_it_may() {
    let bench = bench();
    let lines = done(&bench, &format!("robustness attack {GRAPH} --budgets 0.5 --method random --out flips"));
    assert!(lines.contains("budget 0.5: 4 of 4 flips"), "{lines}");
    assert_eq!(bench.bytes("flips/0.5.npy").len(), 128 + 4 * 16);
    let line = format!("robustness attack {GRAPH} --budgets 3 --method random --out all");
    let said = bench.run(&line);
    assert!(
        said.status == 0 && said.stderr.contains("used 19 of 27 flips: there is no other pair"),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains("--gradient") && !said.stderr.contains("robust"), "{}", said.stderr);
}

#[test]
fn an_attack_in_blocks_keeps_its_budget_and_is_the_plain_one_when_a_block_holds_all_pairs() {
    let bench = bench();
    let attack = |flags: &str, out: &str| {
        let line = format!("robustness attack {GRAPH} --budgets 0.5 --steps 20 --samples 10 --quiet");
        done(&bench, &format!("{line} --out {out} {flags}"));
        bench.bytes(&format!("{out}/0.5.npy"))
    };
    for gradient in ["detached", "full"] {
        let all = attack(&format!("--gradient {gradient}"), &format!("all-{gradient}"));
        for (k, flags) in ["", "--block-size 28", "--block-size 1000000"].into_iter().enumerate() {
            let found = attack(
                &format!("--gradient {gradient} --method prbcd {flags}"),
                &format!("whole-{gradient}-{k}"),
            );
            assert_eq!(found, all, "{gradient} {flags}");
        }
    }
    let some = attack("--method prbcd --block-size 10", "some");
    assert!(some.len() <= 128 + 4 * 16 && some.len().is_multiple_of(16));
    assert_eq!(attack("--method prbcd --block-size 10 --threads 1", "again"), some);
    let report = bench.report(&format!("robustness {GRAPH} --flips 0.5=some/0.5.npy"));
    assert!(report["metrics"]["robustness.budget_used"].as_f64().is_some(), "{report}");
}

#[test]
fn a_budget_of_no_flips_is_a_warning_and_an_empty_file() {
    let bench = bench();
    let line = format!("robustness attack {GRAPH} --budgets 0.1 --out flips");
    let said = bench.run(&line);
    assert!(said.status == 0 && said.stderr.contains("allows 0 flips"), "{}", said.stderr);
    assert_eq!(bench.bytes("flips/0.1.npy"), i64s(&[0, 2], &[]));
    assert_eq!(bench.run(&format!("{line}-again --strict")).status, 3);
    let report = bench.report(&format!("robustness {GRAPH} --flips 0.1=flips/0.1.npy"));
    assert_eq!(report["metrics"]["robustness.bias_total"], 0.0);
}

#[test]
fn an_attack_that_leaves_its_budget_unspent_says_so() {
    let bench = bench();
    // Every edge is pruned, so that constant weights give no gradient at all.
    let line =
        format!("robustness attack {GRAPH} --gamma 1e-6 --budgets 0.9 --steps 3 --samples 2 --out flips");
    let said = bench.run(&line);
    assert_eq!(said.status, 0, "{}", said.stderr);
    for part in [
        "warning[under_budget]",
        "0 of 8 flips",
        "--gradient full",
        "warning[penalty_replaced]",
        "gamma 3 by 0.000001",
    ] {
        assert!(said.stderr.contains(part), "{part} is missing in {}", said.stderr);
    }
}

#[test]
fn checkpoints_are_converted_there_and_back() {
    let bench = bench();
    done(&bench, "robustness convert m.safetensors m.pt");
    done(&bench, &format!("robustness convert m.pt back.safetensors {MCP}"));
    let line = |model: &str, flags: &str| {
        format!("robustness --graph g.npz --splits s.json --model {model} --flips 0.2=f.npy {flags}")
    };
    let expected = bench.report(&line("m.safetensors", ""));
    assert_eq!(bench.report(&line("back.safetensors", ""))["metrics"], expected["metrics"]);
    assert_eq!(bench.report(&line("m.pt", MCP))["metrics"], expected["metrics"]);
    done(&bench, "robustness convert m.safetensors m2.pt");
    assert_eq!(bench.bytes("m.pt"), bench.bytes("m2.pt"));
    let said = bench.run("robustness convert m.safetensors l1.safetensors --penalty l1");
    assert!(said.status == 0 && said.stderr.contains("penalty mcp by l1"), "{}", said.stderr);
    bench.refuses("robustness convert m.safetensors m.bin", 2, &[".safetensors, .pt"]);
    bench.refuses("robustness convert missing.pt new.pt --penalty l1 --weights exact", 1, &["missing.pt"]);
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let bench = bench();
    let train = format!("robustness train --graph g.npz --splits s.json {MCP}");
    bench.refuses(&format!("{train} --out no/m.safetensors"), 1, &["no/m.safetensors"]);
    bench.refuses(&format!("{train} --out m.bin"), 2, &["m.bin", ".safetensors"]);
    bench.refuses(
        &format!("robustness forward {GRAPH} --flips 0.2=f.npy --out a.csv"),
        2,
        &["a.csv", ".npz or .safetensors"],
    );
    bench.refuses(
        "robustness train --splits s.json --penalty l1 --weights exact --out new.safetensors",
        2,
        &["--graph is missing"],
    );
}

#[test]
fn finished_outputs_are_never_overwritten() {
    let bench = bench();
    let exists = ["the output exists", "help:"];
    let train = format!("robustness train --graph g.npz --splits s.json {MCP} --epochs 2 --quiet");
    done(&bench, &format!("{train} --out t.safetensors"));
    let trained = bench.bytes("t.safetensors");
    bench.refuses(&format!("{train} --seed 9 --out t.safetensors"), 1, &exists);
    assert_eq!(bench.bytes("t.safetensors"), trained);
    bench.refuses("robustness convert m.safetensors t.safetensors", 1, &exists);
    done(&bench, &format!("robustness forward {GRAPH} --flips 0.2=f.npy --out a.npz --quiet"));
    bench.refuses(&format!("robustness forward {GRAPH} --flips 0.2=f.npy --out a.npz"), 1, &exists);
}

#[test]
fn an_attack_goes_on_with_what_is_finished_if_it_was_made_the_same_way() {
    let bench = bench();
    let line = format!("robustness attack {GRAPH} --steps 5 --samples 5 --out flips");
    done(&bench, &format!("{line} --budgets 0.3"));
    let first = bench.bytes("flips/0.3.npy");
    bench.refuses(
        &format!("{line} --budgets 0.3,0.5"),
        1,
        &["flips/0.3.npy", "the output exists", "--resume"],
    );
    assert!(!bench.path("flips/0.5.npy").exists());
    let lines = done(&bench, &format!("{line} --budgets 0.3,0.5 --resume"));
    assert!(lines.contains("budget 0.3: finished before") && lines.contains("budget 0.5: "), "{lines}");
    assert_eq!(bench.bytes("flips/0.3.npy"), first);
    for (change, named) in [
        ("--seed 1", &["at: seed", "found: 0"][..]),
        ("--method random", &["at: method", "found: pgd"]),
        ("--gamma 2", &["at: model gamma", "found: 3", "allowed: 2"]),
        ("--layers 4", &["at: model k", "found: 10", "allowed: 4"]),
        ("--prepare rung", &["at: prepare"]),
    ] {
        bench.refuses(&format!("{line} --budgets 0.3 --resume {change}"), 1, named);
    }
    let mut tensors = crate::support::rung::weights();
    tensors[0].2[0] += 1.0;
    let (model, other) = (
        bench.bytes("m.safetensors"),
        crate::support::rung::safetensors(Some(&crate::support::rung::metadata()), &tensors),
    );
    bench.write("m.safetensors", other);
    let named = ["at: model file", "found: blake3", "allowed: blake3"];
    bench.refuses(&format!("{line} --budgets 0.3 --resume"), 1, &named);
    bench.write("m.safetensors", model);
    bench.write("flips/0.7.npy", i64s(&[0, 2], &[]));
    let unknown = ["flips/0.7.npy", "not the settings"];
    bench.refuses(&format!("{line} --budgets 0.7 --resume"), 1, &unknown);
}

#[test]
fn an_attack_in_blocks_goes_on_with_blocks_of_the_same_size_alone() {
    let bench = bench();
    let line = format!("robustness attack {GRAPH} --method prbcd --steps 5 --samples 5 --out flips");
    done(&bench, &format!("{line} --budgets 0.3 --block-size 12 --quiet"));
    assert!(bench.read("flips/settings.json").contains("\"block_size\": \"12\""));
    let lines = done(&bench, &format!("{line} --budgets 0.3,0.5 --block-size 12 --resume"));
    assert!(lines.contains("budget 0.3: finished before") && lines.contains("budget 0.5: "), "{lines}");
    for (change, named) in [
        ("--block-size 13", ["at: block_size", "found: 12"]),
        ("", ["at: block_size", "found: 12"]),
        ("--block-size 12 --seed 1", ["at: seed", "found: 0"]),
    ] {
        bench.refuses(&format!("{line} --budgets 0.3 --resume {change}"), 1, &named);
    }
    let plain = line.replace("--method prbcd", "");
    bench.refuses(&format!("{plain} --budgets 0.3 --resume"), 1, &["at: block_size", "found: 12"]);
}

#[test]
fn masks_serve_where_no_splits_are_named_and_lone_classes_are_noted() {
    let bench = bench();
    let train = format!("robustness train --graph g.npz {MCP} --epochs 1 --out t.safetensors");
    bench.refuses(&train, 2, &["--splits is missing", "masks", "stratified:S"]);
    let labels = i64s(&[8], &[0, 0, 0, 0, 1, 1, 1, 2]);
    bench.write(
        "g.npz",
        crate::support::npz(&crate::support::rung::with(
            crate::support::rung::keyed(),
            &[("labels", labels)],
        )),
    );
    let said = done(&bench, &format!("{train} --splits stratified:1 --shares 0.5,0.2"));
    assert!(said.contains("classes of one node go to test: 2"), "{said}");
    assert!(said.contains("no train node is of class 2"), "{said}");
}
