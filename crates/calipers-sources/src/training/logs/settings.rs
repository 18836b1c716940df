//! What a logger wrote beside the log of a run: its settings.

use std::collections::BTreeMap;

use calipers_core::Result;
use calipers_io::history::{Wanted, settings};
use calipers_io::place;

use super::{Log, Reader, Sink};
use crate::inputs::role;
use crate::training::discover::{Content, History, Place, file_name};

/// The settings of Lightning, beside its table or its event files.
const LIGHTNING: &str = "hparams.yaml";
/// The settings of DVCLive, in the folder of its run.
const DVCLIVE: &str = "params.yaml";

/// Where the settings of a run are, if its logger wrote some.
pub(super) fn beside(history: &History) -> Option<Place> {
    let (folder, shown, name) = match &history.content {
        Content::Events(places) => of_file(places.first()?)?,
        Content::Loggers { table, .. } => of_file(table)?,
        Content::File(place) if file_name(place).eq_ignore_ascii_case("metrics.csv") => of_file(place)?,
        Content::Dvclive(files) => {
            let (key, place) = files.first()?;
            // The file of a key is below `plots/metrics`; a key with slashes is in folders of its own.
            let above = key.split('/').count() + 2;
            (place.path.ancestors().nth(above)?, history.shown.as_str(), DVCLIVE)
        }
        _ => return None,
    };
    let shown = if shown.is_empty() { name.to_owned() } else { format!("{shown}/{name}") };
    Some(Place { path: folder.join(name), shown }).filter(|place| place::is_file(&place.path))
}

fn of_file(place: &Place) -> Option<(&std::path::Path, &str, &'static str)> {
    let shown = place.shown.rsplit_once('/').map_or("", |(folder, _)| folder);
    Some((place.path.parent()?, shown, LIGHTNING))
}

impl Reader<'_> {
    /// The settings of a run where a rule or a condition may ask for them.
    pub(super) fn settings(&self, history: &History, wanted: &Wanted) -> Result<BTreeMap<String, String>> {
        let asked = wanted.config || !wanted.texts.is_empty();
        let Some(place) = beside(history).filter(|place| asked && self.inputs.may_read(&place.shown)) else {
            return Ok(BTreeMap::new());
        };
        let bytes = self.inputs.read(&place.path, &place.shown, &role("config", None))?;
        let mut found = settings::read(&bytes).map_err(|error| error.in_file(&place.shown))?;
        found.retain(|key, _| wanted.label(key));
        Ok(found)
    }
}

/// Adds the settings of a run to what its log says of it.
pub(super) struct WithSettings<'a> {
    pub(super) settings: BTreeMap<String, String>,
    pub(super) sink: &'a mut dyn Sink,
}

impl Sink for WithSettings<'_> {
    fn log(&mut self, mut log: Log) -> Result<()> {
        for (key, text) in &self.settings {
            log.table.run.labels.entry(key.clone()).or_insert_with(|| text.clone());
        }
        self.sink.log(log)
    }

    fn again(&mut self) {
        self.sink.again();
    }
}
