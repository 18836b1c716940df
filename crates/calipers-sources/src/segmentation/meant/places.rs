//! What a path is likely to be that is given where something else belongs.

use std::fs;
use std::path::Path;

use calipers_core::Error;

use crate::segmentation::side;

/// Words in the names of folders of truth, and of folders of predictions.
const TRUTH: [&str; 7] = ["gt", "truth", "label", "annot", "mask", "target", "reference"];
const PRED: [&str; 5] = ["pred", "out", "result", "infer", "submission"];

/// Two paths as truth and prediction: in the order given, unless their names say otherwise.
pub fn in_order<'p>(first: &'p str, second: &'p str) -> (&'p str, &'p str) {
    let swapped = is_called(first, &PRED) && is_called(second, &TRUTH);
    if swapped { (second, first) } else { (first, second) }
}

/// Whether a path is a folder, or named like a file of maps.
pub fn holds_maps(path: &Path) -> bool {
    let name = path.to_string_lossy();
    path.is_dir() || side::endings().iter().any(|ending| name.ends_with(ending))
}

/// What is said of a path that is no configuration, where the truth and the prediction are given or not.
pub fn no_configuration(path: &Path, (truth, pred): (bool, bool)) -> Error {
    let shown = path.display().to_string();
    let error = Error::usage("a configuration is a file of TOML").found(&shown);
    let options = match (truth, pred) {
        (false, true) => vec![format!("--truth={shown}")],
        (true, false) => vec![format!("--pred={shown}")],
        (true, true) => return error.advice("leave it out: truth and prediction are given by options"),
        (false, false) => match held(path) {
            Some(options) => options,
            None => {
                return error.advice("folders and files of maps are given as --truth PATH and --pred PATH");
            }
        },
    };
    error.advice("folders and files of maps are given by options").again_with(options)
}

/// The options for a folder that holds one of truth and one of predictions.
fn held(folder: &Path) -> Option<Vec<String>> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut folders: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    folders.sort_unstable();
    let only = |words: &[&str]| {
        let mut alike = folders.iter().filter(|name| is_called(name, words));
        alike.next().filter(|_| alike.next().is_none())
    };
    let (truth, pred) = (only(&TRUTH)?, only(&PRED)?);
    let below = |name: &str| folder.join(name).display().to_string();
    (truth != pred).then(|| vec![format!("--truth={}", below(truth)), format!("--pred={}", below(pred))])
}

fn is_called(path: &str, words: &[&str]) -> bool {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path).to_lowercase();
    words.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_of_two_is_the_truth() {
        assert_eq!(in_order("a/", "b"), ("a/", "b"));
        assert_eq!(in_order("runs/pred/", "val/gtFine"), ("val/gtFine", "runs/pred/"));
        assert_eq!(in_order("out", "labels"), ("labels", "out"));
    }

    #[test]
    fn a_folder_of_both_is_taken_apart() {
        let folder = tempfile::tempdir().unwrap();
        let both = |names: &[&str]| {
            names.iter().for_each(|name| fs::create_dir(folder.path().join(name)).unwrap());
            no_configuration(folder.path(), (false, false)).to_string()
        };
        assert!(!both(&["images"]).contains("try:"));
        let said = both(&["masks", "outputs"]);
        assert!(said.contains("/masks --pred=") && said.ends_with("/outputs"), "{said}");
        assert!(!both(&["results"]).contains("try:"), "which of two?");
    }
}
