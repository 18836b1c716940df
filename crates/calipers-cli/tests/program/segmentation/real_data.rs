//! Published label maps and confusion matrices with known answers, where the data folder exists
//! beside the project.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::support::Bench;
use crate::support::segmentation::{metric, real_data};

/// The data folder, or a line that says the test was skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn data() -> Option<PathBuf> {
    let folder = real_data();
    if folder.is_none() {
        eprintln!("skipped: the folder of real data is not beside the project");
    }
    folder
}

fn check(report: &Json, expected: &[(&str, f64)]) {
    for (id, value) in expected {
        let found = metric(report, id).as_f64().unwrap();
        assert!((found - value).abs() <= 1e-14 * value.abs().max(1.0), "{id}: {found} is not {value}");
    }
}

#[test]
fn the_published_baseline_is_recomputed_from_its_confusion_matrices() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    let config = data.join("configs/coral-baseline.toml").display().to_string();
    let matrices = data.join("coral/baseline_test_confusions.jsonl").display().to_string();
    let line = format!("segmentation {config} --confusion {matrices}");

    let published = bench.report(&format!("{line} --preset coral-mtl"));
    assert_eq!(published["units"], 392);
    assert_eq!(metric(&published, "scored_pixels"), 822_083_584);
    check(
        &published,
        &[
            ("miou", 0.388_836_855_103_404_65),
            ("pixel_accuracy", 0.646_308_392_894_510_6),
            ("mean_precision", 0.555_910_841_728_879_1),
            ("mean_recall", 0.529_168_109_364_365_8),
            ("mean_f1", 0.532_413_123_881_149_9),
            ("classification_error", 0.150_488_154_012_329_54),
            ("background_error", 0.106_570_707_291_972_75),
            ("missed_error", 0.096_632_745_801_185_96),
        ],
    );
    let strict = bench.report(&line);
    check(
        &strict,
        &[
            ("pixel_accuracy", 0.646_308_392_894_511_4),
            ("mean_f1", 0.519_102_795_784_121_2),
            ("miou_image", 0.272_667_934_438_805_16),
            ("kappa", 0.596_836_602_234_333_8),
            ("fwiou", 0.502_389_086_589_113_4),
        ],
    );
    let ignoring =
        bench.report(&format!("{line} --ignore 255,unlabeled --background none --unpredicted wrong"));
    check(&ignoring, &[("miou", 0.426_315_941_356_888), ("pixel_accuracy", 0.695_413_423_573_729_2)]);
    assert_eq!(metric(&ignoring, "ignored_pixels"), 155_100_694);
    assert_eq!(metric(&ignoring, "unpredicted_pixels"), 79_440_194);
}

/// Frame i as truth and frame i - 1 as its prediction, for the first `count` pairs.
fn camvid(bench: &Bench, data: &Path, count: usize) {
    let mut frames: Vec<PathBuf> =
        std::fs::read_dir(data.join("camvid/test")).unwrap().map(|entry| entry.unwrap().path()).collect();
    frames.sort();
    for pair in frames.windows(2).take(count) {
        let name = pair[1].file_name().unwrap().to_str().unwrap();
        bench.write(&format!("truth/{name}"), std::fs::read(&pair[1]).unwrap());
        bench.write(&format!("pred/{name}"), std::fs::read(&pair[0]).unwrap());
    }
    bench.write("camvid.toml", std::fs::read(data.join("configs/camvid.toml")).unwrap());
}

#[test]
fn the_frame_before_predicts_camvid_as_well_as_it_should() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    camvid(&bench, &data, 59);
    let report = bench.report("segmentation camvid.toml --measure all");
    check(
        &report,
        &[
            ("miou", 0.436_505_760_954_856_05),
            ("miou_image", 0.488_048_719_789_462_1),
            ("pixel_accuracy", 0.778_217_733_941_149_3),
            ("biou", 0.118_125_153_987_160_2),
            ("biou_macro", 0.103_441_012_389_715_77),
            ("boundary_f1", 0.211_291_470_486_883_74),
            ("boundary_iou_cheng", 0.300_327_830_347_412_5),
            ("contour_f1", 0.495_807_493_977_029_33),
            ("contour_f1_macro", 0.442_837_865_926_205_83),
        ],
    );
    assert_eq!(metric(&report, "scored_pixels"), 9_490_592);
    assert_eq!(metric(&report, "unpredicted_pixels"), 207_466);
    let thicker = bench.report("segmentation camvid.toml --thickness 4");
    check(&thicker, &[("biou", 0.182_168_563_077_186_12)]);
}

#[test]
fn all_of_camvid_gives_the_known_totals() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    camvid(&bench, &data, 232);
    let report = bench.report("segmentation camvid.toml");
    assert_eq!(report["units"], 232);
    check(&report, &[("miou", 0.431_028_360_839_314_6), ("biou", 0.119_969_058_881_048_36)]);
    assert_eq!(metric(&report, "scored_pixels"), 38_556_089);
    assert_eq!(metric(&report, "unpredicted_pixels"), 855_347);
}

#[test]
fn two_models_on_davis_disagree_as_much_as_known() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    for (sequence, units, accuracy, miou, biou) in [
        ("india", 81, 0.519_881_416_187_199_4, 0.029_009_408_194_121_965, 0.005_555_598_315_925_587),
        ("lab-coat", 47, 0.660_841_451_160_164_1, 0.041_792_446_468_559_54, 0.008_633_814_010_538_454),
    ] {
        let (truth, pred) = (data.join("davis/osvos").join(sequence), data.join("davis/rvos").join(sequence));
        let line = format!("segmentation --truth {} --pred {}", truth.display(), pred.display());
        let report = bench.report(&format!("{line} --classes 21 --background 0"));
        assert_eq!(report["units"], units);
        check(&report, &[("pixel_accuracy", accuracy), ("miou", miou), ("biou", biou)]);
    }
}

#[test]
fn colour_coded_cats_are_scored_through_their_table() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    let (config, flavours) = (data.join("configs/cat-colours.toml"), data.join("flavours"));
    let report = bench.report(&format!(
        "segmentation {} --truth {flavours} --pred {flavours} --truth-suffix _gt_rgba8.png --pred-suffix \
         _pred_rgba8.png --measure all",
        config.display(),
        flavours = flavours.display(),
    ));
    check(
        &report,
        &[
            ("miou", 0.832_922_575_291_246_7),
            ("biou", 0.104_197_118_396_324_91),
            ("boundary_iou_cheng", 0.387_601_390_498_261_87),
            ("contour_f1", 0.459_105_385_877_673_9),
        ],
    );
}

#[test]
fn cityscapes_ids_are_scored_against_training_ids() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    let folder = data.join("flavours/cityscapes").display().to_string();
    let report = bench.report(&format!(
        "segmentation --truth {folder} --pred {folder} --truth-suffix _gtFine_labelIds.png --pred-suffix \
         _gtFine_labelTrainIds.png --classes cityscapes --preset cityscapes --space global"
    ));
    check(&report, &[("miou", 0.985_973_079_946_836_8)]);
    assert_eq!(metric(&report, "scored_pixels"), 28_894);
    assert_eq!(metric(&report, "unpredicted_pixels"), 10);
}

#[test]
fn every_flavour_of_png_is_read_as_its_ids() {
    let Some(data) = data() else { return };
    let bench = Bench::new();
    for (file, ignore, classes) in [
        ("mapillary_palette8.png", "none", 46),
        ("loveda_grey8.png", "none", 8),
        ("hsidrive_grey8.png", "0", 11),
        ("potsdam_grey8.png", "none", 6),
        ("bird_grey_alpha8.png", "none", 256),
    ] {
        let bytes = std::fs::read(data.join("flavours").join(file)).unwrap();
        bench.write(&format!("{classes}/a.png"), &bytes);
        let ignore = if ignore == "none" { String::new() } else { format!("--ignore {ignore}") };
        let report = bench.report(&format!(
            "segmentation --truth {classes} --pred {classes} --classes {classes} {ignore} --measure overlap"
        ));
        check(&report, &[("pixel_accuracy", 1.0)]);
        assert!(crate::support::codes(&report).contains(&"identical-files"), "{file}");
    }
    let depth = data.join("flavours/nyu_depth_grey16.png");
    bench.write("depth/a.png", std::fs::read(depth).unwrap());
    bench.refuses("segmentation --truth depth --pred depth --classes 3", 1, &["depth/a.png", "--ignore"]);
}
