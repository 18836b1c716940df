//! Segmentations from files: options into a plan, the plan into units, units into rows.

pub mod classes;
pub mod confusion;
pub mod evidence;
pub mod fit;
pub mod label_map;
pub mod meant;
pub mod memory;
pub mod options;
pub mod plan;
pub mod rgb;
pub mod scores;
pub mod side;
pub mod space;

use std::sync::Mutex;

use calipers_core::{Accumulator, Content, Error, Fact, Provenance, Reading, Result};
use calipers_metrics::segmentation::{Grid, LabelMap, Prediction, Segmentation, Unit};

use self::confusion::{Matrices, MatrixAt};
use self::evidence::{Buffers, Contents, Reader};
use self::options::Options;
use self::plan::{Plan, UnitPlan};
use self::rgb::Rules;
use self::scores::Scores;
use crate::inputs::Inputs;
use crate::run::{self, Named, Work};

/// Measures everything the options name. `inputs` holds the files that were read for the options
/// themselves.
pub fn measure(options: &Options, inputs: Inputs, work: &Work<'_>) -> Result<Accumulator<Segmentation>> {
    options.check()?;
    let protocol = options.config.resolve()?;
    measure_under(&protocol, options, inputs, work)
}

/// Measures everything the options name under a protocol of which their configuration says only how
/// files are read.
pub fn measure_under(
    protocol: &Segmentation,
    options: &Options,
    inputs: Inputs,
    work: &Work<'_>,
) -> Result<Accumulator<Segmentation>> {
    let inputs = inputs.keep_going(work.keep_going);
    let reading = options.reading();
    match &options.confusion {
        Some(path) => {
            let (matrices, units) = Matrices::open(path, &inputs)?;
            let chosen = work.choose(&units, &inputs, &[])?;
            let how = (&inputs, Some(&reading));
            let measured = run::measure_all(
                protocol,
                &chosen,
                work,
                how,
                |_| {},
                |unit, _, accumulator| {
                    let matrix = matrices.read(unit)?;
                    let (rows, columns, counts) = (matrix.rows, matrix.columns, matrix.counts.as_slice());
                    let updated =
                        accumulator.update(unit.name.as_str(), Unit::Confusion { rows, columns, counts });
                    updated.map_err(|error| error.in_file(&matrices.shown))
                },
            );
            chosen.recorded(measured?, inputs, Some(reading))
        }
        None => pixels(options, protocol, inputs, reading, work),
    }
}

fn pixels(
    options: &Options,
    protocol: &Segmentation,
    inputs: Inputs,
    reading: Reading,
    work: &Work<'_>,
) -> Result<Accumulator<Segmentation>> {
    let colours = options.config.colors(&protocol.labels)?;
    let rules = Rules::read(&options.config, &inputs)?;
    let plan = Plan::new(options, protocol, &inputs, work.threads)?;
    let told = options.told();
    let idle: Mutex<Vec<Buffers>> = Mutex::default();
    let aside: Vec<&str> = plan.unpredicted().collect();
    let chosen = work.choose(&plan.units, &inputs, &aside)?;
    let how = (&inputs, Some(&reading));
    let measured = run::measure_all(
        protocol,
        &chosen,
        work,
        how,
        |_| {},
        |unit, inputs, accumulator| {
            let reader =
                Reader { plan: &plan, protocol, colours: &colours, rules: &rules, told: &told, inputs };
            let mut buffers = idle.lock().ok().and_then(|mut idle| idle.pop()).unwrap_or_default();
            let contents = reader.read(unit, &mut buffers)?;
            view(&reader, unit, &buffers, |evidence| accumulator.update(&unit.name, evidence))
                .map_err(|error| error.in_file(plan.shown(unit)))?;
            note(&mut accumulator.provenance, unit, &contents);
            if let Ok(mut idle) = idle.lock() {
                idle.push(buffers);
            }
            Ok(())
        },
    );
    let mut measured = measured?;
    plan.unchanged()?;
    let is_asked = |fact: &&Fact| work.units.is_none_or(|units| units.contains(&fact.unit));
    measured.provenance.facts.extend(plan.facts.iter().filter(is_asked).cloned());
    chosen.recorded(measured, inputs, Some(reading))
}

/// Units of pixels that are read one by one: they are looked for once.
pub struct Units {
    options: Options,
    protocol: Segmentation,
    inputs: Inputs,
    plan: Plan,
}

impl Units {
    /// Finds what the options name.
    pub fn find(options: Options, protocol: Segmentation, inputs: Inputs) -> Result<Self> {
        if options.confusion.is_some() {
            return Err(Error::value("confusion matrices hold no pixels"));
        }
        let plan = Plan::new(&options, &protocol, &inputs, 1)?;
        Ok(Self { options, protocol, inputs, plan })
    }

    /// Reads one unit and passes it on.
    pub fn with<T>(
        &self,
        name: &str,
        use_it: impl FnOnce(&Segmentation, Unit<'_>) -> Result<T>,
    ) -> Result<T> {
        let Self { options, protocol, inputs, plan } = self;
        let colours = options.config.colors(&protocol.labels)?;
        let rules = Rules::read(&options.config, inputs)?;
        let found = plan.units.binary_search_by(|unit| unit.name.as_str().cmp(name)).ok();
        let unit = found.map(|at| &plan.units[at]);
        let unit = unit.ok_or_else(|| Error::value("no unit of that name").found(name))?;
        let told = options.told();
        let reader = Reader { plan, protocol, colours: &colours, rules: &rules, told: &told, inputs };
        let mut buffers = Buffers::default();
        reader.read(unit, &mut buffers)?;
        view(&reader, unit, &buffers, |unit| use_it(protocol, unit))
            .map_err(|error| error.in_file(plan.shown(unit)))
    }
}

impl Named for UnitPlan {
    fn name(&self) -> &str {
        self.name.as_str()
    }
}

impl Named for MatrixAt {
    fn name(&self) -> &str {
        &self.name
    }
}

fn view<T>(
    reader: &Reader<'_>,
    unit: &UnitPlan,
    buffers: &Buffers,
    use_it: impl FnOnce(Unit<'_>) -> Result<T>,
) -> Result<T> {
    let grid = buffers.grid.ok_or_else(|| Error::format("the unit was not read"))?;
    let truth = on_grid(buffers.truth.map(), &grid);
    if reader.labels() {
        let pred = Prediction::Labels(on_grid(buffers.pred.map(), &grid));
        return use_it(Unit::Spatial { grid, truth, pred });
    }
    let scores = buffers.scores.iter().zip(&reader.protocol.heads).map(|(array, head)| {
        let scores = array.as_ref().map(|array| Scores::on(array, head.layout, &grid)).transpose();
        scores.map_err(|error: Error| error.at(format!("unit {}, head {}", unit.name, head.name)))
    });
    let scores: Vec<Option<Scores<'_>>> = scores.collect::<Result<_>>()?;
    let pred = Prediction::Scores(scores.iter().map(|head| head.as_ref().map(Scores::view)).collect());
    use_it(Unit::Spatial { grid, truth, pred })
}

/// A map whose axes of length 1 are dropped: the same elements in other rows.
fn on_grid<'a>(map: LabelMap<'a>, grid: &Grid) -> LabelMap<'a> {
    LabelMap { height: grid.rows(), width: grid.axes()[2], ..map }
}

fn note(provenance: &mut Provenance, unit: &UnitPlan, contents: &Contents) {
    let hash = contents.truth.as_bytes();
    let truth = std::array::from_fn(|byte| hash[byte]);
    provenance.contents.insert(Content { unit: unit.name.clone(), truth });
    if contents.identical {
        let (code, unit) = ("identical-files".into(), unit.name.to_string());
        provenance.facts.insert(Fact { code, unit, detail: String::new() });
    }
    for code in &contents.facts {
        let unit = unit.name.to_string();
        provenance.facts.insert(Fact { code: (*code).into(), unit, detail: String::new() });
    }
}
