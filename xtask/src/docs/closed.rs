//! Whether a page of the site loads anything from another address.

use std::fs;
use std::path::Path;

use crate::step::Outcome;

/// Attributes and rules that load what they name. A link to click is none.
const LOADS: [&str; 5] = ["src=", "<link ", "url(", "@import", "srcset="];

/// Fails at the first page or style that loads from outside.
pub(super) fn check(folder: &Path) -> Outcome {
    let entries =
        fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            check(&path)?;
        } else if path.extension().is_some_and(|ending| ending == "html" || ending == "css") {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            if let Some(found) = outside(&text) {
                return Err(format!("{} loads from outside: {found}", path.display()));
            }
        }
    }
    Ok(())
}

/// The first thing that is loaded from another address.
fn outside(text: &str) -> Option<&str> {
    LOADS.iter().find_map(|load| {
        text.match_indices(load).find_map(|(at, _)| {
            let end = text[at..].find(['>', ')', ';']).map_or(text.len(), |length| at + length);
            let found = &text[at..end];
            let target = found.strip_prefix("<link ").map_or(Some(found), |link| {
                link.contains("stylesheet").then(|| link.find("href=").map(|at| &link[at..])).flatten()
            })?;
            let target = target
                .trim_start_matches(*load)
                .trim_start_matches("href=")
                .trim_start_matches(['"', '\'', ' ']);
            ["http://", "https://", "//"].iter().any(|outside| target.starts_with(outside)).then_some(found)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_may_lead_outside_but_nothing_is_loaded_from_there() {
        for fine in [
            "<a href=\"https://x.y\">",
            "<img src=\"a.png\">",
            "<link rel=\"canonical\" href=\"https://x.y\">",
            "<script src=\"../a.js\">",
            "a{background:url(\"data:image/svg+xml,x\")}",
        ] {
            assert_eq!(outside(fine), None, "{fine}");
        }
        for bad in [
            "<img src=\"https://x.y/a.png\">",
            "<script src=//x.y/a.js>",
            "<link rel=\"stylesheet\" href=\"https://fonts.x/css\">",
            "a{background:url(https://x.y/a.png)}",
            "@import 'http://x.y/a.css';",
        ] {
            assert!(outside(bad).is_some(), "{bad}");
        }
    }
}
