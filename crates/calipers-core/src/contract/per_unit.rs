//! The table of units: what protocols and metrics say of one row.

use crate::accumulator::Accumulator;
use crate::metric::{Column, Metric};
use crate::protocol::Protocol;
use crate::reading::Reader;
use crate::report::Table;
use crate::value::Value;

impl<P: Protocol> Accumulator<P> {
    /// The per-unit table: the protocol's columns, then every per-unit metric read from one row. Where labels
    /// have columns of their own, these follow as `ID.LABEL`, label by label.
    pub fn per_unit(&self) -> Table {
        self.per_unit_while(&mut |_, _| true)
    }

    /// The same up to the first unit that `wanted` refuses, in key order: whoever shows some units of many
    /// need not hold the others.
    pub fn per_unit_while(&self, wanted: &mut dyn FnMut(&str, &[Value]) -> bool) -> Table {
        let all = self.rows();
        let fixed = self.protocol().for_single_rows(&all);
        let shown = |metric: &&Metric<P>| metric.per_unit && metric.is_reported(self.protocol(), &all);
        let whole = Reader::new(&fixed, &all);
        let (labelled, metrics): (Vec<_>, Vec<_>) = P::METRICS
            .iter()
            .filter(shown)
            .map(|metric| (metric, whole.value(metric)))
            .partition(|(_, value)| P::COLUMNS_OF_LABELS && matches!(value, Value::PerLabel(_)));
        let first: Vec<&Column<P>> = P::COLUMNS.iter().chain(self.protocol().more_columns()).collect();
        let mut labels: Vec<&str> = Vec::new();
        for (name, _) in labelled.iter().flat_map(|(_, value)| entries(value)) {
            if !labels.contains(&name.as_str()) {
                labels.push(name);
            }
        }
        let by_label = labels.iter().flat_map(|label| {
            let has = |(_, value): &&(_, Value)| labelled_value(value, label).is_some();
            labelled.iter().filter(has).map(move |(metric, _)| (*metric, *label))
        });
        let by_label: Vec<(&Metric<P>, &str)> = by_label.collect();
        let columns = std::iter::once("unit")
            .chain(first.iter().map(|column| column.name))
            .chain(metrics.iter().map(|(metric, _)| metric.id))
            .map(String::from)
            .chain(by_label.iter().map(|(metric, label)| format!("{}.{label}", metric.id)))
            .collect();
        let rows = all.named().enumerate().map(|(i, (name, row))| {
            let one = all.single(i);
            let reader = Reader::new(&fixed, &one);
            let columns = first.iter().map(|column| (column.read)(&fixed, row));
            let cells = columns.chain(metrics.iter().map(|(metric, _)| reader.value(metric)));
            let of_label = |(metric, label): &(&Metric<P>, &str)| {
                let value = reader.value(metric);
                let found = labelled_value(&value, label).cloned();
                found.unwrap_or(Value::undefined("the unit has no such number"))
            };
            (name.to_owned(), cells.chain(by_label.iter().map(of_label)).collect())
        });
        let wanted = |(name, cells): &(String, Vec<Value>)| wanted(name, cells);
        Table { columns, rows: rows.take_while(wanted).collect() }
    }
}

/// The numbers of each label, where there are any.
fn entries(value: &Value) -> &[(String, Value)] {
    match value {
        Value::PerLabel(entries) => entries,
        _ => &[],
    }
}

fn labelled_value<'v>(value: &'v Value, label: &str) -> Option<&'v Value> {
    entries(value).iter().find(|(name, _)| name == label).map(|(_, value)| value)
}
