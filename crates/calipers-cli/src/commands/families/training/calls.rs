//! The command as programs call it: its results, without anything written or printed.

use calipers::core::Warning;
use calipers::inputs::Inputs;
use calipers::run::{Progress, Silent};
use calipers::sources::training::extract::extract;
use calipers::sources::training::options::Options;
use calipers::sources::training::{Measured, measure, study};
use calipers::{Error, Result};

use super::{TrainingArgs, tables};

impl TrainingArgs {
    /// Reads the runs of one metric with their points, and says nothing of them.
    pub(crate) fn read(self, progress: &dyn Progress) -> Result<Measured> {
        if let [_, _, ..] = self.metrics.metric.as_slice() {
            return Err(Error::usage("runs are read for one metric")
                .at("--metric")
                .found(self.metrics.metric.join(", "))
                .advice("read them once for each"));
        }
        let inputs = Inputs::default();
        let options = Options { points: true, ..self.options(&inputs)? };
        let names = self.work.names()?;
        measure(&options, inputs, &self.work.with(names.as_ref(), progress))
    }

    /// The three tables, and what looks wrong about them; `json` is the per-run JSON where it is no file.
    pub(crate) fn tabled(
        mut self,
        json: Option<String>,
        progress: &dyn Progress,
    ) -> Result<([tables::Tabled; 3], Vec<Warning>)> {
        (self.study.tabled, self.study.json) = (true, json);
        tables::check_whole(self.work.shard)?;
        let inputs = Inputs::default();
        if let (true, Some(runs)) = (self.is_without_histories(), self.runs_file(&inputs)?) {
            return Ok((tables::of_runs(&runs, self.preset(), self.runs.folds), study::doubts(&runs)));
        }
        let options = self.options(&inputs)?;
        let names = self.work.names()?;
        let measured = measure(&options, inputs, &self.work.with(names.as_ref(), progress))?;
        let mut warnings: Vec<Warning> =
            measured.accumulators.iter().flat_map(|accumulator| accumulator.finish().warnings).collect();
        let runs = match options.assignment.runs {
            Some(runs) => runs,
            None => {
                let project = self.study.project.as_deref();
                let extracted = extract(&options, project, &Silent)?;
                warnings.extend(extracted.doubts.iter().cloned());
                extracted.runs_file(project)?
            }
        };
        Ok((tables::measured(&runs, &measured, self.preset(), self.runs.folds), warnings))
    }
}
