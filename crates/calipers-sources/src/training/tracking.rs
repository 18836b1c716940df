//! The runs of a tracking server as logs.

use calipers_core::Result;
use calipers_io::history::mlflow_server::Address;

use super::logs::{Reader, Sink};

/// Reads the active runs of a server and passes on the table of each.
#[cfg(feature = "remote")]
pub(super) fn read(reader: &Reader<'_>, address: &Address, sink: &mut dyn Sink) -> Result<bool> {
    use calipers_core::{Error, Notes};
    use calipers_io::history::mlflow_server::Server;
    use calipers_io::history::{FORMATS, Wanted};

    use super::logs::Log;
    use super::x_axis;
    use crate::inputs::role;

    let options = reader.options;
    let server = Server::open(address, options.timeout, &|_| true)?;
    let path_of = |id: &str| format!("{}/runs/{id}", address.shown());
    let mut runs = server.runs().to_vec();
    if runs.is_empty() {
        return Err(Error::value("the tracking server has no active run")
            .in_file(address.shown())
            .advice("check the address, and that its runs are not deleted"));
    }
    runs.retain(|run| reader.inputs.may_read(&path_of(&run.id)));
    let format = FORMATS.called("mlflow").ok_or_else(|| Error::usage("MLflow is not read"))?;
    let notes: Notes = role("input", Some(address.shown()));
    // Each key is a request: what a server could have as x is asked for only where it is one.
    let metrics = options.metrics.iter().map(|metric| &metric.metric);
    let named: Vec<&String> = metrics.chain(&options.x).collect();
    let mut wanted: Wanted = reader.wanted.clone();
    wanted.numbers.retain(|key| {
        let candidate = x_axis::DEFAULTS.contains(&key.as_str()) && key != "step";
        !candidate || named.contains(&key)
    });
    server.read(&runs, &wanted, &mut |served| {
        let path = path_of(&served.run.id);
        reader.inputs.record_served(&path, served.lines.as_bytes(), &notes)?;
        sink.log(Log {
            table: served.table,
            format,
            name: served.run.name.clone(),
            shown: path.clone(),
            files: vec![path],
            x: None,
            aggregated: false,
            missing_elsewhere: Vec::new(),
        })
    })?;
    Ok(true)
}

/// Without a client there is nobody to ask.
#[cfg(not(feature = "remote"))]
pub(super) fn read(_: &Reader<'_>, address: &Address, _: &mut dyn Sink) -> Result<bool> {
    Err(calipers_core::Error::usage("this program was built without remote")
        .found(address.shown())
        .advice("build it with the feature `remote`, or read the database behind the server"))
}
