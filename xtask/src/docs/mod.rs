//! The documents as a site: gathered, built strictly, every code block run, nothing asked from outside.

mod closed;
mod navigation;
mod pages;

use std::fs;
use std::path::Path;

use crate::python;
use crate::step::{Outcome, announced, root, step};

/// Where the site is made; `site` below it is the result.
const WORK: &str = "target/docs";
const REQUIREMENTS: &str = "docs/site/requirements.txt";
const BLOCKS: &str = "pytest python/tests/documents";

/// Builds the site and runs the code blocks of its pages.
pub(crate) fn make() -> Outcome {
    site()?;
    let python = python::installed_package()?;
    step("code blocks of the documents", &mut python::module(&python, BLOCKS))
}

/// Builds the site alone. A link or an anchor that leads nowhere fails.
pub(crate) fn site() -> Outcome {
    let work = root().join(WORK);
    announced("pages of the site", || {
        let _ = fs::remove_dir_all(work.join("pages"));
        let pages = pages::gather(&root())?;
        for page in &pages {
            page.write(&work.join("pages"))?;
        }
        let menu = navigation::menu(&pages)?;
        write(&work.join("mkdocs.yml"), format!("INHERIT: ../../docs/site/mkdocs.yml\nnav:\n{menu}"))
    })?;
    let python = python::environment_in("target/docs-venv", &[REQUIREMENTS])?;
    let config = work.join("mkdocs.yml");
    let mut build = python::module(&python, "mkdocs --quiet build --strict --clean --config-file");
    // Its authors announce other projects at every start.
    build.arg(&config).env("NO_MKDOCS_2_WARNING", "true").env("DISABLE_MKDOCS_2_WARNING", "true");
    step("site", &mut build)?;
    announced("the site asks nothing from outside", || closed::check(&work.join("site")))?;
    println!("    {}", work.join("site/index.html").display());
    Ok(())
}

fn write(path: &Path, contents: impl AsRef<[u8]>) -> Outcome {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, contents));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}
