//! PyTorch files and networkx pickles: what other programs wrote, what liars wrote, and damage.

use std::io::Write;
use std::sync::Arc;

use calipers_core::Result;
use calipers_io::array::{Array, Arrays, Dtype, pt};
use calipers_io::graph::{Storage, StoredGraph, gpickle};
use calipers_io::pickle;

fn read(path: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"))).expect("a fixture")
}

fn open(bytes: Vec<u8>) -> Result<Vec<Arrays>> {
    pt::open(Arc::new(bytes))
}

fn graph(name: &str) -> Result<StoredGraph> {
    gpickle::parse(&read(&format!("pickles/{name}.gpickle")))
}

/// Every key of every dictionary, with what it decodes to.
fn everything(units: &[Arrays]) -> Vec<(String, Result<Option<Array>>)> {
    let pairs =
        |unit: &Arrays| unit.keys().into_iter().map(|key| (key.clone(), unit.get(&key))).collect::<Vec<_>>();
    units.iter().flat_map(pairs).collect()
}

#[test]
fn tensors_of_torch_are_read_whatever_their_strides() {
    let units = open(read("arrays/dict.pt")).unwrap();
    assert_eq!(units.len(), 1);
    let get = |key: &str| units[0].get(key).unwrap().unwrap();
    assert_eq!(get("edge_index").to_i64s().unwrap(), [0, 1, 2, 3, 70000, 1, 0, 3, 2, 4]);
    assert_eq!(
        (get("transposed").shape(), get("transposed").to_i64s().unwrap()),
        (&[2, 3][..], vec![0, 2, 4, 1, 3, 5])
    );
    assert_eq!(
        (get("window").shape(), get("window").to_f64s().unwrap()),
        (&[2, 2][..], vec![6.0, 8.0, 11.0, 13.0])
    );
    assert_eq!(get("repeated").to_i64s().unwrap(), [3; 4]);
    assert_eq!(get("double").to_f64s().unwrap(), [0.1, -0.2]);
    assert_eq!(get("half").to_f64s().unwrap(), [0.0999755859375, -2.5]);
    assert_eq!(get("brain").to_f64s().unwrap(), [0.10009765625, -2.5]);
    assert_eq!((get("flags").dtype(), get("flags").to_i64s().unwrap()), (Dtype::Bool, vec![1, 0]));
    assert_eq!(get("bytes").to_i64s().unwrap(), [0, 255]);
    assert_eq!((get("shorts").dtype(), get("shorts").to_i64s().unwrap()), (Dtype::U16, vec![1, 65535]));
    assert_eq!(get("weight").to_f64s().unwrap(), [1.0, 2.0]);
    assert_eq!(get("nothing").shape(), [0, 3]);
    assert_eq!((get("single").shape().len(), get("single").to_i64s().unwrap()), (0, vec![5]));
}

#[test]
fn plain_values_beside_tensors_become_arrays_and_others_harm_only_themselves() {
    let units = open(read("arrays/dict.pt")).unwrap();
    let get = |key: &str| units[0].get(key).unwrap().unwrap();
    assert_eq!((get("num_nodes").dtype(), get("num_nodes").to_i64s().unwrap()), (Dtype::I64, vec![5]));
    assert_eq!(get("density").to_f64s().unwrap(), [0.25]);
    assert_eq!(get("known").dtype(), Dtype::Bool);
    assert_eq!((get("name").shape().len(), get("name").texts().unwrap()), (0, &["größe".to_string()][..]));
    assert_eq!(
        (get("names").shape(), get("names").texts().unwrap()),
        (&[2][..], &["a".to_string(), "b".into()][..])
    );
    assert_eq!(get("numbers").to_i64s().unwrap(), [1, -2, 1 << 40]);
    for key in ["mixed", "nested", "large", "shape"] {
        assert!(units[0].get(key).unwrap_err().to_string().contains(key));
    }
    assert!(units[0].get("absent").unwrap().is_none());
}

#[test]
fn lists_of_dictionaries_and_ordered_dictionaries_are_read() {
    let units = open(read("arrays/list.pt")).unwrap();
    let names: Vec<_> =
        units.iter().map(|unit| unit.get("name").unwrap().unwrap().texts().unwrap()[0].clone()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(units[1].get("logits").unwrap().unwrap().to_f64s().unwrap(), [1.0; 3]);
    let ordered = open(read("arrays/ordered.pt")).unwrap();
    assert_eq!(ordered[0].keys(), ["bias", "weight"]);
    assert_eq!(ordered[0].get("weight").unwrap().unwrap().shape(), [1, 2]);
}

#[test]
fn other_torch_files_are_refused_by_what_they_are() {
    let refusal = |name: &str| open(read(name)).unwrap_err().to_string();
    assert!(
        refusal("arrays/complex.pt").contains("__builtin__.complex is not allowed; nothing was executed")
    );
    assert!(refusal("arrays/tensor.pt").contains("an object of torch._utils._rebuild_tensor_v2"));
    assert!(refusal("arrays/old.pt").contains("before 1.6"));
    assert!(refusal("arrays/stored.npz").contains("data.pkl"));
    assert!(open(Vec::new()).unwrap_err().to_string().contains("empty file"));
}

#[test]
fn a_damaged_torch_file_never_gives_another_value() {
    for name in ["arrays/dict.pt", "arrays/list.pt"] {
        let bytes = read(name);
        let right = everything(&open(bytes.clone()).unwrap());
        for end in 0..bytes.len() {
            let error = open(bytes[..end].to_vec()).unwrap_err().to_string();
            assert!(end == 0 || error.contains("pt: broken archive at byte"), "{error}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let Ok(units) = open(damaged) else { continue };
            let values = everything(&units);
            assert_eq!(values.len(), right.len(), "bit {bit}");
            for (found, right) in values.iter().zip(&right) {
                assert!(found == right || (found.0 == right.0 && found.1.is_err()), "bit {bit}: {}", found.0);
            }
        }
    }
}

/// A PyTorch file of the given pickle, byte order and storages.
fn torch_file(pickle: &[u8], order: &[u8], storages: &[&[u8]]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let names = ["a/data.pkl", "a/byteorder"].map(String::from).into_iter();
    let names = names.chain((0..storages.len()).map(|number| format!("a/data/{number}")));
    for (name, bytes) in names.zip([pickle, order].iter().chain(storages)) {
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        writer.start_file(name, options).expect("memory does not fail");
        writer.write_all(bytes).expect("memory does not fail");
    }
    writer.finish().expect("memory does not fail").into_inner()
}

/// The opcodes of a tensor of i16 over storage 0.
fn tensor(count: i64, offset: i64, shape: &[i64], strides: &[i64]) -> Vec<u8> {
    let int = |n: &i64| [&b"\x8a\x08"[..], &n.to_le_bytes()].concat();
    let tuple = |axes: &[i64]| [&b"("[..], &axes.iter().flat_map(int).collect::<Vec<_>>(), b"t"].concat();
    let head = b"ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nShortStorage\nU\x010U\x03cpu";
    [&head[..], &int(&count), b"tQ", &int(&offset), &tuple(shape), &tuple(strides), b"\x89NtR"].concat()
}

fn dict_of(value: &[u8]) -> Vec<u8> {
    [b"\x80\x02}U\x01a", value, b"s."].concat()
}

#[test]
fn tensors_that_reach_outside_their_storage_are_refused() {
    let storage = [1, 0, 2, 0, 3, 0, 4, 0];
    let decoded = |order: &[u8], tensor: Vec<u8>| {
        let units = open(torch_file(&dict_of(&tensor), order, &[&storage]))?;
        units[0].get("a")?.expect("the key is there").to_i64s()
    };
    assert_eq!(decoded(b"little", tensor(4, 0, &[2, 2], &[1, 2])), Ok(vec![1, 3, 2, 4]));
    assert_eq!(decoded(b"big", tensor(4, 1, &[1, 3], &[i64::MAX, 1])), Ok(vec![512, 768, 1024]));
    assert_eq!(decoded(b"little", tensor(4, 3, &[2, 2], &[0, 0])), Ok(vec![4; 4]));
    assert_eq!(decoded(b"little", tensor(4, 99, &[i64::MAX, i64::MAX, 0], &[1, 1, 1])), Ok(vec![]));
    let refusal = |tensor: Vec<u8>| decoded(b"little", tensor).unwrap_err().to_string();
    for (offset, shape, strides) in [
        (1, vec![4], vec![1]),
        (4, vec![], vec![]),
        (0, vec![2, 2], vec![2, 2]),
        (0, vec![i64::MAX, i64::MAX], vec![i64::MAX, i64::MAX]),
        (0, vec![1 << 40], vec![0]),
        (0, vec![i64::MAX, i64::MAX], vec![0, 0]),
    ] {
        let error = refusal(tensor(4, offset, &shape, &strides));
        assert!(error.contains("outside its storage") && error.contains("key a"), "{error}");
    }
    assert!(refusal(tensor(5, 0, &[1], &[1])).contains("another size"));
    assert!(refusal(tensor(4, -1, &[1], &[1])).contains("as torch.save stores it"));
    assert!(refusal(tensor(4, 0, &[1], &[1, 1])).contains("as torch.save stores it"));
    assert!(refusal(tensor(4, 0, &[1; 40], &[1; 40])).contains("as torch.save stores it"));
    assert!(decoded(b"middle", tensor(4, 0, &[1], &[1])).unwrap_err().to_string().contains("middle"));
    let missing = open(torch_file(&dict_of(&tensor(4, 0, &[1], &[1])), b"little", &[]));
    assert!(missing.unwrap_err().to_string().contains("a/data/0"));
}

#[test]
fn one_dictionary_stored_many_times_is_refused() {
    let keys: Vec<u8> = (0..200_u8).flat_map(|i| [b'U', 2, b'a' + i / 20, b'a' + i % 20, b'N']).collect();
    let copies = b"h\x00".repeat(1000);
    let pickle = [b"\x80\x02](}q\x00(", &keys[..], b"u", &copies, b"e."].concat();
    let error = open(torch_file(&pickle, b"little", &[])).unwrap_err().to_string();
    assert!(error.contains("stored many times"), "{error}");
}

#[test]
fn networkx_graphs_of_every_protocol_are_read() {
    let want = StoredGraph {
        nodes: Some(4),
        entries: vec![(0, 3), (0, 2), (1, 1)],
        storage: Storage::Once,
        labels: Some(vec![false, true, true, false]),
        ..StoredGraph::default()
    };
    for name in ["protocol2", "protocol3", "protocol4", "protocol5", "views"] {
        assert_eq!(graph(name).unwrap(), want, "{name}");
    }
    let path = graph("unlabelled").unwrap();
    assert_eq!((path.nodes, path.entries, path.labels), (Some(3), vec![(0, 1), (1, 2)], None));
    let empty = graph("empty").unwrap();
    // Every node of a graph without nodes has a label.
    assert_eq!((empty.nodes, empty.entries.len(), empty.labels), (Some(0), 0, Some(vec![])));
}

#[test]
fn other_pickles_are_refused_by_what_they_are_and_nothing_runs() {
    let cases = [
        ("directed", "networkx.classes.digraph.DiGraph is not allowed; nothing was executed"),
        ("multi", "networkx.classes.multigraph.MultiGraph is not allowed; nothing was executed"),
        ("harm", "posix.system is not allowed; nothing was executed"),
        ("plain_dict", "a dict of 1"),
        ("from_one", "whole numbers from 0, below 2"),
        ("text_nodes", "the text 'a'"),
        ("partly_labelled", "some nodes have a label"),
        ("soft_label", "0.5"),
    ];
    for (name, what) in cases {
        let error = graph(name).unwrap_err().to_string();
        assert!(error.contains(what), "{name}: {error}");
    }
}

#[test]
fn a_damaged_graph_pickle_never_panics() {
    for name in ["protocol2", "protocol5", "views"] {
        let bytes = read(&format!("pickles/{name}.gpickle"));
        for end in 0..bytes.len() {
            assert!(gpickle::parse(&bytes[..end]).is_err(), "{name} cut at {end}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            gpickle::parse(&damaged).map(drop).unwrap_or_default();
        }
        assert!(
            gpickle::parse(&[&bytes[..], b"."].concat()).unwrap_err().to_string().contains("after the end")
        );
    }
    assert!(gpickle::parse(b"").unwrap_err().to_string().contains("empty file"));
}

/// A graph pickle around the given opcodes for `_node` and `_adj`.
fn state(node: &[u8], adjacency: &[u8]) -> Vec<u8> {
    let head = b"\x80\x02cnetworkx.classes.graph\nGraph\n)\x81}(";
    [head, &b"U\x05_node"[..], node, b"U\x04_adj", adjacency, b"ub."].concat()
}

#[test]
fn shared_dictionaries_cannot_stand_for_a_graph_larger_than_the_file() {
    // Every node has the same dictionary of neighbours, which has every node in it.
    let numbers = |value: &[u8]| -> Vec<u8> {
        (0..2000_u16).flat_map(|i| [&b"M"[..], &i.to_le_bytes(), value].concat()).collect()
    };
    let node = [b"}(", &numbers(b"}")[..], b"u"].concat();
    let shared = [&b"}q\x00("[..], &numbers(b"N"), b"u0"].concat();
    let adjacency = [&shared[..], b"}(", &numbers(b"h\x00"), b"u"].concat();
    let error = gpickle::parse(&state(&node, &adjacency)).unwrap_err().to_string();
    assert!(error.contains("shared"), "{error}");
}

#[test]
fn an_adjacency_that_networkx_would_not_write_is_refused() {
    let node = b"}(K\x00}K\x01}u";
    let refusal = |adjacency: &[u8]| gpickle::parse(&state(node, adjacency)).unwrap_err().to_string();
    assert!(gpickle::parse(&state(node, b"}(K\x00}K\x01}NsK\x01}K\x00}Nsu")).is_err());
    assert!(gpickle::parse(&state(node, b"}(K\x00}K\x01NsK\x01}K\x00Nsu")).is_ok());
    assert!(refusal(b"}(K\x00}K\x01NsK\x01}u").contains("one direction"));
    assert!(refusal(b"}(K\x00}(K\x00NK\x00NuK\x01}u").contains("twice"));
    assert!(refusal(b"}(K\x00}K\x00}u").contains("twice"));
    assert!(refusal(b"}(K\x00}u").contains("other nodes"));
    assert!(refusal(b"}(K\x00}K\x02NsK\x01}u").contains("below 2"));
    assert!(refusal(b"}(K\x00}\x88NsK\x01}u").contains("True"));
    assert!(refusal(b"N").contains("a dictionary is expected"));
}

#[test]
fn the_machine_refuses_what_it_does_not_know() {
    let refusal = |bytes: &[u8]| pickle::parse(bytes, &["a.B"]).unwrap_err().to_string();
    for (bytes, what) in [
        (&b"\x80\x02ios\nsystem\n."[..], "this opcode is not allowed"),
        (b"\x80\x02(I1\n.", "this opcode is not allowed"),
        (b"\x80\x06N.", "unknown protocol"),
        (b"(lp0\n.", "not a pickle of protocol 2 to 5"),
        (b"\x80\x02ca\nC\n.", "a.C is not allowed; nothing was executed"),
        (b"\x80\x02ca.B\n\n.", "a.B. is not allowed"),
        (b"\x80\x04NN\x93.", "a class has no name"),
        (b"\x80\x02N)R.", "not a class"),
        (b"\x80\x02ca\nB\nNR.", "not a class"),
        (b"\x80\x02h\x00.", "unknown memo number"),
        (b"\x80\x02Nr\xff\xff\xff\xff.", "memo number is too large"),
        (b"\x80\x02X\xff\xff\xff\xffab.", "ends too early"),
        (b"\x80\x04\x95\xff\0\0\0\0\0\0\0N.", "ends too early"),
        (b"\x80\x02.", "missing on the stack"),
        (b"\x80\x02N(.", "missing on the stack"),
        (b"\x80\x02NN.", "values left over"),
        (b"\x80\x02}(Nu.", "a key has no value"),
        (b"\x80\x02X\x01\0\0\0\xff.", "not UTF-8"),
    ] {
        let error = refusal(bytes);
        assert!(error.contains(what) && error.contains("byte"), "{what}: {error}");
    }
    assert!(refusal(&[b"\x80\x02", &[b'('; 1000][..]].concat()).contains("nested too deeply"));
}

#[test]
fn deep_and_cyclic_values_cost_no_more_than_their_bytes() {
    let deep = [&b"\x80\x02)"[..], &b"\x85".repeat(1 << 20), b"."].concat();
    assert!(pickle::parse(&deep, &[]).is_ok());
    assert!(pickle::parse(b"\x80\x02]q\x00h\x00a.", &[]).is_ok());
}

#[test]
fn integers_of_all_sizes_keep_their_sign() {
    let value = |bytes: &[u8]| pickle::parse(bytes, &[]).unwrap().root();
    assert_eq!(value(b"\x80\x02J\xfb\xff\xff\xff."), pickle::Value::Int(-5));
    assert_eq!(value(b"\x80\x02M\xff\xff."), pickle::Value::Int(65535));
    assert_eq!(value(b"\x80\x02\x8a\x00."), pickle::Value::Int(0));
    assert_eq!(value(b"\x80\x02\x8a\x02\x00\x80."), pickle::Value::Int(-32768));
    assert_eq!(value(b"\x80\x02\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."), pickle::Value::Int(i64::MAX));
    assert_eq!(value(b"\x80\x02G\x3f\xf8\0\0\0\0\0\0."), pickle::Value::Float(1.5));
}

/// The keys of every unit of a file that PyG wrote.
fn objects(name: &str) -> Result<Vec<Arrays>> {
    pt::open(Arc::new(read(&format!("graphs/{name}.pt"))))
}

fn numbers(arrays: &Arrays, key: &str) -> Vec<i64> {
    arrays.get(key).expect("a sound file").expect("a key that is there").to_i64s().expect("whole numbers")
}

#[test]
fn objects_of_pyg_are_read_as_their_keys() {
    for (name, sizes) in [
        ("ring", &[5][..]),
        ("ring_list", &[5, 3]),
        ("ring_processed", &[5, 3]),
        ("ring_processed_dict", &[5, 3]),
        ("ring_processed_sizes", &[5, 3]),
        ("ring_num_nodes", &[7]),
    ] {
        let units = objects(name).unwrap();
        let found: Vec<i64> = units.iter().map(|unit| numbers(unit, "num_nodes")[0]).collect();
        assert_eq!(found, sizes, "{name}");
        let edges = units[0].get("edge_index").unwrap().unwrap();
        assert_eq!(edges.shape(), [2, 10], "{name}");
        assert_eq!(numbers(&units[0], "edge_index")[..4], [0, 0, 1, 1], "{name}");
        if let Some(second) = units.get(1) {
            assert_eq!(numbers(second, "edge_index"), [0, 1, 1, 0], "{name}");
            assert_eq!(numbers(second, "y"), [1, 0, 1], "{name}");
            assert_eq!(second.get("logits").unwrap().unwrap().to_f64s().unwrap(), [1.0, -1.0, 1.0], "{name}");
        }
    }
    let batch = &objects("ring_batch").unwrap()[0];
    assert_eq!((numbers(batch, "ptr"), batch.get("num_nodes").unwrap().is_none()), (vec![0, 5, 8], true));
    assert!(objects("ring_no_nodes").unwrap()[0].get("num_nodes").unwrap().is_none());
    let hetero = &objects("ring_hetero").unwrap()[0];
    assert_eq!(
        (hetero.keys(), hetero.text(pt::CLASS)),
        (vec!["edge_index.a__to__a".into()], Some(pt::HETERO_DATA))
    );
    let masks = &objects("masks_hetero").unwrap()[0];
    assert_eq!(
        masks.keys(),
        [
            "pred_mask.author",
            "pred_mask.author__writes__paper",
            "pred_mask.paper",
            "target_mask.author",
            "target_mask.author__writes__paper",
            "target_mask.paper",
            "y",
            "y_hat"
        ]
    );
    assert_eq!(numbers(masks, "target_mask.author__writes__paper"), [0, 1]);
}

#[test]
fn a_file_of_pyg_that_is_cut_or_damaged_gives_errors_or_arrays() {
    for name in ["ring", "ring_batch", "ring_processed"] {
        let bytes = read(&format!("graphs/{name}.pt"));
        for bit in (0..bytes.len() * 8).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            for arrays in pt::open(Arc::new(damaged)).unwrap_or_default() {
                arrays.keys().iter().for_each(|key| drop(arrays.get(key)));
            }
        }
    }
}
