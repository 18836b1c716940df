//! The figures as pictures, and the page around them.

use calipers_core::{Result, Value};
use calipers_report::chart::{Chart, Picture, Style, files};
use calipers_report::grid::{Cell, Grid};
use calipers_report::page::{self, Block, Page, Section};
use calipers_rung::reproduce::expectations::Expectation;
use calipers_rung::reproduce::{MeasuredPenalty, Options, Reproduction, Verdicts};
use calipers_sources::output;

use super::tables;
use crate::pictures::robustness::{
    Model, accuracy, bias, bias_sheet, difference_grid, difference_sheet, differences,
};
use crate::registry;

/// Writes `figure6` and `figure7` as .csv, .pdf, .svg and .png, and `index.html`.
pub(super) fn write(options: &Options, found: &Reproduction) -> Result<()> {
    let models: Vec<Model> =
        found.penalties.iter().map(|penalty| Model::new(&penalty.label, &penalty.accumulator)).collect();
    let largest = options.budgets.iter().map(|(_, budget)| budget).max().map_or("", |budget| budget.label());
    let text = |name: &str, text: &str| output::write(&options.out.join(name), text.as_bytes());
    let bias_table = tables::figure6(found, &options.seeds);
    text("figure6.csv", &bias_table.csv())?;
    text("figure7.csv", &difference_grid(&models).csv())?;
    let figures: [(&str, Chart); 2] =
        [("figure6", bias_sheet(&models)), ("figure7", difference_sheet(&models, largest))];
    for (name, chart) in &figures {
        for format in files::FORMATS {
            let bytes = files::write(chart, format, None, Style::Paper)?;
            output::write(&options.out.join(format!("{name}.{}", format.name)), &bytes)?;
        }
    }
    let pictures = [bias(&models), differences(&models), accuracy(&models)];
    text("index.html", &page::write(&page(found, pictures, bias_table)))
}

fn page(found: &Reproduction, pictures: [Picture; 3], bias_table: Grid) -> Page {
    let verdicts = &found.verdicts;
    let mut blocks: Vec<Block> =
        verdicts.iter().map(|form| verdict_table(form, verdicts.len() > 1)).collect();
    blocks.push(Block::Text(
        "A model that ignores the graph has no bias and no use, and an attack that stops early shows no bias \
         either: read every verdict beside the clean accuracy and the share of the budget that was used."
            .into(),
    ));
    blocks.extend(pictures.map(Block::Picture));
    blocks.push(measured_table(verdicts));
    blocks.push(Block::Table { title: "Every model and budget".into(), grid: bias_table });
    let summary = Section { heading: "Expectations and figures".into(), slug: "figures".into(), blocks };
    let of_penalty = |penalty: &MeasuredPenalty| {
        let report = penalty.accumulator.finish();
        let infos = registry::metrics_of(&report.protocol);
        let section = page::report_section(
            &report,
            &infos,
            Some((penalty.accumulator.per_unit(), penalty.accumulator.len())),
            Vec::new(),
        );
        Section { heading: penalty.label.clone(), ..section }
    };
    let sections = std::iter::once(summary).chain(found.penalties.iter().map(of_penalty)).collect();
    Page { title: "Estimation bias under attack".into(), sections }
}

fn verdict_table(form: &Verdicts, several: bool) -> Block {
    let columns = ["expectation", "verdict", "because"].map(str::to_owned).into();
    let row = |found: &Expectation| {
        let verdict = match found.held {
            Some(true) => "held",
            Some(false) => "did not hold",
            None => "not tested",
        };
        let because = if found.why.is_empty() { found.rule } else { &found.why };
        [found.statement, verdict, because].map(|text| Cell::Text(text.to_owned())).into()
    };
    let title = match several {
        true => format!("Expectations of the document, weights {}", form.weights),
        false => "Expectations of the document".into(),
    };
    Block::Table { title, grid: Grid { columns, rows: form.expectations.iter().map(row).collect() } }
}

/// The numbers that decided: one line an expectation, penalty, number and budget.
fn measured_table(verdicts: &[Verdicts]) -> Block {
    let columns = ["expectation", "rule", "weights", "penalty", "number", "budget", "value"];
    let mut rows = Vec::new();
    for (form, found) in verdicts.iter().flat_map(|form| form.expectations.iter().map(move |one| (form, one)))
    {
        for (penalty, numbers) in labels(&found.measured) {
            for (number, value) in labels(numbers) {
                let mut add = |budget: &str, value: &Value| {
                    let words = [found.id, found.rule, &form.weights.to_string(), penalty, number, budget];
                    let mut row: Vec<Cell> = words.map(|word| Cell::Text(word.to_owned())).into();
                    row.push(value.as_f64().into());
                    rows.push(row);
                };
                match value {
                    Value::PerLabel(_) => labels(value).for_each(|(budget, value)| add(budget, value)),
                    value => add("", value),
                }
            }
        }
    }
    let grid = Grid { columns: columns.map(str::to_owned).into(), rows };
    Block::Table { title: "The numbers behind the verdicts".into(), grid }
}

fn labels(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let entries = match value {
        Value::PerLabel(entries) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|(label, value)| (label.as_str(), value))
}
