//! `calipers segmentation fit` on sets whose temperatures are known.

use crate::support::segmentation::{f32s, grey, metric};
use crate::support::{Bench, npz};

const SIDE: usize = 40;
const PIXELS: usize = SIDE * SIDE;

/// The next draw from [0, 1) of a generator that is enough for a test.
fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// Logits of `channels` classes over an image.
fn logits(state: &mut u64, channels: usize) -> Vec<f32> {
    (0..channels * PIXELS).map(|_| (8.0 * unit(state) - 4.0) as f32).collect()
}

/// A draw from the softmax of a few scores.
fn drawn(scores: &[f64], state: &mut u64) -> u8 {
    let powers: Vec<f64> = scores.iter().map(|score| score.exp()).collect();
    let mut left = unit(state) * powers.iter().sum::<f64>();
    let fits = |power: &f64| {
        left -= power;
        left < 0.0
    };
    powers.iter().position(fits).unwrap_or(scores.len() - 1) as u8
}

/// Images whose truth is drawn from a flat head at temperature 2.5; a frame of void.
fn one_head(images: usize) -> Bench {
    let bench = Bench::new();
    let mut state = 5;
    for image in 0..images {
        let scores = logits(&mut state, 3);
        let truth: Vec<u8> = (0..PIXELS)
            .map(|pixel| match pixel % SIDE {
                0 => 255,
                _ => drawn(&[0, 1, 2].map(|c| f64::from(scores[c * PIXELS + pixel]) / 2.5), &mut state),
            })
            .collect();
        bench.write(&format!("gt/{image}.png"), grey(SIDE as u32, &truth));
        bench.write(&format!("out/{image}.npy"), f32s(&[3, SIDE, SIDE], &scores));
    }
    bench.write("one.toml", ONE);
    bench
}

const ONE: &str = r#"
kind = "logits" # as they come out of the model
[data]
truth = "gt"
pred = "out"
[labels]
original = ["a", "b", "c"]
ignore = [255]
"#;

/// Images whose truth is drawn from two heads, one three times as strong as it should be.
fn two_heads() -> Bench {
    let bench = Bench::new();
    let mut state = 9;
    for image in 0..8 {
        let (fine, coarse) = (logits(&mut state, 3), logits(&mut state, 2));
        let score = |class: usize, pixel: usize| {
            let group = usize::from(class > 0);
            f64::from(fine[class * PIXELS + pixel]) / 3.0 + f64::from(coarse[group * PIXELS + pixel])
        };
        let truth: Vec<u8> =
            (0..PIXELS).map(|pixel| drawn(&[0, 1, 2].map(|class| score(class, pixel)), &mut state)).collect();
        bench.write(&format!("gt/{image}.png"), grey(SIDE as u32, &truth));
        let arrays = [("fine", f32s(&[3, SIDE, SIDE], &fine)), ("coarse", f32s(&[2, SIDE, SIDE], &coarse))];
        bench.write(&format!("out/{image}.npz"), npz(&arrays));
    }
    bench.write("two.toml", TWO);
    bench
}

const TWO: &str = r#"
[data]
truth = "gt"
pred = "out"
[labels]
original = ["a", "b", "c"]
[[heads]]
name = "fine"
[[heads]]
name = "coarse" # a against the others
channels = ["a", "others"]
rest = "others"
"#;

/// The last number of the line that begins with a word.
fn last_number(table: &str, word: &str) -> f64 {
    let line = table.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("{word}: {table}"));
    line.split_whitespace().last().unwrap().parse().unwrap()
}

fn number(text: &str, key: &str) -> Vec<f64> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
    lines.map(|value| value.parse().unwrap()).collect()
}

#[test]
fn a_known_temperature_is_found_and_gives_the_nll_that_is_promised() {
    let bench = one_head(10);
    let said = bench.run("segmentation fit one.toml -o fitted.toml");
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(said.stderr, "wrote fitted.toml\n");
    assert!(said.stdout.contains("only tau matters"), "{}", said.stdout);
    let written = bench.read("fitted.toml");
    assert!(written.contains("# as they come out of the model"), "{written}");
    let tau = number(&written, "tau");
    assert!((tau[0] / 2.5 - 1.0).abs() < 0.05, "{tau:?}");
    assert_eq!(number(&written, "alpha"), [1.0]);
    let nll =
        |config: &str| metric(&bench.report(&format!("segmentation {config}")), "nll").as_f64().unwrap();
    let (before, after) = (nll("one.toml"), nll("fitted.toml"));
    assert!(after < before - 0.1, "{before} {after}");
    let whole = 0.8 * last_number(&said.stdout, "fitted to") + 0.2 * last_number(&said.stdout, "held back");
    assert!((whole - after).abs() < 2e-4, "{whole} {after}");
}

#[test]
fn weights_over_temperatures_of_two_heads_are_found() {
    let bench = two_heads();
    let said = bench.run("segmentation fit two.toml -o fitted.toml --quiet");
    assert_eq!((said.status, said.stdout.as_str()), (0, ""), "{}", said.stderr);
    let written = bench.read("fitted.toml");
    assert!(written.contains("# a against the others"));
    let (alpha, tau) = (number(&written, "alpha"), number(&written, "tau"));
    for (head, strength) in [1.0 / 3.0, 1.0].into_iter().enumerate() {
        assert!((alpha[head] / tau[head] / strength - 1.0).abs() < 0.08, "{written}");
    }
    let report = bench.report("segmentation fitted.toml");
    assert!(metric(&report, "nll").as_f64() < metric(&bench.report("segmentation two.toml"), "nll").as_f64());
}

#[test]
fn threads_and_places_do_not_move_the_result() {
    let bench = two_heads();
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    for (threads, place) in [(1, "a.toml"), (2, "b.toml"), (7, "elsewhere/c.toml")] {
        let said =
            bench.run(&format!("segmentation fit two.toml -o {place} --seed 3 --threads {threads} -q"));
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    assert_eq!(bench.read("a.toml"), bench.read("b.toml"));
    let (here, there) = (bench.report("segmentation a.toml"), bench.report("segmentation elsewhere/c.toml"));
    assert_eq!(here["metrics"], there["metrics"]);
}

#[test]
fn what_cannot_be_known_is_said() {
    let bench = one_head(1);
    let said = bench.run("segmentation fit one.toml -o fitted.toml");
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(said.stderr.contains("warning[nothing-held-back]"), "{}", said.stderr);
    assert!(!said.stdout.contains("held back"), "{}", said.stdout);
}

#[test]
fn what_cannot_be_fitted_is_refused_and_nothing_is_written() {
    let bench = one_head(2);
    bench.write("labels.toml", ONE.replace("logits", "labels"));
    bench.write("bare.toml", "[labels]\noriginal = [\"a\"]\n");
    bench.refuses("segmentation fit labels.toml -o f.toml", 1, &["label maps", "logits"]);
    bench.refuses("segmentation fit bare.toml -o f.toml", 2, &["nothing to measure", "bare.toml"]);
    bench.refuses("segmentation fit one.toml -o f.toml --holdout 1", 2, &["--holdout", "not including, 1"]);
    bench.refuses("segmentation fit one.toml -o nowhere/f.toml", 1, &["nowhere"]);
    bench.refuses("segmentation fit missing.toml -o f.toml", 1, &["missing.toml"]);
    for image in ["gt/0.png", "gt/1.png"] {
        bench.write(image, grey(SIDE as u32, &[255; PIXELS]));
    }
    bench.refuses("segmentation fit one.toml -o f.toml", 1, &["no scored pixel"]);
    assert!(!bench.path("f.toml").exists());
}
