//! Configuration files: TOML, with the line and the nearest valid word in every complaint.

use calipers_core::spelling::nearest;
use calipers_core::{Error, Result};
use serde::de::DeserializeOwned;

/// Reads the text of a configuration file.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    let text = text.trim_start_matches('\u{feff}');
    toml::from_str(text).map_err(|error| explained(&error, text))
}

fn explained(problem: &toml::de::Error, text: &str) -> Error {
    let error = worded(problem.message());
    let Some(span) = problem.span() else { return error };
    let lines_before = text.get(..span.start).unwrap_or(text).matches('\n').count();
    let line = text.lines().nth(lines_before).unwrap_or_default().trim();
    error.at(format!("line {}: {line}", lines_before + 1))
}

/// What a deserializer complains of, with the nearest valid word where one is near.
pub fn worded(message: &str) -> Error {
    match Unknown::read(message) {
        Some(unknown) => unknown.error(),
        None => Error::format(message.lines().next().unwrap_or("the configuration is not readable")),
    }
}

/// A word that is none of those allowed in its place, as the deserializer words it.
struct Unknown<'a> {
    what: &'static str,
    word: &'a str,
    allowed: Vec<&'a str>,
}

impl<'a> Unknown<'a> {
    fn read(message: &'a str) -> Option<Self> {
        let (what, rest) = match message.strip_prefix("unknown field `") {
            Some(rest) => ("unknown key", rest),
            None => ("unknown word", message.strip_prefix("unknown variant `")?),
        };
        let (word, rest) = rest.split_once("`, expected ")?;
        let allowed = rest.split('`').skip(1).step_by(2).collect();
        Some(Self { what, word, allowed })
    }

    fn error(&self) -> Error {
        let error = Error::value(self.what).found(self.word).allowed(self.allowed.join(", "));
        match nearest(self.word, self.allowed.iter().copied()) {
            Some(known) => error.advice(format!("did you mean {known}?")),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_metrics::segmentation::config::Config;

    fn refused(text: &str, words: &[&str]) {
        let message = parse::<Config>(text).unwrap_err().to_string();
        for word in words {
            assert!(message.contains(word), "{word} is missing in: {message}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_its_neighbour() {
        refused(
            "preset = \"strict\"\n[boundary]\nthicknes = 2\n",
            &["line 3", "thicknes", "mean thickness?"],
        );
        refused("[label]\noriginal = 3\n", &["line 1", "label", "mean labels?"]);
        refused("[[heads]]\nname = \"h\"\nchannel = []\n", &["line 3", "channel", "mean channels?"]);
        refused("[bins]\n\nelephants = 1\n", &["line 3", "elephants", "count, closed"]);
    }

    #[test]
    fn an_unknown_preset_measure_or_kind_is_named_with_its_line_and_its_neighbour() {
        refused("\npreset = \"strcit\"\n", &["line 2", "strcit", "mean strict?", "coral-mtl"]);
        refused("measure = [\"overlap\",\n  \"bondary\"]\n", &["line 2", "bondary", "mean boundary?"]);
        refused("[[heads]]\nname = \"h\"\nkind = \"logit\"\n", &["line 3", "logit", "mean logits?"]);
        refused("measure = \"overlap\"\n", &["line 1", "overlap", "a list of measures or \"all\""]);
    }

    #[test]
    fn broken_toml_and_wrong_types_are_named_with_their_line() {
        refused("[labels]\noriginal = [\"a\", \n", &["line "]);
        refused("[labels]\noriginal = \"a\"\n", &["line 2", "a list of class names"]);
        refused("[labels.original]\nroad = \"7\"\n", &["line ", "`road`"]);
        refused("[bins]\ncount = \"ten\"\n", &["line 2", "count"]);
        refused("[[heads]]\nkind = \"probs\"\n", &["line 1", "name"]);
        refused("preset = \"strict\"\npreset = \"mmseg\"\n", &["line 2", "preset"]);
    }

    #[test]
    fn every_key_is_read_from_a_file() {
        let config: Config = parse(EVERY_KEY).unwrap();
        let protocol = config.resolve().unwrap();
        assert_eq!(protocol.labels.global, ["background", "dog", "cat"]);
        assert_eq!(protocol.labels.to_global.values().copied().collect::<Vec<_>>(), [0, 1, 1, 2, 2]);
        assert_eq!(protocol.labels.ignore.iter().copied().collect::<Vec<_>>(), [255]);
        assert_eq!((protocol.boundary.thickness, protocol.bins.count), (4, 15));
        let head = &protocol.heads[0];
        assert_eq!(head.to_channel.values().copied().collect::<Vec<_>>(), [0, 1, 1, 2]);
        assert_eq!(
            (head.absent.first(), head.rest, head.alpha.to_bits()),
            (Some(&4), Some(0), 2f64.to_bits())
        );
        let data = &config.data;
        assert_eq!(data.truth_suffix.as_deref(), Some("_gt.png"));
        assert!(data.flat && data.allow_missing && data.confusion.is_none());
        assert_eq!(config.heads[0].path.as_deref(), Some(std::path::Path::new("pred/species")));
        assert_eq!(config.colors(&protocol.labels).unwrap()[&[0x80, 0x40, 0x80]], 1);
    }

    const EVERY_KEY: &str = r##"
        preset = "strict"
        measure = "all"
        layout = "HWC"
        space = "original"
        kind = "labels"
        [data]
        truth = "gt"
        pred = "pred"
        truth_suffix = "_gt.png"
        pred_suffix = ".npz"
        flat = true
        truth_space = "original"
        allow_missing = true
        [labels]
        original = ["unlabeled", "dog alive", "dog dead", "cat alive", "cat dead"]
        global = ["background", "dog", "cat"]
        groups = { dog = ["dog alive", 2], cat = [3, 4] }
        rest = "background"
        ignore = [255]
        background = "background"
        include_background = false
        unpredicted = "wrong"
        missing_heads = "marginalise"
        colors = { "#804080" = "dog alive", "#000000" = "ignore" }
        [boundary]
        thickness = 4
        cheng = 0.02
        tolerance = 0.01
        tolerance_px = 3
        [bins]
        count = 15
        closed = "left"
        [[heads]]
        name = "species"
        key = "logits"
        path = "pred/species"
        kind = "log-probs"
        layout = "CHW"
        space = "original"
        channels = ["none", "dog", "cat", "-"]
        groups = { dog = [1, 2], cat = [3] }
        rest = "none"
        absent = [4]
        alpha = 2
        tau = 0.5
    "##;

    #[test]
    fn a_byte_order_mark_and_windows_line_ends_are_accepted() {
        let config: Config = parse("\u{feff}[bins]\r\ncount = 15\r\n").unwrap();
        assert_eq!(config.bins.count, Some(15));
        refused("\u{feff}a\r\n= 1", &["line 1"]);
    }
}
