//! The programs of `examples/` run to their end.

#[path = "../../../examples/folder.rs"]
mod folder;
#[path = "../../../examples/label_maps.rs"]
mod label_maps;
#[path = "../../../examples/shards.rs"]
mod shards;

#[test]
fn label_maps_in_memory_are_scored() {
    label_maps::main().unwrap();
}

#[test]
fn shards_give_the_bytes_of_one_run() {
    shards::main().unwrap();
}

#[test]
fn a_folder_of_graphs_is_measured() {
    folder::main().unwrap();
}
