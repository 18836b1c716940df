//! Training histories: read again, their reports and their curves.

use std::collections::BTreeSet;

use calipers_core::resample::Intervals;
use calipers_core::{Accumulator, Error, Result};
use calipers_io::history::FORMATS;
use calipers_io::history::delimited::{self, Long};
use calipers_metrics::training::{Row, Training, unit_name};
use calipers_report::chart::Picture;
use calipers_sources::inputs::role;
use calipers_sources::run::Work;
use calipers_sources::training::assign::{Assignment, CALLABLE};
use calipers_sources::training::options::Options;
use calipers_sources::training::study::runs_file::RunsFile;
use calipers_sources::training::{self, Measured};

use crate::pictures;
use crate::registry::{Group, Registered};
use crate::replay::{Evidence, Replay};

/// What groups are called where they are models.
const ALL: &str = "all";

/// The curve of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The unit.
    pub unit: String,
    /// Its configuration.
    pub group: String,
    /// Which fold of it.
    pub fold: String,
    /// The place of each point, ascending; of a very long curve, of every so many.
    pub x: Vec<f64>,
    /// Its value after scaling; NaN where none is finite.
    pub values: Vec<f64>,
    /// The position of the first saturation among the points.
    pub saturation: Option<usize>,
    /// The positions after it that broke, ascending.
    pub broken: Vec<usize>,
}

/// The curves of the first runs under the first protocol, in key order.
pub fn curves(replay: &Replay) -> Result<Vec<Curve>> {
    let sketches = again(replay, 1, true)?.sketches.into_iter().filter(|sketch| sketch.metric == 0);
    let mut curves: Vec<Curve> = sketches
        .map(|sketch| Curve {
            unit: unit_name(&sketch.group, &sketch.fold),
            group: sketch.group,
            fold: sketch.fold,
            x: sketch.x,
            values: sketch.values,
            saturation: sketch.saturation,
            broken: sketch.broken,
        })
        .collect();
    curves.sort_by(|a, b| a.unit.cmp(&b.unit));
    Ok(curves)
}

impl Registered for Training {
    const SUMMARY: &'static str = "how training runs behave over epochs and folds";

    const MEASURED_TOGETHER: bool = true;

    fn measure_again(replay: &Replay, threads: usize) -> Result<Vec<Accumulator<Self>>> {
        Ok(again(replay, threads, false)?.accumulators)
    }

    fn groups(rows: &Accumulator<Self>) -> Result<Option<Vec<Group<Self>>>> {
        let names: BTreeSet<String> = rows.rows().iter().map(|row| row.group.clone()).collect();
        let of = |name: String| {
            let own = rows.renamed(|_, row| {
                let alike = || Row { group: ALL.into(), ..row.clone() };
                Ok((row.group == name).then(|| (unit_name(ALL, &row.fold), alike())))
            });
            own.map(|own| (name, own))
        };
        names.into_iter().map(of).collect::<Result<_>>().map(Some)
    }

    fn pictures(rows: &Accumulator<Self>, evidence: &Evidence, _: Option<&Intervals>) -> Vec<Picture> {
        pictures::training::of(rows, evidence)
    }
}

fn again(replay: &Replay, threads: usize, sketches: bool) -> Result<Measured> {
    let metrics: Vec<Training> = replay.parameters()?;
    let first =
        metrics.first().cloned().ok_or_else(|| Error::value("there is no protocol to measure under"))?;
    let (recorded, inputs) = (replay.recorded(), replay.again());
    let rule = |place: &str, found: &str, allowed: String| {
        if found == CALLABLE {
            return Error::value("runs were sorted by a function, which the report does not hold")
                .at(place)
                .found(found)
                .advice("measure again with the function, and compare the two");
        }
        Error::format("not a rule").at(place).found(found).allowed(allowed)
    };
    let runs = match recorded.one("runs")? {
        None => None,
        Some(path) => {
            let shown = path.display().to_string();
            let bytes = inputs.read(&path, &shown, &role("runs", None))?;
            let project = recorded.text("project");
            Some(RunsFile::parse(&bytes, project.as_deref()).map_err(|error| error.in_file(shown))?)
        }
    };
    let columns = recorded.text("key_column").zip(recorded.text("value_column"));
    let (group_by, fold_by) = (&first.group_by, &first.fold_by);
    let filters =
        recorded.list("where").iter().map(|test| test.parse()).collect::<std::result::Result<_, _>>();
    let options = Options {
        assignment: Assignment {
            group_by: group_by.parse().map_err(|allowed| rule("protocol.group_by", group_by, allowed))?,
            fold_by: fold_by.parse().map_err(|allowed| rule("protocol.fold_by", fold_by, allowed))?,
            runs,
        },
        filters: filters
            .map_err(|allowed| rule("reading.where", &recorded.list("where").join(" "), allowed))?,
        repeats_meant: recorded.flag("repeats_meant"),
        x: Some(first.x.clone()).filter(|x| x != training::options::AUTO),
        run_column: recorded.text("run_column"),
        delimited: delimited::Options {
            delimiter: recorded.text("delimiter").and_then(|text| text.bytes().next()),
            decimal_comma: recorded.text("decimal").as_deref() == Some("comma"),
            long: columns.map(|(key_column, value_column)| Long { key_column, value_column }),
        },
        encoding: recorded.text("encoding").and_then(|name| name.parse().ok()),
        format: recorded.text("format").and_then(|name| FORMATS.called(&name)),
        skip_missing: recorded.flag("skip_missing"),
        sketches,
        ..Options::over(recorded.given("input"), metrics)
    };
    training::measure(&options, inputs, &Work::quiet(threads))
}
