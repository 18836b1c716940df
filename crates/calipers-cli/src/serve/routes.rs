//! The fixed routes. A path that is not written here is answered with 404 and opens nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use calipers::chosen::Chosen;
use calipers::compare::{self, Model};
use calipers::core::Digest;
use calipers::core::resample::{Bootstrap, Method};
use calipers::io::http_request::Request;
use calipers::report::comparison;
use calipers::report::page::{self, Page, Section};
use calipers::resample::{Intervals, PAGE_RESAMPLES};
use calipers::{Error, Ledger, Result, pages};

use super::library::{Content, Library, content};
use super::response::Response;

/// How many finished pages are kept.
const KEPT: usize = 16;

const HTML: &str = "text/html; charset=utf-8";
const LIST_PAGE: &str = include_str!("list.html");
const LIST_SCRIPT: &str = include_str!("list.js");
const LIST_STYLE: &str = include_str!("list.css");

/// Everything that can be asked for.
pub struct Routes {
    library: Library,
    threads: usize,
    /// Whether the inputs that reports name are read for pictures.
    inputs: bool,
    /// Pages by the hash of what they were made from.
    made: Mutex<BTreeMap<String, Arc<Vec<u8>>>>,
}

impl Routes {
    /// The routes over a folder.
    pub fn new(library: Library, threads: usize, inputs: bool) -> Self {
        Self { library, threads, inputs, made: Mutex::default() }
    }

    /// The answer to a request that the gate let in.
    pub fn answer(&self, request: &Request) -> Response {
        let known = request.if_none_match.as_deref();
        let parts: Vec<&str> = request.path.split('/').collect();
        match parts.as_slice() {
            ["", ""] => Response::new(HTML, LIST_PAGE),
            ["", "list.js"] => Response::new("text/javascript; charset=utf-8", LIST_SCRIPT),
            ["", "list.css"] => Response::new("text/css; charset=utf-8", LIST_STYLE),
            ["", "list.json"] => {
                let list = serde_json::to_vec(&self.library.list()).unwrap_or_default();
                Response::new("application/json", list).tagged(known)
            }
            ["", "report", id] if is_id(id) => self.report(id, known),
            ["", "compare", ids @ ..] if ids.len() > 1 && ids.iter().all(|id| is_id(id)) => {
                self.compare(ids, known)
            }
            _ => Response::refusal(404, "there is no such page"),
        }
    }

    fn report(&self, id: &str, known: Option<&str>) -> Response {
        let Some(read) = self.library.read(id) else { return gone() };
        let page = read.and_then(|(entry, bytes)| {
            self.kept(&format!("{} {}", entry.path, Digest::of(&bytes)), || {
                let sections = self.sections(content(&entry.path, &bytes)?)?;
                Ok(Page { title: entry.path.clone(), sections })
            })
        });
        shown(page, known)
    }

    fn sections(&self, content: Content) -> Result<Vec<Section>> {
        let bootstrap =
            Bootstrap { resamples: PAGE_RESAMPLES, confidence: 0.95, seed: 0, method: Method::default() };
        let asked = Intervals { bootstrap, cluster_by: None };
        match content {
            Content::State(ledgers) => {
                let section = |ledger: &dyn Ledger| {
                    let report = pages::report(ledger, &Chosen::default(), &asked, self.threads)?;
                    Ok(match self.inputs {
                        true => pages::of_ledger(ledger, &report, &Chosen::default()),
                        false => pages::of_ledger_alone(ledger, &report, CLOSED),
                    })
                };
                ledgers.iter().map(|ledger| section(&**ledger)).collect()
            }
            Content::Table(model) => Err(Error::usage("a per-unit file has no report to show")
                .in_file(&model.source)
                .advice("choose it together with states or other per-unit files, and compare them")),
            Content::Reports(reports) => {
                let section = |report| match self.inputs {
                    true => pages::of_report(report, &asked, self.threads),
                    false => Ok(pages::of_report_alone(report, CLOSED)),
                };
                reports.iter().map(section).collect()
            }
        }
    }

    fn compare(&self, ids: &[&str], known: Option<&str>) -> Response {
        let mut sides = Vec::new();
        for id in ids {
            let Some(read) = self.library.read(id) else { return gone() };
            match read {
                Ok(side) => sides.push(side),
                Err(error) => return failed(&error),
            }
        }
        let key: Vec<String> =
            sides.iter().map(|(entry, bytes)| format!("{} {}", entry.path, Digest::of(bytes))).collect();
        let page = self.kept(&key.join(" with "), || {
            let contents = sides.iter().map(|(entry, bytes)| content(&entry.path, bytes));
            let contents: Vec<Content> = contents.collect::<Result<_>>()?;
            let paths = sides.iter().map(|(entry, _)| entry.path.as_str());
            let named: Vec<(&str, Content)> = paths.zip(contents).collect();
            match named.iter().any(|(_, content)| matches!(content, Content::Reports(_))) {
                true => self.beside(named),
                false => self.paired(named),
            }
        });
        shown(page, known)
    }

    /// Models over the units that they share.
    fn paired(&self, files: Vec<(&str, Content)>) -> Result<Page> {
        let model = |(path, content): (&str, Content)| match content {
            Content::State(ledgers) => Some(Model::from_ledgers(path, path, ledgers)),
            Content::Table(model) => Some(model),
            Content::Reports(_) => None,
        };
        let models: Vec<Model> = files.into_iter().filter_map(model).collect();
        let options = compare::Options { threads: self.threads, ..compare::Options::default() };
        let sections = compare::compare(&models, &options)?.iter().map(comparison::section).collect();
        Ok(Page { title: comparison::TITLE.into(), sections })
    }

    /// Reports hold no units to pair: their numbers beside each other, then each on its own.
    fn beside(&self, files: Vec<(&str, Content)>) -> Result<Page> {
        let mut sections = Vec::new();
        for (path, content) in files {
            let of_file = self.sections(content).map_err(|error| error.in_file(path))?;
            let several = of_file.len() > 1;
            sections.extend(of_file.into_iter().map(|section| {
                let heading = if several { format!("{path}: {}", section.heading) } else { path.to_owned() };
                Section { heading, ..section }
            }));
        }
        let sections = page::side_by_side(&sections).into_iter().chain(sections).collect();
        Ok(Page { title: "Reports side by side".into(), sections })
    }

    /// A page made before from the same content, or made now.
    fn kept(&self, key: &str, make: impl FnOnce() -> Result<Page>) -> Result<Arc<Vec<u8>>> {
        if let Some(page) = self.made().get(key) {
            return Ok(Arc::clone(page));
        }
        let page = Arc::new(page::write(&make()?).into_bytes());
        let mut made = self.made();
        if made.len() >= KEPT {
            made.pop_first();
        }
        made.insert(key.to_owned(), Arc::clone(&page));
        drop(made);
        Ok(page)
    }

    /// The finished pages; a request that broke while it held them left them whole.
    fn made(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Vec<u8>>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why no picture of an input is on a served page.
const CLOSED: &str = "the page server opens no file that a report names, unless it is started with --inputs; \
     `calipers show FILE --html PAGE` draws it";

/// Sixteen hexadecimal digits.
fn is_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn gone() -> Response {
    Response::refusal(404, "there is no such file in the folder")
}

fn failed(error: &Error) -> Response {
    Response::refusal(422, &error.to_string())
}

fn shown(page: Result<Arc<Vec<u8>>>, known: Option<&str>) -> Response {
    match page {
        Ok(page) => Response { policy: page::policy(), ..Response::new(HTML, page.to_vec()) }.tagged(known),
        Err(error) => failed(&error),
    }
}
