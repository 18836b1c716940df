//! Two workers against one on a folder of 500 files.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::Outcome;
use crate::harness::clock::by_turns;
use crate::harness::line::{Goal, Line, duration};
use crate::harness::{npy, program};
use crate::independent_set::instances::{Pack, satlib_size};

const FILES: u64 = 500;

/// SATLIB-sized graphs, one npz each, with baseline and certificate as by default.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    let folder = tempfile::tempdir()?;
    let inputs = folder.path().join("val");
    std::fs::create_dir(&inputs)?;
    for number in 0..FILES {
        save_npz(&inputs.join(format!("{number:03}.npz")), &Pack::of(satlib_size, 1, number))?;
    }
    let run = |threads: &str| -> Outcome<f64> {
        let arguments = ["independent-set", "val", "--threads", threads, "--json", "-", "--quiet"];
        Ok(program::calipers(&arguments, folder.path())?.seconds)
    };
    run("2")?;
    let (two, one) = by_turns(7, || run("2"), || run("1"))?;
    report(Line {
        job: format!("{FILES} npz files, two threads, wall time; one thread"),
        ours: duration(two),
        against: duration(one),
        ratio: one / two,
        goal: Goal::AtLeast(1.7),
    });
    Ok(())
}

fn save_npz(path: &Path, pack: &Pack) -> Outcome {
    let mut archive = ZipWriter::new(File::create(path)?);
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut member = |name: &str, bytes: Vec<u8>| -> Outcome {
        archive.start_file(name, options)?;
        Ok(archive.write_all(&bytes)?)
    };
    let mut bytes = Vec::new();
    npy::write(&mut bytes, &[&pack.src, &pack.dst], false)?;
    member("edge_index.npy", std::mem::take(&mut bytes))?;
    npy::write(&mut bytes, &[&pack.logits], true)?;
    member("logits.npy", std::mem::take(&mut bytes))?;
    npy::write(&mut bytes, &[&pack.labels], true)?;
    member("labels.npy", bytes)?;
    archive.finish()?;
    Ok(())
}
