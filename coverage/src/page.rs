//! What was measured, for people and for programs; the same for any number of threads.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::campaign::{Coverage, Drawn, InSet, Results, Share};
use crate::goals::Goal;
use crate::populations::columns::REACHES;
use crate::sample::{CONFIDENCE, METHODS};

const HEAD: &str = "# Coverage of intervals

How often does an interval hold the true number? Take rows as a population: the number over all of them is the true
one. Draw samples of n sampling units with replacement, make intervals of each sample, and count those that hold it.
";

/// The page.
pub(crate) fn markdown(results: &Results, goals: &[Goal]) -> String {
    let plan = &results.plan;
    let mut text = format!(
        "{HEAD}
`cargo xtask coverage` measures this with the program's own resampler and writes this page: {} samples of each size,
{} resamples of each sample, confidence {} %. The three numbers of a cell are `percentile` / `bca` / `expanded`, in
per cent. A share of 95 % has a standard error of {:.1} here. Where samples lack an interval, the share is that of
the others, and the samples with an interval stand behind it.

Rate of a number: the share of units that reach the level which {:.0} % of the population reach. Labels are
classes of segmentation and conditions of robustness. Lines that a family has no such number for are left out.
",
        plan.samples,
        plan.resamples,
        100.0 * CONFIDENCE,
        100.0 * (CONFIDENCE * (1.0 - CONFIDENCE) / f64::from(plan.samples)).sqrt(),
        100.0 * REACHES
    );
    text += "\n## Units and runs\n\n";
    text += &table(results, &[Drawn::Units], "number", "n", label);
    if results.coverage.iter().any(|line| line.rare_labels && line.drawn == Drawn::Units) {
        text += "\nMeans over many rare labels are missed, and no resampling mends that. A small sample lacks whole \
                 labels, so\nthat its mean is one over other labels. The warning `rare-labels` says so.\n";
    }
    text += "\n## Units that come together\n
Units of one cluster are alike. Drawn one by one they pretend to be more evidence than they are.\n\n";
    text += &table(results, &[Drawn::UnitsOfClusters, Drawn::Clusters], "number", "clusters", label);
    text += "\n## Differences of two models\n
Models share their units, and both are read from the same resamples.\n\n";
    text += &table(results, &[Drawn::Differences], "difference", "n", label);
    text += "\n## Sets of models\n
How often the set of models that are not distinguishable from the best holds the one that is best over the whole
population, and how many models it holds on average. Method `expanded`.\n\n";
    text += "| models | number | n | best in the set | models in it |\n|:--|:--|--:|--:|--:|\n";
    for InSet { population, path, models, size, share, members } in &results.sets {
        let mean = *members as f64 / f64::from(share.of.max(1));
        text += &format!(
            "| {models} {population} | `{path}` | {size} | {:.1} % | {mean:.1} |\n",
            share.percent()
        );
    }
    text += "\n## Goals\n
Of `expanded`, from 20 sampling units on, for means and ratios of sums without rare labels: at least 93 %. From 20
clusters on 91 %, from 40 on 93 %. Sets: 94 %. The run fails when a share is below its goal by more than three standard
errors.\n\n";
    let below: Vec<&Goal> = goals.iter().filter(|goal| !goal.met_outright()).collect();
    text += &format!("{} of {} shares reach their goal outright.", goals.len() - below.len(), goals.len());
    text += if below.is_empty() { "\n" } else { " The others:\n\n" };
    for goal in below {
        let verdict = if goal.met() { "within chance" } else { "**missed**" };
        let (what, share) = (&goal.what, goal.share.percent());
        text += &format!("* {what}:\n  {share:.1} % of {:.0} %, {verdict}\n", goal.least);
    }
    text
}

fn label(line: &Coverage) -> String {
    let what = match line.each {
        Some(each) => format!("{} of `{each}`", line.kind.word()),
        None => format!("{}, `{}`", line.kind.word(), line.path),
    };
    match line.drawn {
        Drawn::Units | Drawn::Differences => format!("{}: {what}", line.population),
        Drawn::UnitsOfClusters => format!("{}: {what}, units drawn", line.population),
        Drawn::Clusters => format!("{}: {what}, clusters drawn", line.population),
    }
}

/// One line per number, one column per size.
fn table(
    results: &Results,
    drawn: &[Drawn],
    heading: &str,
    size: &str,
    label: impl Fn(&Coverage) -> String,
) -> String {
    let lines: Vec<&Coverage> = results.coverage.iter().filter(|line| drawn.contains(&line.drawn)).collect();
    let mut sizes: Vec<usize> = lines.iter().map(|line| line.size).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut names: Vec<String> = Vec::new();
    let mut cells: BTreeMap<(usize, usize), String> = BTreeMap::new();
    for line in lines {
        let name = label(line);
        let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        cells.insert((place, line.size), cell(line));
    }
    let heads: String = sizes.iter().map(|n| format!(" {size} = {n} |")).collect();
    let rule = "--:|".repeat(sizes.len());
    let mut text = format!("| {heading} |{heads}\n|:--|{rule}\n");
    for (place, name) in names.iter().enumerate() {
        let cell = |size: &usize| format!(" {} |", cells.get(&(place, *size)).map_or("", String::as_str));
        text += &format!("| {name} |{}\n", sizes.iter().map(cell).collect::<String>());
    }
    text
}

fn cell(line: &Coverage) -> String {
    let shares = line.shares.map(|share| format!("{:.1}", share.percent())).join(" / ");
    let fewest = line.shares.iter().map(|share| share.of).min().unwrap_or(0);
    if fewest < line.samples { format!("{shares} ({fewest})") } else { shares }
}

/// The counts behind the page: one line each.
pub(crate) fn json(results: &Results) -> String {
    let counts = |share: &Share| json!([share.held, share.of]);
    let line = |line: &Coverage| -> Json {
        let methods = METHODS.iter().zip(&line.shares);
        let methods = methods.map(|(method, share)| (method.name().to_owned(), counts(share)));
        json!({
            "population": line.population,
            "number": line.each.map_or_else(|| line.path.clone(), |each| format!("{} of {each}", line.kind.word())),
            "kind": line.kind.word(),
            "drawn": match line.drawn {
                Drawn::Units => "units",
                Drawn::UnitsOfClusters => "units of clusters",
                Drawn::Clusters => "clusters",
                Drawn::Differences => "differences",
            },
            "n": line.size,
            "held": Json::Object(methods.collect()),
        })
    };
    let set = |set: &InSet| {
        json!({
            "population": set.population,
            "number": set.path,
            "models": set.models,
            "n": set.size,
            "held": counts(&set.share),
            "members": set.members,
        })
    };
    let (samples, resamples) = (results.plan.samples, results.plan.resamples);
    let lines = |all: Vec<Json>| all.iter().map(Json::to_string).collect::<Vec<_>>().join(",\n  ");
    format!(
        "{{\"samples\": {samples}, \"resamples\": {resamples}, \"confidence\": {CONFIDENCE},\n \"coverage\": [\n  {}\n ],\n \
         \"sets\": [\n  {}\n ]}}\n",
        lines(results.coverage.iter().map(line).collect()),
        lines(results.sets.iter().map(set).collect())
    )
}
