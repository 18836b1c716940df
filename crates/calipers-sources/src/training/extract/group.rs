//! One configuration of a study as JSON.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::{Result, Warning};
use calipers_io::history::TRAINER_STATE;
use calipers_io::history::json::loose::{self, Loose};
use serde_json::{Map, Value as Json, json};

use super::carbon::Carbon;
use super::folders::{Below, Owners, Tree, is_checkpoint, name};
use super::project::Fold;

/// Keys of a configuration that are kept when all runs agree, in the order in which they are written.
const CONFIG: [&str; 6] = ["syntax", "space", "add_vocab", "model_name_or_path", "inline_mode", "facto"];
/// What is not known of a checkpoint.
const UNKNOWN: &str = "unk";
/// A checkpoint of the end of a run.
const LAST: &str = "last";

/// One configuration.
pub(super) struct Group<'a> {
    pub(super) tree: &'a Tree,
    pub(super) owners: &'a Owners<'a>,
    pub(super) folds: &'a [Fold],
    pub(super) carbon: &'a [Carbon],
    /// The positions of its runs.
    pub(super) members: Vec<usize>,
}

/// A checkpoint of a run.
struct Checkpoint {
    epoch: String,
    val_loss: String,
    /// Below the run folder.
    path: String,
    whole: Below,
}

/// The runs without one kind of artefact, by kind.
#[derive(Default)]
pub(super) struct Missing(BTreeMap<&'static str, BTreeSet<String>>);

impl Missing {
    fn of(&mut self, kind: &'static str, fold: &Fold) {
        self.0.entry(kind).or_default().insert(format!("{}/{}", fold.group, fold.fold));
    }

    /// One warning for each kind.
    pub(super) fn warnings(self) -> impl Iterator<Item = Warning> {
        self.0.into_iter().map(|(kind, units)| Warning {
            code: "artefact-missing".into(),
            message: format!(
                "no {kind} was found for {} run{}",
                units.len(),
                if units.len() == 1 { "" } else { "s" }
            ),
            units: units.into_iter().collect(),
        })
    }
}

impl Group<'_> {
    /// The configuration, in the order of the published file.
    pub(super) fn to_json(&self, group: &str, missing: &mut Missing) -> Result<Json> {
        let mut json = Map::new();
        let tag = self.agreed("tag_name").unwrap_or_else(|| group.to_owned());
        json.insert("tag_name".into(), tag.into());
        if let Some(date) = self.agreed("date").or_else(|| self.day()) {
            json.insert("date".into(), date.into());
        }
        let members: BTreeSet<usize> = self.members.iter().copied().collect();
        match self.agreed("tokenizer_path").or_else(|| self.owners.tokenizer(&members)) {
            Some(tokenizer) => _ = json.insert("tokenizer_path".into(), tokenizer.into()),
            None => self.members().for_each(|(_, fold)| missing.of("tokenizer", fold)),
        }
        for key in CONFIG {
            let found = self.agreed(key).or_else(|| match key {
                "space" => self.alike(|fold| fold.space.clone()),
                "model_name_or_path" => self.model(),
                _ => None,
            });
            if let Some(text) = found {
                json.insert(key.into(), typed(text));
            }
        }
        let (mut runs, mut checkpoints, mut summary) = (Map::new(), Map::new(), Map::new());
        let mut is_empty = true;
        for (at, fold) in self.members() {
            runs.insert(fold.fold.clone(), run(fold));
            let found = self.checkpoints(at)?;
            if found.is_empty() {
                missing.of("checkpoint", fold);
            }
            let sums = self.carbon[at].sums();
            if sums.is_empty() {
                missing.of("carbon", fold);
            }
            let carbon: Map<String, Json> =
                sums.iter().map(|(key, sum)| ((*key).to_owned(), json!(sum))).collect();
            let carbon = if carbon.is_empty() { Json::Null } else { Json::Object(carbon) };
            let best = self.best(fold, &found).map_or(Json::Null, Json::from);
            let tests: Map<String, Json> =
                fold.tests.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            let tests = if tests.is_empty() { Json::Null } else { json!([tests]) };
            is_empty &= carbon.is_null() && best.is_null() && tests.is_null();
            let said =
                json!({ "carbon_data": carbon, "best_model_path": best, "test_data_last_step": tests });
            summary.insert(format!("fold{}", fold.fold), said);
            let listed: Vec<Json> = found
                .iter()
                .map(|one| json!({ "epoch": one.epoch, "val_loss": one.val_loss, "file_path": one.path }))
                .collect();
            checkpoints.insert(fold.fold.clone(), listed.into());
        }
        json.insert("runs".into(), runs.into());
        json.insert("ckpt".into(), checkpoints.into());
        json.insert("summary".into(), if is_empty { Json::Null } else { summary.into() });
        Ok(json.into())
    }

    fn members(&self) -> impl Iterator<Item = (usize, &Fold)> {
        self.members.iter().map(|at| (*at, &self.folds[*at]))
    }

    /// What all runs have, where they have the same.
    fn alike(&self, of: impl Fn(&Fold) -> Option<String>) -> Option<String> {
        let mut texts = self.members().map(|(_, fold)| of(fold));
        let first = texts.next()??;
        texts.all(|text| text.as_ref() == Some(&first)).then_some(first)
    }

    fn agreed(&self, key: &str) -> Option<String> {
        self.alike(|fold| fold.config.get(key).cloned())
    }

    /// The day on which the first run began.
    fn day(&self) -> Option<String> {
        let began = self.members().filter_map(|(_, fold)| fold.began).min_by(f64::total_cmp)?;
        Some(day((began / 86_400.0).floor() as i64))
    }

    /// What the configuration of a model says it was made from.
    fn model(&self) -> Option<String> {
        let files = self.members.iter().flat_map(|run| self.owners.files(*run));
        let configs = files.filter(|file| name(&file.path) == "config.json");
        configs
            .filter_map(|file| {
                let bytes = std::fs::read(self.tree.place(file)).ok()?;
                loose::parse(&bytes).ok()?.get("_name_or_path")?.as_str().map(String::from)
            })
            .find(|name| !name.is_empty())
    }

    fn checkpoints(&self, run: usize) -> Result<Vec<Checkpoint>> {
        self.owners.checkpoints(run).into_iter().map(|(path, whole)| self.checkpoint(path, whole)).collect()
    }

    fn checkpoint(&self, path: String, whole: Below) -> Result<Checkpoint> {
        let file = name(&path);
        let unknown = || UNKNOWN.to_owned();
        let epoch = if is_checkpoint(file) {
            let state = self.tree.place(&whole).join(TRAINER_STATE);
            match std::fs::read(&state) {
                Ok(bytes) => {
                    let state = loose::parse(&bytes).map_err(|error| error.in_file(state.display()))?;
                    state.get("epoch").and_then(Loose::as_f64).map_or_else(unknown, whole_number)
                }
                Err(_) => unknown(),
            }
        } else if file.starts_with(LAST) {
            LAST.to_owned()
        } else {
            after(file, "epoch=")
                .map(digits)
                .filter(|digits| !digits.is_empty())
                .map_or_else(unknown, String::from)
        };
        let val_loss = after(file, "val_loss=").and_then(number).map_or_else(unknown, String::from);
        Ok(Checkpoint { epoch, val_loss, path, whole })
    }

    /// The checkpoint that the trainer took for the best, else the one of the least loss, else the last.
    fn best(&self, fold: &Fold, found: &[Checkpoint]) -> Option<String> {
        let by_state = fold.best.as_deref().and_then(|best| {
            let called = name(best.trim_end_matches(['/', '\\']));
            found.iter().find(|one| name(&one.path) == called)
        });
        let loss = |one: &Checkpoint| one.val_loss.parse::<f64>().ok();
        let epoch = |one: &Checkpoint| one.epoch.parse::<f64>().unwrap_or(f64::NEG_INFINITY);
        let by_loss = || {
            let known = found.iter().filter_map(|one| Some((loss(one)?, one)));
            known
                .min_by(|(a, one), (b, other)| a.total_cmp(b).then(epoch(other).total_cmp(&epoch(one))))
                .map(|(_, one)| one)
        };
        let best = by_state.or_else(by_loss).or_else(|| found.iter().find(|one| one.epoch == LAST))?;
        Some(best.whole.path.clone())
    }
}

fn run(fold: &Fold) -> Json {
    let mut run = Map::new();
    run.insert("id_run".into(), fold.id.clone().into());
    run.insert("name".into(), fold.name.clone().into());
    run.insert("group".into(), fold.group.clone().into());
    run.insert("project".into(), fold.project.clone().unwrap_or_else(|| fold.filed.clone()).into());
    if let Some(space) = &fold.space {
        run.insert("space".into(), space.clone().into());
    }
    run.into()
}

/// Text of a configuration: what was a truth value is one again.
fn typed(text: String) -> Json {
    match text.as_str() {
        "true" | "True" => true.into(),
        "false" | "False" => false.into(),
        _ => text.into(),
    }
}

/// The number without a point where it is whole.
fn whole_number(x: f64) -> String {
    let text = json!(x).to_string();
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}

fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    text.split_once(word).map(|(_, rest)| rest)
}

fn digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    &text[..end]
}

/// The number that a text begins with: digits, perhaps with a sign, a point and an exponent.
fn number(text: &str) -> Option<&str> {
    let from_sign = |text: &str| text.len() - text.strip_prefix(['-', '+']).unwrap_or(text).len();
    let mut end = from_sign(text);
    let whole = digits(&text[end..]).len();
    if whole == 0 {
        return None;
    }
    end += whole;
    if let Some(rest) = text[end..].strip_prefix('.') {
        let fraction = digits(rest).len();
        end += if fraction > 0 { 1 + fraction } else { 0 };
    }
    if let Some(rest) = text[end..].strip_prefix(['e', 'E']) {
        let sign = from_sign(rest);
        let exponent = digits(&rest[sign..]).len();
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    Some(&text[..end])
}

/// A day of the calendar by its number since 1970-01-01. Years begin in March, so that the leap day is
/// the last of one; 400 of them have 146,097 days.
fn day(days: i64) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * era + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, date) in
            [(0, "1970-01-01"), (-1, "1969-12-31"), (19_782, "2024-02-29"), (20_776, "2026-11-19")]
        {
            assert_eq!(day(days), date);
        }
    }

    #[test]
    fn a_checkpoint_says_its_loss_in_its_name() {
        for (name, loss) in [
            ("epoch=27-val_loss=0.12.ckpt", Some("0.12")),
            ("val_loss=-1.5e-3-v1.ckpt", Some("-1.5e-3")),
            ("val_loss=7.ckpt", Some("7")),
            ("val_loss=nan.ckpt", None),
        ] {
            assert_eq!(after(name, "val_loss=").and_then(number), loss);
        }
        assert_eq!(digits("27-val"), "27");
    }

    #[test]
    fn whole_epochs_have_no_point() {
        assert_eq!((whole_number(6.0), whole_number(5.5)), ("6".into(), "5.5".into()));
    }
}
