//! Score, label and optimum files: damaged ones and real ones.

use std::io::Read;
use std::path::{Path, PathBuf};

use calipers_io::score::json::{results, units};
use calipers_io::score::{NodeSet, cover, lines, names, node_list, optimum, table};

/// Reads the bytes with every reader; none may panic.
fn read_all(bytes: &[u8]) {
    drop(lines::parse(bytes));
    drop(node_list::parse(bytes, 4));
    drop(cover::parse(bytes, 4));
    drop(names::parse(bytes));
    drop(table::parse(bytes, b','));
    drop(table::parse(bytes, b'\t'));
    drop(units::parse(bytes));
    drop(optimum::parse_csv(bytes));
    drop(optimum::parse_json(bytes));
    drop(optimum::parse_json_lines(bytes));
    drop(results::parse(bytes));
}

const SAMPLES: [&str; 8] = [
    "0\n1\n0.25\n-1e-3\n",
    "# chosen\n1\n3 4\n",
    "c cover\ns vc 4 2\n2\n3\n",
    "unit,node,logits,labels\n\"a\",1,0.5,1\na,0,-2e1,0\r\nb,0,1,0\n",
    "{\"unit\":\"a\",\"logits\":[0.5,-1],\"labels\":\"01\",\"x\":[{}]}\n{\"unit\":\"b\",\"set\":[1,0],\"optimum\":2}\n",
    "unit,optimum\na,3\nb,4\n",
    "{\"a\": 3,\n \"b\": 4}\n",
    "{\"a\": {\"mis\": [1, 0], \"vertices\": 2, \"found_mis\": true}}\n",
];

#[test]
fn no_cut_and_no_flipped_bit_makes_a_reader_panic() {
    for sample in SAMPLES {
        for length in 0..=sample.len() {
            read_all(&sample.as_bytes()[..length]);
        }
        for bit in 0..8 * sample.len() {
            let mut bytes = sample.as_bytes().to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            read_all(&bytes);
        }
    }
}

#[test]
fn cut_json_is_always_an_error() {
    for sample in [SAMPLES[6], SAMPLES[7]] {
        for length in 0..sample.trim_end().len() {
            let cut = &sample.as_bytes()[..length];
            assert!(optimum::parse_json(cut).is_err() && results::parse(cut).is_err());
        }
    }
}

/// The folder of real files, where there is one beside the repository.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn real_files() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/independent_set");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no folder {}", folder.display());
    None
}

fn inflated(path: &Path) -> Vec<u8> {
    let file = std::fs::File::open(path).expect("a listed file");
    let zipped = path.extension().is_some_and(|ending| ending == "gz");
    let mut reader: Box<dyn Read> =
        if zipped { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("a readable file");
    bytes
}

#[test]
fn real_solutions_and_covers_have_the_published_sizes() {
    let Some(folder) = real_files() else { return };
    let read = |file: &str| inflated(&folder.join(file));
    let size = |set: Vec<bool>| set.into_iter().filter(|chosen| *chosen).count();
    assert_eq!(size(node_list::parse(&read("qoblib/karate.opt.sol"), 34).unwrap()), 20);
    assert_eq!(size(node_list::parse(&read("qoblib/C500-9.bst.sol"), 500).unwrap()), 57);
    assert_eq!(size(cover::parse(&read("pace2019/vc-exact_005.vc"), 200).unwrap()), 71);
    assert_eq!(size(cover::parse(&read("pace2019/vc-exact_029.vc.gz"), 13431).unwrap()), 6809);
    assert!(cover::parse(&read("pace2019/vc-exact_005.vc"), 199).is_err());
    for (file, sum) in [("b10_134", 403), ("b90_790", 402)] {
        let values =
            lines::parse(&read(&format!("native/CBS_k3_n100_m403_{file}_unweighted.result"))).unwrap();
        assert_eq!((values.len(), values.iter().sum::<f64>() as u64), (1209, sum));
    }
}

#[test]
fn real_labels_sets_names_and_optima_have_the_published_totals() {
    let Some(folder) = real_files() else { return };
    let read = |file: &str| inflated(&folder.join(file));
    let names = names::parse(&read("satlib500/satlib500.names.txt")).unwrap();
    let optima = optimum::parse_csv(&read("satlib500/satlib500.optimum.csv")).unwrap();
    assert_eq!(optima.iter().map(|(unit, ..)| unit).collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
    assert_eq!(optima.iter().map(|(_, optimum, _)| *optimum as u64).sum::<u64>(), 212_981);
    let labels = units::parse(&read("satlib500/satlib500.labels.jsonl.gz")).unwrap();
    let labelled = labels.iter().flat_map(|unit| unit.labels.as_deref().unwrap());
    assert_eq!((labels.len(), labelled.sum::<f64>() as u64), (500, 212_979));
    let sets = read("satlib500/satlib500.optimal_sets.jsonl.gz");
    let listed = |set: &Option<NodeSet>| match set {
        Some(NodeSet::Listed(nodes)) => nodes.len(),
        _ => 0,
    };
    let units = units::parse(&sets).unwrap();
    assert_eq!(units.iter().map(|unit| listed(&unit.set)).sum::<usize>(), 212_981);
    assert_eq!(optimum::parse_json_lines(&sets).unwrap().len(), 500);
}
