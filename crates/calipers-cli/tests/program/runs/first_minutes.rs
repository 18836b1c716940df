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

/// What the command of a message gives, run as it stands.
fn tried(bench: &Bench, refused: &Said) -> serde_json::Value {
    assert_eq!(refused.status, 1, "{}", refused.stderr);
    let command = refused.stderr.lines().find_map(|line| line.trim().strip_prefix("try: calipers ")).unwrap();
    bench.report(command)
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

#[test]
fn colours_are_answered_with_the_entries_that_a_configuration_needs() {
    let bench = named(["x.png", "y.png"], ["x.png", "y.png"]);
    let colours = [[128, 64, 128], [70, 70, 70], [70, 70, 70], [128, 64, 128]].concat();
    for name in ["x", "y"] {
        let rgb = picture(2, 2, png::ColorType::Rgb, png::BitDepth::Eight, &colours);
        bench.write(&format!("rgb/{name}.png"), rgb);
    }
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
fn misread_options_are_answered_in_time_and_with_what_was_meant() {
    let bench = named(["x.png", "y.png"], ["x.png", "y.png"]);
    let line = "segmentation --truth gt --pred out --classes 2";
    bench.refuses(&format!("{line} --trhuth gt"), 2, &["--truth"]);
    bench.refuses(&format!("{line} --json"), 2, &["--json"]);
    bench.refuses(&format!("{line} --select miou,biuo"), 2, &["biuo", "segmentation.biou"]);
    bench.refuses(&format!("{line} --select f1_score"), 2, &["no metric of that id", "f1_score"]);
    bench.refuses("segmentatoin --truth gt", 2, &["segmentation"]);
    bench.refuses("explain Mioo", 2, &["segmentation.miou"]);
    let said = bench.run("segmentation gt out --classes 2");
    let command = "try: calipers segmentation --classes 2 --truth=gt --pred=out\n";
    assert!(said.status == 2 && said.stderr.contains(command), "{}", said.stderr);
    let said = bench.run(&format!("{line} --latex t.tex --markdown"));
    assert!(
        said.status == 0 && said.stdout.starts_with("**segmentation**"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    assert!(bench.read("t.tex").contains("\\toprule"));
}
