//! JSON histories against a slow and obvious reading of the same text by another parser.

use calipers_io::history::Wanted;
use calipers_io::history::json::{self, Layout, loose, loose::Loose};
use proptest::prelude::*;
use serde_json::{Map, Value};

const WANTED: [&str; 5] = ["a", "a.b", "a.b.c", "b", "é\"\n"];

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "a.b", "b.c", "a.b.c", "é\"\n", ""]).prop_map(str::to_owned)
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        prop::num::f64::SUBNORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner).prop_map(Value::from),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((key(), inner), 0..5).prop_map(|members| members.into_iter().collect())
}

fn text(value: &Value, pretty: bool) -> String {
    if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }
        .expect("a value can be written")
}

/// Every value whose joined name is `name`, with its depth, in the order written.
fn named<'a>(object: &'a Map<String, Value>, name: &str, depth: usize, found: &mut Vec<(usize, &'a Value)>) {
    for (key, value) in object {
        if key == name {
            found.push((depth, value));
        } else if let (Some(inner), Some(rest)) =
            (value.as_object(), name.strip_prefix(key.as_str()).and_then(|rest| rest.strip_prefix('.')))
        {
            named(inner, rest, depth + 1, found);
        }
    }
}

/// The value that counts: the least nested, then the last.
fn lookup<'a>(row: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let mut found = Vec::new();
    named(row, name, 0, &mut found);
    let least = found.iter().map(|(depth, _)| *depth).min()?;
    found.into_iter().rev().find(|(depth, _)| *depth == least).map(|(_, value)| value)
}

/// The joined names of everything that is no object with members.
fn leaves(object: &Map<String, Value>, prefix: &str, names: &mut Vec<String>) {
    for (key, value) in object {
        match value.as_object().filter(|inner| !inner.is_empty()) {
            Some(inner) => leaves(inner, &format!("{prefix}{key}."), names),
            None if names.contains(&format!("{prefix}{key}")) => {}
            None => names.push(format!("{prefix}{key}")),
        }
    }
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) if text == "NaN" => Some(f64::NAN),
        other => other.as_f64(),
    }
}

/// Compares a table with the rows it was read from.
fn compare(bytes: &[u8], layout: Layout, rows: &[Map<String, Value>]) -> Result<(), TestCaseError> {
    let wanted = WANTED.map(str::to_owned).to_vec();
    let table =
        json::read(bytes, layout, &Wanted { numbers: wanted.clone(), texts: wanted, ..Wanted::default() })
            .expect("a readable history");
    prop_assert_eq!(table.rows, rows.len());
    for name in WANTED {
        let cells: Vec<(u32, &Value)> =
            (0..).zip(rows).filter_map(|(row, object)| Some((row, lookup(object, name)?))).collect();
        prop_assert_eq!(table.number(name).is_some(), !cells.is_empty(), "{}", name);
        let Some((numbers, texts)) = table.number(name).zip(table.text(name)) else { continue };
        let logged: Vec<_> = cells.into_iter().filter(|(_, value)| !value.is_null()).collect();
        let readable = logged.iter().map_while(|(row, value)| Some((*row, number_of(value)?.to_bits())));
        let bits = numbers.values.iter().map(|value| value.to_bits());
        let read: Vec<_> = numbers.rows.iter().copied().zip(bits).collect();
        prop_assert_eq!(&read, &readable.collect::<Vec<_>>());
        prop_assert_eq!(numbers.unreadable.is_some(), read.len() < logged.len());
        let names: Vec<_> =
            texts.cells.iter().map(|(row, name)| (*row, &texts.names[*name as usize])).collect();
        let rows: Vec<u32> = logged.iter().map(|(row, _)| *row).collect();
        prop_assert_eq!(names.iter().map(|(row, _)| *row).collect::<Vec<_>>(), rows);
        for ((_, name), (_, value)) in names.into_iter().zip(logged) {
            match value {
                Value::String(text) => prop_assert_eq!(name, text),
                other => prop_assert_eq!(&serde_json::from_str::<Value>(name).expect("a JSON text"), other),
            }
        }
    }
    let mut names = Vec::new();
    for row in rows {
        leaves(row, "", &mut names);
    }
    prop_assert_eq!(table.keys, names);
    Ok(())
}

fn same(loose: &Loose, value: &Value) -> bool {
    match (loose, value) {
        (Loose::Null, Value::Null) => true,
        (Loose::Bool(loose), Value::Bool(value)) => loose == value,
        (Loose::Number { value: number, text }, Value::Number(value)) => {
            value.as_f64().is_some_and(|value| value.to_bits() == number.to_bits())
                && *text == value.to_string()
        }
        (Loose::Text(loose), Value::String(value)) => loose == value,
        (Loose::List(items), Value::Array(values)) => {
            items.len() == values.len() && items.iter().zip(values).all(|(item, value)| same(item, value))
        }
        (Loose::Object(members), Value::Object(values)) => {
            members.len() == values.len()
                && members
                    .iter()
                    .zip(values)
                    .all(|(member, value)| member.0 == *value.0 && same(&member.1, value.1))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn the_tree_is_the_same(value in value(), pretty in any::<bool>()) {
        let text = text(&value, pretty);
        prop_assert!(same(&loose::parse(text.as_bytes()).unwrap(), &value), "{}", text);
    }

    #[test]
    fn rows_are_the_same(rows in prop::collection::vec(object(value()), 0..6), pretty in any::<bool>()) {
        let list = Value::from(rows.iter().cloned().map(Value::from).collect::<Vec<_>>());
        compare(text(&list, pretty).as_bytes(), Layout::Rows, &rows)?;
        let state = serde_json::json!({"global_step": 3, "log_history": list});
        compare(text(&state, pretty).as_bytes(), Layout::State, &rows)?;
        let lines: Vec<_> = rows.iter().map(|row| serde_json::to_string(row).unwrap()).collect();
        if !lines.is_empty() {
            compare(lines.join("\r\n\n").as_bytes(), Layout::Lines, &rows)?;
        }
    }

    #[test]
    fn columns_are_the_same(
        cells in prop::collection::vec(prop::collection::vec(scalar(), 4), 1..6),
        keys in Just(["a", "b", "a.b", "x", "é\"\n"]).prop_shuffle(),
        pretty in any::<bool>(),
    ) {
        let columns: Map<String, Value> =
            keys.iter().zip(&cells).map(|(key, cells)| ((*key).to_owned(), Value::from(cells.clone()))).collect();
        let rows: Vec<Map<String, Value>> = (0..4)
            .map(|row| columns.iter().map(|(key, cells)| (key.clone(), cells[row].clone())).collect())
            .collect();
        compare(text(&Value::from(columns), pretty).as_bytes(), Layout::Columns, &rows)?;
    }

    #[test]
    fn damaged_text_is_refused_by_both_or_by_neither(
        value in value(),
        pretty in any::<bool>(),
        at in any::<prop::sample::Index>(),
        with in prop_oneof![any::<u8>(), prop::sample::select(b"0123456789-+.eE\"\\{}[],: \nu".to_vec())],
        how in 0..3,
    ) {
        let mut bytes = text(&value, pretty).into_bytes();
        let at = at.index(bytes.len());
        match how {
            0 => bytes[at] = with,
            1 => bytes.insert(at, with),
            _ => drop(bytes.remove(at)),
        }
        match (json::check(&bytes), serde_json::from_slice::<Value>(&bytes)) {
            // Digits beyond the range are infinite here.
            (Ok(()), Err(error)) if error.to_string().contains("out of range") => {}
            (ours, theirs) => {
                let shown = String::from_utf8_lossy(&bytes).into_owned();
                prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{} {:?} {:?}", shown, ours, theirs);
                if let Ok(theirs) = theirs {
                    let ours = loose::parse(&bytes).unwrap();
                    let text = serde_json::to_string(&theirs).unwrap();
                    prop_assert_eq!(loose_json(&ours), text);
                }
            }
        }
    }
}

/// The tree written by the other library, so that numbers in other spellings compare by value.
fn loose_json(loose: &Loose) -> String {
    serde_json::to_string(&converted(loose)).expect("a value can be written")
}

fn converted(loose: &Loose) -> Value {
    match loose {
        Loose::Null => Value::Null,
        Loose::Bool(value) => Value::from(*value),
        Loose::Number { text, .. } => serde_json::from_str(text).expect("a number"),
        Loose::Text(text) => Value::from(text.as_str()),
        Loose::List(items) => items.iter().map(converted).collect(),
        Loose::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| (key.clone(), converted(value))).collect())
        }
    }
}
