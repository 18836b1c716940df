//! Files that several units share: loaded by the first that needs one, dropped after the last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use calipers_core::Result;
use calipers_io::memory;

use crate::inputs::{Inputs, Shared};

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
    loaded: Option<Loaded<T>>,
}

/// What a file holds, and the record of having read it.
struct Loaded<T> {
    content: Arc<T>,
    read: Arc<Shared>,
}

impl<T> Clone for Loaded<T> {
    fn clone(&self) -> Self {
        Self { content: Arc::clone(&self.content), read: Arc::clone(&self.read) }
    }
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
        self.locked(place).users += 1;
    }

    /// The content, loaded and kept for the units that will take it. What is read goes into `inputs`.
    pub fn keep(
        &self,
        place: usize,
        inputs: &Inputs,
        load: impl FnOnce(&F, &Inputs) -> Result<T>,
    ) -> Result<Arc<T>> {
        self.content(place, inputs, load, |_| true)
    }

    /// The content for one of the announced units; loads it when no one has, and forgets it with
    /// the last. What is read goes into the `inputs` of every unit that takes it.
    pub fn take(
        &self,
        place: usize,
        inputs: &Inputs,
        load: impl FnOnce(&F, &Inputs) -> Result<T>,
    ) -> Result<Arc<T>> {
        self.content(place, inputs, load, |users| {
            *users = users.saturating_sub(1);
            *users > 0
        })
    }

    fn content(
        &self,
        place: usize,
        inputs: &Inputs,
        load: impl FnOnce(&F, &Inputs) -> Result<T>,
        stays: impl FnOnce(&mut usize) -> bool,
    ) -> Result<Arc<T>> {
        let mut content = self.locked(place);
        let loaded = match content.loaded.take() {
            Some(loaded) => loaded,
            None => {
                let own = inputs.aside();
                let content = Arc::new(memory::for_all(|| load(&self.slots[place].file, &own))?);
                Loaded { content, read: own.into_shared() }
            }
        };
        inputs.share(&loaded.read);
        content.loaded = stays(&mut content.users).then(|| loaded.clone());
        Ok(loaded.content)
    }

    /// A worker that stopped while it loaded has left nothing behind.
    fn locked(&self, place: usize) -> MutexGuard<'_, Content<T>> {
        self.slots[place].content.lock().unwrap_or_else(PoisonError::into_inner)
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
        let inputs = Inputs::default();
        let load = |file: &&str, _: &Inputs| {
            loads.set(loads.get() + 1);
            Ok((*file).to_owned())
        };
        let first = cache.take(0, &inputs, load).unwrap();
        let second = cache.take(0, &inputs, load).unwrap();
        assert_eq!(loads.get(), 1);
        drop(first);
        assert_eq!(Arc::strong_count(&second), 1);
    }
}
