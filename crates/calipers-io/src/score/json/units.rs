//! JSON lines: one object per unit with `unit` and any of `logits`, `probs`, `labels`, `set`,
//! `optimum`.

use calipers_core::{Error, ErrorKind};
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Keys, Skipped, refused};
use crate::score::names::Register;
use crate::score::{NodeSet, UnitColumns};
use crate::text::{Line, Lines, shown};

/// Reads strict JSON, one object per line; blank lines and unknown keys are ignored.
///
/// `labels` is a list of numbers or a text of 0 and 1; `set` lists the chosen nodes from 0.
pub fn parse(bytes: &[u8]) -> Result<Vec<UnitColumns>, Error> {
    let mut units = Vec::new();
    let mut register = Register::default();
    for line in Lines::new(bytes) {
        let line = line?;
        if line.text.trim_ascii().is_empty() {
            continue;
        }
        let unit = object(line)?;
        let Some(name) = &unit.unit else {
            let error = Error::format("no key `unit` in the object").at(format_args!("line {}", line.number));
            let error = error.found(shown(line.text)).allowed("an object with `unit`");
            return Err(error.advice("say of which graph each line speaks: \"unit\": NAME"));
        };
        register.add(name, line.number)?;
        units.push(unit);
    }
    Ok(units)
}

fn object(line: Line<'_>) -> Result<UnitColumns, Error> {
    let mut key = String::new();
    let mut reader = serde_json::Deserializer::from_slice(line.text);
    let read = UnitObject { key: &mut key }.deserialize(&mut reader);
    let unit = read.and_then(|unit| reader.end().map(|()| unit)).map_err(|error| {
        let error = refused(&error, line.number);
        if key.is_empty() { error } else { error.advice(format_args!("see the key `{key}`")) }
    })?;
    if let Some(NodeSet::Listed(nodes)) = &unit.set
        && let Some(node) = repeated(nodes)
    {
        let name = unit.unit.as_deref().unwrap_or_default();
        let error = Error::new(ErrorKind::Duplicate, "a node is listed twice in `set`");
        let error = error.at(format_args!("line {}, unit {name}, node {node}", line.number));
        return Err(error.found(node).allowed("every node once").advice("take the second one away"));
    }
    Ok(UnitColumns { line: line.number, ..unit })
}

/// The smallest node that is listed twice.
pub(super) fn repeated(nodes: &[u64]) -> Option<u64> {
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    nodes.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Reads one object and keeps the key it is at, for the message.
struct UnitObject<'k> {
    key: &'k mut String,
}

crate::seed!(UnitObject<'_> => UnitColumns, deserialize_map);

impl<'de> Visitor<'de> for UnitObject<'_> {
    type Value = UnitColumns;

    crate::expecting!("an object");

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<UnitColumns, A::Error> {
        let mut unit = UnitColumns::default();
        let mut keys = Keys::default();
        while let Some(key) = entries.next_key::<String>()? {
            keys.once(&key)?;
            *self.key = key;
            match self.key.as_str() {
                "unit" => unit.unit = Some(entries.next_value()?),
                "logits" => unit.logits = Some(entries.next_value()?),
                "probs" => unit.probs = Some(entries.next_value()?),
                "set" => unit.set = Some(NodeSet::Listed(entries.next_value()?)),
                "labels" => unit.labels = Some(entries.next_value::<Labels>()?.0),
                "optimum" => unit.optimum = entries.next_value()?,
                _ => {
                    let Skipped = entries.next_value()?;
                }
            }
        }
        self.key.clear();
        Ok(unit)
    }
}

/// A list of numbers, or a text of 0 and 1.
struct Labels(Vec<f64>);

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Labels;

            crate::expecting!("a list of numbers or a text of 0 and 1");

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Labels, E> {
                let label = |(node, digit)| match digit {
                    '0' => Ok(0.0),
                    '1' => Ok(1.0),
                    _ => Err(E::custom(format_args!(
                        "label `{digit}` at node {node}, where 0 or 1 is allowed"
                    ))),
                };
                text.chars().enumerate().map(label).collect::<Result<_, E>>().map(Labels)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Labels, A::Error> {
                let mut labels = Vec::new();
                while let Some(label) = list.next_element()? {
                    labels.push(label);
                }
                Ok(Labels(labels))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn every_key_is_read_and_others_are_ignored() {
        let text = concat!(
            "{\"unit\":\"a\",\"logits\":[1,-2.5e0],\"labels\":\"01\",\"x\":{\"y\":[null,true,-1,\"z\"]},\"optimum\":1}\r\n",
            "\n{\"set\":[2,0],\"probs\":[0.1,1],\"unit\":\"b\",\"labels\":[0,1,0.5],\"optimum\":null}"
        );
        let units = parse(text.as_bytes()).unwrap();
        let a = UnitColumns {
            unit: Some("a".into()),
            line: 1,
            logits: Some(vec![1.0, -2.5]),
            labels: Some(vec![0.0, 1.0]),
            optimum: Some(1.0),
            ..UnitColumns::default()
        };
        let b = UnitColumns {
            unit: Some("b".into()),
            line: 3,
            probs: Some(vec![0.1, 1.0]),
            set: Some(NodeSet::Listed(vec![2, 0])),
            labels: Some(vec![0.0, 1.0, 0.5]),
            ..UnitColumns::default()
        };
        assert_eq!(units, [a, b]);
    }

    #[test]
    fn only_strict_json_of_the_right_kinds_is_read() {
        let deep = format!("{{\"unit\":\"a\",\"x\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for (text, word) in [
            ("{\"unit\":\"a\",\"logits\":[NaN]}", "`logits`"),
            ("{\"unit\":\"a\",\"logits\":[1e999]}", "out of range"),
            ("{\"unit\":\"a\",\"logits\":[null]}", "null"),
            ("{\"unit\":\"a\",\"logits\":\"12\"}", "`logits`"),
            ("{\"unit\":\"a\",\"set\":[-1]}", "-1"),
            ("{\"unit\":\"a\",\"set\":[1.0]}", "`set`"),
            ("{\"unit\":\"a\",\"labels\":\"012\"}", "node 2"),
            ("{\"unit\":7}", "`unit`"),
            ("{\"unit\":\"a\"", "not valid JSON"),
            ("{\"unit\":\"a\"}}", "trailing"),
            ("{\"unit\":\"a\"} {\"unit\":\"b\"}", "trailing"),
            ("[1]", "an object"),
            ("{\"logits\":[1]}", "no key `unit`"),
            ("{\"unit\":\"\"}", "empty unit name"),
            (&deep, "recursion"),
        ] {
            let error = refusal(text);
            assert!(error.contains(word) && error.contains("line 1"), "{text}: {error}");
        }
    }

    #[test]
    fn keys_units_and_nodes_occur_once() {
        let key = refusal("{\"unit\":\"a\",\"x\":1,\"x\":2}");
        assert!(key.contains("`x` occurs twice"), "{key}");
        let unit = refusal("{\"unit\":\"a\"}\n{\"unit\":\"b\"}\n{\"unit\":\"a\"}\n");
        assert!(unit.contains("lines 1 and 3"), "{unit}");
        let node = refusal("\n{\"unit\":\"a\",\"set\":[3,1,3]}\n");
        assert!(node.contains("line 2, unit a, node 3"), "{node}");
    }
}
