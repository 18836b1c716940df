//! Explanations as JSON lines or as one document, from a file as a run reads them: an error, or rows.

#![no_main]

use std::fs;

use calipers::inputs::Inputs;
use calipers::metrics::explanation::{Explanation, Scores};
use calipers::run::Work;
use calipers::sources::explanation::{Options, measure};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let ending = if bytes.first() == Some(&b'[') { "json" } else { "jsonl" };
    let path = std::env::temp_dir().join(format!("calipers-fuzz-{}.{ending}", std::process::id()));
    fs::write(&path, bytes).expect("a folder for temporary files");
    let protocol = Explanation { scores: Some(Scores::Logits), ..Explanation::default() };
    let options = Options { inputs: vec![path.clone()], protocol };
    if let Ok(rows) = measure(&options, Inputs::default(), &Work::quiet(1)) {
        rows.finish();
    }
    fs::remove_file(&path).expect("it was written just now");
});
