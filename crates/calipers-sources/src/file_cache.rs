//! Files that several units share: loaded by the first that needs one, dropped after the last.

use std::sync::{Arc, Mutex};

use calipers_core::{Error, Result};

/// Files by their place in a list, each loaded at most once at a time.
pub struct FileCache<F, T> {
    slots: Vec<Slot<F, T>>,
}

struct Slot<F, T> {
    file: F,
    content: Mutex<Content<T>>,
}

struct Content<T> {
    /// How many units still need it.
    users: usize,
    loaded: Option<Arc<T>>,
}

impl<F, T> FileCache<F, T> {
    /// A cache of files that no unit needs yet.
    pub fn new(files: Vec<F>) -> Self {
        let slot = |file| Slot { file, content: Mutex::new(Content { users: 0, loaded: None }) };
        Self { slots: files.into_iter().map(slot).collect() }
    }

    /// The file at a place.
    pub fn file(&self, place: usize) -> &F {
        &self.slots[place].file
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = &F> {
        self.slots.iter().map(|slot| &slot.file)
    }

    /// Announces one more unit that will take this file.
    pub fn reserve(&self, place: usize) {
        if let Ok(mut content) = self.slots[place].content.lock() {
            content.users += 1;
        }
    }

    /// The content, loaded and kept for the units that will take it.
    pub fn keep(&self, place: usize, load: impl FnOnce(&F) -> Result<T>) -> Result<Arc<T>> {
        self.content(place, load, |_| true)
    }

    /// The content for one of the announced units; loads it when no one has, and forgets it with
    /// the last.
    pub fn take(&self, place: usize, load: impl FnOnce(&F) -> Result<T>) -> Result<Arc<T>> {
        self.content(place, load, |users| {
            *users = users.saturating_sub(1);
            *users > 0
        })
    }

    fn content(
        &self,
        place: usize,
        load: impl FnOnce(&F) -> Result<T>,
        stays: impl FnOnce(&mut usize) -> bool,
    ) -> Result<Arc<T>> {
        let Slot { file, content } = &self.slots[place];
        let mut content = content.lock().map_err(|_| Error::io("a worker stopped while reading"))?;
        let loaded = match content.loaded.take() {
            Some(loaded) => loaded,
            None => Arc::new(load(file)?),
        };
        content.loaded = stays(&mut content.users).then(|| Arc::clone(&loaded));
        Ok(loaded)
    }
}

impl<F, T> Default for FileCache<F, T> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_shared_file_is_loaded_once_and_dropped_after_its_last_unit() {
        let cache: FileCache<&str, String> = FileCache::new(vec!["a"]);
        cache.reserve(0);
        cache.reserve(0);
        let loads = Cell::new(0);
        let load = |file: &&str| {
            loads.set(loads.get() + 1);
            Ok((*file).to_owned())
        };
        let first = cache.take(0, load).unwrap();
        let second = cache.take(0, load).unwrap();
        assert_eq!(loads.get(), 1);
        drop(first);
        assert_eq!(Arc::strong_count(&second), 1);
    }
}
