//! Folders of PNG pairs, from files to the report.

use std::path::Path;

use calipers::inputs::Inputs;
use calipers::io::image::Image;
use calipers::io::image::png::decode;
use calipers::run::Work;
use calipers::sources::segmentation::measure;
use calipers::sources::segmentation::options::Options;

use super::maps::Maps;
use super::speed;
use crate::Outcome;
use crate::harness::clock::{by_turns, seconds_per_call};
use crate::harness::line::{Goal, Line, duration};
use crate::harness::peer::Peer;
use crate::harness::program;

/// Street-sized pairs on one thread, against decoding them and nothing else.
pub(crate) fn run(report: &mut dyn FnMut(Line)) -> Outcome {
    const PAIRS: usize = 8;
    let folder = tempfile::tempdir()?;
    let mut pixels = 0;
    for number in 0..PAIRS {
        let maps = Maps::smooth(2048, 1024, number as u64);
        pixels += maps.pixels();
        save(folder.path(), number, &maps)?;
    }
    let options = options(folder.path())?;
    let whole = || measure(&options, Inputs::default(), &Work::quiet(1)).map(|all| all.finish());
    whole()?;
    let mut image = Image::default();
    let mut decode_all = || -> Outcome {
        for entry in ["gt", "out"].iter().flat_map(|side| folder.path().join(side).read_dir()).flatten() {
            decode(&std::fs::read(entry?.path())?, &mut image)?;
        }
        Ok(())
    };
    let (ours, theirs) = by_turns(
        5,
        || Ok(seconds_per_call(whole)),
        || -> Outcome<f64> { Ok(seconds_per_call(&mut decode_all)) },
    )?;
    let line = |job: &str, theirs: f64| Line {
        job: job.into(),
        ours: speed(2 * pixels, ours),
        against: speed(2 * pixels, theirs),
        ratio: theirs / ours,
        goal: Goal::AtLeast(0.8),
    };
    report(line("PNG pairs to confusion matrix, pixels of both; decoding alone", theirs));
    let mut peer = Peer::start("segmentation_png.py", folder.path())?;
    peer.seconds("decode")?;
    let decoded = (0..5).map(|_| peer.seconds("decode")).collect::<Outcome<Vec<f64>>>()?;
    let best = decoded.into_iter().fold(f64::INFINITY, f64::min);
    report(line("PNG pairs to confusion matrix, pixels of both; OpenCV decoding alone", best));
    Ok(())
}

/// Street-sized pairs with bands, on two threads and on one.
pub(crate) fn run_threads(report: &mut dyn FnMut(Line)) -> Outcome {
    let folder = tempfile::tempdir()?;
    for number in 0..32 {
        save(folder.path(), number, &Maps::smooth(2048, 1024, number as u64))?;
    }
    two_against_one(report, "32 PNG pairs of 1024 x 2048", "overlap,boundary", 5, folder.path())
}

/// Very many small pairs.
pub(crate) fn run_small(report: &mut dyn FnMut(Line)) -> Outcome {
    let folder = tempfile::tempdir()?;
    let maps: Vec<Maps> = (0..16).map(|seed| Maps::smooth(64, 64, seed)).collect();
    for number in 0..100_000 {
        save(folder.path(), number, &maps[number % maps.len()])?;
    }
    two_against_one(report, "100,000 PNG pairs of 64 x 64", "overlap", 2, folder.path())
}

/// The program on folders, by the clock on the wall: what a second thread brings.
fn two_against_one(
    report: &mut dyn FnMut(Line),
    pairs: &str,
    measure: &str,
    rounds: usize,
    folder: &Path,
) -> Outcome {
    let run = |threads: &str| {
        let files = ["segmentation", "--truth", "gt", "--pred", "out", "--classes", "19", "--ignore", "255"];
        let how = ["--measure", measure, "--threads", threads, "--json", "-", "--quiet"];
        program::calipers(&[files.as_slice(), how.as_slice()].concat(), folder)
    };
    let peak = run("2")?.peak >> 20;
    let (two, one) =
        by_turns(rounds, || run("2").map(|run| run.seconds), || run("1").map(|run| run.seconds))?;
    report(Line {
        job: format!("{pairs}, {peak} MB, two threads, wall time; one thread"),
        ours: duration(two),
        against: duration(one),
        ratio: one / two,
        goal: Goal::AtLeast(1.8),
    });
    Ok(())
}

fn options(folder: &Path) -> Outcome<Options> {
    let text = "measure = [\"overlap\"]\n[data]\ntruth = \"gt\"\npred = \"out\"\n";
    let names: Vec<String> = (0..super::maps::CLASSES).map(|class| class.to_string()).collect();
    let text = format!("{text}[labels]\noriginal = {names:?}\nignore = [255]\n");
    Ok(Options::new(calipers::sources::config_file::parse(&text)?, folder))
}

fn save(folder: &Path, number: usize, maps: &Maps) -> Outcome {
    for (side, map) in [("gt", &maps.truth), ("out", &maps.pred)] {
        let folder = folder.join(side);
        std::fs::create_dir_all(&folder)?;
        let file = std::fs::File::create(folder.join(format!("{number:06}.png")))?;
        let mut encoder =
            png::Encoder::new(std::io::BufWriter::new(file), maps.width as u32, maps.height as u32);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(map)?;
    }
    Ok(())
}
