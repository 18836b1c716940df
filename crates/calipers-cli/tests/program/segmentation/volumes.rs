//! The binary on volumes, with spacings and orientations, and its options for surfaces.

use crate::support::segmentation::{grey, metric, u8s};
use crate::support::{Bench, codes, f64s, i64s, npy, npz};

/// x, y and z.
const SIZES: [usize; 3] = [6, 5, 4];

/// A box of class 1, its first corner moved along x.
fn cube(moved: usize) -> Vec<u8> {
    let inside =
        |x: usize, y: usize, z: usize| (1 + moved..4 + moved).contains(&x) && (1..4).contains(&y) && z > 0;
    let [width, height, depth] = SIZES;
    let places = (0..depth).flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| (x, y, z))));
    places.map(|(x, y, z)| inside(x, y, z).into()).collect()
}

/// A NIfTI file of bytes, with its spacing (x, y, z) and the direction of x.
fn nifti(labels: &[u8], spacing: [f32; 3], x: f32) -> Vec<u8> {
    let mut bytes = vec![0; 352];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &348i32.to_le_bytes());
    let dims = [3, SIZES[0], SIZES[1], SIZES[2], 1, 1, 1, 1];
    dims.iter().enumerate().for_each(|(k, size)| put(40 + 2 * k, &(*size as i16).to_le_bytes()));
    put(70, &2i16.to_le_bytes());
    put(72, &8i16.to_le_bytes());
    spacing.iter().enumerate().for_each(|(k, step)| put(80 + 4 * k, &step.to_le_bytes()));
    put(108, &352f32.to_le_bytes());
    put(254, &1i16.to_le_bytes());
    put(280, &(x * spacing[0]).to_le_bytes());
    put(300, &spacing[1].to_le_bytes());
    put(320, &spacing[2].to_le_bytes());
    put(344, b"n+1\0");
    bytes.extend(labels);
    bytes
}

const STEPS: [f32; 3] = [0.5, 1.0, 2.0];
const PAIR: &str = "segmentation --truth a.nii --pred b.nii --classes 2 --background 0";

fn pair() -> Bench {
    let bench = Bench::new();
    bench.write("a.nii", nifti(&cube(0), STEPS, 1.0)).write("b.nii", nifti(&cube(1), STEPS, 1.0));
    bench
}

#[test]
fn two_single_volumes_are_one_unit_named_by_the_truth() {
    let bench = pair();
    let report =
        bench.report(&format!("{PAIR} --measure overlap,surface --surface-tolerance 0.4 --per-unit u.csv"));
    assert_eq!(report["units"], 1);
    // Moved by one element of 0.5.
    assert_eq!(metric(&report, "hd")["1"], 0.5);
    assert_eq!(metric(&report, "iou")["1"], 0.5);
    assert_eq!(report["protocol"]["surface"]["convention"], "strict");
    assert_eq!(codes(&report), Vec::<String>::new());
    let csv = bench.read("u.csv");
    let (heading, row) = csv.trim().split_once('\n').unwrap();
    assert!(heading.contains(",depth,spacing,") && heading.ends_with(",masd.1,nsd.1"), "{heading}");
    assert!(row.starts_with("a,5,6,") && row.contains(",4,2;1;0.5,"), "{row}");
    let inputs: Vec<&str> =
        report["inputs"].as_array().unwrap().iter().filter_map(|i| i["path"].as_str()).collect();
    assert_eq!(inputs, ["a.nii", "b.nii"]);
}

#[test]
fn a_run_with_default_parts_measures_volumes_and_says_what_does_not_work() {
    let bench = pair();
    let report = bench.report(PAIR);
    assert!(metric(&report, "miou").as_f64().is_some());
    let reason = "bands and contours are measured on 2-D images; a is a volume";
    assert!(metric(&report, "biou").is_null());
    assert_eq!(report["undefined"]["segmentation.biou"], reason);
    assert!(report["metrics"].get("segmentation.hd").is_none());
    assert!(report["protocol"].get("surface").is_none());
}

#[test]
fn a_report_of_volumes_is_verified_shown_and_merged() {
    let bench = pair();
    let line = format!(
        "{PAIR} --measure surface --spacing 3,2,1 --state s.state --json r.json --html p.html --quiet"
    );
    let said = bench.run(&line);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let said = bench.run("verify r.json");
    assert_eq!(said.status, 0, "{}{}", said.stdout, said.stderr);
    let shown = bench.run("merge s.state s.state -o all.state --json -  --quiet");
    let report: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(metric(&report, "hd")["1"], 1.0);
    assert_eq!(codes(&report), ["spacing-overridden"]);
}

#[test]
fn formats_meet_and_arrays_carry_their_spacing() {
    let bench = Bench::new();
    let header = "ObjectType = Image\nNDims = 3\nDimSize = 6 5 4\nElementType = MET_UCHAR\n\
                  ElementSpacing = 0.5 1 2\nElementDataFile = ";
    bench.write("gt/a.nii", nifti(&cube(0), STEPS, 1.0)).write("gt/b.nii", nifti(&cube(0), STEPS, 1.0));
    bench.write("out/a.mha", [format!("{header}LOCAL\n").into_bytes(), cube(1)].concat());
    bench.write("out/b.mhd", format!("{header}b.raw\n")).write("out/b.raw", cube(1));
    let measured = "--classes 2 --background 0 --measure surface";
    let report = bench.report(&format!("segmentation --truth gt --pred out {measured}"));
    assert_eq!((&report["units"], &metric(&report, "hd")["1"]), (&2.into(), &0.5.into()));
    let array = |labels: &[u8]| u8s(&[4, 5, 6], labels);
    let steps = f64s(&[3], &[2.0, 1.0, 0.5]);
    bench.write("c/a.npz", npz(&[("labels", array(&cube(0))), ("spacing", steps.clone())]));
    bench.write("d/a.npy", array(&cube(1)));
    let report = bench.report(&format!("segmentation --truth c --pred d {measured}"));
    assert_eq!((&report["units"], &metric(&report, "hd")["1"]), (&1.into(), &0.5.into()));
    // In a container every array of three axes is a volume, and the spacing is that of all.
    bench.write("t.npz", npz(&[("x", array(&cube(0))), ("y", array(&cube(0))), ("spacing", steps)]));
    bench.write("p.npz", npz(&[("x", array(&cube(1))), ("y", array(&cube(1)))]));
    let report = bench.report(&format!("segmentation --truth t.npz --pred p.npz {measured}"));
    assert_eq!((&report["units"], &metric(&report, "hd")["1"]), (&2.into(), &0.5.into()));
    // An array of its own with three axes stays a stack of images.
    bench.write("t.npy", array(&cube(0))).write("p.npy", array(&cube(1)));
    let report = bench.report(&format!("segmentation --truth t.npy --pred p.npy {measured}"));
    assert_eq!((&report["units"], &metric(&report, "hd")["1"]), (&4.into(), &1.0.into()));
    assert_eq!(codes(&report), ["identical-files", "repeated-truth", "stack-of-images"]);
}

#[test]
fn scores_of_volumes_are_decided_voxel_by_voxel() {
    let bench = pair();
    let scores: Vec<u8> =
        cube(1).iter().map(|id| 1 - id).chain(cube(1)).flat_map(|v| f32::from(v).to_le_bytes()).collect();
    bench
        .write("gt/a.nii", nifti(&cube(0), STEPS, 1.0))
        .write("out/a.npy", npy("<f4", &[2, 4, 5, 6], &scores));
    let line = "segmentation --truth gt --pred out --classes 2 --background 0 --kind probs --measure";
    let report = bench.report(&format!("{line} overlap,surface,calibration"));
    assert_eq!((&metric(&report, "hd")["1"], &metric(&report, "iou")["1"]), (&0.5.into(), &0.5.into()));
    assert!(metric(&report, "ece").as_f64().is_some());
    bench.write("out/a.npy", npy("<f4", &[2, 5, 4, 6], &scores));
    bench.refuses(&format!("{line} overlap"), 1, &["2,5,4,6", "4,5,6", "--layout"]);
}

#[test]
fn what_does_not_fit_is_refused_with_both_sides() {
    let bench = pair();
    let surface = format!("{PAIR} --measure surface");
    bench.write("b.nii", nifti(&cube(1), STEPS, -1.0));
    bench.refuses(&surface, 1, &["point different ways", "axis x", "--orientation ignore", "a.nii", "b.nii"]);
    assert_eq!(bench.run(&format!("{surface} --orientation ignore --quiet --json -")).status, 0);
    bench.write("b.nii", nifti(&cube(1), [0.5, 1.0, 3.0], 1.0));
    bench.refuses(&surface, 1, &["different spacings", "3, 1, 0.5", "2, 1, 0.5", "--spacing"]);
    bench.write("b.nii", nifti(&cube(1), [0.0, 1.0, 2.0], 1.0));
    bench.refuses(&surface, 1, &["spacing", "0", "--spacing"]);
    bench.write("b.nii", &nifti(&cube(1), STEPS, 1.0)[..400]);
    bench.refuses(&surface, 1, &["b.nii", "400 bytes", "472 bytes"]);
    let maps = "segmentation --truth a.nii --pred b.npy --classes 2";
    bench.write("x/a.nii", nifti(&cube(0), STEPS, 1.0)).write("y/a.png", grey(6, &[0; 30]));
    bench.refuses(
        "segmentation --truth x --pred y --classes 2",
        1,
        &["volume", "image", "4 x 5 x 6", "5 x 6"],
    );
    bench.write("z/a.npy", i64s(&[1, 2, 2, 2, 2], &[0; 16]));
    bench.refuses("segmentation --truth x --pred z --classes 2", 1, &["three of a volume", "1,2,2,2,2"]);
    assert!(!bench.run(maps).stderr.is_empty());
    for (flag, words) in [
        ("--surface-convention scipy", &["scipy", "deepmind"][..]),
        ("--surface-percentile 101", &["percentile", "101", "up to 100"]),
        ("--surface-percentile 0", &["percentile", "0"]),
        ("--surface-tolerance -1", &["tolerance", "-1"]),
        ("--surface-tolerance liver=2", &["liver", "allowed: 1"]),
        ("--surface-tolerance 0=2", &["tolerance", "0"]),
        ("--surface-tolerance x", &["--surface-tolerance", "CLASS=T"]),
        ("--surface-missing zero", &["zero", "diagonal"]),
        ("--surface-missing -3", &["-3"]),
        ("--surface-absent zero", &["zero", "perfect"]),
        ("--spacing 1,0,1", &["spacing", "0"]),
        ("--spacing -1", &["spacing", "-1"]),
        ("--orientation maybe", &["maybe", "ignore"]),
        ("--worst 0", &["worst", "0"]),
        ("--worst 101", &["worst", "101"]),
    ] {
        bench.refuses(&format!("{surface} {flag}"), 2, words);
    }
    bench.write("b.nii", nifti(&cube(1), STEPS, 1.0));
    bench.refuses(&format!("{surface} --spacing 1,2"), 1, &["spacing", "2 numbers", "4 x 5 x 6"]);
    for (text, words) in [
        ("[surface]\nconnectivity = 2\n", &["connectivity", "convention"][..]),
        ("[surface]\nconvention = \"scipy\"\n", &["convention", "scipy"]),
        ("[images]\nwurst = 2\n", &["wurst", "worst"]),
        ("[data]\nspacing = [1.0, 0.0]\n", &["spacing", "0"]),
        ("[surface]\ntolerance = { liver = 1 }\n", &["tolerance", "liver"]),
    ] {
        bench.write("c.toml", format!("{text}[labels]\noriginal = 2\nbackground = 0\n"));
        bench.refuses("segmentation c.toml --truth a.nii --pred b.nii", 1, words);
    }
}

#[test]
fn penalties_and_the_worst_share_are_printed_and_used() {
    let bench = pair();
    bench.write("b.nii", nifti(&[0; 120], STEPS, 1.0));
    let line = format!("{PAIR} --measure overlap,surface,images --worst 10");
    let report = bench.report(&line);
    assert_eq!(codes(&report), ["class-never-predicted", "one-class-prediction", "missing-surfaces"]);
    assert_eq!(report["protocol"]["images"]["worst"], 10.0);
    assert_eq!(
        report["undefined"]["segmentation.hd.1"],
        "no unit has a surface in both truth and prediction"
    );
    let report = bench.report(&format!("{line} --surface-missing diagonal"));
    let diagonal: f64 = 8.0f64.powi(2) + 5.0f64.powi(2) + 3.0f64.powi(2);
    assert_eq!(metric(&report, "hd")["1"], diagonal.sqrt());
    let report = bench.report(&format!("{line} --surface-missing 100 --surface-convention monai"));
    assert_eq!(metric(&report, "mean_hd95"), 100.0);
    let report = bench.report(&format!("{line} --surface-convention deepmind"));
    assert_eq!(
        report["undefined"]["segmentation.mean_hd"],
        "infinite: 1 unit(s) have a surface in only one of truth and prediction"
    );
}
