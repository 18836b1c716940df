//! The runs of a tracking server as logs.

use calipers_core::Result;
use calipers_io::history::Wanted;
use calipers_io::history::mlflow_server::Address;

use super::{Reader, Sink};
use crate::training::discover::History;

/// Reads the active runs of a server and passes on the table of each. Of a run that a condition leaves
/// out no values are asked for.
#[cfg(feature = "remote")]
pub(super) fn read(
    reader: &Reader<'_>,
    history: &History,
    address: &Address,
    wanted: &Wanted,
    sink: &mut dyn Sink,
) -> Result<bool> {
    use calipers_core::{Error, Notes};
    use calipers_io::history::mlflow_server::Server;
    use calipers_io::history::{FORMATS, Table};

    use super::Log;
    use crate::inputs::role;

    let options = reader.options;
    let of_experiments = |name: &str| {
        let mut tests = options.filters.iter().filter(|test| test.key == "experiment");
        tests.all(|test| test.holds(Some(name)))
    };
    let server = Server::open(address, options.timeout, &of_experiments)?;
    let path_of = |id: &str| format!("{}/runs/{id}", address.shown());
    if server.runs().is_empty() && options.filters.is_empty() {
        return Err(Error::value("the tracking server has no active run")
            .in_file(address.shown())
            .advice("check the address, and that its runs are not deleted"));
    }
    let format = FORMATS.called("mlflow").ok_or_else(|| Error::usage("MLflow is not read"))?;
    let notes: Notes = role("input", Some(address.shown()));
    let log = |table: Table, id: &str| {
        let path = path_of(id);
        Log::new(table, format, history, &path, vec![path.clone()])
    };
    let mut kept = Vec::new();
    for run in server.runs().iter().filter(|run| reader.inputs.may_read(&path_of(&run.id))) {
        let bare = log(run.bare(wanted), &run.id);
        let known = bare.known(&run.name);
        if options.filters.iter().all(|test| test.holds(known.text(&test.key))) {
            kept.push(std::sync::Arc::clone(run));
        } else {
            sink.log(bare)?;
        }
    }
    server.read(&kept, &asked(reader, wanted), &mut |served| {
        let path = path_of(&served.run.id);
        reader.inputs.record_served(&path, served.lines.as_bytes(), &notes)?;
        sink.log(log(served.table, &served.run.id))
    })?;
    Ok(true)
}

/// The wanted keys without those that are x in other logs alone: each key is a request.
#[cfg(feature = "remote")]
fn asked(reader: &Reader<'_>, wanted: &Wanted) -> Wanted {
    use calipers_metrics::training::Index;

    use crate::training::points::x_axis;

    let options = reader.options;
    let epochs = options.metrics.iter().any(|metric| metric.index == Index::Epoch);
    let named = |key: &str| {
        let of_metric = options.metrics.iter().any(|metric| metric.metric == key);
        // Without a metric every key is looked at.
        of_metric || options.x.as_deref() == Some(key) || options.metrics.is_empty()
    };
    let mut asked = wanted.clone();
    asked.numbers.retain(|key| {
        let elsewhere = x_axis::DEFAULTS.contains(&key.as_str()) && key != "step";
        !elsewhere || named(key) || epochs && key == "epoch"
    });
    asked
}

/// Without a client there is no server to ask.
#[cfg(not(feature = "remote"))]
pub(super) fn read(
    _: &Reader<'_>,
    _: &History,
    address: &Address,
    _: &Wanted,
    _: &mut dyn Sink,
) -> Result<bool> {
    Err(calipers_core::Error::usage("this program was built without remote")
        .found(address.shown())
        .advice("build it with the feature `remote`, or read the database behind the server"))
}
