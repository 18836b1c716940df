//! What logs say of their runs, with all of their configuration and none of their values.

use calipers_core::Result;
use calipers_io::history::Wanted;

use crate::inputs::Inputs;
use crate::training::discover::History;
use crate::training::logs::{Log, Reader, Sink, notes};
use crate::training::options::Options;
use crate::training::runs::filter;
use crate::training::runs::known::Known;

/// What every log says of its runs, with all of their configuration and none of their values.
pub fn described(options: &Options, histories: &[History]) -> Result<Vec<Known>> {
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
