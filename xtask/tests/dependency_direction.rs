//! Crates depend on each other in one direction only.

use std::process::Command;

use serde_json::Value;

/// Which crates of the workspace a crate may use, in any kind of dependency.
const MAY_USE: &[(&str, &[&str])] = &[
    ("calipers-core", &[]),
    ("calipers-io", &["calipers-core"]),
    ("calipers-metrics", &["calipers-core"]),
    ("calipers-report", &["calipers-core"]),
    ("calipers-sources", &["calipers-core", "calipers-io", "calipers-metrics"]),
    ("calipers-rung", &["calipers-core", "calipers-io", "calipers-metrics", "calipers-sources"]),
    (
        "calipers",
        &[
            "calipers-core",
            "calipers-io",
            "calipers-metrics",
            "calipers-report",
            "calipers-sources",
            "calipers-rung",
        ],
    ),
    ("calipers-cli", &["calipers"]),
    // The wheel carries the command line.
    ("calipers-py", &["calipers", "calipers-cli"]),
];

/// Chores, benches and the coverage campaign sit outside the layers.
const FREE: &[&str] = &["xtask", "calipers-benches", "calipers-coverage"];

struct Edge {
    from: String,
    to: String,
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn name(value: &Value) -> &str {
    value["name"].as_str().unwrap_or("(no name)")
}

fn edges(metadata: &Value) -> Vec<Edge> {
    let mut edges = Vec::new();
    for package in items(&metadata["packages"]) {
        for dependency in items(&package["dependencies"]).filter(|found| found["path"].is_string()) {
            edges.push(Edge { from: name(package).into(), to: name(dependency).into() });
        }
    }
    edges
}

fn complaints(metadata: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    for name in items(&metadata["packages"]).map(name) {
        if !FREE.contains(&name) && !MAY_USE.iter().any(|(known, _)| *known == name) {
            complaints.push(format!("{name} has no place in the layers"));
        }
    }
    for Edge { from, to } in edges(metadata) {
        let allowed = MAY_USE.iter().any(|(name, below)| *name == from && below.contains(&to.as_str()));
        if !allowed && !FREE.contains(&from.as_str()) {
            complaints.push(format!("{from} must not depend on {to}"));
        }
    }
    complaints
}

fn workspace() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

fn made_up(from: &str, to: &str) -> Value {
    serde_json::json!({"packages": [{"name": from, "dependencies": [
        {"name": "serde", "path": null},
        {"name": to, "path": "/somewhere"},
    ]}]})
}

#[test]
fn the_workspace_points_one_way() {
    let workspace = workspace();
    assert!(edges(&workspace).len() >= 5, "the edges were not found");
    assert_eq!(complaints(&workspace), Vec::<String>::new());
}

#[test]
fn an_edge_against_the_direction_is_refused() {
    let found = complaints(&made_up("calipers-core", "calipers-io"));
    assert_eq!(found, ["calipers-core must not depend on calipers-io"]);
}

#[test]
fn an_edge_between_neighbours_is_refused() {
    let found = complaints(&made_up("calipers-report", "calipers-metrics"));
    assert_eq!(found, ["calipers-report must not depend on calipers-metrics"]);
}

#[test]
fn an_edge_from_the_sources_up_to_the_model_is_refused() {
    assert_eq!(complaints(&made_up("calipers-sources", "calipers-rung")).len(), 1);
    assert_eq!(complaints(&made_up("calipers-rung", "calipers-report")).len(), 1);
}

#[test]
fn an_edge_around_the_facade_is_refused() {
    assert_eq!(complaints(&made_up("calipers-cli", "calipers-io")).len(), 1);
}

#[test]
fn a_crate_without_a_layer_is_refused() {
    let found = complaints(&made_up("calipers-helpers", "calipers-core"));
    assert_eq!(found[0], "calipers-helpers has no place in the layers");
}

#[test]
fn chores_and_benches_may_use_anything() {
    assert_eq!(complaints(&made_up("calipers-benches", "calipers-metrics")), Vec::<String>::new());
}
