//! What logs say of their runs, with all of their configuration and none of their values.

use std::collections::BTreeSet;

use calipers_core::{Error, Result};
use calipers_io::history::Wanted;

use crate::inputs::Inputs;
use crate::training::discover::History;
use crate::training::logs::{Log, Reader, Sink, notes};
use crate::training::options::Options;
use crate::training::points::x_axis::near;
use crate::training::runs::filter::{self, Where};
use crate::training::runs::known::Known;

/// What every log says of its runs, with all of their configuration and none of their values.
fn described(options: &Options, histories: &[History]) -> Result<Vec<Known>> {
    struct Runs<'a>(Vec<Known>, &'a Options);
    impl Sink for Runs<'_> {
        fn log(&mut self, log: Log) -> Result<()> {
            let known = log.known(&log.name);
            for test in &self.1.filters {
                // Each text of a column as if it were that of a run.
                for name in filter::column(&log.table, &test.key).map_or(&[][..], |column| &column.names) {
                    let mut of_row = known.clone();
                    of_row.fields.remove(test.key.as_str());
                    of_row.config.insert(test.key.clone(), name.clone());
                    self.0.push(of_row);
                }
            }
            self.0.push(known);
            Ok(())
        }

        fn again(&mut self) {}
    }
    let inputs = Inputs::default();
    let notes = notes(&options.inputs);
    let reader = Reader { options, inputs: &inputs, notes: &notes };
    let wanted = Wanted { config: true, ..options.wanted() };
    let mut runs = Runs(Vec::new(), options);
    for history in histories {
        reader.read(history, &wanted, &mut runs)?;
    }
    Ok(runs.0)
}

/// Why the conditions leave no run over: a key that no run has, or the texts that are there.
pub fn nothing_left(options: &Options, histories: &[History], found: usize) -> Error {
    let described = described(options, histories).unwrap_or_default();
    for test in &options.filters {
        if let Some(error) = unknown_key(test, &described) {
            return error;
        }
        let texts: BTreeSet<&str> = described.iter().filter_map(|run| run.text(&test.key)).collect();
        let texts: Vec<&str> = texts.into_iter().take(LISTED).collect();
        if !described.iter().any(|run| test.holds(run.text(&test.key))) {
            return Error::value("the conditions leave nothing over")
                .at(format!("--where {test}"))
                .found(format!("0 of {found} runs"))
                .allowed(format!("a text under '{}': {}", test.key, texts.join(", ")));
        }
    }
    let all: Vec<String> = options.filters.iter().map(|test| format!("--where {test}")).collect();
    Error::value("the conditions leave nothing over").at(all.join(" ")).found(format!("0 of {found} runs"))
}

/// How many texts a message lists.
const LISTED: usize = 20;

/// The error for the first condition on a key that no run has, if there is one.
pub fn unknown_keys(options: &Options, histories: &[History]) -> Option<Error> {
    let described = described(options, histories).ok()?;
    options.filters.iter().find_map(|test| unknown_key(test, &described))
}

fn unknown_key(test: &Where, described: &[Known]) -> Option<Error> {
    if described.iter().any(|run| run.text(&test.key).is_some()) {
        return None;
    }
    let config: BTreeSet<&String> =
        described.iter().flat_map(|run| run.config.keys().chain(&run.keys)).collect();
    let fields: BTreeSet<&str> = described.iter().flat_map(|run| run.fields.keys()).copied().collect();
    let keys: Vec<String> = fields.into_iter().map(String::from).chain(config.into_iter().cloned()).collect();
    if keys.contains(&test.key) {
        return None;
    }
    let error = Error::value(format!("no run has the key '{}'", test.key))
        .at(format!("--where {test}"))
        .found(format!("the keys {}", keys.join(", ")));
    Some(match near(&test.key, &keys).as_slice() {
        [] => error.advice("name a key exactly as it is there"),
        near => error.advice(format!("did you mean {}?", near.join(" or "))),
    })
}
