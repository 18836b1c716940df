//! The folder that an input stands for: what it is called, and what runs directly under it are grouped by.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use calipers_core::Result;
use calipers_io::place;

use super::{History, is_checkpoint, text};

/// Labels that two inputs would give to two folders become the paths as given.
pub(super) fn name_folders(histories: &mut [History], inputs: &[PathBuf]) -> Result<()> {
    let mut of_label: BTreeMap<String, BTreeMap<PathBuf, ()>> = BTreeMap::new();
    let folder = |input: &PathBuf| if place::is_folder(input) { input.clone() } else { parent(input) };
    for history in histories.iter().filter_map(|history| Some((history.folder.clone()?, history.input))) {
        let path = folder(&inputs[history.1]);
        let real = path.canonicalize().unwrap_or(path);
        of_label.entry(history.0).or_default().insert(real, ());
    }
    for history in histories {
        if let Some(label) = history.folder.as_ref().filter(|label| of_label[*label].len() > 1) {
            let path = folder(&inputs[history.input]);
            let shown = text(&path)?.replace(std::path::MAIN_SEPARATOR, "/");
            let shown = shown.trim_end_matches('/');
            history.folder = Some(if shown.is_empty() { label.clone() } else { shown.to_owned() });
        }
    }
    Ok(())
}

/// The folder that a path lies in.
pub(super) fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
}

/// The label that the rule `folder` gives to runs directly under an input; none where it is a bare file in
/// the working folder.
pub(super) fn within(input: &Path) -> Result<Option<String>> {
    if place::is_folder(input) {
        // A checkpoint stands for its run, which lies one folder higher.
        let folder = if names_checkpoint(input) { parent(&parent(input)) } else { input.to_path_buf() };
        return own_name(&folder).map(Some);
    }
    let mut folder = parent(input);
    if names_checkpoint(&folder) {
        folder = parent(&parent(&folder));
    }
    let bare = folder.as_os_str().is_empty() || folder == Path::new(".");
    if bare { Ok(None) } else { own_name(&folder).map(Some) }
}

/// Whether a folder is a checkpoint by its name.
pub(super) fn names_checkpoint(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_some_and(is_checkpoint)
}

/// The name of a folder, also of one that is written as a dot.
pub(super) fn own_name(folder: &Path) -> Result<String> {
    let named = |path: &Path| path.file_name().map(|name| text(Path::new(name)).map(str::to_owned));
    let given = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    named(given)
        .or_else(|| given.canonicalize().ok().and_then(|folder| named(&folder)))
        .unwrap_or_else(|| Ok("/".into()))
}
