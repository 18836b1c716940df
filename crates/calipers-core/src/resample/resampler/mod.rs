//! The numbers of an accumulator over resamples of its units.

mod column;
mod cut;
mod means;
mod partition;

use std::cell::OnceCell;
use std::ptr::fn_addr_eq;

use cut::{Cut, RowTerms, terms_of};
pub use means::Means;
use partition::{Histogram, Occurrence, Partition};

use crate::accumulator::Accumulator;
use crate::metric::{AddTerms, IntervalRule, Metric, Number, full_id};
use crate::protocol::Protocol;
use crate::reading::{Order, Reader, Rows, Sums, Term, grouped, undecided};
use crate::resample::{Bootstrap, Weights};
use crate::stop;
use crate::value::Value;

/// One number that is read from resamples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// The full id of the metric.
    pub id: String,
    /// The class, group or type, where the metric has a number for each; what lies deeper joined with
    /// dots.
    pub label: Option<String>,
}

impl Leaf {
    /// The id, and the label behind a point.
    pub fn path(&self) -> String {
        match &self.label {
            Some(label) => format!("{}.{label}", self.id),
            None => self.id.clone(),
        }
    }
}

/// Which numbers are read from resamples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Metrics that are single numbers.
    Single,
    /// These, and the numbers of metrics that have one for each label.
    Labels,
    /// Every number that is not in a series and whose line says that it has an interval.
    Intervals,
}

/// Reads the numbers of an accumulator from resamples of its units. Pieces of the work can be done
/// anywhere and in any order: what is read depends on the weights alone.
pub trait Resampler: Sync {
    /// The numbers, in report order, with their value over all units.
    fn leaves(&self) -> &[(Leaf, f64)];
    /// Every number in every resample, resample by resample.
    fn read(&self, weights: &Weights) -> Vec<Vec<Option<f64>>>;
}

/// The numbers of one protocol.
pub(crate) struct Numbers<'a, P: Protocol> {
    protocol: &'a P,
    rows: Rows<'a, P::Row>,
    leaves: Vec<(Leaf, f64)>,
    /// The id of each metric, and which of its numbers have intervals.
    known: Vec<(String, IntervalRule)>,
    metrics: Vec<Read<P>>,
    pools: Vec<Pool<'a, P>>,
    partitions: Vec<Partition>,
    histograms: Vec<Histogram>,
}

/// How one metric is read from a resample.
struct Read<P: Protocol> {
    number: Number<P>,
    /// The sums it is read from.
    pool: Option<usize>,
    /// Its numbers.
    tree: Tree,
}

/// The numbers in the value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Number(f64),
    /// By label, in the order of the value; no label without a number below it.
    Labels(Vec<(String, Tree)>),
}

impl Tree {
    /// The numbers of a value down to a depth, but for those under keys left out.
    fn of(value: &Value, depth: usize, left_out: &[&str]) -> Option<Self> {
        if let Some(number) = value.as_f64() {
            return Some(Self::Number(number));
        }
        let Value::PerLabel(entries) = value else { return None };
        let kept = entries.iter().filter(|(label, _)| depth > 0 && !left_out.contains(&label.as_str()));
        let below =
            kept.filter_map(|(label, value)| Some((label.clone(), Self::of(value, depth - 1, left_out)?)));
        let below: Vec<_> = below.collect();
        (!below.is_empty()).then_some(Self::Labels(below))
    }

    /// The path and number of every leaf, in order.
    pub(super) fn visit(&self, path: &mut Vec<String>, leaf: &mut impl FnMut(&[String], f64)) {
        match self {
            Self::Number(number) => leaf(path, *number),
            Self::Labels(entries) => {
                for (label, tree) in entries {
                    path.push(label.clone());
                    tree.visit(path, leaf);
                    path.pop();
                }
            }
        }
    }

    /// The numbers of a value at the leaves.
    fn put(&self, value: Option<&Value>, out: &mut Vec<Option<f64>>) {
        let Self::Labels(labels) = self else {
            return out.push(value.and_then(Value::as_f64));
        };
        let entries = match value {
            Some(Value::PerLabel(entries)) => entries.as_slice(),
            _ => &[],
        };
        // Labels come in the order of the entries, of which some may be missing.
        let mut from = 0;
        for (label, tree) in labels {
            let place = entries[from..].iter().position(|(name, _)| name == label).map(|place| from + place);
            tree.put(place.map(|place| &entries[place].1), out);
            from = place.map_or(from, |place| place + 1);
        }
    }
}

/// A metric among the numbers of a protocol.
pub(crate) struct Resampled {
    pub(crate) id: String,
    pub(crate) rule: IntervalRule,
    pub(crate) tree: Tree,
}

/// Sums that some metrics are read from.
struct Pool<'a, P: Protocol> {
    source: Source<P>,
    partition: usize,
    /// The rows of each group.
    groups: Vec<Rows<'a, P::Row>>,
    /// `None` where the rows have to be added up.
    cut: Option<Cut>,
}

/// What is added up.
enum Source<P: Protocol> {
    Terms {
        order: Option<Order<P>>,
        terms: AddTerms<P>,
    },
    /// The values of single rows, and how many there are.
    Values(fn(&P, &P::Row) -> Value),
}

/// What a resample comes to.
struct Drawn<'d> {
    /// How often each unit was drawn.
    counts: &'d [u32],
    /// The weighted sums of the columns of each partition, group after group.
    sums: Vec<&'d [f64]>,
    /// How often each value of each histogram was drawn.
    occurrences: Vec<Vec<Occurrence>>,
}

/// The columns of [`Source::Values`].
const SUM: usize = 0;
const PRESENT: usize = 1;

impl<'a, P: Protocol> Numbers<'a, P> {
    /// The numbers of the metrics whose full ids are wanted.
    pub(crate) fn new(accumulator: &'a Accumulator<P>, scope: Scope, wanted: &dyn Fn(&str) -> bool) -> Self {
        let (protocol, rows) = (accumulator.protocol(), accumulator.rows());
        let mut numbers = Self::of(protocol, rows);
        let rows = numbers.rows.clone();
        let reader = Reader::new(protocol, &rows);
        let reported =
            |metric: &&Metric<P>| wanted(&full_id::<P>(metric.id)) && metric.is_reported(protocol, &rows);
        for metric in P::METRICS.iter().filter(reported) {
            let (depth, left_out): (usize, &[&str]) = match (scope, metric.interval) {
                (Scope::Single, _) => (0, &[]),
                (Scope::Labels, _) => (1, &[]),
                (Scope::Intervals, IntervalRule::Never) => continue,
                (Scope::Intervals, IntervalRule::Without(keys)) => (usize::MAX, keys),
                (Scope::Intervals, _) => (usize::MAX, &[]),
            };
            let Some(tree) = Tree::of(&reader.value(metric), depth, left_out) else { continue };
            let id = full_id::<P>(metric.id);
            tree.visit(&mut Vec::new(), &mut |path, number| {
                let label = (!path.is_empty()).then(|| path.join("."));
                numbers.leaves.push((Leaf { id: id.clone(), label }, number));
            });
            numbers.known.push((id, metric.interval));
            numbers.push(&metric.number, tree);
        }
        numbers
    }

    /// No number yet, of these rows.
    fn of(protocol: &'a P, rows: Rows<'a, P::Row>) -> Self {
        Self {
            protocol,
            rows,
            leaves: Vec::new(),
            known: Vec::new(),
            metrics: Vec::new(),
            pools: Vec::new(),
            partitions: Vec::new(),
            histograms: Vec::new(),
        }
    }

    fn push(&mut self, number: &Number<P>, tree: Tree) {
        let number = number.chosen(self.protocol);
        let pool = self.pool(&number);
        self.metrics.push(Read { number, pool, tree });
    }

    /// The metrics in order, with the tree of their numbers: its leaves, metric after metric, are
    /// [`Resampler::leaves`].
    pub(crate) fn resampled(&self) -> impl Iterator<Item = Resampled> + '_ {
        let both = self.known.iter().zip(&self.metrics);
        both.map(|((id, rule), read)| Resampled { id: id.clone(), rule: *rule, tree: read.tree.clone() })
    }

    /// The place of the sums that a number is read from.
    fn pool(&mut self, number: &Number<P>) -> Option<usize> {
        let source = match *number {
            Number::Pooled { terms, .. } => Source::Terms { order: None, terms },
            Number::Grouped { order, terms, .. } => Source::Terms { order: Some(order), terms },
            Number::Mean { of, .. } => Source::Values(of),
            Number::Rows(_) | Number::Chosen(_) => return None,
        };
        let known = self.pools.iter().position(|pool| pool.source.is(&source));
        Some(known.unwrap_or_else(|| {
            let pool = self.new_pool(source);
            self.pools.push(pool);
            self.pools.len() - 1
        }))
    }

    fn new_pool(&mut self, source: Source<P>) -> Pool<'a, P> {
        let (protocol, rows) = (self.protocol, &self.rows);
        let (order, columns) = match source {
            Source::Terms { order, terms } => (order, terms_of(protocol, rows, terms)),
            Source::Values(of) => {
                let values: Vec<_> = rows.iter().map(|row| of(protocol, row).as_f64()).collect();
                let present = |value: &Option<f64>| value.map(|_| Term::Whole(1));
                let columns = [
                    RowTerms::Any(values.iter().map(|value| value.map(Term::Number)).collect()),
                    RowTerms::Any(values.iter().map(present).collect()),
                ];
                (None, columns.into())
            }
        };
        let by_order = |order: Order<P>| {
            Partition::by_order(rows.len(), |a: usize, b: usize| order(rows.at(a), rows.at(b)))
        };
        let new = order.map_or_else(|| Partition::whole(rows.len()), by_order);
        let known = self.partitions.iter().position(|known| known.is(&new));
        let partition = known.unwrap_or_else(|| {
            self.partitions.push(new);
            self.partitions.len() - 1
        });
        let groups = order.map_or_else(|| vec![rows.clone()], |order| grouped(rows, order));
        let cut = Cut::new(columns, &mut self.partitions[partition], &mut self.histograms);
        Pool { source, partition, groups, cut }
    }

    /// What every metric comes to in what was drawn.
    fn values(&self, drawn: &Drawn<'_>) -> Vec<Value> {
        let rows = self.rows.weighted(drawn.counts);
        let pools: Vec<OnceCell<Vec<Sums<'_, P::Row>>>> =
            self.pools.iter().map(|_| OnceCell::new()).collect();
        let one = |Read { number, pool, .. }: &Read<P>| {
            let sums = pool.and_then(|pool| {
                self.pools[pool].cut.as_ref()?;
                Some(pools[pool].get_or_init(|| self.sums(&self.pools[pool], drawn)).as_slice())
            });
            let value = sums.and_then(|sums| self.by_sums(number, sums));
            // What the columns do not tell is read from the rows, as a report is.
            value.unwrap_or_else(|| Reader::new(self.protocol, &rows).number(number, &[]))
        };
        self.metrics.iter().map(one).collect()
    }

    /// What `then` makes of the values of all metrics in every resample; no values once asked to stop.
    fn each<T>(&self, weights: &Weights, then: impl Fn(&[Value]) -> T) -> Vec<T> {
        let sums: Vec<_> = self.partitions.iter().map(|partition| partition.sums(weights)).collect();
        let one = |(resample, counts): (usize, &[u32])| {
            if stop::asked() {
                return then(&[]);
            }
            then(&self.values(&Drawn {
                counts,
                sums: sums.iter().map(|sums| sums[resample].as_slice()).collect(),
                occurrences: self.histograms.iter().map(|histogram| histogram.counted(counts)).collect(),
            }))
        };
        weights.each().enumerate().map(one).collect()
    }

    /// The number; `None` where the sums do not settle it.
    fn by_sums(&self, number: &Number<P>, groups: &[Sums<'_, P::Row>]) -> Option<Value> {
        let value = match number {
            Number::Pooled { read, .. } => read(self.protocol, &groups[0]),
            Number::Grouped { read, .. } => read(self.protocol, groups),
            Number::Mean { .. } => match groups[0].whole(PRESENT) {
                0 => Value::undefined("no row has a value"),
                count => Value::Number(groups[0].number_over(SUM, count)),
            },
            Number::Rows(_) | Number::Chosen(_) => return None,
        };
        (!undecided(groups)).then_some(value)
    }

    /// The sums of the groups of which a row was drawn; of all rows together in any case.
    fn sums<'d>(&'d self, pool: &'d Pool<'a, P>, drawn: &Drawn<'d>) -> Vec<Sums<'d, P::Row>> {
        let Some(cut) = &pool.cut else { return Vec::new() };
        let partition = &self.partitions[pool.partition];
        let whole = pool.groups.len() == 1;
        let group = |(group, rows): (usize, &'d Rows<'a, P::Row>)| {
            let pieces = partition.of_group(drawn.sums[pool.partition], group);
            let count = Partition::rows(pieces);
            let columns = || cut.sums(pieces, &self.histograms, &drawn.occurrences, group);
            (count > 0 || whole).then(|| Sums::new(rows.weighted(drawn.counts), count as u64, columns()))
        };
        pool.groups.iter().enumerate().filter_map(group).collect()
    }
}

impl<P: Protocol> Source<P> {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Terms { order, terms }, Self::Terms { order: other, terms: more }) => {
                let same_order = match (*order, *other) {
                    (Some(ours), Some(theirs)) => fn_addr_eq(ours, theirs),
                    (ours, theirs) => ours.is_none() && theirs.is_none(),
                };
                same_order && fn_addr_eq(*terms, *more)
            }
            (Self::Values(ours), Self::Values(theirs)) => fn_addr_eq(*ours, *theirs),
            _ => false,
        }
    }
}

impl<P: Protocol> Resampler for Numbers<'_, P> {
    fn leaves(&self) -> &[(Leaf, f64)] {
        &self.leaves
    }

    fn read(&self, weights: &Weights) -> Vec<Vec<Option<f64>>> {
        self.each(weights, |values| {
            let mut numbers = Vec::with_capacity(self.leaves.len());
            self.metrics
                .iter()
                .zip(values)
                .for_each(|(read, value)| read.tree.put(Some(value), &mut numbers));
            numbers.resize(self.leaves.len(), None);
            numbers
        })
    }
}

/// A number of the value of a metric in each resample of rows, as a report of the drawn rows alone would
/// have it; NaN where it has none.
pub fn resampled<P: Protocol>(
    protocol: &P,
    rows: &Rows<'_, P::Row>,
    number: &Number<P>,
    bootstrap: &Bootstrap,
    read: impl Fn(&Value) -> Option<f64>,
) -> Vec<f64> {
    let rows = rows.alone();
    let units = rows.len();
    let mut numbers = Numbers::of(protocol, rows);
    numbers.push(number, Tree::Number(f64::NAN));
    let first = |values: &[Value]| values.first().and_then(&read).unwrap_or(f64::NAN);
    // The number of resamples may be that of a stored protocol: room is made for what is there.
    let mut all = Vec::new();
    for block in bootstrap.blocks() {
        all.extend(numbers.each(&Weights::resamples(bootstrap.seed, units, block), first));
    }
    all
}
