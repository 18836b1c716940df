//! RGB label maps: ids, segments of COCO and classes of ADE20K in their colours.

use crate::support::segmentation::{grey, metric, picture};
use crate::support::{Bench, codes};

fn colours(pixels: &[[u8; 3]]) -> Vec<u8> {
    picture(pixels.len() as u32, 1, png::ColorType::Rgb, png::BitDepth::Eight, &pixels.concat())
}

const COCO: &str = r#"{"annotations": [
    {"image_id": 1, "file_name": "val/a.png", "segments_info": [{"id": 66065, "category_id": 7}, {"id": 2, "category_id": 9}]}],
    "categories": [{"id": 7, "name": "road"}, {"id": 9, "name": "sky"}]}"#;

#[test]
fn a_panoptic_picture_is_read_by_its_segments_and_names_the_classes() {
    let bench = Bench::new();
    bench.write("coco.json", COCO);
    bench.write("gt/a.png", colours(&[[17, 2, 1], [2, 0, 0], [2, 0, 0], [0, 0, 0]]));
    bench.write("out/a.png", grey(4, &[7, 9, 7, 7]));
    let line = "segmentation --truth gt --pred out --truth-rgb panoptic:coco.json";
    let report = bench.report(line);
    assert_eq!(metric(&report, "scored_pixels"), 3);
    assert_eq!(metric(&report, "ignored_pixels"), 1);
    assert!(report["protocol"].to_string().contains("\"road\""), "the categories are the classes");
    assert_eq!(report["reading"]["truth_rgb"], "panoptic:coco.json");
    let roles: Vec<&str> =
        report["inputs"].as_array().unwrap().iter().map(|input| input["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["segments", "truth", "pred"]);
    assert_eq!(codes(&report), [""; 0]);
    bench.run(&format!("{line} --json r.json --quiet"));
    let said = bench.run("verify r.json");
    assert_eq!(said.status, 0, "{}{}", said.stdout, said.stderr);
    // A segment that is listed and not there is said.
    bench.write("gt/a.png", colours(&[[17, 2, 1], [17, 2, 1], [17, 2, 1], [0, 0, 0]]));
    assert_eq!(codes(&bench.report(line)), ["class-not-in-truth", "empty-segments"]);
    // From a configuration the file lies beside it.
    bench.write("deep/coco.json", COCO).write(
        "deep/c.toml",
        "[data]\ntruth = \"../gt\"\npred = \"../out\"\ntruth_rgb = \"panoptic:coco.json\"\n",
    );
    assert_eq!(bench.report("segmentation deep/c.toml")["reading"]["truth_rgb"], "panoptic:deep/coco.json");
}

#[test]
fn ids_and_ade20k_are_read_from_colours() {
    let bench = Bench::new();
    bench.write("gt/a.png", colours(&[[17, 2, 1], [1, 0, 0]]));
    bench.write("out/a.png", colours(&[[17, 2, 1], [17, 2, 1]]));
    bench.write("classes.json", r#"{"1": "one", "66065": "many"}"#);
    let line = "segmentation --truth gt --pred out --classes classes.json --truth-rgb ids --pred-rgb ids";
    assert_eq!(metric(&bench.report(line), "pixel_accuracy"), 0.5);
    bench.write("gt/a.png", colours(&[[40, 12, 3], [0, 0, 9], [40, 12, 4]]));
    bench.write("out/a.png", colours(&[[40, 12, 1], [40, 12, 1], [10, 5, 1]]));
    bench.write("classes.json", r#"{"261": "wall", "1036": "sky"}"#);
    let line = line.replace("ids", "ade20k");
    let report = bench.report(&line);
    assert_eq!((metric(&report, "scored_pixels"), metric(&report, "ignored_pixels")), (&2.into(), &1.into()));
    assert_eq!(metric(&report, "pixel_accuracy"), 0.5);
}

#[test]
fn what_no_rule_explains_is_refused_with_image_and_place() {
    let bench = Bench::new();
    bench.write("coco.json", COCO).write("gt/a.png", colours(&[[2, 0, 0], [3, 0, 0]]));
    bench.write("out/a.png", grey(2, &[7, 9])).write("rgb/a.png", colours(&[[9, 9, 9], [2, 0, 0]]));
    let line = |rest: &str| format!("segmentation --pred out {rest}");
    let rule = "--truth-rgb panoptic:coco.json";
    bench.refuses(&line(&format!("--truth gt {rule}")), 1, &["gt/a.png", "x = 1, y = 0", "segment 3"]);
    bench.write("b/b.png", colours(&[[2, 0, 0]])).write("outb/b.png", grey(1, &[7]));
    let other = format!("segmentation --truth b --pred outb {rule}");
    bench.refuses(&other, 1, &["b/b.png", "no annotation", "coco.json"]);
    bench.refuses(
        &line("--truth gt --truth-rgb colour --classes 2"),
        2,
        &["--truth-rgb", "ids, panoptic:FILE"],
    );
    bench.refuses(&line("--truth gt --classes 2"), 1, &["gt/a.png", "--truth-rgb", "colors"]);
    bench.refuses(&line(&format!("--truth out {rule}")), 1, &["out/a.png", "none", "mode RGB"]);
    bench.write("coco.json", COCO.replace("\"categories\"", "\"classes\""));
    bench.refuses(&line(&format!("--truth gt {rule}")), 1, &["coco.json", "panoptic form"]);
}
