//! Every metric's definition, as the program tells it.

use serde_json::Value as Json;

use crate::step::{Outcome, output_of, program};

/// A family: its name, what it is about, its metrics in the order of reports.
pub(super) struct Family {
    pub(super) name: String,
    pub(super) summary: String,
    pub(super) metrics: Vec<Metric>,
}

/// One number.
pub(super) struct Metric {
    pub(super) id: String,
    /// The id without the family.
    pub(super) name: String,
    pub(super) group: String,
    pub(super) better: String,
    pub(super) range: String,
    pub(super) measures: String,
    pub(super) formula: String,
    pub(super) undefined: String,
    pub(super) differs: String,
    pub(super) reference: String,
    /// A worked example of `spec/`, and the value there.
    pub(super) example: (String, String),
}

impl Family {
    /// The metrics by group, groups in order of first appearance.
    pub(super) fn groups(&self) -> Vec<(&str, Vec<&Metric>)> {
        let mut groups: Vec<(&str, Vec<&Metric>)> = Vec::new();
        for metric in &self.metrics {
            match groups.iter_mut().find(|(group, _)| *group == metric.group) {
                Some((_, members)) => members.push(metric),
                None => groups.push((&metric.group, vec![metric])),
            }
        }
        groups
    }
}

/// Asks the program.
pub(super) fn families() -> Outcome<Vec<Family>> {
    read(&output_of(program()?.args(["list", "--json"]))?)
}

/// Reads what `calipers list --json` prints.
pub(super) fn read(list: &str) -> Outcome<Vec<Family>> {
    let list: Json = serde_json::from_str(list).map_err(|error| format!("calipers list --json: {error}"))?;
    array(&list).iter().map(family).collect()
}

fn family(family: &Json) -> Outcome<Family> {
    let metrics = array(&family["metrics"]).iter().map(metric).collect::<Outcome<_>>()?;
    Ok(Family { name: text(family, "family")?, summary: text(family, "summary")?, metrics })
}

fn metric(metric: &Json) -> Outcome<Metric> {
    let example = &metric["example"];
    Ok(Metric {
        id: text(metric, "id")?,
        name: text(metric, "name")?,
        group: text(metric, "group")?,
        better: text(metric, "better")?,
        range: text(metric, "range")?,
        measures: text(metric, "measures")?,
        formula: text(metric, "formula")?,
        undefined: text(metric, "undefined")?,
        differs: text(metric, "differs")?,
        reference: text(metric, "reference")?,
        example: (text(example, "name")?, text(example, "value")?),
    })
}

fn array(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(object: &Json, key: &str) -> Outcome<String> {
    let found = object[key].as_str().map(str::to_owned);
    found.ok_or_else(|| format!("calipers list --json: no text {key:?} in {object}"))
}

/// Two families for tests.
#[cfg(test)]
pub(super) const SAMPLE: &str = r#"[
 {"family": "a_b", "summary": "one", "metrics": [
  {"id": "a_b.x", "name": "x", "group": "first steps", "better": "higher", "range": "[0, 1]",
   "measures": "How *much*\nthere is.", "formula": "a / b\nover c", "undefined": "b = 0: \"no b\"",
   "differs": "Others\nadd 1.", "reference": "Calipers", "example": {"name": "small", "value": "0.5"}},
  {"id": "a_b.y_z", "name": "y_z", "group": "last", "better": "neither", "range": "any", "measures": "Y.",
   "formula": "y", "undefined": "", "differs": "", "reference": "Calipers",
   "example": {"name": "small", "value": "{\"k\": 1}"}}]},
 {"family": "c", "summary": "two", "metrics": [
  {"id": "c.y", "name": "y", "group": "last", "better": "lower", "range": "any", "measures": "Y.",
   "formula": "y", "undefined": "", "differs": "", "reference": "Calipers",
   "example": {"name": "other", "value": "1"}}]}]"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_the_order_of_the_table() {
        let families = read(SAMPLE).unwrap();
        let groups: Vec<_> = families[0].groups().into_iter().map(|(group, _)| group).collect();
        assert_eq!(groups, ["first steps", "last"]);
        assert_eq!(families[0].metrics[0].example, ("small".into(), "0.5".into()));
    }

    #[test]
    fn a_definition_without_a_part_is_an_error_that_names_it() {
        let lacking = SAMPLE.replace("\"formula\": \"y\", ", "");
        assert!(read(&lacking).err().unwrap().contains("\"formula\""));
        assert!(read("no json").err().unwrap().contains("list --json"));
    }
}
