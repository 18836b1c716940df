//! Columns of parquet files: the numbers of a folder of the same files, and every way in which a row is none.

use crate::support::segmentation::grey;
use crate::support::{Bench, f64s, i64s, npz};
use serde_json::{Value as Json, json};

const LINE: &str = "--classes 3 --ignore 255 --measure all";

/// The files that pyarrow wrote, in a folder of the test's own, and the same label maps as files.
fn columns() -> Bench {
    let bench = Bench::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../calipers-io/tests/fixtures/columns");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bench.write(path.file_name().unwrap().to_str().unwrap(), std::fs::read(&path).unwrap());
    }
    for (name, truth, out) in [
        ("c", [0, 1, 2, 0, 1, 2], [0, 1, 1, 0, 1, 2]),
        ("a", [2, 2, 1, 0, 0, 255], [2, 1, 1, 0, 0, 0]),
        ("b/deep", [1, 1, 1, 0, 2, 2], [1, 1, 1, 0, 2, 2]),
    ] {
        bench.write(&format!("gt/{name}.png"), grey(3, &truth));
        bench.write(&format!("out/{name}.png"), grey(3, &out));
    }
    bench
}

/// What does not depend on the files that were read, or on whether their bytes are equal.
fn numbers(report: Json) -> Json {
    json!([report["protocol"], report["reading"], report["units"], report["metrics"], report["undefined"]])
}

#[test]
fn a_column_gives_the_numbers_of_the_folder() {
    let bench = columns();
    let line = |truth: &str, pred: &str| format!("segmentation --truth {truth} --pred {pred} {LINE}");
    let of_folder = numbers(bench.report(&line("gt", "out")));
    for (truth, pred) in [
        ("images.parquet:image", "images.parquet:out"),
        ("images.parquet:mask", "images.parquet:out"),
        ("gt", "images.parquet:out"),
        ("images.parquet:mask", "out"),
    ] {
        assert_eq!(numbers(bench.report(&line(truth, pred))), of_folder, "{truth} {pred}");
    }
    let report = bench.report(&line("images.parquet:mask", "images.parquet:out"));
    let [input] = report["inputs"].as_array().unwrap().as_slice() else { panic!("one file") };
    assert_eq!((&input["path"], &input["column"]), (&json!("images.parquet"), &json!("out, mask")));
    let report = bench.report(&line("numbered.parquet:image", "new_pages.parquet:out"));
    assert_eq!(report["units"], 3);
    let [first, second] = report["inputs"].as_array().unwrap().as_slice() else { panic!("two files") };
    assert_eq!((&first["column"], &second["column"]), (&json!("out"), &json!("image")));
}

#[test]
fn runs_over_columns_are_verified_sharded_and_resumed_as_those_over_folders() {
    let bench = columns();
    for line in [
        format!("segmentation --truth images.parquet:image --pred images.parquet:out {LINE}"),
        "independent-set graphs.parquet:edge_index".to_owned(),
    ] {
        let whole = bench.run(&format!("{line} --json r.json --quiet --resume parts"));
        assert_eq!(whole.status, 0, "{}", whole.stderr);
        let said = bench.run("verify r.json");
        assert_eq!(said.status, 0, "{line}\n{}{}", said.stdout, said.stderr);
        let again = bench.run(&format!("{line} --json - --quiet --resume parts"));
        assert_eq!(again.stdout, bench.read("r.json"), "{}", again.stderr);
        for i in 1..=3 {
            let said = bench.run(&format!("{line} --shard {i}/3 --state {i}.state --quiet"));
            assert_eq!(said.status, 0, "{}", said.stderr);
        }
        let merged = bench.run("merge 3.state 1.state 2.state -o all.state --json - --quiet");
        assert_eq!(merged.stdout, bench.read("r.json"), "{}", merged.stderr);
        std::fs::remove_dir_all(bench.path("parts")).unwrap();
    }
}

#[test]
fn a_graph_per_row_is_the_graph_of_an_array_file() {
    let bench = columns();
    let path = i64s(&[2, 4], &[0, 1, 1, 2, 1, 0, 2, 1]);
    let ring = i64s(&[2, 8], &[0, 1, 2, 3, 1, 2, 3, 0, 1, 2, 3, 0, 0, 1, 2, 3]);
    let logits = |values: &[f64]| f64s(&[values.len()], values);
    bench.write(
        "sets/7.npz",
        npz(&[
            ("edge_index", path),
            ("logits", logits(&[1.0, -1.0, 1.0])),
            ("labels", i64s(&[3], &[1, 0, 1])),
        ]),
    );
    bench.write("sets/11.npz", npz(&[("edge_index", ring), ("logits", logits(&[2.0, -3.0, 0.5, -1.0]))]));
    let of_folder = numbers(bench.report("independent-set sets"));
    let of_column = bench.report("independent-set graphs.parquet:edge_index");
    assert_eq!(of_column["inputs"][0]["column"], "edge_index");
    assert_eq!(numbers(of_column), of_folder);
}

#[test]
fn what_is_no_unit_of_a_column_is_refused_with_its_place() {
    let bench = columns();
    let truth = |truth: &str| format!("segmentation --truth {truth} --pred images.parquet:out {LINE}");
    for (column, parts) in [
        ("images.parquet:none", &["no column of that name", "images.parquet", "unit, image, out, mask"][..]),
        ("images.parquet:elsewhere", &["a null", "row 000002", "not followed"]),
        ("images.parquet:missing", &["a null", "row 000001"]),
        ("images.parquet:other", &["no image and no array", "unit b/deep", "47, 49, 46"]),
        ("images.parquet:ragged", &["different lengths", "unit b/deep", "row 000002"]),
        ("images.parquet:path", &["members path"]),
        ("images.parquet:day", &["neither files nor numbers"]),
        ("images.parquet:scores", &["images.parquet:scores, unit a"]),
        ("twice.parquet:mask", &["two rows name one unit", "'a'"]),
        ("nameless.parquet:mask", &["without a name", "row 000001"]),
        ("images.parquet", &["FILE.parquet:COLUMN"]),
        ("gone.parquet:mask", &["no such file", "gone.parquet"]),
    ] {
        bench.refuses(&truth(column), 1, parts);
    }
    let line = "segmentation --truth gt --pred images.parquet:out --kind probs --classes 3 --ignore 255";
    bench.refuses(line, 1, &["an image holds no scores"]);
    let set = |column: &str| format!("independent-set graphs.parquet{column}");
    bench.refuses(&set(":logits"), 1, &["called otherwise", "`edge_index`"]);
    bench.refuses(&set(""), 1, &["FILE.parquet:COLUMN"]);
    bench.write("cut.parquet", &bench.bytes("images.parquet")[..900]);
    bench.refuses(&truth("cut.parquet:mask"), 1, &["cut.parquet", "cut off or not complete"]);
}

#[test]
fn a_row_that_cannot_be_read_is_left_out_alone() {
    let bench = columns();
    let line = format!("segmentation --truth images.parquet:missing --pred images.parquet:out {LINE}");
    let said = bench.run(&format!("{line} --keep-going --json r.json --quiet"));
    assert_eq!(said.status, 4, "{}", said.stderr);
    let report: Json = serde_json::from_str(&bench.read("r.json")).unwrap();
    assert_eq!(report["units"], 2);
    assert!(report["left_out"].to_string().contains("\"a\""), "{}", report["left_out"]);
}
