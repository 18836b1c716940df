//! Every bad input of a segmentation run is refused with exit status 1 (or 2 for wrong usage) and a
//! message that says what, where, which value and what to do.

use png::{BitDepth, ColorType};

use crate::support::segmentation::{f32s, grey, picture, u8s};
use crate::support::{Bench, f64s, i64s, npy, npz};

/// One unit `u`: files of the given names and bytes.
fn pair(truth: (&str, Vec<u8>), pred: (&str, Vec<u8>)) -> Bench {
    let bench = Bench::new();
    bench.write(&format!("gt/u.{}", truth.0), truth.1);
    bench.write(&format!("out/u.{}", pred.0), pred.1);
    bench
}

/// A pair of grey images 2 wide.
fn maps(truth: &[u8], pred: &[u8]) -> Bench {
    pair(("png", grey(2, truth)), ("png", grey(2, pred)))
}

/// A truth of two pixels and scores of two classes.
fn scores(pred: Vec<u8>) -> Bench {
    pair(("png", grey(2, &[0, 1])), ("npy", pred))
}

const LABELS: &str = "segmentation --truth gt --pred out --classes 3 --ignore 255";
const LOGITS: &str = "segmentation --truth gt --pred out --classes 2 --kind logits";
const PROBS: &str = "segmentation --truth gt --pred out --classes 2 --kind probs";
const LOG_PROBS: &str = "segmentation --truth gt --pred out --classes 2 --kind log-probs";

#[test]
fn unknown_truth_ids_show_pixel_and_what_is_allowed() {
    maps(&[0, 1, 2, 7], &[0; 4]).refuses(
        LABELS,
        1,
        &["gt/u.png", "unit u", "7", "x = 1, y = 1", "--ignore 7"],
    );
    maps(&[0, 255, 0, 0], &[0; 4]).refuses(
        "segmentation --truth gt --pred out --classes 2",
        1,
        &["255", "x = 1, y = 0", "0/255 mask"],
    );
}

#[test]
fn unknown_and_ignored_predictions_show_the_pixel() {
    maps(&[0, 1, 2, 0], &[0, 1, 9, 0]).refuses(LABELS, 1, &["out/u.png", "9", "x = 0, y = 1"]);
    let ignored = maps(&[0, 1, 2, 0], &[0, 1, 2, 255]);
    ignored.refuses(LABELS, 1, &["255", "x = 1, y = 1", "--unpredicted wrong"]);
    ignored.report(&format!("{LABELS} --unpredicted wrong"));
    maps(&[255, 1], &[77, 1]).report(LABELS);
}

#[test]
fn sizes_and_shapes_show_both_sides() {
    let wide = pair(("png", grey(4, &[0; 8])), ("png", grey(2, &[0; 8])));
    wide.refuses(LABELS, 1, &["2 x 4", "4 x 2"]);
    scores(f32s(&[3, 1, 2], &[0.0; 6])).refuses(LOGITS, 1, &["head flat", "3 x 1 x 2", "2 x 1 x 2"]);
    scores(f32s(&[1, 2, 2], &[0.0; 4])).refuses(LOGITS, 1, &["1 x 2 x 2", "--layout HWC"]);
    scores(f32s(&[2, 2], &[0.0; 4])).refuses(LOGITS, 1, &["out/u.npy", "[2,2]", "three axes"]);
    // Three axes are a volume; of one slice they are an image.
    let volume = pair(("npy", u8s(&[2, 2, 2], &[0; 8])), ("png", grey(2, &[0; 4])));
    volume.refuses(LABELS, 1, &["gt/u.npy", "2 x 2 x 2", "prediction 2 x 2", "a volume and an image"]);
    let flat = u8s(&[1, 2, 2, 2], &[0; 8]);
    pair(("npy", flat), ("png", grey(2, &[0; 4]))).refuses(LABELS, 1, &["gt/u.npy", "[1,2,2,2]"]);
}

#[test]
fn kinds_that_do_not_fit_the_numbers_are_refused() {
    let floats = pair(("png", grey(2, &[0, 1])), ("npy", f32s(&[1, 2], &[0.0; 2])));
    floats.refuses(LABELS, 1, &["out/u.npy", "f32", "--kind"]);
    scores(f32s(&[2, 1, 2], &[0.0; 4])).refuses(LABELS, 1, &["f32 [2,1,2]", "--kind"]);
    scores(i64s(&[2, 1, 2], &[0; 4])).refuses(LOGITS, 1, &["out/u.npy", "i64", "--kind labels"]);
    maps(&[0, 1], &[0, 1]).refuses(LOGITS, 1, &["out/u.png", "--kind labels"]);
    pair(("npy", f32s(&[1, 2], &[0.0; 2])), ("png", grey(2, &[0, 1]))).refuses(
        LABELS,
        1,
        &["gt/u.npy", "f32"],
    );
}

#[test]
fn bad_scores_show_head_channel_and_pixel() {
    let at = ["head flat", "channel 1", "x = 0, y = 0"];
    scores(f32s(&[2, 1, 2], &[0.0, 0.0, f32::NAN, 0.0])).refuses(LOGITS, 1, &[&at[..], &["NaN"]].concat());
    scores(f64s(&[2, 1, 2], &[0.0, 0.0, f64::INFINITY, 0.0])).refuses(
        LOGITS,
        1,
        &[&at[..], &["inf"]].concat(),
    );
    scores(f32s(&[2, 1, 2], &[1.2, 0.5, -0.2, 0.5])).refuses(PROBS, 1, &["1.2", "x = 0, y = 0"]);
    scores(f32s(&[2, 1, 2], &[40.0, 50.0, 60.0, 50.0])).refuses(PROBS, 1, &["percent", "x = 0, y = 0"]);
    scores(f32s(&[2, 1, 2], &[0.25, 0.5, 0.5, 0.5])).refuses(PROBS, 1, &["0.75", "x = 0, y = 0"]);
    scores(f32s(&[2, 1, 2], &[0.5, -0.7, -0.7, -0.7])).refuses(LOG_PROBS, 1, &["0.5", "x = 0, y = 0"]);
    let never = f32::NEG_INFINITY;
    scores(f32s(&[2, 1, 2], &[0.0, never, 0.0, never])).refuses(LOGITS, 1, &["x = 1, y = 0"]);
    let void = pair(("png", grey(2, &[0, 255])), ("npy", f32s(&[2, 1, 2], &[0.0, f32::NAN, 0.0, f32::NAN])));
    void.report(&format!("{LOGITS} --ignore 255"));
}

#[test]
fn unpaired_units_are_counted_and_named() {
    let bench = Bench::new();
    for unit in 0..7 {
        bench.write(&format!("gt/u{unit}.png"), grey(2, &[0, 1]));
    }
    bench.write("out/other.png", grey(2, &[0, 1]));
    bench.refuses(
        LABELS,
        1,
        &["truth without prediction: 7", "u0, u1, u2, u3, u4 and 2 more", "--allow-missing"],
    );
    bench.refuses(&format!("{LABELS} --allow-missing"), 1, &["truth without prediction: 7"]);
}

#[test]
fn two_files_for_one_unit_are_both_named() {
    let bench = maps(&[0, 1], &[0, 1]);
    bench.write("out/u.npy", u8s(&[1, 2], &[0, 1]));
    bench.refuses(LABELS, 1, &["'u'", "out/u.npy", "out/u.png"]);
    let bench = Bench::new();
    bench.write("gt/a/u.png", grey(2, &[0, 1])).write("gt/b/u.png", grey(2, &[0, 1]));
    bench.write("out/u.png", grey(2, &[0, 1]));
    bench.refuses(&format!("{LABELS} --flat"), 1, &["gt/a/u.png", "gt/b/u.png"]);
}

#[test]
fn an_empty_place_says_what_was_looked_for() {
    let bench = maps(&[0, 1], &[0, 1]);
    std::fs::create_dir(bench.path("none")).unwrap();
    bench.refuses(&LABELS.replace("gt", "none"), 1, &["no unit", "none", ".png", ".safetensors"]);
    bench.refuses(&format!("{LABELS} --truth-suffix _gt.png"), 1, &["no unit", "gt", "_gt.png"]);
    bench.refuses(&LABELS.replace("gt", "nowhere"), 1, &["cannot open", "nowhere"]);
    bench.write("gt.txt", "x");
    bench.refuses(&LABELS.replace("--truth gt", "--truth gt.txt"), 1, &["gt.txt", "folder"]);
    bench.write("gt.npy", u8s(&[1, 2], &[0, 1]));
    bench.refuses(&LABELS.replace("--truth gt", "--truth gt.npy"), 1, &["gt.npy", "[1, 2]"]);
}

#[test]
fn colours_need_a_table_that_knows_them() {
    let rgb = picture(2, 1, ColorType::Rgb, BitDepth::Eight, &[0, 0, 0, 1, 2, 3]);
    let bench = pair(("png", rgb), ("png", grey(2, &[0, 1])));
    bench.refuses(LABELS, 1, &["gt/u.png", "RGB", "colors"]);
    bench.write("c.toml", "[data]\ntruth = \"gt\"\npred = \"out\"\n[labels]\noriginal = [\"a\", \"b\"]\n[labels.colors]\n\"#000000\" = \"a\"\n");
    bench.refuses("segmentation c.toml", 1, &["gt/u.png", "#010203", "x = 1, y = 0", "#000000"]);
    bench.write("out/u.png", picture(2, 1, ColorType::GrayscaleAlpha, BitDepth::Eight, &[0, 255, 1, 7]));
    bench.write("gt/u.png", grey(2, &[0, 1]));
    bench.refuses(LABELS, 1, &["out/u.png", "x = 1, y = 0", "alpha 7"]);
}

#[test]
fn damaged_files_are_named_with_byte_or_member() {
    let bench = maps(&[0, 1, 1, 0], &[0; 4]);
    let whole = bench.bytes("gt/u.png");
    for (name, bytes, words) in [
        ("u.png", whole[..whole.len() - 20].to_vec(), &["png:", "byte"][..]),
        ("u.png", b"GIF89a".to_vec(), &["no PNG", "byte"]),
        ("u.png", Vec::new(), &["empty file"]),
        ("u.tif", b"II*\0\x08\0\0\0".to_vec(), &["tiff:"]),
        ("u.npy", u8s(&[2, 2], &[0; 3]), &["npy: header says 4 bytes, file has 3"]),
        ("u.npy", npy("|O", &[1], b"\x80\x04N."), &["dtype", "|O"]),
        ("u.npz", npz(&[("a", u8s(&[2, 2], &[0; 4]))])[..60].to_vec(), &["npz: broken archive at byte"]),
        ("u.safetensors", b"\x10\0\0\0\0\0\0\0{}".to_vec(), &["safetensors:", "byte"]),
        ("u.npy", u8s(&[0, 2], &[]), &["no pixels", "[0,2]"]),
        ("u.npz", npz(&[("a", u8s(&[2, 2], &[0; 4])), ("b", u8s(&[2, 2], &[0; 4]))]), &["keys a, b"]),
    ] {
        std::fs::remove_dir_all(bench.path("gt")).unwrap();
        bench.write(&format!("gt/{name}"), bytes);
        let file = format!("gt/{name}");
        bench.refuses(LABELS, 1, &[&[file.as_str()], words].concat());
    }
}

#[test]
fn a_flipped_bit_in_a_png_never_goes_unnoticed() {
    let bench = maps(&[0, 1, 1, 0], &[0; 4]);
    let whole = bench.bytes("gt/u.png");
    for bit in (0..whole.len() * 8).step_by(7) {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        bench.write("gt/u.png", damaged);
        assert_eq!(bench.run(LABELS).status, 1, "bit {bit}");
    }
}

#[test]
fn configurations_are_refused_with_line_and_key() {
    let bench = maps(&[0, 1], &[0, 1]);
    let refuses = |text: &str, words: &[&str]| {
        bench.write("c.toml", text);
        bench.refuses("segmentation c.toml --truth gt --pred out", 1, &[&["c.toml"], words].concat());
    };
    refuses("[labels]\noriginl = 3\n", &["line 2", "originl", "original"]);
    refuses("preset = \"strikt\"\n", &["line 1", "strikt", "strict"]);
    refuses("measure = [\"overlap\", \"bondary\"]\n", &["bondary", "boundary"]);
    refuses("[labels\n", &["line 1"]);
    let labels = "[labels]\noriginal = [\"a\", \"b\"]\n";
    refuses(
        &format!("{labels}global = [\"x\", \"y\"]\ngroups = {{ x = [\"q\"], y = [1] }}\n"),
        &["labels", "q"],
    );
    refuses(&format!("{labels}global = [\"x\"]\ngroups = {{ x = [0, 1], z = [1] }}\n"), &["z"]);
    refuses(&format!("{labels}global = [\"x\", \"y\"]\ngroups = {{ x = [0, 1], y = [1] }}\n"), &["b"]);
    refuses(&format!("{labels}global = [\"x\"]\ngroups = {{ x = [0] }}\n"), &["b"]);
    refuses(&format!("{labels}global = [\"x\", \"y\"]\ngroups = {{ x = [0, 1], y = [] }}\n"), &["y"]);
    refuses("[labels]\noriginal = [\"a\", \"a\"]\n", &["\"a\""]);
    refuses(&format!("{labels}background = \"sky\"\n"), &["background", "sky"]);
    refuses(&format!("{labels}[bins]\ncount = 0\n"), &["bins", "0"]);
    refuses(&format!("{labels}[bins]\ncount = 1001\n"), &["bins", "1001"]);
    refuses(&format!("{labels}[boundary]\nthickness = 0\n"), &["thickness", "0"]);
    refuses(&format!("{labels}[[heads]]\nname = \"h\"\ntau = 0.0\n"), &["tau", "0"]);
    refuses(&format!("{labels}[[heads]]\nname = \"h\"\nalpha = -1.0\n"), &["alpha", "-1"]);
    refuses(&format!("{labels}[[heads]]\nname = \"h\"\nalpha = 0.0\n"), &["alpha", "0"]);
    let two = "[[heads]]\nname = \"g\"\nkind = \"labels\"\n[[heads]]\nname = \"h\"\nkind = \"labels\"\n";
    refuses(&format!("{labels}{two}"), &["\"g\"", "\"h\""]);
    bench.refuses("segmentation none.toml", 1, &["cannot open", "none.toml"]);
}

#[test]
fn classes_are_refused_with_their_line() {
    let bench = maps(&[0, 1], &[0, 1]);
    for (text, words) in [("", &["empty"][..]), ("a\n\nb\n", &["line 2"]), ("a\nb\na\n", &["\"a\"", "3"])] {
        bench.write("names.txt", text);
        let line = "segmentation --truth gt --pred out --classes names.txt";
        bench.refuses(line, 1, &[&["names.txt"], words].concat());
    }
}

#[test]
fn confusion_matrices_are_refused_with_unit_row_and_column() {
    let bench = Bench::new();
    for (cells, words) in [
        ("[[1,2],[3,-4]]", &["row 1, column 1", "-4"][..]),
        ("[[1,2.5],[3,4]]", &["row 0, column 1", "2.5"]),
        ("[[1,2],[3]]", &["row 1"]),
        ("[[1,2,3],[3,4,5],[1,1,1]]", &["3 x 3", "2"]),
        ("[[1,2,0],[3,4,6]]", &["6", "--unpredicted wrong"]),
    ] {
        bench.write("cm.jsonl", format!("{{\"id\":\"img7\",\"confusion\":{cells}}}\n"));
        bench.refuses(
            "segmentation --confusion cm.jsonl --classes 2",
            1,
            &[&["cm.jsonl", "img7"], words].concat(),
        );
    }
    bench.write("cm.npz", npz(&[("img7", i64s(&[2, 2], &[1, 2, -3, 4]))]));
    bench.refuses("segmentation --confusion cm.npz --classes 2", 1, &["img7", "row 1, column 0", "-3"]);
    bench.write("cm.npz", npz(&[("img7", f64s(&[2, 2], &[1.0, 2.0, 0.5, 4.0]))]));
    bench.refuses("segmentation --confusion cm.npz --classes 2", 1, &["img7", "row 1, column 0", "0.5"]);
    bench.write("cm.jsonl", "{\"id\":\"a\",\"confusion\":[[1]]}\n{\"id\":\"a\",\"confusion\":[[1]]}\n");
    bench.refuses("segmentation --confusion cm.jsonl --classes 1", 1, &["cm.jsonl", "lines 1 and 2"]);
    bench.write("cm.csv", "1");
    bench.refuses("segmentation --confusion cm.csv --classes 1", 1, &["cm.csv", ".jsonl"]);
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let bench = maps(&[0, 1], &[0, 1]);
    bench.write("c.toml", "[labels]\noriginal = 3\n");
    bench.write("two.toml", "[labels]\noriginal = 3\n[[heads]]\nname = \"a\"\n[[heads]]\nname = \"b\"\n");
    for (line, words) in [
        ("segmentation", &["--classes"][..]),
        ("segmentation --classes 3", &["--truth", "--pred", "--confusion"]),
        ("segmentation c.toml", &["--truth"]),
        ("segmentation --truth gt --classes 3", &["--pred"]),
        ("segmentation --truth gt --pred out", &["--classes"]),
        ("segmentation --truth gt --pred out --confusion c.jsonl --classes 3", &["--confusion"]),
        ("segmentation --truth gt --pred out --classes 0", &["--classes", "0"]),
        ("segmentation --truth gt --pred out --classes 3 --background 3", &["background", "3"]),
        ("segmentation --truth gt --pred out --classes 3 --background sky", &["background", "sky"]),
        ("segmentation --truth gt --pred out --classes 3 --thickness 0", &["thickness", "0"]),
        ("segmentation --truth gt --pred out --classes 3 --bins 1001", &["bins", "1001"]),
        ("segmentation --truth gt --pred out --classes 3 --cheng -1", &["cheng", "-1"]),
        ("segmentation two.toml --truth gt --pred out --kind logits", &["--kind", "2 heads"]),
    ] {
        bench.refuses(line, 2, words);
    }
    for flags in [
        "--preset best",
        "--measure bondary",
        "--bins x",
        "--kind ids",
        "--layout NCHW",
        "--tolerance 1 --tolerance-px 2",
    ] {
        assert_eq!(bench.run(&format!("{LABELS} {flags}")).status, 2, "{flags}");
    }
}
