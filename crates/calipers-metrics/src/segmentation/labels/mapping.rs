//! One form for both mappings: a list of classes, groups of originals, and who takes the rest.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use calipers_core::spelling::nearest;
use calipers_core::{Error, Result};

use crate::segmentation::labels::{ClassRef, MOST_CLASSES};

/// The entry of a list that stands for no class.
pub(crate) const NOT_USED: &str = "-";

/// The original classes that a mapping distributes.
pub(crate) struct Listed<'a> {
    names: &'a BTreeMap<i64, String>,
    ids: BTreeMap<&'a str, i64>,
    ignore: BTreeSet<i64>,
}

/// A mapping as it is written.
pub(crate) struct Wanted<'a> {
    /// The table it is written in, for messages.
    pub(crate) table: String,
    /// The key of the list, for messages.
    pub(crate) list: &'static str,
    /// The list.
    pub(crate) entries: Vec<ClassRef>,
    /// The originals of an entry.
    pub(crate) groups: &'a BTreeMap<String, Vec<ClassRef>>,
    /// The entry that takes what nobody claims.
    pub(crate) rest: Option<&'a ClassRef>,
    /// Originals that belong nowhere on purpose.
    pub(crate) absent: &'a [ClassRef],
}

/// A mapping that distributes every scored original.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// The names of the list.
    pub(crate) names: Vec<String>,
    /// The position of every original that has one.
    pub(crate) position: BTreeMap<i64, usize>,
    /// Scored originals without one.
    pub(crate) absent: BTreeSet<i64>,
    /// Positions that no scored original has.
    pub(crate) empty: BTreeSet<usize>,
    /// The position of the rest.
    pub(crate) rest: Option<usize>,
}

impl<'a> Listed<'a> {
    /// The listed originals; those with an id in `ignore` are not scored and so belong to nobody.
    pub(crate) fn new(names: &'a BTreeMap<i64, String>, ignore: BTreeSet<i64>) -> Self {
        Self { names, ids: names.iter().map(|(id, name)| (name.as_str(), *id)).collect(), ignore }
    }

    /// The ids of all of them, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = i64> {
        self.names.keys().copied()
    }

    /// The ids that are not scored.
    pub(crate) fn into_ignore(self) -> BTreeSet<i64> {
        self.ignore
    }

    /// The id of the original that a reference means; `at` says where it is written.
    pub(crate) fn id(&self, class: &ClassRef, at: &str) -> Result<i64> {
        match class {
            ClassRef::Id(id) if self.names.contains_key(id) => Ok(*id),
            ClassRef::Id(id) => Err(Error::value("no original class has this id").at(at).found(id)),
            ClassRef::Name(name) => {
                self.ids.get(name.as_str()).copied().ok_or_else(|| self.unknown(name, at))
            }
        }
    }

    fn unknown(&self, name: &str, at: &str) -> Error {
        let error = Error::value("no original class has this name").at(at).found(format!("{name:?}"));
        match nearest(name, self.names.values().map(String::as_str)) {
            Some(known) => error.advice(format!("did you mean {known:?}?")),
            None => error.advice("use a name or an id of original in [labels]"),
        }
    }

    /// Ids and names of the scored originals, in id order.
    pub(crate) fn scored(&self) -> impl Iterator<Item = (i64, &'a str)> {
        let scored = self.names.iter().filter(|(id, _)| !self.ignore.contains(id));
        scored.map(|(id, name)| (*id, name.as_str()))
    }
}

impl Wanted<'_> {
    /// Gives every scored original its position, or says why that fails.
    pub(crate) fn resolve(&self, listed: &Listed<'_>) -> Result<Mapping> {
        let names = self.names(listed)?;
        let rest = self.rest.map(|rest| self.rest_position(rest, &names, listed)).transpose()?;
        let mut position = BTreeMap::new();
        for (place, name) in names.iter().enumerate().filter(|(_, name)| *name != NOT_USED) {
            for id in self.claims(name, rest == Some(place), listed)? {
                if listed.ignore.contains(&id) {
                    continue;
                }
                if let Some(other) = position.insert(id, place) {
                    return Err(self.twice(&listed.names[&id], &names[other], name));
                }
            }
        }
        let mut absent = BTreeSet::new();
        for class in self.absent {
            let id = listed.id(class, &self.at("absent"))?;
            if let Some(place) = position.get(&id) {
                return Err(self.twice(&listed.names[&id], &names[*place], "absent"));
            }
            if !listed.ignore.contains(&id) {
                absent.insert(id);
            }
        }
        for (id, name) in listed.scored().filter(|(id, _)| !absent.contains(id)) {
            if let Entry::Vacant(place) = position.entry(id) {
                place.insert(rest.ok_or_else(|| self.unclaimed(id, name))?);
            }
        }
        let held: BTreeSet<usize> = position.values().copied().collect();
        let empty = (0..names.len()).filter(|place| !held.contains(place)).collect();
        Ok(Mapping { names, position, absent, empty, rest })
    }

    fn at(&self, key: &str) -> String {
        format!("{} {key}", self.table)
    }

    /// The entries by name, each name once.
    fn names(&self, listed: &Listed<'_>) -> Result<Vec<String>> {
        if self.entries.len() > MOST_CLASSES {
            let error = Error::value("too many classes").at(self.at(self.list)).found(self.entries.len());
            return Err(error.allowed(format!("at most {MOST_CLASSES}")));
        }
        let name = |entry: &ClassRef| match entry {
            ClassRef::Name(name) => Ok(name.clone()),
            ClassRef::Id(_) => Ok(listed.names[&listed.id(entry, &self.at(self.list))?].clone()),
        };
        let names = self.entries.iter().map(name).collect::<Result<Vec<_>>>()?;
        let mut seen = BTreeSet::new();
        if let Some(name) = names.iter().find(|name| *name != NOT_USED && !seen.insert(*name)) {
            return Err(duplicate(name).at(self.at(self.list)));
        }
        if let Some(group) = self.groups.keys().find(|group| !seen.contains(group)) {
            let error = Error::value("a group that is not in the list").at(self.at("groups"));
            let error = error.found(format!("{group:?}"));
            return Err(match nearest(group, seen.into_iter().map(String::as_str)) {
                Some(known) => error.advice(format!("did you mean {known:?}?")),
                None => error.advice(format!("name it in {} too", self.list)),
            });
        }
        Ok(names)
    }

    fn rest_position(&self, rest: &ClassRef, names: &[String], listed: &Listed<'_>) -> Result<usize> {
        let name = match rest {
            ClassRef::Id(_) => &listed.names[&listed.id(rest, &self.at("rest"))?],
            ClassRef::Name(name) => name,
        };
        names.iter().position(|known| known == name && name != NOT_USED).ok_or_else(|| {
            let error = Error::value("rest is not in the list").at(self.at("rest")).found(rest);
            error.allowed(format!("an entry of {}", self.list))
        })
    }

    /// The originals that an entry names, ignored ones included.
    fn claims(&self, name: &str, is_rest: bool, listed: &Listed<'_>) -> Result<Vec<i64>> {
        if let Some(group) = self.groups.get(name) {
            let at = self.at(&format!("groups, class {name:?}"));
            return group.iter().map(|class| listed.id(class, &at)).collect();
        }
        match listed.ids.get(name) {
            Some(id) => Ok(vec![*id]),
            None if is_rest => Ok(Vec::new()),
            None => {
                let error = listed.unknown(name, &self.at(self.list));
                Err(error.allowed("the name of a group, of an original class, or of rest"))
            }
        }
    }

    fn twice(&self, original: &str, first: &str, second: &str) -> Error {
        let error = Error::value("an original class is claimed twice").at(&self.table);
        error.found(format!("{original:?}, by {first:?} and by {second:?}"))
    }

    fn unclaimed(&self, id: i64, name: &str) -> Error {
        let error = Error::value("an original class is claimed by nobody").at(&self.table);
        error.found(format!("{name:?}, id {id}")).advice(format!(
            "name it in {} or in groups, let rest take it, or put its id into ignore",
            self.list
        ))
    }
}

/// The error for a name that a list has twice.
pub(crate) fn duplicate(name: &str) -> Error {
    Error::value("a class name occurs twice").found(format!("{name:?}")).allowed("every name once")
}
