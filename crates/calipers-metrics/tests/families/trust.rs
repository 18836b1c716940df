//! The tables of `docs/trust.md`: what checks each group of numbers, counted from the tests themselves.
//!
//! A test file that compares with somebody else's numbers says so in its first lines: `Peer: NAME: family
//! group, group`. `CALIPERS_WRITE=1` rewrites the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::agreement::Tolerance;
use crate::case::{id, reported_cases, repository};
use crate::examples::examples;
use crate::family::{Definition, FAMILIES, Family};
use crate::golden::has_number;

const PAGE: &str = "docs/trust.md";
/// Where tests that compare with others lie.
const TESTS: [&str; 2] = ["python/tests", "crates/calipers-metrics/tests"];

/// What checks the numbers of a group.
#[derive(Default)]
struct Checks {
    numbers: usize,
    references: BTreeSet<String>,
    cases: usize,
    examples: BTreeSet<String>,
    tolerance: Option<Tolerance>,
    random: usize,
    peers: BTreeSet<String>,
}

/// The groups of a family in the order of its table.
fn groups(metrics: &[Definition]) -> Vec<&'static str> {
    let mut groups = Vec::new();
    for metric in metrics {
        if !groups.contains(&metric.group) {
            groups.push(metric.group);
        }
    }
    groups
}

fn table(family: &Family, peers: &[Peer]) -> String {
    let metrics = (family.metrics)();
    let group_of: BTreeMap<&str, &str> = metrics.iter().map(|metric| (metric.id, metric.group)).collect();
    let mut checks: BTreeMap<&str, Checks> = BTreeMap::new();
    for metric in &metrics {
        let group = checks.entry(metric.group).or_default();
        group.numbers += 1;
        group.references.insert(document(metric.reference).to_owned());
    }
    for case in reported_cases(family) {
        count(&mut checks, &group_of, &pinned(&case["expect"]), |group| group.cases += 1);
        for id in pinned(&case["expect"]) {
            widen(checks.get_mut(group_of[id.as_str()]).expect("a group"), (family.tolerance)(&id, &case));
        }
    }
    for (name, example) in examples(family) {
        let name = &name;
        count(&mut checks, &group_of, &pinned(&example.expect), |group| {
            group.examples.extend([name.clone()])
        });
    }
    for (group, random) in random_inputs(family, &metrics) {
        checks.entry(group).or_default().random = random;
    }
    for peer in peers.iter().filter(|peer| peer.family == family.name) {
        for group in &peer.groups {
            let group =
                checks.get_mut(group.as_str()).unwrap_or_else(|| panic!("no group {group}: {}", peer.name));
            group.peers.insert(peer.name.clone());
        }
    }
    let mut text = String::from(
        "| group | numbers | defined by | golden cases | agree to | worked examples | random inputs | compared with |\n\
         |:--|--:|:--|--:|:--|--:|--:|:--|\n",
    );
    for group in groups(&metrics) {
        let Checks { numbers, references, cases, examples, tolerance, random, peers } = &checks[group];
        let page = format!("metrics/{}/{}.md", family.name, group.replace(' ', "-"));
        let joined = |words: &BTreeSet<String>| words.iter().cloned().collect::<Vec<_>>().join(", ");
        text.push_str(&format!(
            "| [{group}]({page}) | {numbers} | {} | {cases} | {} | {} | {} | {} |\n",
            joined(references),
            tolerance.map_or("–".into(), shown),
            examples.len(),
            if *random == 0 { "–".into() } else { random.to_string() },
            if peers.is_empty() { "–".into() } else { joined(peers) },
        ));
    }
    text
}

/// The ids that have a number there.
fn pinned(expect: &Json) -> BTreeSet<String> {
    let metrics = expect["metrics"].as_object().into_iter().flatten();
    metrics.filter(|(_, value)| has_number(value)).map(|(path, _)| id(path).to_owned()).collect()
}

/// Counts something once for every group that one of the ids is in.
fn count<'g>(
    checks: &mut BTreeMap<&'g str, Checks>,
    group_of: &BTreeMap<&str, &'g str>,
    ids: &BTreeSet<String>,
    mut add: impl FnMut(&mut Checks),
) {
    let groups: BTreeSet<&str> = ids.iter().map(|id| group_of[id.as_str()]).collect();
    groups.into_iter().for_each(|group| add(checks.get_mut(group).expect("a group")));
}

/// Keeps the widest tolerance.
fn widen(checks: &mut Checks, tolerance: Tolerance) {
    let width = |tolerance| match tolerance {
        Tolerance::Exact => 0.0,
        Tolerance::Ulps(ulps) => ulps as f64 * f64::EPSILON,
        Tolerance::Absolute(eps) | Tolerance::Relative(eps) | Tolerance::Mixed(eps) => eps,
    };
    if checks.tolerance.is_none_or(|kept| width(tolerance) > width(kept)) {
        checks.tolerance = Some(tolerance);
    }
}

fn shown(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Exact | Tolerance::Ulps(0) => "every bit".into(),
        Tolerance::Ulps(ulps) => format!("{ulps} ulp"),
        Tolerance::Absolute(eps) | Tolerance::Relative(eps) | Tolerance::Mixed(eps) => format!("{eps:e}"),
    }
}

/// The document of a reference, without its section.
fn document(reference: &str) -> &str {
    reference.split([',', ';', '(']).next().unwrap_or(reference).trim()
}

/// How many properties on random input stand beside the lines of each group.
fn random_inputs(family: &Family, metrics: &[Definition]) -> Vec<(&'static str, usize)> {
    let top = repository("crates/calipers-metrics/src").join(family.name);
    let sources = texts(&top, "rs");
    groups(metrics)
        .into_iter()
        .map(|group| {
            let ids = metrics
                .iter()
                .filter(|metric| metric.group == group)
                .map(|metric| format!("\"{}\"", metric.id));
            let ids: Vec<String> = ids.collect();
            let lines =
                sources.iter().filter(|(_, text)| ids.iter().any(|id| text.contains(&format!("id: {id}"))));
            let ideas: BTreeSet<PathBuf> = lines.filter_map(|(path, _)| idea(&top, path)).collect();
            let beside = sources.iter().filter(|(path, _)| ideas.iter().any(|idea| path.starts_with(idea)));
            (group, beside.map(|(_, text)| properties(text)).sum())
        })
        .collect()
}

/// The folder of an idea: the first below the family's.
fn idea(top: &Path, path: &Path) -> Option<PathBuf> {
    let mut below = path.strip_prefix(top).ok()?.components();
    let first = below.next()?;
    below.next().map(|_| top.join(first))
}

/// How many tests a text has in its blocks of properties.
fn properties(text: &str) -> usize {
    let block = |after: &str| after.split("\n    }\n").next().unwrap_or(after).matches("#[test]").count();
    text.split("proptest! {").skip(1).map(block).sum()
}

/// Somebody else whose numbers a file of tests compares with.
struct Peer {
    name: String,
    family: String,
    groups: Vec<String>,
}

fn peers() -> Vec<Peer> {
    let files = TESTS.iter().flat_map(|folder| texts(&repository(folder), "")).filter(|(path, _)| {
        path.extension().is_some_and(|ending| ending == "rs" || ending == "py") && !path.ends_with("trust.rs")
    });
    let mut found = Vec::new();
    for (path, text) in files {
        for line in text.lines().filter_map(|line| line.trim_start_matches("//! ").strip_prefix("Peer: ")) {
            let wrong = || panic!("{}: Peer: NAME: family group, group", path.display());
            let (name, of) = line.split_once(": ").unwrap_or_else(wrong);
            let (family, groups) = of.trim_end_matches('.').split_once(' ').unwrap_or_else(wrong);
            assert!(FAMILIES.iter().any(|known| known.name == family), "{}: {family}", path.display());
            let groups = groups.split(", ").map(str::to_owned).collect();
            found.push(Peer { name: name.to_owned(), family: family.to_owned(), groups });
        }
    }
    found
}

/// The files below a folder with that ending, and their texts.
fn texts(folder: &Path, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(texts(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.extend(fs::read_to_string(&path).ok().map(|text| (path, text)));
        }
    }
    found.sort();
    found
}

/// The laws that every family is held to: functions over any protocol, by their names.
fn laws() -> String {
    let folder = repository("crates/calipers/tests/laws");
    let mut laws = String::new();
    for (_, text) in texts(&folder, "rs") {
        let check =
            text.split("\nfn check<P>").nth(1).and_then(|after| after.split("\n}\n").next()).unwrap_or("");
        for call in check.lines().filter_map(|line| line.trim().split_once('(')).map(|(name, _)| name) {
            let name = call.rsplit("::").next().unwrap_or(call);
            if name.split('_').count() > 2 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                laws.push_str(&format!("* {}\n", name.replace('_', " ")));
            }
        }
    }
    laws
}

/// The page with the part between the marks of that name in place.
fn replaced(page: &str, name: &str, part: &str) -> String {
    let (begin, end) = (format!("<!-- counted: {name} -->\n"), format!("<!-- end: {name} -->\n"));
    let place = || panic!("{PAGE} lacks {begin}{end}");
    let (before, rest) = page.split_once(&begin).unwrap_or_else(place);
    let (_, after) = rest.split_once(&end).unwrap_or_else(place);
    format!("{before}{begin}\n{part}\n{end}{after}")
}

#[test]
fn the_page_on_trust_says_what_the_tests_hold() {
    let page = fs::read_to_string(repository(PAGE)).expect(PAGE);
    let peers = peers();
    assert!(peers.len() > 5, "the tests that compare with others were not found");
    let laws = laws();
    assert!(laws.lines().count() > 5, "the laws were not found: {laws}");
    let mut counted = replaced(&page, "laws", &laws);
    for family in FAMILIES {
        counted = replaced(&counted, family.name, &table(family, &peers));
    }
    if std::env::var_os("CALIPERS_WRITE").is_some() {
        return fs::write(repository(PAGE), counted).expect(PAGE);
    }
    assert!(
        page == counted,
        "{PAGE} is out of date: run this test with CALIPERS_WRITE=1 and look at the changes"
    );
}
