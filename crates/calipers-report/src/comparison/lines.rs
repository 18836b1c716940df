//! Comparisons as tables to compute with and to paste into papers.

use calipers_core::Better;
use calipers_core::spelling::listed;

use super::{BEST, Comparison, Difference, Forms, Line, STAR, Titled, joint, ranks, terminal};
use crate::csv::{Lines, guarded};
use crate::grid::{Cell, Grid};
use crate::markdown as md;
use crate::number::{rounded, shortest};
use crate::sampling;
use crate::table::Spread;

/// How many numbers a note names.
const NAMED: usize = 10;

/// One line per number and later model.
pub fn csv(comparisons: &[Comparison]) -> String {
    let mut lines = Lines::new();
    lines.push([
        "metric",
        "better",
        "first",
        "model",
        "first_value",
        "value",
        "difference",
        "low",
        "high",
        "wins",
        "ties",
        "losses",
        "left_out",
        "sign_p",
        "permutation_p",
        "exact",
        "adjusted_p",
    ]);
    for comparison in comparisons {
        for line in &comparison.lines {
            for (other, found) in line.against.iter().enumerate() {
                lines.push(cells(comparison, line, other, found.as_ref()));
            }
        }
    }
    lines.finish()
}

fn cells(comparison: &Comparison, line: &Line, other: usize, found: Option<&Difference>) -> Vec<String> {
    let number = |x: Option<f64>| x.map(shortest).unwrap_or_default();
    let paired = found.and_then(|found| found.paired.as_ref());
    let count =
        |read: fn(&super::Paired) -> u64| paired.map(|paired| read(paired).to_string()).unwrap_or_default();
    let p = |read: fn(&super::Paired) -> f64| number(paired.map(read));
    let bound = |k: usize| number(found.and_then(|found| found.interval).map(|bounds| bounds[k]));
    let id = match &line.label {
        Some(label) => format!("{}.{label}", line.id),
        None => line.id.clone(),
    };
    vec![
        guarded(&id),
        direction(line.better).into(),
        guarded(&comparison.models[0].name),
        guarded(&comparison.models[other + 1].name),
        number(line.values[0].as_f64()),
        number(line.values[other + 1].as_f64()),
        number(found.map(|found| found.difference)),
        bound(0),
        bound(1),
        count(|paired| paired.wins),
        count(|paired| paired.ties),
        count(|paired| paired.losses),
        count(|paired| paired.left_out),
        p(|paired| paired.sign),
        p(|paired| paired.permutation),
        paired.map(|paired| paired.exact.to_string()).unwrap_or_default(),
        p(|paired| paired.adjusted),
    ]
}

fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    }
}

/// One later model against the first, rounded for reading.
pub(super) fn grid(comparison: &Comparison, other: usize) -> Grid {
    let (first, model) = (&comparison.models[0].name, &comparison.models[other + 1].name);
    let interval = format!("{} %", comparison.share());
    let columns = [
        "metric",
        "better",
        first,
        model,
        "difference",
        &interval,
        "won",
        "tied",
        "lost",
        "sign p",
        "p",
        "p adj.",
    ];
    let row = |line: &Line| {
        let best = line.best();
        let value = |model: usize| match line.values[model].as_f64() {
            Some(number) if line.is_best(model, best) => Cell::Bold(rounded(number)),
            number => number.into(),
        };
        let found = line.against[other].as_ref();
        let paired = found.and_then(|found| found.paired.as_ref());
        let count = |n: Option<u64>| Cell::from(n.map(|n| n as f64));
        let bounds = found.and_then(|found| found.interval);
        vec![
            Cell::Text(line.name()),
            Cell::Text(arrow(line.better).into()),
            value(0),
            value(other + 1),
            found.map_or(Cell::Empty, |found| Cell::Text(signed(found.difference))),
            bounds.map_or(Cell::Empty, |[low, high]| {
                Cell::Text(format!("{} to {}", signed(low), signed(high)))
            }),
            count(paired.map(|paired| paired.wins)),
            count(paired.map(|paired| paired.ties)),
            count(paired.map(|paired| paired.losses)),
            Cell::from(paired.map(|paired| paired.sign)),
            Cell::from(paired.map(|paired| paired.permutation)),
            match (found, paired) {
                (Some(found), Some(paired)) if comparison.is_clear(found) => {
                    Cell::Text(format!("{}{STAR}", rounded(paired.adjusted)))
                }
                _ => Cell::from(paired.map(|paired| paired.adjusted)),
            },
        ]
    };
    Grid { columns: columns.map(String::from).into(), rows: comparison.lines.iter().map(row).collect() }
}

fn arrow(better: Better) -> &'static str {
    crate::terminal::arrow(better)
}

/// A difference for reading, always with its sign.
pub(super) fn signed(x: f64) -> String {
    if x > 0.0 { format!("+{}", rounded(x)) } else { rounded(x) }
}

/// The same for a paper: the values, how they differ, and whether chance explains it.
fn paper(comparison: &Comparison, other: usize, spread: Spread) -> Grid {
    let (first, model) = (&comparison.models[0].name, &comparison.models[other + 1].name);
    let interval = format!("{} % interval", comparison.share());
    let columns = ["metric", first, model, "difference", &interval, "won / tied / lost", "p adj."];
    let row = |line: &Line| {
        let (best, digits) = (line.best(), line.digits(other));
        let value = |model: usize| match line.values[model].as_f64().map(|x| digits.number(x)) {
            Some(text) if line.is_best(model, best) => Cell::Bold(text),
            Some(text) => Cell::Text(text),
            None => Cell::Empty,
        };
        let found = line.against[other].as_ref();
        let paired = found.and_then(|found| found.paired.as_ref());
        let text = |text: Option<String>| text.map_or(Cell::Empty, Cell::Text);
        let star = if found.is_some_and(|found| comparison.is_clear(found)) { STAR } else { "" };
        vec![
            Cell::Text(format!("{} {}", line.name(), arrow(line.better)).trim_end().to_owned()),
            value(0),
            value(other + 1),
            text(found.map(|found| digits.signed(found.difference))),
            text(found.and_then(|found| found.spread(digits, spread))),
            text(paired.map(|paired| format!("{} / {} / {}", paired.wins, paired.ties, paired.losses))),
            text(paired.map(|paired| format!("{}{star}", terminal::p(paired.adjusted)))),
        ]
    };
    Grid { columns: columns.map(String::from).into(), rows: comparison.lines.iter().map(row).collect() }
}

/// The comparisons as Markdown tables, each with its marks and its method below; of ranks one table, or
/// `all`.
pub fn markdown(comparisons: &[Comparison], forms: Forms) -> String {
    each(comparisons, forms, |title, grid, notes| {
        let notes: Vec<String> = notes.iter().map(|note| format!("- {}\n", md::escaped(note))).collect();
        format!("**{}**\n\n{}\n{}", md::escaped(title), grid.markdown(), notes.concat())
    })
}

/// The comparisons as booktabs tables, each with its marks and its method in comments above; of ranks one
/// table, or `all`.
pub fn latex(comparisons: &[Comparison], forms: Forms) -> String {
    each(comparisons, forms, |title, grid, notes| {
        let notes = std::iter::once(title).chain(notes.iter().map(String::as_str));
        let notes: Vec<String> =
            notes.map(|note| format!("% {}\n", calipers_core::error::printable(note))).collect();
        format!("{}{}", notes.concat(), grid.latex())
    })
}

/// Every table in turn: all models together, differences, then ranks.
fn each(comparisons: &[Comparison], forms: Forms, one: impl Fn(&str, &Grid, &[String]) -> String) -> String {
    let mut tables = Vec::new();
    let titled = |table: &Titled| one(&table.title, &table.grid, &in_bold(&table.notes));
    for comparison in comparisons {
        tables.extend(joint::tables(comparison).iter().map(titled));
        for other in 0..comparison.models.len().saturating_sub(1) {
            let legend = comparison.legend(other).map(|text| text.replacen(BEST, "bold:", 1));
            let notes: Vec<String> =
                legend.into_iter().chain(notes(comparison)).chain(forms.spread.note()).collect();
            tables.push(one(&title(comparison, other), &paper(comparison, other, forms.spread), &notes));
        }
        tables.extend(ranks::tables(comparison, forms.all).iter().map(titled));
    }
    tables.join("\n")
}

/// The notes of a table whose best values are bold.
pub(super) fn in_bold(notes: &[String]) -> Vec<String> {
    let marks = |note: &String| match note.strip_prefix(BEST) {
        Some(meaning) => format!("bold:{meaning}"),
        None => note.clone(),
    };
    notes.iter().map(marks).collect()
}

/// What a comparison is about.
pub(super) fn about(comparison: &Comparison) -> String {
    let subject = comparison.subject.as_ref().map(|subject| format!(" {subject}")).unwrap_or_default();
    format!("{}{subject}", comparison.family)
}

/// What a table is about.
pub(super) fn title(comparison: &Comparison, other: usize) -> String {
    let (first, model) = (&comparison.models[0].name, &comparison.models[other + 1].name);
    format!("{}: {model} against {first}, {}", about(comparison), sampled(comparison))
}

/// How many units there are, and how many sampling units, where these are something else.
pub(super) fn sampled(comparison: &Comparison) -> String {
    let many =
        |count: u64, what: &str| if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") };
    let (drawn, units) = (&comparison.drawn, many(comparison.units, "unit"));
    let sampling: u64 = drawn.strata.iter().map(|(_, [_, sampling])| sampling).sum();
    match drawn.sampling_unit.as_str() {
        "unit" => units,
        word if sampling == comparison.units => many(sampling, word),
        word => format!("{units} in {}", many(sampling, word)),
    }
}

/// What is said below a table: the method, what is undefined, what was left out, warnings.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
    let method = comparison.method();
    let mut notes: Vec<String> = (!method.is_empty()).then_some(method).into_iter().collect();
    let mut left_out: Vec<String> = Vec::new();
    for line in &comparison.lines {
        for (reason, model) in line.reasons(&comparison.models) {
            notes.push(format!("{} is not defined for {model}: {reason}", line.name()));
        }
        for (found, model) in line.against.iter().zip(&comparison.models[1..]) {
            if let Some(reason) = found.as_ref().and_then(|found| found.fell_back.as_ref()) {
                let name = line.name();
                notes.push(format!("{name} of {} has a percentile interval: {reason}", model.name));
            }
            let missing =
                found.as_ref().and_then(|found| found.paired.as_ref()).map_or(0, |paired| paired.left_out);
            if missing > 0 {
                left_out.push(format!("{} ({missing}, {})", line.name(), model.name));
            }
        }
    }
    let without = |line: &Line| line.against.iter().flatten().any(|found| found.interval.is_none());
    let reason = sampling::too_small(&comparison.drawn).filter(|_| comparison.lines.iter().any(without));
    notes.extend(reason.map(|reason| format!("no interval of a difference: {reason}")));
    if !left_out.is_empty() {
        let list = listed(&left_out, NAMED);
        notes.push(format!(
            "units where one of the two models has no number are left out of the tests: {list}"
        ));
    }
    notes.extend(comparison.warnings.iter().map(|warning| format!("{}: {}", warning.code, warning.message)));
    notes
}
