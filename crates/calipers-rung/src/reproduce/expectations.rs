//! What is expected of the penalties, as rules over what was measured; reported as they come out.

use calipers_core::Value;
use calipers_metrics::robustness::{BIAS_LINEARITY, BIAS_RELATIVE, BIAS_TOTAL, CLEAN_ACCURACY, DIFF_RATIO};

use crate::model::penalty::Kind;

/// What was measured of one penalty at one budget: means over splits and seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The budget as it is written.
    pub label: String,
    /// Its value.
    pub budget: f64,
    /// The mean of `bias_total`.
    pub bias_total: Option<f64>,
    /// The mean of `bias_relative`.
    pub bias_relative: Option<f64>,
    /// The mean of `diff_ratio`.
    pub diff_ratio: Option<f64>,
    /// Flips made as a share of the flips allowed.
    pub share_used: Option<f64>,
}

/// What was measured of one penalty.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The penalty.
    pub penalty: Kind,
    /// The mean accuracy on the clean graph.
    pub clean_accuracy: Option<f64>,
    /// How nearly the bias is proportional to the budget.
    pub bias_linearity: Option<f64>,
    /// By ascending budget.
    pub points: Vec<Point>,
}

/// One expectation and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its name.
    pub id: &'static str,
    /// What is expected, in words.
    pub statement: &'static str,
    /// When it counts as held.
    pub rule: &'static str,
    /// The numbers the rule looks at, and those without which they mislead: clean accuracy, and the
    /// share of the budget that was used.
    pub measured: Value,
    /// Whether it held; `None` when it cannot be said.
    pub held: Option<bool>,
    /// Where it failed and by how much; why nothing can be said; or, where it held, what speaks against it:
    /// attacks that left their budget unspent.
    pub why: String,
}

/// Held, or a reason why not; or a reason why nothing can be said.
type Verdict = Result<Result<(), String>, String>;

/// All expectations, in their order. `same_label_share` is the share of the clean graph's edges that join
/// equal labels.
pub fn expectations(measured: &[Measured], same_label_share: Option<f64>) -> Vec<Expectation> {
    let table = Table(measured);
    let expect =
        |id, statement, rule, kinds: &[Kind], readings: &[(&'static str, Read)], verdict: Verdict| {
            let shown = table.show(kinds, readings);
            let (held, why) = match verdict {
                Ok(Ok(())) => (Some(true), table.unspent(kinds)),
                Ok(Err(why)) => (Some(false), why),
                Err(why) => (None, why),
            };
            Expectation { id, statement, rule, measured: shown, held, why }
        };
    let total = (BIAS_TOTAL.id, (|point| point.bias_total) as Read);
    let relative = (BIAS_RELATIVE.id, (|point| point.bias_relative) as Read);
    let ratio = (DIFF_RATIO.id, (|point| point.diff_ratio) as Read);
    vec![
        expect(
            "l1_linear",
            "l1: bias grows linearly with budget",
            "bias_total strictly increasing and bias_linearity >= 0.95",
            &[Kind::L1],
            &[total],
            table.l1_linear(),
        ),
        expect(
            "mcp_near_zero",
            "MCP: bias near zero at all budgets",
            "bias_relative <= 0.01 and bias_total <= 0.1 of l1's, at every budget",
            &[Kind::Mcp, Kind::L1],
            &[total, relative],
            table.mcp_near_zero(),
        ),
        expect(
            "scad_like_mcp",
            "SCAD behaves like MCP",
            "bias_total within 25 % of MCP's at every budget",
            &[Kind::Scad, Kind::Mcp],
            &[total],
            table.scad_like_mcp(),
        ),
        expect(
            "adaptive_below_mcp",
            "adaptive below MCP on heterophilic graphs",
            "bias_total lower at every budget",
            &[Kind::Adaptive, Kind::Mcp],
            &[total],
            table.adaptive_below_mcp(same_label_share),
        ),
        expect(
            "figure7",
            "the attacker is pushed to edges of small difference",
            "diff_ratio of mcp < l1 < l2 at the largest budget",
            &[Kind::Mcp, Kind::L1, Kind::L2],
            &[ratio],
            table.figure7(),
        ),
    ]
}

/// The points of a penalty, their biases, and those of another penalty.
type SideBySide<'a> = (Vec<&'a Point>, Vec<f64>, Vec<f64>);

type Read = fn(&Point) -> Option<f64>;

struct Table<'a>(&'a [Measured]);

impl Table<'_> {
    fn get(&self, penalty: Kind) -> Result<&Measured, String> {
        let found = self.0.iter().find(|measured| measured.penalty == penalty);
        found.ok_or_else(|| format!("{penalty} was not measured"))
    }

    /// The points of a penalty with a budget above 0.
    fn points(&self, penalty: Kind) -> Result<Vec<&Point>, String> {
        let points: Vec<&Point> =
            self.get(penalty)?.points.iter().filter(|point| point.budget > 0.0).collect();
        if points.is_empty() { Err("no budget above 0".to_owned()) } else { Ok(points) }
    }

    /// The points of a penalty, with its biases and those of another one, budget by budget.
    fn side_by_side(&self, one: Kind, other: Kind) -> Result<SideBySide<'_>, String> {
        let (first, second) = (self.points(one)?, self.points(other)?);
        if !first.iter().map(|point| &point.label).eq(second.iter().map(|point| &point.label)) {
            return Err(format!("{one} and {other} were measured at different budgets"));
        }
        let biases = |points: &[&Point], kind: Kind| all(points, kind, |point| point.bias_total);
        let (ours, theirs) = (biases(&first, one), biases(&second, other));
        Ok((first, ours?, theirs?))
    }

    fn l1_linear(&self) -> Verdict {
        let points = self.points(Kind::L1)?;
        let biases = all(&points, Kind::L1, |point| point.bias_total)?;
        let linearity = self.get(Kind::L1)?.bias_linearity.ok_or("bias_linearity of l1 is undefined")?;
        if let Some(k) = biases.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Ok(Err(format!(
                "no increase from budget {} ({}) to {} ({})",
                points[k].label,
                brief(biases[k]),
                points[k + 1].label,
                brief(biases[k + 1])
            )));
        }
        let straight = linearity >= 0.95;
        Ok(if straight { Ok(()) } else { Err(format!("bias_linearity is {}, below 0.95", brief(linearity))) })
    }

    fn mcp_near_zero(&self) -> Verdict {
        let (mcp, totals, others) = self.side_by_side(Kind::Mcp, Kind::L1)?;
        let relative = all(&mcp, Kind::Mcp, |point| point.bias_relative)?;
        let large = |k: usize| relative[k] > 0.01;
        let near = |k: usize| totals[k] > 0.1 * others[k];
        let share = |k: usize| times(totals[k], others[k]);
        Ok(fails(
            &mcp,
            &[
                ("bias_relative above 0.01", &large, &|k| brief(relative[k])),
                ("bias_total above 0.1 of l1's", &near, &share),
            ],
        ))
    }

    fn scad_like_mcp(&self) -> Verdict {
        let (scad, ours, theirs) = self.side_by_side(Kind::Scad, Kind::Mcp)?;
        let above = |k: usize| ours[k] > 1.25 * theirs[k];
        let below = |k: usize| ours[k] < 0.75 * theirs[k];
        let times = |k: usize| times(ours[k], theirs[k]);
        Ok(fails(
            &scad,
            &[("more than 25 % above MCP's", &above, &times), ("more than 25 % below MCP's", &below, &times)],
        ))
    }

    fn adaptive_below_mcp(&self, same_label_share: Option<f64>) -> Verdict {
        let share = same_label_share.ok_or("it is not known which edges join equal labels")?;
        if share >= 0.5 {
            return Err("at least half of the edges join equal labels".to_owned());
        }
        let (adaptive, ours, theirs) = self.side_by_side(Kind::Adaptive, Kind::Mcp)?;
        let times = |k: usize| times(ours[k], theirs[k]);
        Ok(fails(&adaptive, &[("not below MCP's", &|k| ours[k] >= theirs[k], &times)]))
    }

    fn figure7(&self) -> Verdict {
        let kinds = [Kind::Mcp, Kind::L1, Kind::L2];
        let mut last: Vec<&Point> = Vec::new();
        for kind in kinds {
            last.extend(self.points(kind)?.last());
        }
        if last.iter().any(|point| point.label != last[0].label) {
            return Err("mcp, l1 and l2 were measured at different budgets".to_owned());
        }
        let mut ratios = Vec::new();
        for (kind, point) in kinds.iter().zip(&last) {
            ratios.push(point.diff_ratio.ok_or_else(|| format!("diff_ratio of {kind} is undefined"))?);
        }
        let place = &last[0].label;
        Ok(match ratios.windows(2).position(|pair| pair[0] >= pair[1]) {
            None => Ok(()),
            Some(k) => Err(format!(
                "{} ({}) not below {} ({}) at budget {place}",
                kinds[k],
                brief(ratios[k]),
                kinds[k + 1],
                brief(ratios[k + 1])
            )),
        })
    }

    /// Which attacks on these penalties left more than a tenth of their budget unspent, in words.
    fn unspent(&self, penalties: &[Kind]) -> String {
        let least = |penalty: &Kind| {
            let points = self.points(*penalty).ok()?;
            let shares = points.iter().filter_map(|point| Some((point.share_used?, &point.label)));
            let (share, label) = shares.min_by(|one, other| one.0.total_cmp(&other.0))?;
            (share < 0.9)
                .then(|| format!("the attack on {penalty} used {} of its budget at {label}", brief(share)))
        };
        penalties.iter().filter_map(least).collect::<Vec<_>>().join("; ")
    }

    /// The numbers of some penalties.
    fn show(&self, penalties: &[Kind], readings: &[(&'static str, Read)]) -> Value {
        let number = |value: Option<f64>| value.map_or(Value::undefined("not measured"), Value::Number);
        let mut shown = Vec::new();
        for measured in penalties.iter().filter_map(|&penalty| self.get(penalty).ok()) {
            let mut entries = vec![(CLEAN_ACCURACY.id.to_owned(), number(measured.clean_accuracy))];
            if penalties == [Kind::L1] {
                entries.push((BIAS_LINEARITY.id.to_owned(), number(measured.bias_linearity)));
            }
            let used = ("share_of_budget_used", (|point| point.share_used) as Read);
            for (name, read) in readings.iter().copied().chain([used]) {
                let points = measured.points.iter().map(|point| (point.label.clone(), number(read(point))));
                entries.push((name.to_owned(), Value::PerLabel(points.collect())));
            }
            shown.push((measured.penalty.to_string(), Value::PerLabel(entries)));
        }
        Value::PerLabel(shown)
    }
}

fn all(points: &[&Point], penalty: Kind, read: Read) -> Result<Vec<f64>, String> {
    let value = |point: &&Point| {
        read(point).ok_or_else(|| format!("{penalty} has no value at budget {}", point.label))
    };
    points.iter().map(value).collect()
}

/// A condition in words, where it fails, and the number that says by how much.
type Condition<'a> = (&'a str, &'a dyn Fn(usize) -> bool, &'a dyn Fn(usize) -> String);

/// The first condition that fails anywhere, with all budgets where it does and its number there.
fn fails(points: &[&Point], conditions: &[Condition<'_>]) -> Result<(), String> {
    for (what, fails, number) in conditions {
        let places: Vec<String> = (0..points.len())
            .filter(|&k| fails(k))
            .map(|k| format!("{} ({})", points[k].label, number(k)))
            .collect();
        if !places.is_empty() {
            return Err(format!("{what} at {}", places.join(", ")));
        }
    }
    Ok(())
}

/// How many times one bias the other is, in words where there is no such number.
fn times(ours: f64, theirs: f64) -> String {
    if theirs > 0.0 {
        brief(ours / theirs)
    } else if ours > 0.0 {
        format!("{} against 0", brief(ours))
    } else {
        "both are 0".to_owned()
    }
}

/// A number with three or four digits that matter.
fn brief(number: f64) -> String {
    match number.abs() {
        large if large >= 100.0 => format!("{number:.0}"),
        middle if middle >= 1.0 => format!("{number:.2}"),
        _ => format!("{number:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(penalty: Kind, biases: [f64; 3], ratio: f64) -> Measured {
        let point = |(label, bias): (&str, f64)| Point {
            label: label.to_owned(),
            budget: label.parse().unwrap(),
            bias_total: Some(bias),
            bias_relative: Some(bias / 1000.0),
            diff_ratio: Some(ratio),
            share_used: Some(1.0),
        };
        let points = ["0.05", "0.1", "0.2"].into_iter().zip(biases).map(point).collect();
        Measured { penalty, clean_accuracy: Some(0.8), bias_linearity: Some(0.99), points }
    }

    fn usual() -> Vec<Measured> {
        vec![
            measured(Kind::L2, [100.0, 200.0, 400.0], 1.4),
            measured(Kind::L1, [50.0, 100.0, 200.0], 1.2),
            measured(Kind::Mcp, [1.0, 2.0, 3.0], 0.9),
            measured(Kind::Scad, [1.2, 2.4, 3.5], 0.9),
            measured(Kind::Adaptive, [0.5, 1.0, 2.0], 0.9),
        ]
    }

    fn verdicts(measured: &[Measured], share: Option<f64>) -> Vec<(Option<bool>, String)> {
        expectations(measured, share).into_iter().map(|found| (found.held, found.why)).collect()
    }

    #[test]
    fn all_hold_when_everything_is_as_expected() {
        assert!(
            verdicts(&usual(), Some(0.2)).iter().all(|(held, why)| *held == Some(true) && why.is_empty())
        );
    }

    #[test]
    fn where_a_rule_held_unspent_budgets_are_said() {
        let mut table = usual();
        table[2].points[1].share_used = Some(0.25);
        let found = verdicts(&table, Some(0.2));
        let said = "the attack on mcp used 0.2500 of its budget at 0.1".to_owned();
        assert_eq!(found[0], (Some(true), String::new()));
        assert_eq!(found[1], (Some(true), said));
    }

    #[test]
    fn every_rule_can_fail_and_says_where() {
        let mut table = usual();
        table[1].points[2].bias_total = Some(100.0);
        table[2].points[1].bias_total = Some(11.0);
        table[4].points[1].bias_total = Some(11.0);
        table[2].points[2].diff_ratio = Some(1.3);
        let found = verdicts(&table, Some(0.2));
        assert!(found.iter().all(|(held, _)| *held == Some(false)), "{found:?}");
        let why: Vec<&str> = found.iter().map(|(_, why)| why.as_str()).collect();
        assert_eq!(why[0], "no increase from budget 0.1 (100) to 0.2 (100)");
        assert_eq!(why[1], "bias_total above 0.1 of l1's at 0.1 (0.1100)");
        assert_eq!(why[2], "more than 25 % below MCP's at 0.1 (0.2182)");
        assert_eq!(why[3], "not below MCP's at 0.1 (1.00)");
        assert_eq!(why[4], "mcp (1.30) not below l1 (1.20) at budget 0.2");
    }

    #[test]
    fn what_was_not_measured_is_neither_held_nor_failed() {
        let found = verdicts(&usual()[..1], Some(0.2));
        assert!(
            found.iter().all(|(held, why)| held.is_none() && why.contains("was not measured")),
            "{found:?}"
        );
        assert_eq!(verdicts(&usual(), Some(0.5))[3].1, "at least half of the edges join equal labels");
        assert_eq!(verdicts(&usual(), None)[3].0, None);
        let mut table = usual();
        table[1].bias_linearity = None;
        table[2].points[2].diff_ratio = None;
        table[3].points.pop();
        let found = verdicts(&table, Some(0.2));
        assert_eq!(found[0], (None, "bias_linearity of l1 is undefined".to_owned()));
        assert_eq!(found[2], (None, "scad and mcp were measured at different budgets".to_owned()));
        assert_eq!(found[4], (None, "diff_ratio of mcp is undefined".to_owned()));
    }

    #[test]
    fn a_bias_of_zero_is_compared_in_words() {
        let mut table = usual();
        table[2].points.iter_mut().for_each(|point| point.bias_total = Some(0.0));
        table[4].points[1].bias_total = Some(0.0);
        let found = verdicts(&table, Some(0.2));
        assert_eq!(
            found[2].1,
            "more than 25 % above MCP's at 0.05 (1.20 against 0), 0.1 (2.40 against 0), 0.2 (3.50 against 0)"
        );
        assert_eq!(
            found[3].1,
            "not below MCP's at 0.05 (0.5000 against 0), 0.1 (both are 0), 0.2 (2.00 against 0)"
        );
    }

    #[test]
    fn budget_zero_has_no_bias_and_decides_nothing() {
        let mut table = usual();
        for measured in &mut table {
            let zero = Point { label: "0".to_owned(), bias_total: Some(0.0), ..Point::default() };
            measured.points.insert(0, zero);
        }
        assert!(verdicts(&table, Some(0.2)).iter().all(|(held, _)| *held == Some(true)));
    }

    #[test]
    fn numbers_stand_beside_accuracy_and_use_of_the_budget() {
        let Value::PerLabel(shown) = &expectations(&usual(), None)[1].measured else { panic!() };
        assert_eq!(shown.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["mcp", "l1"]);
        let Value::PerLabel(entries) = &shown[0].1 else { panic!() };
        let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["clean_accuracy", "bias_total", "bias_relative", "share_of_budget_used"]);
    }
}
