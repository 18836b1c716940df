//! The histories in a folder, by the layouts in which tools write them.

use calipers_core::Result;
use calipers_io::history::{FORMATS, Format, RUN_META, TRAINER_STATE, of_folder};

use super::folder::{Folder, is_of_wandb};
use super::input_folder::{names_checkpoint, own_name, parent};
use super::{Content, Found, History, Place, file_name, is_checkpoint, is_events, joined, stem, unread};
use crate::tree::{Entries, Tree};

/// The ending of the files in which DVCLive keeps a metric.
const TSV: &str = ".tsv";

/// Looks through one folder that was given.
pub(super) struct Walk<'t> {
    /// What a path that is empty below the folder is called.
    pub(super) own: String,
    /// Which path of the command line the folder is.
    pub(super) input: usize,
    /// The format that files must be able to have, where one was named.
    pub(super) format: Option<&'static Format>,
    /// What the rule `folder` makes of runs directly in the folder.
    pub(super) within: Option<String>,
    /// What is in the folder that was given.
    pub(super) tree: &'t Tree,
}

impl Walk<'_> {
    /// The names in a folder; none in one that could not be read.
    fn entries(&self, folder: &Folder) -> Entries {
        self.tree.entries(&folder.below).cloned().unwrap_or_default()
    }

    fn has(&self, folder: &Folder) -> bool {
        self.tree.entries(&folder.below).is_some()
    }

    /// Adds the histories in a folder and below it.
    pub(super) fn search(&self, folder: &Folder, all: &mut Found) -> Result<()> {
        let Entries { files, folders, hidden } = self.entries(folder);
        all.unread.extend(unread::among(&files, &hidden, &folder.path, &folder.shown));
        let found = &mut all.histories;
        let has_meta = files.iter().any(|name| name == RUN_META);
        if has_meta && folders.iter().any(|name| name == "metrics") {
            return self.mlflow_run(folder, found);
        }
        let events: Vec<Place> =
            files.iter().filter(|name| is_events(name)).map(|name| folder.place(name)).collect();
        let is_table = |name: &&String| name.eq_ignore_ascii_case("metrics.csv");
        let table = files.iter().find(|name| is_table(name) && self.wants_file(name));
        let has_events = events.first().is_some_and(|event| self.wants_folder(file_name(event)));
        let both = table.filter(|_| has_events).map(|name| folder.place(name));
        match (&both, has_events) {
            (Some(table), _) => {
                let content = Content::Loggers { table: table.clone(), events };
                found.push(self.history(&folder.below, &folder.shown, content));
            }
            (None, true) => found.push(self.history(&folder.below, &folder.shown, Content::Events(events))),
            (None, false) => {}
        }
        self.trainer_states(folder, &files, &folders, found)?;
        let plots = self.dvclive(folder, &folders, found)?;
        for name in files.iter().filter(|name| *name != TRAINER_STATE && !is_events(name)) {
            // DVCLive also writes the last values into these files; they are no history.
            let summary = plots && (name == "metrics.json" || name == "report.json");
            let taken = both.as_ref().is_some_and(|table| file_name(table) == name) || summary;
            if self.wants_file(name) && !taken {
                let place = folder.place(name);
                let run =
                    if is_table(&name) { folder.below.clone() } else { joined(&folder.below, stem(name)) };
                let shown = place.shown.clone();
                found.push(self.history(&run, &shown, Content::File(place)));
            }
        }
        for name in &folders {
            // An MLflow experiment keeps models beside its runs; their metrics are no histories.
            let skipped = (has_meta && name == "models")
                || (plots && name == "plots")
                || (name == "media" && is_of_wandb(folder));
            if !skipped {
                self.search(&folder.folder(name), all)?;
            }
        }
        Ok(())
    }

    /// The run of a folder with `plots/metrics`; says whether there is one.
    fn dvclive(&self, folder: &Folder, folders: &[String], found: &mut Vec<History>) -> Result<bool> {
        let wanted = FORMATS.called("dvclive").is_some_and(|format| self.wants(format));
        if !wanted || !folders.iter().any(|name| name == "plots") {
            return Ok(false);
        }
        let metrics = folder.folder("plots").folder("metrics");
        if !self.has(&metrics) {
            return Ok(false);
        }
        let mut files = Vec::new();
        self.below(&metrics, "", &mut files);
        let is_table = |key: &str| FORMATS.by_name(key).and_then(|format| format.ending_of(key)) == Some(TSV);
        files.retain(|(key, _)| is_table(key));
        for (key, _) in &mut files {
            *key = key.trim_start_matches('/').trim_end_matches(TSV).to_owned();
        }
        if files.is_empty() {
            return Ok(false);
        }
        found.push(self.history(&folder.below, &folder.shown, Content::Dvclive(files)));
        Ok(true)
    }

    fn history(&self, name: &str, shown: &str, content: Content) -> History {
        let name = if name.is_empty() { self.own.clone() } else { name.to_owned() };
        let (input, folder) = (self.input, self.within.clone());
        History { name, shown: shown.into(), content, input, named: false, folder, joined: false }
    }

    /// One run whose states are its own and those of its checkpoints. A checkpoint on its own
    /// belongs to the folder above it.
    fn trainer_states(
        &self,
        folder: &Folder,
        files: &[String],
        folders: &[String],
        found: &mut Vec<History>,
    ) -> Result<()> {
        let last = folder.below.rsplit('/').next().unwrap_or("");
        if is_checkpoint(last) || !self.wants_folder(TRAINER_STATE) {
            return Ok(());
        }
        if folder.below.is_empty() && names_checkpoint(&folder.path) {
            // The folder that was given stands for the run above it.
            if files.iter().any(|name| name == TRAINER_STATE) {
                let states = Content::TrainerStates(vec![folder.place(TRAINER_STATE)]);
                let name = own_name(&parent(&folder.path))?;
                found.push(self.history(&name, &folder.shown, states));
            }
            return Ok(());
        }
        let mut states = Vec::new();
        if files.iter().any(|name| name == TRAINER_STATE) {
            states.push(folder.place(TRAINER_STATE));
        }
        for name in folders.iter().filter(|name| is_checkpoint(name)) {
            let checkpoint = folder.folder(name);
            if self.entries(&checkpoint).files.iter().any(|name| name == TRAINER_STATE) {
                states.push(checkpoint.place(TRAINER_STATE));
            }
        }
        if !states.is_empty() {
            found.push(self.history(&folder.below, &folder.shown, Content::TrainerStates(states)));
        }
        Ok(())
    }

    fn mlflow_run(&self, folder: &Folder, found: &mut Vec<History>) -> Result<()> {
        if !self.wants_folder(RUN_META) {
            return Ok(());
        }
        let mut files = vec![(RUN_META.to_owned(), folder.place(RUN_META))];
        for part in ["metrics", "params", "tags"] {
            self.below(&folder.folder(part), part, &mut files);
        }
        found.push(self.history(&folder.below, &folder.shown, Content::Mlflow(files)));
        Ok(())
    }

    /// Every file below a folder, with its path below the run.
    fn below(&self, folder: &Folder, path: &str, files: &mut Vec<(String, Place)>) {
        let entries = self.entries(folder);
        files.extend(entries.files.iter().map(|name| (format!("{path}/{name}"), folder.place(name))));
        for name in &entries.folders {
            self.below(&folder.folder(name), &format!("{path}/{name}"), files);
        }
    }

    fn wants(&self, format: &Format) -> bool {
        self.format.is_none_or(|wanted| wanted == format)
    }

    /// Whether folders are looked for that a file of this name makes one run.
    fn wants_folder(&self, name: &str) -> bool {
        of_folder(name).is_some_and(|format| self.wants(format))
    }

    /// Whether files of this name are looked for.
    fn wants_file(&self, name: &str) -> bool {
        let inner = calipers_io::compress::FORMATS.stem(name);
        let text = |format: &Format| inner == name || format.is_text();
        FORMATS.iter().any(|format| format.ending_of(inner).is_some() && text(format) && self.wants(format))
    }
}
