//! The forms of a small comparison, word for word.

use calipers_core::resample::{Bootstrap, Method};
use calipers_core::{Better, InputFiles, Value};

use super::*;
use crate::terminal::Style;

fn model(name: &str) -> Model {
    Model { name: name.into(), source: format!("{name}.state"), reading: Map::new() }
}

fn pair(unit: &str, first: f64, other: f64) -> UnitPair {
    UnitPair { unit: unit.into(), first, other }
}

fn small() -> Comparison {
    let paired = Paired {
        wins: 5,
        ties: 1,
        losses: 0,
        left_out: 2,
        sign: 0.0625,
        permutation: 0.0625,
        exact: true,
        adjusted: 0.125,
        most: vec![pair("a<b>", 0.25, 0.75), pair("c", 0.5, 0.625)],
        numbers: vec![Some([0.25, 0.75]), Some([0.5, 0.625]), None],
    };
    Comparison {
        version: "0.1.0".into(),
        family: "segmentation".into(),
        subject: None,
        units: 8,
        unit_names: ["a<b>", "c", "d"].map(String::from).into(),
        models: vec![model("base"), model("multi")],
        drawn: Drawn {
            bootstrap: Bootstrap { resamples: 1000, confidence: 0.95, seed: 0, method: Method::Expanded },
            sampling_unit: "unit".into(),
            cluster_by: None,
            strata: vec![("all".into(), [8, 8])],
            percentile_used: Vec::new(),
        },
        pictures: Vec::new(),
        lines: vec![
            Line {
                id: "segmentation.miou".into(),
                label: None,
                better: Better::Higher,
                range: [0.0, 1.0],
                values: vec![Value::Number(0.5), Value::Number(0.625)],
                against: vec![Some(Difference {
                    difference: 0.125,
                    interval: Some([-0.0625, 0.25]),
                    fell_back: None,
                    paired: Some(paired),
                })],
                ranks: None,
            },
            Line {
                id: "segmentation.nll".into(),
                label: None,
                better: Better::Lower,
                range: [0.0, f64::INFINITY],
                values: vec![Value::undefined("label maps"), Value::Number(0.5)],
                against: vec![None],
                ranks: None,
            },
        ],
        warnings: Vec::new(),
        inputs: InputFiles::default(),
    }
}

#[test]
fn the_terminal_shows_both_models_and_never_ranks_an_undefined_one() {
    let expected = "\
segmentation: multi against base, 8 units

           base    multi  difference        interval  won  tied  lost       p  p adj.
  miou  ↑  0.50    >0.62       +0.12  [-0.06, +0.25]    5     1     0  0.0625  0.1250
  nll   ↓     –  >0.5000           –               –    –     –     –       –       –
  > best value of the line

  units that differ most in miou
    a<b>  0.2500 → 0.7500  (+0.5000)
    c     0.5000 → 0.6250  (+0.1250)

  95 % intervals of the difference (expanded) from 1000 paired resamples of the units, seed 0; p
    of a two-sided permutation test of the mean difference per unit (every sign pattern up to 20
    differences, else 1000 random ones); p adj. after Holm's correction for 1 test, which bounds the
    chance of even one false claim whatever the metrics have to do with each other
  nll is not defined for base: label maps
  units where one of the two models has no number are left out of the tests: miou (2, multi)
";
    assert_eq!(terminal(&[small()], Style { colour: false, width: 100 }, Forms::default()), expected);
}

#[test]
fn a_narrow_terminal_does_without_the_columns_that_say_least() {
    let text = terminal(&[small()], Style { colour: false, width: 76 }, Forms::default());
    assert!(text.lines().all(|line| line.chars().count() <= 76), "{text}");
    assert!(text.contains("p adj.") && !text.contains("tied "), "{text}");
    let text = terminal(&[small()], Style { colour: false, width: 64 }, Forms::default());
    assert!(text.contains("[-0.06, +0.25]") && !text.contains("won"), "people decide by intervals: {text}");
}

#[test]
fn equal_models_have_no_best_one() {
    let mut comparison = small();
    comparison.lines[0].values[1] = Value::Number(0.5);
    assert!(comparison.lines[0].best().is_none() && comparison.lines[1].best().is_some());
}

#[test]
fn markdown_and_latex_hold_the_same_row() {
    let row = "| miou ↑ | 0.50 | **0.62** | +0.12 | \\[-0.06, +0.25\\] | 5 / 1 / 0 | 0.1250 |";
    let text = markdown(&[small()], Forms::default());
    assert!(text.contains(row), "{text}");
    let text = latex(&[small()], Forms::default());
    assert!(text.contains("miou $\\uparrow$ & 0.50 & \\textbf{0.62} & +0.12 & [-0.06, +0.25] &"), "{text}");
    assert!(text.contains("nll $\\downarrow$ & -- & \\textbf{0.5000} & -- &"), "{text}");
}

#[test]
fn csv_and_json_keep_every_digit() {
    let text = csv(&[small()]);
    let line =
        "segmentation.miou,higher,base,multi,0.5,0.625,0.125,-0.0625,0.25,5,1,0,2,0.0625,0.0625,true,0.125";
    assert_eq!(text.lines().nth(1), Some(line));
    assert_eq!(text.lines().nth(2), Some("segmentation.nll,lower,base,multi,,0.5,,,,,,,,,,,"));
    let read: Json = serde_json::from_str(&json(&[small()])).unwrap();
    let against = &read["metrics"]["segmentation.miou"]["against_first"]["multi"];
    assert_eq!(against["interval"], serde_json::json!([-0.0625, 0.25]));
    assert_eq!(against["paired"]["differ_most"][0]["unit"], "a<b>");
    assert_eq!(read["metrics"]["segmentation.nll"]["values"]["base"], Json::Null);
    assert_eq!(read["undefined"][0]["reason"], "label maps");
}

#[test]
fn a_page_has_both_models_side_by_side_and_no_markup_of_theirs() {
    let page = crate::page::Page { title: "x".into(), sections: vec![section(&small())] };
    let html = crate::page::write(&page);
    assert!(html.contains("multi against base") && !html.contains("a<b>"), "unit names are text");
}

/// Three models in order, the last two of which may be the best.
fn three() -> Comparison {
    let mut comparison = small();
    comparison.models.push(model("third"));
    for line in &mut comparison.lines {
        line.values.push(Value::Number(0.75));
        line.against.push(None);
    }
    let rank = |model, rank: f64, expected, first, to_best| Rank {
        model,
        rank,
        expected,
        probability: vec![first, 1.0 - first, 0.0],
        to_best,
        undistinguished: model > 0,
    };
    let apart = |difference, interval| Some(ToBest { difference, interval });
    comparison.lines[0].ranks = Some(Ranking::Known(Ranks {
        best: 2,
        resamples: 1000,
        level: 0.95,
        models: vec![
            rank(0, 3.0, 2.75, 0.0, apart(-0.25, Some([-0.5, -0.125]))),
            rank(1, 2.0, 2.0, 0.25, apart(-0.125, None)),
            rank(2, 1.0, 1.25, 0.75, None),
        ],
        set: vec![2, 1],
        unranked: Vec::new(),
    }));
    comparison.lines[1].ranks = Some(Ranking::Unknown("1 unit; an interval needs at least 2".into()));
    comparison
}

#[test]
fn three_models_have_a_table_of_ranks_whose_marks_are_explained() {
    let expected = "\
ranks by miou

  model   value  rank  expected rank  P(first)  set
  third  0.7500    1            1.25     0.750  yes
  multi  0.6250    2=           2.00     0.250  yes
  base   0.5000    3            2.75     0.000   no

  = not distinguishable from the best, third
  the truly best model is in the set with a probability of at least 95 %, as far as its intervals
    hold
";
    let text =
        terminal(&[three()], Style { colour: false, width: 100 }, Forms { all: true, ..Forms::default() });
    assert!(text.ends_with(expected), "{text}");
    let text = markdown(&[three()], Forms::default());
    assert!(text.contains("| third | 0.7500 | 1 | 1.25 | 0.750 | yes |"), "{text}");
    let read: Json = serde_json::from_str(&json(&[three()])).unwrap();
    let ranks = &read["metrics"]["segmentation.miou"]["ranks"];
    assert_eq!(ranks["set"], serde_json::json!(["third", "multi"]));
    assert_eq!((&ranks["best"], &ranks["models"]["third"]["to_best"]), (&"third".into(), &Json::Null));
    assert_eq!(ranks["models"]["base"]["to_best"]["interval"], serde_json::json!([-0.5, -0.125]));
    let reason = &read["metrics"]["segmentation.nll"]["ranks"]["reason"];
    assert_eq!(reason, "1 unit; an interval needs at least 2");
    let page = crate::page::Page { title: "x".into(), sections: vec![section(&three())] };
    let page = crate::page::write(&page);
    assert!(page.contains("multi, rank 2: 0.7500"));
    // One table on the page has the ranks of all numbers, each with its own best model.
    assert!(page.contains("2=") && page.contains("not distinguishable from the best"));
    for text in [latex(&[three()], Forms::default()), markdown(&[three()], Forms::default())] {
        assert!(text.contains("2=") && text.contains("not distinguishable from the best, third"), "{text}");
    }
}

#[test]
fn a_star_marks_what_chance_does_not_explain_and_is_said_to() {
    let mut comparison = small();
    comparison.lines[0].against[0].as_mut().unwrap().paired.as_mut().unwrap().adjusted = 0.02;
    let said = "* p adj. at most 0.05: a difference to base that chance does not explain";
    let text = terminal(&[comparison.clone()], Style { colour: true, width: 200 }, Forms::default());
    assert!(text.contains("0.0200*") && text.contains(said), "{text}");
    assert!(text.contains("\u{1b}[32m"), "a gain that is clear is green: {text}");
    let plain = terminal(&[small()], Style { colour: true, width: 200 }, Forms::default());
    assert!(!plain.contains("\u{1b}[32m") && !plain.contains("chance does not"), "{plain}");
    for text in
        [markdown(&[comparison.clone()], Forms::default()), latex(&[comparison.clone()], Forms::default())]
    {
        assert!(text.contains("0.0200") && text.contains("chance does not explain"), "{text}");
    }
}

#[test]
fn without_tests_there_is_no_p_and_no_correction() {
    let mut comparison = small();
    comparison.lines[0].against[0].as_mut().unwrap().paired = None;
    let texts = [
        terminal(&[comparison.clone()], Style { colour: false, width: 100 }, Forms::default()),
        markdown(&[comparison.clone()], Forms::default()),
        latex(&[comparison.clone()], Forms::default()),
    ];
    for text in texts {
        assert!(!text.contains("Holm") && !text.contains("p adj") && text.contains("0.62"), "{text}");
    }
    let read: Json = serde_json::from_str(&json(&[comparison])).unwrap();
    assert_eq!((&read["tests"], &read["correction"]), (&0.into(), &Json::Null));
}
