//! The three requests: experiments, their runs, the values of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use calipers_core::{Error, Result};

use super::Address;
use super::answers::{self, Experiment, Experiments, Page, Points, Runs, Whole};
use crate::history::mlflow::points::{self, Metric, Point};
use crate::history::mlflow::{PARENT, RUN_NAME};
use crate::history::{Field, Numbers, Origin, Places, Run, Table, Wanted};
use crate::remote::{Authorization, Cause, Client, Failure, InOrder, Request, Sender, Settings};

/// The most requests at a time.
const AT_A_TIME: usize = 4;
/// How many experiments or runs a page may have.
const LISTED: usize = 1000;
/// How many values a page may have: the most that a server gives.
const LOGGED: &str = "25000";

/// A server and the runs it has.
pub struct Server {
    client: Client,
    base: String,
    runs: Vec<Arc<ServedRun>>,
}

/// One active run of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRun {
    /// Its identifier.
    pub id: String,
    /// Its name, else its identifier.
    pub name: String,
    /// The identifier of its experiment.
    pub experiment_id: String,
    /// The name of its experiment.
    pub experiment: String,
    /// How it ended.
    pub status: Option<String>,
    /// When it began, in milliseconds.
    pub start_time: Option<i64>,
    /// The name of the run that it was started in, or its identifier where the server lacks it.
    pub parent: Option<String>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its parameters.
    pub params: BTreeMap<String, String>,
    /// The keys of its metrics, in byte order.
    pub keys: Vec<String>,
}

impl ServedRun {
    /// What the server says of the run: the tags and parameters that are wanted among it.
    fn said(&self, wanted: &Wanted) -> Run {
        let mut fields = BTreeMap::from([
            (Field::Experiment, self.experiment.clone()),
            (Field::ExperimentId, self.experiment_id.clone()),
        ]);
        fields.extend(self.status.clone().map(|status| (Field::Status, status)));
        fields.extend(self.parent.clone().map(|parent| (Field::Parent, parent)));
        // A tag stands before a parameter of its name.
        let labels = self.params.iter().chain(&self.tags);
        let labels = labels.filter(|(key, text)| wanted.label(key) && !text.is_empty());
        Run {
            name: Some(self.name.clone()),
            id: Some(self.id.clone()),
            fields,
            labels: labels.map(|(key, text)| (key.clone(), text.clone())).collect(),
            began: self.start_time.map(|milliseconds| milliseconds as f64 / 1e3),
            ..Run::default()
        }
    }

    fn table(&self, wanted: &Wanted, rows: usize, numbers: Vec<Numbers>) -> Table {
        Table {
            origin: Origin::Mlflow,
            run: self.said(wanted),
            keys: self.keys.clone(),
            before: 0,
            rows,
            numbers,
            texts: Vec::new(),
            places: Places::Numbered("point", 0),
            cut_at: None,
        }
    }

    /// The run without any of its values, which are not asked for.
    pub fn bare(&self, wanted: &Wanted) -> Table {
        self.table(wanted, 0, Vec::new())
    }
}

/// The values of a run.
pub struct ServedTable {
    /// The run.
    pub run: Arc<ServedRun>,
    /// A row for each value of each wanted metric, metric after metric, in order of step, timestamp
    /// and value.
    pub table: Table,
    /// A line `timestamp value step` for each row: what was read, whichever server gave it.
    pub lines: String,
}

impl Server {
    /// Asks a server for its active runs, in order of name, then identifier. `wants` says whether an
    /// experiment of this name is wanted.
    pub fn open(address: &Address, timeout: Duration, wants: &dyn Fn(&str) -> bool) -> Result<Self> {
        let client = Client::new(Settings { timeout, authorization: authorization(address) })?;
        let base = format!("{}/api/2.0/mlflow", address.base());
        let runs = client.wait(listed(client.sender(), base.clone(), wants))?;
        Ok(Self { client, base, runs })
    }

    /// Its runs.
    pub fn runs(&self) -> &[Arc<ServedRun>] {
        &self.runs
    }

    /// Reads these runs and passes them on in their order; the next ones are asked for meanwhile. A
    /// metric that a run does not have is not asked for.
    pub fn read(
        &self,
        runs: &[Arc<ServedRun>],
        wanted: &Wanted,
        each: &mut dyn FnMut(ServedTable) -> Result<()>,
    ) -> Result<()> {
        let jobs = runs.iter().map(|run| {
            let keys: Vec<String> = wanted
                .numbers
                .iter()
                .filter(|key| run.keys.binary_search(key).is_ok() && points::place(wanted, key).is_some())
                .cloned()
                .collect();
            logged(self.client.sender(), format!("{}/metrics/get-history", self.base), run.id.clone(), keys)
        });
        for (run, logged) in runs.iter().zip(InOrder::new(&self.client, jobs, AT_A_TIME)) {
            each(table(run, wanted, logged?)?)?;
        }
        Ok(())
    }
}

/// Who asks: the address says so itself, else the variables that MLflow reads.
fn authorization(address: &Address) -> Option<Authorization> {
    if let Some((name, password)) = address.credentials() {
        return Some(Authorization::Basic(name.into(), password.into()));
    }
    let given = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let basic = given("MLFLOW_TRACKING_USERNAME").zip(given("MLFLOW_TRACKING_PASSWORD"));
    match basic {
        Some((name, password)) => Some(Authorization::Basic(name, password)),
        None => given("MLFLOW_TRACKING_TOKEN").map(Authorization::Bearer),
    }
}

async fn listed(sender: Sender, base: String, wants: &dyn Fn(&str) -> bool) -> Result<Vec<Arc<ServedRun>>> {
    let mut experiments: Vec<Experiment> = Vec::new();
    let address = format!("{base}/experiments/search");
    let ask = |token: Option<&str>| {
        let ask = serde_json::json!({ "max_results": LISTED, "view_type": "ACTIVE_ONLY" });
        Request::post(&address, with_token(ask, token))
    };
    pages(&sender, ask, |page: Experiments| experiments.extend(page.experiments)).await?;
    experiments.retain(|experiment| wants(&experiment.name));
    let mut runs: Vec<ServedRun> = Vec::new();
    if experiments.is_empty() {
        return Ok(Vec::new());
    }
    let names: BTreeMap<&str, &str> =
        experiments.iter().map(|experiment| (experiment.id.as_str(), experiment.name.as_str())).collect();
    let ids: Vec<&&str> = names.keys().collect();
    let address = format!("{base}/runs/search");
    let ask = |token: Option<&str>| {
        let ask = serde_json::json!({
            "experiment_ids": ids, "run_view_type": "ACTIVE_ONLY", "max_results": LISTED,
        });
        Request::post(&address, with_token(ask, token))
    };
    pages(&sender, ask, |page: Runs| runs.extend(page.runs.iter().filter_map(|run| served(run, &names))))
        .await?;
    let called: BTreeMap<String, String> =
        runs.iter().map(|run| (run.id.clone(), run.name.clone())).collect();
    for run in &mut runs {
        run.parent = run.parent.take().map(|id| called.get(&id).cloned().unwrap_or(id));
    }
    runs.sort_unstable_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
    Ok(runs.into_iter().map(Arc::new).collect())
}

fn with_token(mut ask: serde_json::Value, token: Option<&str>) -> String {
    if let Some(token) = token {
        ask["page_token"] = token.into();
    }
    ask.to_string()
}

fn served(run: &answers::Run, experiments: &BTreeMap<&str, &str>) -> Option<ServedRun> {
    let (info, tags) = (&run.info, run.data.tags());
    let id = info.id()?;
    let name = info.run_name.as_ref().filter(|name| !name.is_empty()).or(tags.get(RUN_NAME));
    let name = name.filter(|name| !name.is_empty()).map_or(id, String::as_str).to_owned();
    let mut keys: Vec<String> = run.data.metrics.iter().map(|metric| metric.key.clone()).collect();
    keys.sort_unstable();
    let experiment = experiments.get(info.experiment_id.as_str()).copied();
    Some(ServedRun {
        id: id.to_owned(),
        name,
        experiment_id: info.experiment_id.clone(),
        experiment: experiment.unwrap_or(&info.experiment_id).to_owned(),
        status: info.status.clone(),
        start_time: info.start_time.map(|Whole(time)| time),
        parent: tags.get(PARENT).cloned(),
        params: run.data.params(),
        tags,
        keys,
    })
}

/// The values of each key of a run, sorted.
async fn logged(
    sender: Sender,
    address: String,
    run: String,
    keys: Vec<String>,
) -> Result<Vec<(String, Vec<Point>)>> {
    let mut logged = Vec::new();
    for key in keys {
        let mut points: Vec<Point> = Vec::new();
        let ask = |token: Option<&str>| {
            let mut parameters =
                vec![("run_id", run.as_str()), ("metric_key", key.as_str()), ("max_results", LOGGED)];
            parameters.extend(token.map(|token| ("page_token", token)));
            Request::get(&address, &parameters)
        };
        pages(&sender, ask, |page: Points| points.extend(page.points())).await?;
        points.sort_unstable_by(|a, b| {
            (a.step, a.timestamp).cmp(&(b.step, b.timestamp)).then(a.value.total_cmp(&b.value))
        });
        logged.push((key, points));
    }
    Ok(logged)
}

/// Follows the pages of a list. A token that comes back would never end.
async fn pages<P: Page>(
    sender: &Sender,
    ask: impl Fn(Option<&str>) -> Result<Request>,
    mut take: impl FnMut(P),
) -> Result<()> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut token: Option<String> = None;
    loop {
        let request = ask(token.as_deref())?;
        let bytes = sender.send(&request).await.map_err(refused)?;
        let page: P = answers::read(&bytes, &request.shown())?;
        token = page.next().map(String::from);
        take(page);
        match &token {
            None => return Ok(()),
            Some(next) if !seen.insert(next.clone()) => {
                return Err(Error::format("the pages of an answer never end")
                    .in_file(request.shown())
                    .found(format!("the page token {} again", crate::text::shown(next.as_bytes())))
                    .allowed("a new token on each page, none on the last")
                    .advice("check the server, or read the database behind it"));
            }
            Some(_) => {}
        }
    }
}

/// A failure, with what helps against a lack of credentials.
fn refused(failure: Failure) -> Error {
    let unknown = matches!(failure.cause, Cause::Status(401 | 403, _));
    let error = Error::from(failure);
    if unknown {
        error.advice(
            "give credentials in the environment: MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or \
             MLFLOW_TRACKING_TOKEN",
        )
    } else {
        error
    }
}

fn table(run: &Arc<ServedRun>, wanted: &Wanted, logged: Vec<(String, Vec<Point>)>) -> Result<ServedTable> {
    let mut lines = String::new();
    let mut metrics = Vec::new();
    for (key, points) in logged {
        for Point { step, timestamp, value } in &points {
            lines.push_str(&format!("{timestamp} {} {step}\n", shortest(*value)));
        }
        if let Some(wanted) = points::place(wanted, &key) {
            metrics.push(Metric { wanted, points, unreadable: None });
        }
    }
    metrics.sort_unstable_by_key(|metric| metric.wanted);
    let (rows, numbers) = points::columns(wanted, metrics)?;
    Ok(ServedTable { run: Arc::clone(run), table: run.table(wanted, rows, numbers), lines })
}

/// The shortest text that reads back to the same number, as JSON writes it.
fn shortest(value: f64) -> String {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.to_string(),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}
