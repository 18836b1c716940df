//! Archives are folders: every family gives the numbers of the folder, with the hashes of the members.

use std::io::Write;
use std::process::Command;

use crate::support::segmentation::grey;
use crate::support::{Bench, f64s, i64s, npz};
use serde_json::{Value as Json, json};

/// A line of each family, where `@` is what holds the files.
const LINES: [&str; 6] = [
    "segmentation --truth @/gt --pred @/out --classes 3 --ignore 255 --measure all",
    "independent-set @/sets",
    "independent-set --graph @/graphs --scores @/scores --scores-are set",
    "explanation @/masks --mask-scores raw",
    "robustness @/runs",
    "training @/logs --metric m",
];

/// Files of every family in a folder `data`, and the same files packed.
fn packed() -> Bench {
    let bench = Bench::new();
    for (name, truth, pred) in
        [("a", [0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 0]), ("city/b", [2, 2, 2, 1, 1, 255], [2, 2, 1, 1, 1, 0])]
    {
        bench.write(&format!("data/gt/{name}.png"), grey(3, &truth));
        bench.write(&format!("data/out/{name}.png"), grey(3, &pred));
    }
    let edges = i64s(&[2, 4], &[0, 1, 1, 2, 1, 0, 2, 1]);
    for (name, logits) in [("a", [1.0, -1.0, 1.0]), ("b", [-1.0, 2.0, -3.0])] {
        let unit = [("edge_index", edges.clone()), ("logits", f64s(&[3], &logits))];
        bench.write(&format!("data/sets/{name}.npz"), npz(&unit));
        bench.write(&format!("data/graphs/{name}.gph"), "p edge 3 2\ne 1 2\ne 2 3\n");
        bench.write(&format!("data/scores/{name}.sol"), "1\n3\n");
        bench.write(
            &format!("data/masks/{name}.npz"),
            npz(&[("pred_mask", f64s(&[3], &logits.map(f64::abs)))]),
        );
        bench.write(
            &format!("data/logs/{name}.csv"),
            format!("epoch,m\n0,0.5\n1,{}\n2,0.97\n", logits[1].abs() / 3.0),
        );
    }
    let scores = |shift: f64| f64s(&[3, 2], &[0.2 + shift, 0.1, 0.3, 0.9, 0.4, 0.5 - shift]);
    let run = [("clean", scores(0.0)), ("attacked_0.1", scores(-0.4)), ("labels", i64s(&[3], &[0, 1, 1]))];
    bench.write("data/runs/split0.npz", npz(&run));
    pack(&bench, "data");
    bench
}

/// Packs a folder as zip, tar and compressed tar beside it.
fn pack(bench: &Bench, folder: &str) {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let mut files = vec![bench.path(folder)];
    let mut number = 0;
    while let Some(path) = files.pop() {
        let name = path.strip_prefix(bench.path(folder)).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            files.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        number += 1;
        let method =
            if number % 2 == 0 { zip::CompressionMethod::Stored } else { zip::CompressionMethod::Deflated };
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file(name, options).unwrap();
        archive.write_all(&std::fs::read(path).unwrap()).unwrap();
    }
    bench.write(&format!("{folder}.zip"), archive.finish().unwrap().into_inner());
    for (ending, mode) in [("tar", "-cf"), ("tgz", "-czf")] {
        let tar = Command::new("tar")
            .args([mode, &format!("{folder}.{ending}"), "-C", folder, "."])
            .current_dir(bench.path("."))
            .status();
        assert!(tar.unwrap().success());
    }
}

/// What must not depend on where the files lie: everything but the root of the paths.
fn without_root(mut report: Json, root: &str) -> Json {
    for input in report["inputs"].as_array_mut().unwrap() {
        for key in ["path", "below"] {
            if let Some(path) = input[key].as_str() {
                input[key] = json!(path.strip_prefix(root).unwrap());
            }
        }
    }
    report
}

#[test]
fn an_archive_gives_the_report_of_the_folder_but_for_its_own_name() {
    let bench = packed();
    for line in LINES {
        let of_folder = without_root(bench.report(&line.replace('@', "data")), "data");
        assert!(!of_folder["inputs"].as_array().unwrap().is_empty(), "{line}");
        for root in ["data.zip", "data.tar", "data.tgz"] {
            let report = bench.report(&line.replace('@', root));
            assert_eq!(without_root(report, root), of_folder, "{line} on {root}");
        }
    }
}

#[test]
fn a_report_of_an_archive_is_verified_from_the_archive() {
    let bench = packed();
    for line in LINES {
        let said = bench.run(&format!("{} --json r.json --quiet", line.replace('@', "data.zip")));
        assert_eq!(said.status, 0, "{}", said.stderr);
        let said = bench.run("verify r.json");
        assert_eq!(said.status, 0, "{line}\n{}{}", said.stdout, said.stderr);
    }
}

#[test]
fn shards_of_an_archive_merge_with_those_of_nothing_else_than_the_same_members() {
    let bench = packed();
    let whole = bench.run(&format!("{} --json - --quiet", LINES[0].replace('@', "data.tar"))).stdout;
    for i in [1, 2] {
        let line = LINES[0].replace('@', "data.tar");
        let said = bench.run(&format!("{line} --shard {i}/2 --state {i}.state --quiet"));
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    assert_eq!(bench.run("merge 1.state 2.state -o all.state --json - --quiet").stdout, whole);
}

#[test]
fn what_is_no_archive_or_not_in_it_is_said() {
    let bench = packed();
    let line = |truth: &str| format!("segmentation --truth {truth} --pred data/out --classes 3 --ignore 255");
    bench.refuses(&line("data.zip/none"), 1, &["data.zip/none", "no such file or folder", "gt, logs, masks"]);
    bench.refuses(&line("none.zip/gt"), 1, &["none.zip/gt", "no such file or folder"]);
    bench.write("text.tar", "no archive").refuses(&line("text.tar"), 1, &["text.tar", "tar: "]);
    let zip = bench.bytes("data.zip");
    bench.write("cut.zip", &zip[..zip.len() - 5]).refuses(&line("cut.zip"), 1, &["cut.zip", "zip: broken"]);
    bench.write("tar.zip", bench.bytes("data.tar"));
    bench.refuses(&line("tar.zip"), 1, &["tar by the first bytes, zip by the ending"]);
    let mut damaged = bench.bytes("data.tar");
    damaged[150] ^= 1;
    bench.write("damaged.tar", damaged).refuses(&line("damaged.tar/gt"), 1, &["checksum of a header"]);
}

#[test]
#[cfg(unix)]
fn links_in_archives_are_refused_by_name() {
    let bench = Bench::new();
    bench.write("data/gt/a.png", grey(2, &[0, 1])).write("data/out/a.png", grey(2, &[0, 1]));
    std::os::unix::fs::symlink("a.png", bench.path("data/gt/b.png")).unwrap();
    let tar = Command::new("tar").args(["-cf", "links.tar", "data"]).current_dir(bench.path(".")).status();
    assert!(tar.unwrap().success());
    let line = "segmentation --truth links.tar/data/gt --pred links.tar/data/out --classes 2";
    bench.refuses(line, 1, &["links.tar", "a member is a link", "member data/gt/b.png"]);
}
