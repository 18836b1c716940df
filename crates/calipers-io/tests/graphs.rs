//! Every graph format on the same small graph, on damaged files and on real ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use calipers_core::Result;
use calipers_io::compress;
use calipers_io::file::InputFile;
use calipers_io::graph::{FORMATS, GraphOptions, Reader, Storage, StoredGraph, lines};

/// The house with a roof and a node by itself, in every text format.
const HOUSES: [(&str, &[u8]); 6] = [
    ("dimacs", include_bytes!("fixtures/graphs/house.gph")),
    ("metis", include_bytes!("fixtures/graphs/house.graph")),
    ("edgelist", include_bytes!("fixtures/graphs/house.csv")),
    ("graph6", include_bytes!("fixtures/graphs/house.g6")),
    ("sparse6", include_bytes!("fixtures/graphs/house.s6")),
    ("ml4co", include_bytes!("fixtures/graphs/house_with_labels.txt")),
];

/// All graphs of a file, whether it holds one or one per line.
fn graphs(format: &str, bytes: &[u8], nodes: Option<u64>) -> Result<Vec<StoredGraph>> {
    match FORMATS.called(format).expect("a known format").reader {
        Reader::One { read, .. } => {
            Ok(vec![read(bytes, &GraphOptions { nodes, ..GraphOptions::default() })?])
        }
        Reader::Lines { header, read, .. } => {
            lines(header, bytes)?.into_iter().map(|(line, range)| read(&bytes[range], line)).collect()
        }
        Reader::Several { read, .. } => read(bytes),
        Reader::DataSet(_) | Reader::Arrays => panic!("no text"),
    }
}

/// The graph of a file that holds one.
fn one_graph(format: &str, bytes: &[u8], nodes: Option<u64>) -> Result<StoredGraph> {
    graphs(format, bytes, nodes).map(|mut graphs| graphs.pop().expect("one graph"))
}

/// The edges of the simple graph, each as (smaller, larger).
fn edges(graph: &StoredGraph) -> BTreeSet<(u32, u32)> {
    graph.entries.iter().filter(|(u, v)| u != v).map(|(u, v)| (*u.min(v), *u.max(v))).collect()
}

#[test]
fn every_format_tells_the_same_graph() {
    let house = BTreeSet::from([(0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4)]);
    for (format, bytes) in HOUSES {
        let found = graphs(format, bytes, Some(6)).unwrap();
        assert_eq!(found.len(), 1, "{format}");
        assert_eq!((found[0].nodes, edges(&found[0])), (Some(6), house.clone()), "{format}");
        let entries = if found[0].storage == Storage::Both { 12 } else { 6 };
        assert_eq!(found[0].entries.len(), entries, "{format}");
    }
    let labelled = graphs("ml4co", HOUSES[5].1, None).unwrap();
    assert_eq!(labelled[0].labels, Some(vec![true, false, false, true, false, true]));
}

#[test]
fn a_file_cut_at_any_byte_is_an_error_or_a_graph() {
    for (format, bytes) in HOUSES {
        for length in 0..bytes.len() {
            if let Ok(found) = graphs(format, &bytes[..length], Some(6)) {
                found.iter().for_each(check_numbers);
            }
        }
    }
}

#[test]
fn a_cut_metis_or_graph6_file_never_passes() {
    for (format, bytes) in [HOUSES[1], HOUSES[3]] {
        // Only the line end may be missing: at the end of METIS one of two, an isolated node's own.
        let whole = bytes.trim_ascii_end().len();
        let head = if format == "graph6" { b">>graph6<<".len() } else { 0 };
        for length in head + 1..whole {
            assert!(graphs(format, &bytes[..length], None).is_err(), "{format} cut at {length}");
        }
    }
}

#[test]
fn any_flipped_bit_is_an_error_or_a_graph() {
    for (format, bytes) in HOUSES {
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Ok(found) = graphs(format, &bytes, Some(6)) {
                found.iter().for_each(check_numbers);
            }
        }
    }
}

fn check_numbers(graph: &StoredGraph) {
    let nodes = graph.nodes.expect("the reader says the number of nodes");
    assert!(graph.entries.iter().all(|(u, v)| u64::from(*u) < nodes && u64::from(*v) < nodes));
}

/// The folder of real graphs, where there is one beside the repository.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn real_graphs() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/independent_set");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no folder {}", folder.display());
    None
}

/// Reads a file, inflated where its name says so.
fn inflated(path: &Path) -> Vec<u8> {
    let bytes = InputFile::open(path).and_then(|file| file.read_all()).expect("a listed file");
    let compression = compress::FORMATS.by_name(path.to_str().expect("UTF-8"));
    compress::inflated(bytes.into(), compression).expect("a readable file").into_owned()
}

#[test]
fn real_files_hold_the_published_numbers_of_nodes_edges_and_repeats() {
    let Some(folder) = real_graphs() else { return };
    for (file, nodes, lines, repeats) in [
        ("qoblib/karate.gph", 34, 78, 0),
        ("qoblib/C500-9.gph.gz", 500, 12418, 0),
        ("qoblib/sloane_1dc_128.gph", 128, 1471, 0),
        ("pace2019/vc-exact_005.gr", 200, 819, 21),
        ("pace2019/vc-exact_029.gr.gz", 13431, 21999, 5765),
        ("frb/frb30-15-1.gr.bz2", 450, 17827, 0),
        ("frb/frb40-19-1.gr.bz2", 760, 41314, 0),
        ("snap/soc-sign-bitcoinalpha.csv.gr.bz2", 3783, 14124, 0),
        ("dimacs_clq/weighted_C125.9.clq.gz", 125, 6963, 0),
        ("native/CBS_k3_n100_m403_b10_134_unweighted.graph", 1209, 4841, 0),
        ("native/CBS_k3_n100_m403_b90_790_unweighted.graph", 1209, 4860, 0),
        ("native/kamis_simple.graph", 6, 7, 0),
        ("native/kamis_weight_nodes.graph", 6, 7, 0),
    ] {
        let format = FORMATS.by_name(compress::FORMATS.stem(file)).unwrap().name;
        let graph = one_graph(format, &inflated(&folder.join(file)), None).unwrap();
        let listed = if graph.storage == Storage::Both { 2 * lines } else { lines };
        assert_eq!((graph.nodes, graph.entries.len()), (Some(nodes), listed), "{file}");
        assert_eq!(edges(&graph).len(), lines - repeats, "{file}");
        if format == "dimacs" {
            assert_eq!(graph.declared_edges, Some(lines as u64), "{file}");
        }
    }
}

#[test]
fn real_clique_files_without_a_p_line_need_the_number_of_nodes() {
    let Some(folder) = real_graphs() else { return };
    let bytes = inflated(&folder.join("dimacs_clq/brock200_2.clq.gz"));
    let error = one_graph("dimacs", &bytes, None).unwrap_err();
    assert!(error.to_string().contains("--num-nodes"));
    let graph = one_graph("dimacs", &bytes, Some(200)).unwrap();
    assert_eq!((graph.nodes, edges(&graph).len()), (Some(200), 9876));
}

#[test]
fn real_packs_hold_the_published_totals() {
    let Some(folder) = real_graphs() else { return };
    for (file, format, count, nodes, total) in [
        ("satlib500/satlib500.s6.gz", "sparse6", 500, 638_943, 2_670_627),
        ("er700_800/er128.g6.gz", "graph6", 128, 96_721, 5_482_982),
    ] {
        let found = graphs(format, &inflated(&folder.join(file)), None).unwrap();
        assert_eq!(found.len(), count, "{file}");
        assert_eq!(found.iter().map(|graph| graph.entries.len()).sum::<usize>(), total, "{file}");
        assert_eq!(found.iter().map(|graph| edges(graph).len()).sum::<usize>(), total, "{file}");
        assert_eq!(found.iter().filter_map(|graph| graph.nodes).sum::<u64>(), nodes, "{file}");
    }
}

#[test]
fn real_labelled_lines_store_both_directions_and_the_published_labels() {
    let Some(folder) = real_graphs() else { return };
    let bytes = inflated(&folder.join("native/ml4co_mis_rb-small_no-weighted_4ins.txt"));
    let found = graphs("ml4co", &bytes, None).unwrap();
    let labelled = |graph: &StoredGraph| graph.labels.iter().flatten().filter(|label| **label).count();
    assert_eq!(found.iter().map(labelled).collect::<Vec<_>>(), [22, 18, 23, 22]);
    assert!(found.iter().all(|graph| graph.entries.len() == 2 * edges(graph).len()));
}
