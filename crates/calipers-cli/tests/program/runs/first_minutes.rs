//! The first attempt on folders as people have them: it works, or its message holds the command that does.

use crate::support::segmentation::{f32s, grey, metric, picture};
use crate::support::{Bench, Said};

const TRUTH: [u8; 4] = [0, 1, 1, 0];

/// Two images of two classes, truth and prediction under these names.
fn named(truth: [&str; 2], pred: [&str; 2]) -> Bench {
    let bench = Bench::new();
    for (truth, pred) in truth.iter().zip(pred) {
        bench.write(&format!("gt/{truth}"), grey(2, &TRUTH));
        bench.write(&format!("out/{pred}"), grey(2, &[0, 1, 1, 1]));
    }
    bench
}

/// What the command of a message gives, run by a shell as it stands.
fn tried(bench: &Bench, refused: &Said) -> serde_json::Value {
    assert_ne!(refused.status, 0, "{}", refused.stderr);
    let line = refused.stderr.lines().find_map(|line| line.trim().strip_prefix("try: "));
    let line = line.unwrap_or_else(|| panic!("no command in {}", refused.stderr));
    let said = bench.shell(&format!("{line} --json - --quiet"));
    assert_eq!(said.status, 0, "{line}\n{}", said.stderr);
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn cityscapes_names_are_answered_with_the_command_that_pairs_them() {
    let bench = named(
        ["ulm/ulm_0_gtFine_labelIds.png", "bonn/bonn_1_gtFine_labelIds.png"],
        ["ulm_0_pred.png", "bonn_1_pred.png"],
    );
    for name in ["ulm/ulm_0", "bonn/bonn_1"] {
        bench.write(&format!("gt/{name}_gtFine_color.png"), grey(2, &TRUTH));
        bench.write(&format!("gt/{name}_gtFine_polygons.json"), "{}");
    }
    let said = bench.run("segmentation --truth gt --pred out --classes 2");
    let options = "--truth-suffix=_gtFine_labelIds.png --pred-suffix=_pred.png --flat";
    assert!(said.stderr.contains(&format!("--classes 2 {options}\n")), "{}", said.stderr);
    for shown in
        ["gt/bonn/bonn_1_gtFine_color.png", "out/bonn_1_pred.png", "out/ulm_0_pred.png", "2 units pair so"]
    {
        assert!(said.stderr.contains(shown), "{shown} is missing in {}", said.stderr);
    }
    let report = tried(&bench, &said);
    assert_eq!((&report["units"], metric(&report, "pixel_accuracy")), (&2.into(), &0.75.into()));
    // A suffix that was misspelt is replaced.
    let said = bench.run("segmentation --truth gt --truth-suffix _labels.png --pred out --classes 2");
    assert!(!said.stderr.contains("_labels.png --pred"), "{}", said.stderr);
    assert_eq!(tried(&bench, &said)["units"], 2);
}

#[test]
fn nested_and_flat_folders_are_answered_with_the_option_for_them() {
    let bench = named(["a/x.png", "b/y.png"], ["x.png", "y.png"]);
    let said = bench.run("segmentation --truth gt --pred out --classes 2");
    assert!(
        said.stderr.contains("try: calipers segmentation --truth gt --pred out --classes 2 --flat\n"),
        "{}",
        said.stderr
    );
    assert_eq!(tried(&bench, &said)["units"], 2);
    let same = named(["a/x.png", "b/y.png"], ["a/x.png", "b/y.png"]);
    assert_eq!(same.report("segmentation --truth gt --pred out --classes 2")["units"], 2);
}

#[test]
fn names_with_nothing_in_common_are_shown_and_nothing_is_proposed() {
    let bench = named(["a.png", "b.png"], ["c.png", "d.png"]);
    let said = bench.run("segmentation --truth gt --pred out --classes 2");
    assert!(said.stderr.contains("gt/a.png, gt/b.png; out/c.png, out/d.png"), "{}", said.stderr);
    assert!(!said.stderr.contains("try:"), "{}", said.stderr);
}

#[test]
fn scores_in_place_of_label_maps_are_answered_with_their_kind() {
    let bench = named(["x.png", "y.png"], ["x.png", "y.png"]);
    let kinds: [(&str, &[f32; 8]); 3] = [
        ("--kind=logits", &[2.0, -1.0, 0.5, 3.0, -2.0, 4.0, 1.0, -3.0]),
        ("--kind=probs", &[0.75, 0.25, 0.5, 0.125, 0.25, 0.75, 0.5, 0.875]),
        ("--kind=logits --layout=HWC", &[2.0, -1.0, 0.5, 3.0, -2.0, 4.0, 1.0, -3.0]),
    ];
    for (options, values) in kinds {
        // Channels come first unless the array says otherwise.
        let shape: &[usize] = if options.contains("HWC") { &[1, 4, 2] } else { &[2, 1, 4] };
        for name in ["x", "y"] {
            bench.write(&format!("gt4/{name}.png"), grey(4, &TRUTH));
            bench.write(&format!("scores/{name}.npy"), f32s(shape, values));
        }
        let said = bench.run("segmentation --truth gt4 --pred scores --classes 2");
        assert!(said.stderr.contains(&format!("--classes 2 {options}\n")), "{options}: {}", said.stderr);
        assert_eq!(tried(&bench, &said)["units"], 2);
    }
}

/// Two truths of four pixels in these colours, beside the usual predictions.
fn painted(colours: [[u8; 3]; 4]) -> Bench {
    let bench = named(["x.png", "y.png"], ["x.png", "y.png"]);
    for name in ["x", "y"] {
        let rgb = picture(2, 2, png::ColorType::Rgb, png::BitDepth::Eight, &colours.concat());
        bench.write(&format!("rgb/{name}.png"), rgb);
    }
    bench
}

#[test]
fn colours_are_answered_with_the_entries_that_a_configuration_needs() {
    let (one, other) = ([128, 64, 128], [70, 70, 70]);
    let bench = painted([one, other, other, one]);
    let said = bench.run("segmentation --truth rgb --pred out --classes 2");
    assert!(said.stderr.contains("2 colours: #464646, #804080"), "{}", said.stderr);
    assert!(
        said.stderr.contains("colors = { \"#464646\" = \"CLASS\", \"#804080\" = \"CLASS\" }"),
        "{}",
        said.stderr
    );
    let config = "[labels]\ncolors = { \"#464646\" = 1, \"#804080\" = 0 }\n";
    bench.write("colours.toml", config);
    let report = bench.report("segmentation colours.toml --truth rgb --pred out --classes 2");
    assert_eq!(metric(&report, "pixel_accuracy"), 0.75);
}

#[test]
fn colours_that_a_rule_explains_are_answered_with_the_rule() {
    const RGB: &str = "segmentation --truth rgb --pred out --classes 2";
    let (zero, one) = ([0, 0, 0], [1, 0, 0]);
    let bench = painted([zero, one, one, zero]);
    let said = bench.run(RGB);
    assert!(said.stderr.contains(&format!("try: calipers {RGB} --truth-rgb=ids\n")), "{}", said.stderr);
    assert_eq!(metric(&tried(&bench, &said), "pixel_accuracy"), 0.75);
    let said = bench.run("segmentation --truth rgb --pred rgb --classes 2");
    assert!(said.stderr.contains("--classes 2 --truth-rgb=ids --pred-rgb=ids\n"), "{}", said.stderr);
    assert_eq!(metric(&tried(&bench, &said), "pixel_accuracy"), 1.0);
    let bench = painted([[0, 0, 7], [0, 1, 8], [0, 1, 9], [0, 0, 7]]);
    assert!(bench.run(RGB).stderr.contains("--truth-rgb=ade20k\n"));
    // Segments are listed in a file beside the folder.
    let bench = painted([[9, 0, 0], [5, 0, 0], [5, 0, 0], [9, 0, 0]]);
    let segments = r#"[{"id": 9, "category_id": 0}, {"id": 5, "category_id": 1}]"#;
    let image = |name: &str| format!(r#"{{"file_name": "{name}.png", "segments_info": {segments}}}"#);
    let categories = r#"[{"id": 0, "name": "0"}, {"id": 1, "name": "1"}]"#;
    let (x, y) = (image("x"), image("y"));
    bench.write("rgb.json", format!(r#"{{"annotations": [{x}, {y}], "categories": {categories}}}"#));
    let said = bench.run(RGB);
    assert!(said.stderr.contains("--truth-rgb=panoptic:rgb.json\n"), "{}", said.stderr);
    assert_eq!(metric(&tried(&bench, &said), "pixel_accuracy"), 0.75);
}

#[test]
fn colours_that_need_a_table_are_answered_with_the_command_that_writes_it() {
    const RGB: &str = "segmentation --truth rgb --pred out --classes 2";
    let accuracy = |bench: &Bench, line: &str, words: &str| {
        let said = bench.run(line);
        assert!(said.stderr.contains(words), "{words} is missing in {}", said.stderr);
        assert!(said.stderr.contains("try: echo 'labels.colors = { "), "{}", said.stderr);
        metric(&tried(bench, &said), "pixel_accuracy").clone()
    };
    // The colours of Pascal VOC are published.
    let (zero, one) = ([0, 0, 0], [128, 0, 0]);
    let bench = painted([zero, one, one, zero]);
    assert_eq!(accuracy(&bench, RGB, "\"#800000\" = 1"), 0.75);
    // Those of Cityscapes are known by the names of its classes.
    let bench = painted([[128, 64, 128], [70, 130, 180], [70, 130, 180], [0, 0, 0]]);
    for name in ["x", "y"] {
        bench.write(&format!("roads/{name}.png"), grey(2, &[7, 23, 23, 7]));
    }
    let line = "segmentation --truth rgb --pred roads --classes cityscapes";
    assert_eq!(accuracy(&bench, line, "\"#4682b4\" = \"sky\""), 1.0);
    // Of others the predictions tell.
    let (zero, one) = ([200, 0, 9], [3, 100, 0]);
    let bench = painted([one, one, one, zero]);
    for name in ["x", "y"] {
        bench.write(&format!("out/{name}.png"), grey(2, &[1, 1, 0, 0]));
    }
    assert_eq!(accuracy(&bench, RGB, "check them"), 0.75);
    // Both sides in one palette need no more than a class for each colour.
    let line = "segmentation --truth rgb --pred rgb --classes 2";
    assert_eq!(accuracy(&bench, line, "both sides are read by one table"), 1.0);
    // A configuration that is there takes the line up.
    bench.write("mine.toml", "[bins]\ncount = 3\n");
    let said = bench.run("segmentation mine.toml --truth rgb --pred out --classes 2");
    assert!(said.stderr.contains("try: the same with labels.colors = {"), "{}", said.stderr);
    assert!(said.stderr.contains("} in mine.toml\n"), "{}", said.stderr);
}

#[test]
fn folders_in_place_of_a_configuration_are_answered_with_their_options() {
    let bench = named(["x.png", "y.png"], ["x.png", "y.png"]);
    let command = |line: &str| {
        let said = bench.run(line);
        assert_eq!(said.status, 2, "{}", said.stderr);
        assert_eq!(tried(&bench, &said)["units"], 2);
        said.stderr.lines().find_map(|line| line.trim().strip_prefix("try: calipers ")).unwrap().to_owned()
    };
    let both = "segmentation --classes 2 --truth=gt --pred=out";
    assert_eq!(command("segmentation gt out --classes 2"), both);
    assert_eq!(command("segmentation --classes 2 out gt"), both, "names say which is which");
    assert_eq!(
        command("segmentation gt/ out/ --classes 2"),
        "segmentation --classes 2 --truth=gt/ --pred=out/"
    );
    assert_eq!(
        command("segmentation gt --pred out --classes 2"),
        "segmentation --pred out --classes 2 --truth=gt"
    );
    assert_eq!(
        command("segmentation --truth gt out --classes 2"),
        "segmentation --truth gt --classes 2 --pred=out"
    );
    assert_eq!(command("segmentation . --classes 2"), "segmentation --classes 2 --truth=./gt --pred=./out");
    bench.refuses("segmentation gt --truth gt --pred out --classes 2", 2, &["found: gt", "leave it out"]);
}

#[test]
fn misread_options_are_answered_in_time_and_with_what_was_meant() {
    let bench = named(["x.png", "y.png"], ["x.png", "y.png"]);
    let line = "segmentation --truth gt --pred out --classes 2";
    bench.refuses(&format!("{line} --trhuth gt"), 2, &["--truth"]);
    bench.refuses(&format!("{line} --json"), 2, &["--json"]);
    bench.refuses(&format!("{line} --select miou,biuo"), 2, &["biuo", "segmentation.biou"]);
    bench.refuses(&format!("{line} --select f1_score"), 2, &["no metric of that id", "f1_score"]);
    bench.refuses("segmentatoin --truth gt", 2, &["segmentation"]);
    bench.refuses("explain Mioo", 2, &["segmentation.miou"]);
    let said = bench.run(&format!("{line} --latex t.tex --markdown"));
    assert!(
        said.status == 0 && said.stdout.starts_with("**segmentation**"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    assert!(bench.read("t.tex").contains("\\toprule"));
}
