//! The binary on folders, containers, matrices and configurations: what is found, paired and read.

use serde_json::Value as Json;

use crate::support::segmentation::{f32s, grey, metric, picture, u8s};
use crate::support::{Bench, codes, i64s, npz};

/// Truth and prediction of three images 4 x 2.
fn three() -> Bench {
    let bench = Bench::new();
    for (name, truth, pred) in [
        ("a", [0, 0, 1, 1, 0, 0, 2, 2], [0, 0, 1, 1, 0, 1, 2, 2]),
        ("city/b", [2, 2, 2, 2, 1, 1, 1, 255], [2, 2, 1, 2, 1, 1, 1, 0]),
        ("city/c", [0, 1, 0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 1, 0, 1, 0]),
    ] {
        bench.write(&format!("gt/{name}.png"), grey(4, &truth));
        bench.write(&format!("out/{name}.png"), grey(4, &pred));
    }
    bench
}

const FOLDERS: &str = "segmentation --truth gt --pred out --classes 3 --ignore 255";

#[test]
fn folders_pair_by_the_paths_below_them() {
    let bench = three();
    bench.write("gt/.hidden.png", "x").write("gt/readme.md", "x");
    let report = bench.report(FOLDERS);
    assert_eq!(report["units"], 3);
    assert_eq!(metric(&report, "scored_pixels"), 23);
    assert_eq!(metric(&report, "ignored_pixels"), 1);
    assert_eq!(metric(&report, "pixel_accuracy").as_f64().unwrap().to_bits(), (17.0f64 / 23.0).to_bits());
    assert_eq!(report["inputs"].as_array().unwrap().len(), 6);
    assert_eq!(report["inputs"][1]["path"], "gt/city/b.png");
    assert_eq!(report["reading"]["flat"], false);
    assert_eq!(report["reading"]["truth_suffix"], Json::Null);
}

#[test]
fn threads_shards_and_merge_orders_give_the_same_bytes() {
    let bench = three();
    let whole = bench.run(&format!("{FOLDERS} --measure all --json - --quiet")).stdout;
    for threads in [1, 2, 7] {
        let said = bench.run(&format!("{FOLDERS} --measure all --json - --quiet --threads {threads}"));
        assert_eq!(said.stdout, whole);
    }
    for shards in [2, 3, 5] {
        for i in 1..=shards {
            let said =
                bench.run(&format!("{FOLDERS} --measure all --shard {i}/{shards} --state {i}.state --quiet"));
            assert_eq!(said.status, 0, "{}", said.stderr);
        }
        let forward: Vec<String> = (1..=shards).map(|i| format!("{i}.state")).collect();
        let backward: Vec<String> = forward.iter().rev().cloned().collect();
        let first = bench.run(&format!("merge {} -o ab.state --json - --quiet", forward.join(" ")));
        let second = bench.run(&format!("merge {} 1.state -o ba.state --json - --quiet", backward.join(" ")));
        assert_eq!(first.stdout, whole, "{}", first.stderr);
        assert_eq!(second.stdout, whole);
        assert_eq!(bench.bytes("ab.state"), bench.bytes("ba.state"));
    }
}

#[test]
fn suffixes_choose_files_and_flat_forgets_folders() {
    let bench = Bench::new();
    bench.write("gt/bonn/1_ids.png", grey(2, &[0, 1])).write("gt/bonn/1_colour.png", "not read");
    bench.write("gt/ulm/2_ids.png", grey(2, &[1, 1])).write("gt/ulm/_ids.png", "nothing is left of its name");
    bench.write("out/1.png", grey(2, &[0, 1])).write("out/x/2.png", grey(2, &[1, 0]));
    let line = "segmentation --truth gt --pred out --classes 2 --truth-suffix _ids.png";
    let report = bench.report(&format!("{line} --flat"));
    assert_eq!(report["units"], 2);
    assert_eq!(metric(&report, "pixel_accuracy"), 0.75);
    assert_eq!(report["reading"]["truth_suffix"], "_ids.png");
    bench.refuses(line, 1, &["truth without prediction: 2", "bonn/1", "ulm/2", "--allow-missing"]);
    bench.run(&format!("{line} --flat --per-unit units.csv --quiet"));
    let table = bench.read("units.csv");
    assert!(
        table.starts_with("unit,height,width,scored_pixels,ignored_pixels,unpredicted_pixels,"),
        "{table}"
    );
    assert!(table.lines().nth(1).unwrap().starts_with("1,1,2,2,0,0,"), "{table}");
}

#[test]
fn missing_and_extra_predictions_are_warnings_where_that_is_allowed() {
    let bench = three();
    bench.write("out/extra.png", grey(4, &[0; 8]));
    std::fs::remove_file(bench.path("out/a.png")).unwrap();
    bench.refuses(FOLDERS, 1, &["truth without prediction: 1", "a", "--allow-missing"]);
    let report = bench.report(&format!("{FOLDERS} --allow-missing"));
    assert_eq!(report["units"], 2);
    assert_eq!(report["reading"]["allow_missing"], true);
    let found = codes(&report);
    assert!(found.contains(&"missing-predictions") && found.contains(&"extra-predictions"), "{found:?}");
    for i in 1..=2 {
        bench.run(&format!("{FOLDERS} --allow-missing --shard {i}/2 --state {i}.state --quiet"));
    }
    let merged = bench.run("merge 1.state 2.state -o all.state --json - --quiet");
    assert_eq!(serde_json::from_str::<Json>(&merged.stdout).unwrap(), report);
}

#[test]
fn copies_of_the_truth_are_noticed() {
    let bench = three();
    bench.write("gt/z.png", bench.bytes("gt/a.png")).write("out/z.png", bench.bytes("gt/a.png"));
    let report = bench.report(FOLDERS);
    let warnings = report["warnings"].as_array().unwrap();
    let units = |code: &str| {
        warnings.iter().find(|warning| warning["code"] == code).map(|warning| warning["units"].clone())
    };
    assert_eq!(units("identical-files"), Some(serde_json::json!(["z"])));
    assert_eq!(units("repeated-truth"), Some(serde_json::json!(["a", "z"])));
}

#[test]
fn every_form_of_label_map_gives_the_same_numbers() {
    let ids = [0u8, 1, 2, 1, 2, 2, 0, 1];
    let wide: Vec<i64> = ids.iter().map(|id| i64::from(*id)).collect();
    let words: Vec<u8> = ids.iter().flat_map(|id| [0, *id]).collect();
    let packed = [0b0001_1001, 0b1010_0001];
    let alpha: Vec<u8> = ids.iter().flat_map(|id| [*id, 255]).collect();
    use png::{BitDepth as Bits, ColorType as Colour};
    let forms = [
        ("u.png", grey(4, &ids)),
        ("u.png", picture(4, 2, Colour::Grayscale, Bits::Sixteen, &words)),
        ("u.png", picture(4, 2, Colour::Grayscale, Bits::Two, &packed)),
        ("u.png", picture(4, 2, Colour::Indexed, Bits::Two, &packed)),
        ("u.PNG", picture(4, 2, Colour::Indexed, Bits::Eight, &ids)),
        ("u.png", picture(4, 2, Colour::GrayscaleAlpha, Bits::Eight, &alpha)),
        ("u.npy", u8s(&[2, 4], &ids)),
        ("u.npy", i64s(&[1, 2, 4], &wide)),
        ("u.npz", npz(&[("anything", i64s(&[2, 4], &wide))])),
    ];
    for (name, bytes) in forms {
        let bench = Bench::new();
        bench.write(&format!("gt/{name}"), bytes);
        bench.write("out/u.png", grey(4, &[0, 1, 2, 2, 2, 2, 0, 0]));
        let report = bench.report("segmentation --truth gt --pred out --classes 3 --measure all");
        assert_eq!(metric(&report, "pixel_accuracy"), 0.75, "{name}");
        assert_eq!(metric(&report, "confusion"), &serde_json::json!([2, 0, 0, 0, 1, 1, 1, 0, 0, 0, 3, 0]));
    }
}

#[test]
fn containers_hold_one_unit_a_key_or_a_slab() {
    let bench = Bench::new();
    let (a, b) = ([0u8, 1, 1, 0], [1u8, 1, 0, 0]);
    for (name, ids) in [("000000", a), ("000001", b)] {
        bench.write(&format!("gt/{name}.png"), grey(2, &ids));
    }
    bench.write("gt.npz", npz(&[("000000", u8s(&[2, 2], &a)), ("000001", u8s(&[2, 2], &b))]));
    bench.write("gt.npy", u8s(&[2, 2, 2], &[a, b].concat()));
    let logits: Vec<f32> = (0..16).map(|i| (i * 7 % 5) as f32).collect();
    bench.write("out.npy", f32s(&[2, 2, 2, 2], &logits));
    bench.write("out/000000.npy", f32s(&[2, 2, 2], &logits[..8]));
    bench.write("out/000001.npz", npz(&[("scores", f32s(&[1, 2, 2, 2], &logits[8..]))]));
    let line = "--classes 2 --kind logits --measure all";
    let folders = bench.report(&format!("segmentation --truth gt --pred out {line}"));
    for (truth, pred) in [("gt.npz", "out"), ("gt.npy", "out.npy"), ("gt", "out.npy")] {
        let report = bench.report(&format!("segmentation --truth {truth} --pred {pred} {line}"));
        assert_eq!(report["metrics"], folders["metrics"], "{truth} {pred}");
        assert_eq!(report["units"], 2);
    }
}

#[test]
fn confusion_matrices_stand_in_place_of_maps() {
    let bench = Bench::new();
    bench.write(
        "cm.jsonl",
        "{\"id\":\"a\",\"confusion\":[[3,1],[0,4]]}\n{\"id\":\"b\",\"confusion\":[[1,0],[1,2.0]]}\n",
    );
    bench.write("cm.npz", npz(&[("a", i64s(&[2, 2], &[3, 1, 0, 4])), ("b", i64s(&[2, 2], &[1, 0, 1, 2]))]));
    let lines = bench.report("segmentation --confusion cm.jsonl --classes 2");
    assert_eq!(metric(&lines, "scored_pixels"), 12);
    assert_eq!(metric(&lines, "pixel_accuracy").as_f64().unwrap().to_bits(), (10.0f64 / 12.0).to_bits());
    assert_eq!(lines["undefined"]["segmentation.biou"], "confusion matrices carry no pixels");
    let arrays = bench.report("segmentation --confusion cm.npz --classes 2");
    assert_eq!(lines["metrics"], arrays["metrics"]);
    let shards = |i: u32| {
        bench.run(&format!(
            "segmentation --confusion cm.jsonl --classes 2 --shard {i}/2 --state {i}.state --quiet"
        ))
    };
    assert_eq!((shards(1).status, shards(2).status), (0, 0));
    let merged = bench.run("merge 1.state 2.state -o m.state --json - --quiet");
    assert_eq!(serde_json::from_str::<Json>(&merged.stdout).unwrap()["metrics"], lines["metrics"]);
}

/// Two heads over five originals.
const HEADS: &str = r#"
preset = "strict"
measure = ["overlap", "boundary", "calibration"]
[data]
truth = "gt"
pred = "pred"
[labels]
original = ["unlabeled", "dog alive", "dog dead", "cat alive", "cat dead"]
global   = ["background", "dog", "cat"]
groups   = { dog = ["dog alive", 2], cat = [3, 4] }
rest     = "background"
ignore   = [255]
background = "background"
[boundary]
thickness = 4
[bins]
count = 10
[[heads]]
name = "species"
kind = "logits"
layout = "CHW"
channels = ["none", "dog", "cat"]
groups = { dog = [1, 2], cat = [3, 4] }
rest = "none"
[[heads]]
name = "health"
kind = "probs"
layout = "HWC"
channels = ["none", "alive", "dead"]
groups = { alive = [1, 3], dead = [2, 4] }
rest = "none"
"#;

fn two_heads() -> Bench {
    let bench = Bench::new();
    bench.write("set/mtl.toml", HEADS);
    bench.write("set/gt/u.png", grey(3, &[0, 1, 4, 2, 3, 255]));
    let species: Vec<f32> = (0..18).map(|i| [2.0, 0.5, -1.0, 0.0, 3.0][i % 5]).collect();
    let health: Vec<f32> = (0..18).map(|i| [0.5, 0.25, 0.25][i % 3]).collect();
    bench.write(
        "set/pred/u.npz",
        npz(&[("species", f32s(&[3, 2, 3], &species)), ("health", f32s(&[2, 3, 3], &health))]),
    );
    bench.write("set/apart/species/u.npy", f32s(&[3, 2, 3], &species));
    bench.write("set/apart/health/u.npz", npz(&[("h", f32s(&[2, 3, 3], &health))]));
    bench.write("set/lacking/u.npz", npz(&[("species", f32s(&[3, 2, 3], &species))]));
    bench
}

#[test]
fn a_configuration_names_heads_and_its_paths_are_its_own() {
    let bench = two_heads();
    let report = bench.report("segmentation set/mtl.toml");
    assert_eq!(metric(&report, "scored_pixels"), 5);
    assert!(metric(&report, "nll").is_number() && metric(&report, "head_miou")["health"].is_number());
    let names: Vec<&str> =
        report["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["set/gt/u.png", "set/mtl.toml", "set/pred/u.npz"]);
    assert_eq!(report["protocol"]["heads"][1]["name"], "health");

    let apart = HEADS
        .replace("pred = \"pred\"\n", "")
        .replace("name = \"species\"", "name = \"species\"\npath = \"apart/species\"")
        .replace("name = \"health\"", "name = \"health\"\nkey = \"h\"\npath = \"apart/health\"");
    bench.write("set/apart.toml", apart);
    assert_eq!(bench.report("segmentation set/apart.toml")["metrics"], report["metrics"]);
}

#[test]
fn a_missing_head_is_an_error_unless_it_may_be_marginalised() {
    let bench = two_heads();
    let line = "segmentation set/mtl.toml --pred set/lacking";
    bench.refuses(line, 1, &["set/lacking/u.npz", "health", "keys species", "--missing-heads marginalise"]);
    let report = bench.report(&format!("{line} --missing-heads marginalise"));
    assert!(codes(&report).contains(&"missing-head"), "{:?}", codes(&report));
    std::fs::remove_file(bench.path("set/apart/health/u.npz")).unwrap();
    bench.write("set/apart/health/other.npy", f32s(&[2, 3, 3], &[0.25; 18]));
    bench.write(
        "set/apart.toml",
        HEADS
            .replace("name = \"species\"", "name = \"species\"\npath = \"apart/species\"")
            .replace("name = \"health\"", "name = \"health\"\npath = \"apart/health\""),
    );
    bench.refuses("segmentation set/apart.toml", 1, &["unit u", "head health", "apart/health"]);
    let report = bench.report("segmentation set/apart.toml --missing-heads marginalise");
    assert!(codes(&report).contains(&"missing-head"));
}

#[test]
fn flags_override_the_keys_of_a_configuration() {
    let bench = three();
    bench.write("c.toml", "preset = \"document\"\n[data]\ntruth = \"gt\"\npred = \"out\"\n[labels]\noriginal = 3\nignore = [255]\n[boundary]\nthickness = 3\n[bins]\ncount = 5\n");
    let written = bench.report("segmentation c.toml");
    assert_eq!(written["protocol"]["preset"], "document");
    assert_eq!(written["protocol"]["boundary"]["thickness"], 3);
    let flagged = bench.report(
        "segmentation c.toml --preset strict --thickness 1 --bins 7 --bins-closed left --cheng 0.1 \
         --tolerance-px 2 --background 0 --exclude-background --unpredicted wrong --measure overlap,contour",
    );
    let protocol = &flagged["protocol"];
    assert_eq!(protocol["preset"], "strict");
    assert_eq!(
        protocol["boundary"],
        serde_json::json!({"thickness": 1, "cheng": 0.1, "tolerance": 0.0075, "tolerance_px": 2.0})
    );
    assert_eq!(protocol["bins"], serde_json::json!({"count": 7, "closed": "left"}));
    assert_eq!(protocol["measure"], serde_json::json!(["overlap", "contour"]));
    assert_eq!(protocol["labels"]["background"], 0);
    assert_eq!(protocol["labels"]["include_background"], false);
    assert_eq!(protocol["labels"]["unpredicted"], "wrong");
    assert_eq!(protocol["temperatures"].as_array().unwrap().len(), 33);
}

#[test]
fn colours_predicted_where_truth_is_ignored_are_never_read() {
    let bench = Bench::new();
    let config = |preset: &str| {
        format!(
            "preset = \"{preset}\"\n[data]\ntruth = \"gt\"\npred = \"out\"\n[labels]\noriginal = [\"a\", \"b\"]\n\
             ignore = [255]\n[labels.colors]\n\"#000000\" = \"a\"\n\"#ffffff\" = \"b\"\n"
        )
    };
    let rgb = |pixels: [[u8; 3]; 3]| {
        picture(3, 1, png::ColorType::Rgb, png::BitDepth::Eight, pixels.as_flattened())
    };
    bench.write("c.toml", config("strict")).write("gt/u.png", grey(3, &[0, 255, 1]));
    bench.write("out/u.png", rgb([[0; 3], [1, 2, 3], [255; 3]]));
    let report = bench.report("segmentation c.toml");
    assert_eq!((metric(&report, "scored_pixels"), metric(&report, "miou")), (&2.into(), &1.0.into()));
    bench.write("c.toml", config("coral-mtl"));
    bench.refuses("segmentation c.toml", 1, &["out/u.png", "#010203", "x = 1, y = 0"]);
    bench.write("c.toml", config("strict")).write("out/u.png", rgb([[0; 3], [0; 3], [1, 2, 3]]));
    bench.refuses("segmentation c.toml", 1, &["out/u.png", "#010203", "x = 2, y = 0"]);
}

#[test]
fn a_head_without_any_file_is_missing_everywhere_where_heads_may_be_missing() {
    let bench = Bench::new();
    let config = |rule: &str| {
        format!(
            "[data]\ntruth = \"gt\"\n[labels]\noriginal = [\"a\", \"b\"]\nmissing_heads = \"{rule}\"\n\
             [[heads]]\nname = \"g\"\npath = \"g\"\n[[heads]]\nname = \"h\"\npath = \"h\"\n"
        )
    };
    bench.write("c.toml", config("marginalise")).write("gt/u.png", grey(2, &[0, 1]));
    bench.write("g/u.npy", f32s(&[2, 1, 2], &[9.0, 0.0, 0.0, 9.0]));
    std::fs::create_dir(bench.path("h")).unwrap();
    let report = bench.report("segmentation c.toml");
    assert_eq!(metric(&report, "miou"), 1.0);
    assert_eq!(report["undefined"]["segmentation.head_miou.h"], "head is missing in every unit");
    assert!(codes(&report).contains(&"missing-head"));
    bench.write("c.toml", config("error"));
    bench.refuses("segmentation c.toml", 1, &["no unit was found", "h"]);
}
