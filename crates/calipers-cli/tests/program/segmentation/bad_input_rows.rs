//! The table of bad inputs of the segmentation family, row by row and in its order: exit status and
//! the words that every message must have.

use png::{BitDepth, ColorType};

use crate::support::segmentation::{f32s, grey, picture, u8s};
use crate::support::{Bench, f64s, i64s, npy, npz};

/// One input: the files, the command, and what the message says.
struct Case {
    files: Vec<(&'static str, Vec<u8>)>,
    line: String,
    status: i32,
    words: &'static [&'static str],
}

fn case(
    files: Vec<(&'static str, Vec<u8>)>,
    line: impl Into<String>,
    words: &'static [&'static str],
) -> Case {
    Case { files, line: line.into(), status: 1, words }
}

const LABELS: &str = "segmentation --truth gt --pred out --classes 3 --ignore 255";
const SCORES: &str = "segmentation --truth gt --pred out --classes 2 --kind";
const CONFIG: &str = "segmentation c.toml";
const INF: f32 = f32::INFINITY;

/// Label maps two pixels wide.
fn maps(truth: &[u8], pred: &[u8], words: &'static [&'static str]) -> Case {
    case(vec![("gt/u.png", grey(2, truth)), ("out/u.png", grey(2, pred))], LABELS, words)
}

/// Scores of two classes at two pixels.
fn scores(kind: &str, pred: Vec<u8>, words: &'static [&'static str]) -> Case {
    let files = vec![("gt/u.png", grey(2, &[0, 1])), ("out/u.npy", pred)];
    case(files, format!("{SCORES} {kind}"), words)
}

fn pixels(values: [f32; 4]) -> Vec<u8> {
    f32s(&[2, 1, 2], &values)
}

/// A damaged or odd truth file.
fn truth(name: &'static str, bytes: Vec<u8>, words: &'static [&'static str]) -> Case {
    case(vec![(name, bytes), ("out/u.png", grey(2, &[0, 1]))], LABELS, words)
}

/// A configuration beside a sound pair.
fn config(text: &str, words: &'static [&'static str]) -> Case {
    let text = format!("{text}\n[data]\ntruth = \"gt\"\npred = \"out\"\n");
    let files =
        vec![("c.toml", text.into()), ("gt/u.png", grey(2, &[0, 1])), ("out/u.png", grey(2, &[0, 1]))];
    case(files, CONFIG, words)
}

/// A configuration of the classes a and b.
fn labels(more: &str, words: &'static [&'static str]) -> Case {
    config(&format!("[labels]\noriginal = [\"a\", \"b\"]\n{more}"), words)
}

/// A configuration of two heads, and the prediction of unit u.
fn heads(more: &str, name: &'static str, pred: Vec<u8>, words: &'static [&'static str]) -> Case {
    let text = format!(
        "[data]\ntruth = \"gt\"\npred = \"out\"\n[labels]\noriginal = [\"a\", \"b\"]\n\
         [[heads]]\nname = \"g\"\n[[heads]]\nname = \"h\"\n{more}"
    );
    case(vec![("c.toml", text.into()), ("gt/u.png", grey(2, &[0, 1])), (name, pred)], CONFIG, words)
}

fn matrix(cells: &str, words: &'static [&'static str]) -> Case {
    let line = format!("{{\"id\":\"img7\",\"confusion\":{cells}}}\n");
    case(vec![("cm.jsonl", line.into())], "segmentation --confusion cm.jsonl --classes 2", words)
}

fn classes(text: &str, words: &'static [&'static str]) -> Case {
    let files =
        vec![("names.txt", text.into()), ("gt/u.png", grey(2, &[0, 1])), ("out/u.png", grey(2, &[0, 1]))];
    case(files, "segmentation --truth gt --pred out --classes names.txt", words)
}

fn usage(line: &str, words: &'static [&'static str]) -> Case {
    let files = vec![("gt/u.png", grey(2, &[0, 1])), ("out/u.png", grey(2, &[0, 1]))];
    Case { status: 2, ..case(files, line, words) }
}

fn cut(bytes: Vec<u8>, end: usize) -> Vec<u8> {
    bytes[..end].to_vec()
}

/// An archive whose member has another name of the same length: no writer makes one name twice.
fn renamed(mut archive: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    for at in 0..archive.len() - from.len() {
        if archive[at..].starts_with(from) {
            archive[at..at + to.len()].copy_from_slice(to);
        }
    }
    archive
}

/// The table: what the row says, and inputs of that sort.
fn rows() -> Vec<(&'static str, Vec<Case>)> {
    let rgb = picture(2, 1, ColorType::Rgb, BitDepth::Eight, &[0, 0, 0, 1, 2, 3]);
    let sheer = picture(2, 1, ColorType::GrayscaleAlpha, BitDepth::Eight, &[0, 255, 1, 7]);
    let mut no_columns = grey(2, &[0, 1]);
    no_columns[16..20].fill(0);
    let whole = grey(2, &[0, 1]);
    let seven = ["gt/u0.png", "gt/u1.png", "gt/u2.png", "gt/u3.png", "gt/u4.png", "gt/u5.png", "gt/u6.png"];
    let mut unpaired: Vec<_> = seven.map(|name| (name, whole.clone())).into();
    unpaired.push(("out/other.png", whole.clone()));
    let one_head = npz(&[("g", pixels([0.0; 4]))]);
    let excluding = npz(&[("g", pixels([0.0, 0.0, -INF, 0.0])), ("h", pixels([-INF, 0.0, 0.0, 0.0]))]);
    let coloured = "[labels]\noriginal = [\"a\", \"b\"]\n[labels.colors]\n\"#000000\" = \"a\"\n\
                    [data]\ntruth = \"gt\"\npred = \"out\"\n";
    let twice =
        renamed(npz(&[("u", u8s(&[1, 2], &[0, 1])), ("v", u8s(&[1, 2], &[0, 1]))]), b"v.npy", b"u.npy");
    vec![
        (
            "truth id neither class nor ignored",
            vec![maps(&[0, 1, 2, 7], &[0; 4], &["gt/u.png", "7", "x = 1, y = 1", "0 to 2", "--ignore 7"])],
        ),
        (
            "only values {0, 255} and 255 unknown",
            vec![Case {
                line: "segmentation --truth gt --pred out --classes 2".into(),
                ..maps(&[0, 255, 0, 0], &[0; 4], &["255", "x = 1, y = 0", "0/255 mask"])
            }],
        ),
        (
            "predicted id unknown at a scored pixel",
            vec![maps(&[0, 1, 2, 0], &[0, 1, 9, 0], &["out/u.png", "9", "x = 0, y = 1"])],
        ),
        (
            "ignored value predicted at a scored pixel",
            vec![maps(&[0, 1], &[0, 255], &["out/u.png", "255", "x = 1, y = 0", "--unpredicted wrong"])],
        ),
        (
            "sizes of truth and prediction differ",
            vec![case(
                vec![("gt/u.png", grey(4, &[0; 8])), ("out/u.png", grey(2, &[0; 8]))],
                LABELS,
                &["out/u.png", "2 x 4", "4 x 2"],
            )],
        ),
        (
            "channel count or axis order wrong",
            vec![
                scores("logits", f32s(&[3, 1, 2], &[0.0; 6]), &["u.npy", "3 x 1 x 2", "2 x 1 x 2"]),
                scores("logits", f32s(&[1, 2, 2], &[0.0; 4]), &["u.npy", "1 x 2 x 2", "--layout HWC"]),
            ],
        ),
        (
            "float array as label map; integer array as scores",
            vec![
                truth("gt/u.npy", f32s(&[1, 2], &[0.0; 2]), &["gt/u.npy", "f32", "--kind"]),
                scores("logits", i64s(&[2, 1, 2], &[0; 4]), &["out/u.npy", "i64", "--kind"]),
            ],
        ),
        (
            "scores given, `kind` = labels",
            vec![scores("labels", pixels([0.0; 4]), &["u.npy", "f32", "--kind"])],
        ),
        (
            "NaN or +inf at a scored pixel",
            vec![
                scores(
                    "logits",
                    pixels([0.0, 0.0, f32::NAN, 0.0]),
                    &["u.npy", "head flat", "channel 1", "x = 0, y = 0"],
                ),
                scores(
                    "logits",
                    pixels([0.0, INF, 0.0, 0.0]),
                    &["u.npy", "head flat", "channel 0", "x = 1, y = 0"],
                ),
            ],
        ),
        (
            "probability below 0 or above 1.001; log-probability above 0.001",
            vec![
                scores("probs", pixels([-0.5, 0.5, 1.0, 0.5]), &["u.npy", "-0.5", "x = 0, y = 0"]),
                scores("probs", pixels([1.0, 0.0, 0.0, 1.25]), &["u.npy", "1.25", "x = 1, y = 0"]),
                scores("probs", pixels([40.0, 50.0, 60.0, 50.0]), &["40", "x = 0, y = 0", "percent?"]),
                scores("log-probs", pixels([0.0, 0.5, -INF, -0.7]), &["0.5", "x = 1, y = 0"]),
            ],
        ),
        (
            "probabilities do not sum to 1",
            vec![
                scores("probs", pixels([0.5, 0.25, 0.5, 0.5]), &["u.npy", "0.75", "x = 1, y = 0"]),
                scores("log-probs", pixels([0.0, -9.0, -INF, -9.0]), &["u.npy", "sum", "x = 1, y = 0"]),
            ],
        ),
        (
            "every class has probability 0 (one head or after fusion)",
            vec![
                scores("logits", pixels([0.0, -INF, 0.0, -INF]), &["u.npy", "x = 1, y = 0"]),
                heads("", "out/u.npz", excluding, &["u.npz", "after fusion", "x = 0, y = 0"]),
            ],
        ),
        (
            "truth without prediction",
            vec![case(
                unpaired,
                LABELS,
                &["truth without prediction: 7", "u0, u1, u2, u3, u4 and 2 more", "--allow-missing"],
            )],
        ),
        (
            "two files or arrays for one unit",
            vec![
                case(
                    vec![
                        ("gt/u.png", whole.clone()),
                        ("out/u.png", whole.clone()),
                        ("out/u.npy", u8s(&[1, 2], &[0, 1])),
                    ],
                    LABELS,
                    &["'u'", "out/u.npy", "out/u.png"],
                ),
                case(
                    vec![("gt.npz", twice), ("out/u.png", whole.clone())],
                    LABELS.replace("gt", "gt.npz"),
                    &["gt.npz", "u"],
                ),
            ],
        ),
        (
            "no unit found",
            vec![case(
                vec![("gt/readme.md", b"x".into()), ("out/u.png", whole.clone())],
                LABELS,
                &["gt", ".png", ".tiff", ".npy", ".npz", ".safetensors"],
            )],
        ),
        (
            "head array missing in a file",
            vec![heads("", "out/u.npz", one_head.clone(), &["out/u.npz", "head h", "keys g"])],
        ),
        (
            "head missing, missing_heads = error",
            vec![{
                let text = "path = \"other\"\n";
                let mut case = heads(text, "out/u.npz", one_head.clone(), &["head h", "unit u"]);
                case.files.push(("other/v.npz", one_head));
                case
            }],
        ),
        (
            "label maps of several heads",
            vec![labels(
                "[[heads]]\nname = \"g\"\nkind = \"labels\"\n[[heads]]\nname = \"h\"\nkind = \"labels\"\n",
                &["c.toml", "\"g\"", "\"h\""],
            )],
        ),
        (
            "RGB PNG without colors; colour not in the table",
            vec![
                truth("gt/u.png", rgb.clone(), &["gt/u.png", "mode RGB", "colors"]),
                case(
                    vec![("c.toml", coloured.into()), ("gt/u.png", rgb), ("out/u.png", whole.clone())],
                    CONFIG,
                    &["gt/u.png", "#010203", "x = 1, y = 0"],
                ),
            ],
        ),
        ("alpha below 255", vec![truth("gt/u.png", sheer, &["gt/u.png", "alpha 7", "x = 1, y = 0"])]),
        (
            "truncated or corrupt PNG/npy/npz/safetensors; pickled npy",
            vec![
                truth("gt/u.png", cut(whole.clone(), whole.len() - 20), &["gt/u.png", "byte"]),
                truth("gt/u.npy", u8s(&[2, 2], &[0; 3]), &["gt/u.npy", "header says 4 bytes, file has 3"]),
                truth("gt/u.npz", cut(npz(&[("a", u8s(&[2, 2], &[0; 4]))]), 60), &["gt/u.npz", "byte"]),
                truth("gt/u.safetensors", b"\x10\0\0\0\0\0\0\0{}".into(), &["gt/u.safetensors", "byte"]),
                truth("gt/u.npy", npy("|O", &[1], b"\x80\x04N."), &["gt/u.npy", "|O"]),
            ],
        ),
        (
            "0 x 0 image, empty file",
            vec![
                truth("gt/u.png", no_columns, &["gt/u.png", "0 x 1"]),
                truth("gt/u.npy", u8s(&[0, 0], &[]), &["gt/u.npy", "[0,0]"]),
                truth("gt/u.png", Vec::new(), &["gt/u.png", "empty file"]),
            ],
        ),
        (
            "config: unknown key, unknown preset or measure, TOML syntax",
            vec![
                config("[labels]\noriginl = 3", &["c.toml", "line 2", "originl", "original"]),
                config("preset = \"strikt\"", &["c.toml", "line 1", "strikt", "strict"]),
                config("measure = [\"bondary\"]", &["c.toml", "line 1", "bondary", "boundary"]),
                config("[labels", &["c.toml", "line 1"]),
            ],
        ),
        (
            "config: group names an unknown class, group not in the list, original claimed twice or by nobody, \
             global class without originals",
            vec![
                labels("global = [\"x\", \"y\"]\ngroups = { x = [\"q\", 0], y = [1] }", &["labels", "q"]),
                labels("global = [\"x\"]\ngroups = { x = [0, 1], z = [1] }", &["labels", "z"]),
                labels("global = [\"x\", \"y\"]\ngroups = { x = [0, 1], y = [1] }", &["labels", "\"b\""]),
                labels("global = [\"x\"]\ngroups = { x = [0] }", &["labels", "\"b\""]),
                labels("global = [\"x\", \"y\"]\ngroups = { x = [0, 1], y = [] }", &["labels", "\"y\""]),
            ],
        ),
        (
            "config: duplicate class name, background not a global class, tau <= 0, alpha < 0, all alpha 0, \
             bins < 1 or > 1000, thickness < 1",
            vec![
                config("[labels]\noriginal = [\"a\", \"a\"]", &["c.toml", "\"a\""]),
                labels("background = \"sky\"", &["background", "sky"]),
                labels("[[heads]]\nname = \"h\"\ntau = 0.0", &["tau", "0"]),
                labels("[[heads]]\nname = \"h\"\nalpha = -1.0", &["alpha", "-1"]),
                labels("[[heads]]\nname = \"h\"\nalpha = 0.0", &["alpha", "0"]),
                labels("[bins]\ncount = 0", &["bins", "0"]),
                labels("[bins]\ncount = 1001", &["bins", "1001"]),
                labels("[boundary]\nthickness = 0", &["thickness", "0"]),
            ],
        ),
        (
            "classes file empty, blank line, duplicate",
            vec![
                classes("", &["names.txt", "empty"]),
                classes("a\n\nb\n", &["names.txt", "line 2"]),
                classes("a\nb\na\n", &["names.txt", "\"a\"", "3"]),
            ],
        ),
        (
            "confusion matrix: shape, negative, fractional, counts without prediction while unpredicted = error",
            vec![
                matrix("[[1,2,3],[3,4,5],[1,1,1]]", &["img7", "3 x 3", "2 x 2"]),
                matrix("[[1,2],[3,-4]]", &["img7", "row 1, column 1", "-4"]),
                matrix("[[1,2.5],[3,4]]", &["img7", "row 0, column 1", "2.5"]),
                matrix("[[1,2,0],[3,4,6]]", &["img7", "row 1, column 2", "6", "--unpredicted wrong"]),
                case(
                    vec![("cm.npz", npz(&[("img7", f64s(&[2, 2], &[1.0, 2.0, 0.5, 4.0]))]))],
                    "segmentation --confusion cm.npz --classes 2",
                    &["img7", "row 1, column 0", "0.5"],
                ),
            ],
        ),
        (
            "neither config nor --truth/--pred/--confusion; --classes missing",
            vec![
                usage("segmentation --classes 3", &["--truth", "--pred", "--confusion"]),
                usage("segmentation --truth gt --pred out", &["--classes"]),
            ],
        ),
    ]
}

#[test]
fn every_row_of_the_table_of_bad_inputs_is_refused_as_it_says() {
    let rows = rows();
    assert_eq!(rows.len(), 28, "the table has as many rows");
    let mut wrong = Vec::new();
    for (row, cases) in rows {
        for (number, case) in cases.into_iter().enumerate() {
            let bench = Bench::new();
            for (name, bytes) in case.files {
                bench.write(name, bytes);
            }
            let said = bench.run(&case.line);
            let missing: Vec<_> = case.words.iter().filter(|word| !said.stderr.contains(**word)).collect();
            if said.status != case.status || !missing.is_empty() {
                let (status, stderr) = (said.status, said.stderr);
                wrong.push(format!(
                    "{row}, case {}: status {status}, lacks {missing:?}\n{stderr}",
                    number + 1
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
