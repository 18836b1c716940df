//! The forms of a small comparison, word for word.

use calipers_core::resample::Bootstrap;
use calipers_core::{Better, Value};

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
        bootstrap: Bootstrap {
            resamples: 1000,
            confidence: 0.95,
            seed: 0,
            method: calipers_core::resample::Method::default(),
        },
        lines: vec![
            Line {
                id: "segmentation.miou".into(),
                label: None,
                better: Better::Higher,
                values: vec![Value::Number(0.5), Value::Number(0.625)],
                against: vec![Some(Difference {
                    difference: 0.125,
                    interval: Some([-0.0625, 0.25]),
                    paired: Some(paired),
                })],
            },
            Line {
                id: "segmentation.nll".into(),
                label: None,
                better: Better::Lower,
                values: vec![Value::undefined("label maps"), Value::Number(0.5)],
                against: vec![None],
            },
        ],
        warnings: Vec::new(),
    }
}

#[test]
fn the_terminal_shows_both_models_and_never_ranks_an_undefined_one() {
    let expected = "\
segmentation: multi against base, 8 units

              base    multi  difference             interval  won  tied  lost       p  p adj.
  miou  ↑  0.5000   0.6250*     +0.1250  [-0.06250, +0.2500]    5     1     0  0.0625  0.1250
  nll   ↓       –   0.5000*           –                    –    –     –     –       –       –

  units that differ most in miou
    a<b>  0.2500 → 0.7500  (+0.5000)
    c     0.5000 → 0.6250  (+0.1250)

  95 % intervals of the difference from 1000 paired resamples of the units, seed 0; p of a
    two-sided permutation test of the mean difference per unit (every sign pattern up to 20
    differences, else 1000 random ones); p adj. after Holm's correction for 1 test, which bounds the
    chance of even one false claim whatever the metrics have to do with each other
  nll is not defined for base: label maps
  units where one of the two models has no number are left out of the tests: miou (2, multi)
";
    assert_eq!(terminal(&[small()], Style { colour: false, width: 100 }), expected);
}

#[test]
fn a_narrow_terminal_does_without_the_columns_that_say_least() {
    let text = terminal(&[small()], Style { colour: false, width: 80 });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("p adj.") && !text.contains("tied "), "{text}");
}

#[test]
fn equal_models_have_no_best_one() {
    let mut comparison = small();
    comparison.lines[0].values[1] = Value::Number(0.5);
    assert!(comparison.lines[0].best().is_none() && comparison.lines[1].best().is_some());
}

#[test]
fn markdown_and_latex_hold_the_same_row() {
    let row = "| miou | ↑ | 0.5000 | 0.6250 | +0.1250 | -0.06250 to +0.2500 | 5 | 1 | 0 | 0.06250 | 0.06250 | 0.1250 |";
    let text = markdown(&[small()]);
    assert!(text.contains(row), "{text}");
    let text = latex(&[small()]);
    assert!(text.contains("miou & $\\uparrow$ & 0.5000 & 0.6250 & +0.1250 &"), "{text}");
    assert!(text.contains("nll & $\\downarrow$ & -- & 0.5000 & -- &"), "{text}");
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
