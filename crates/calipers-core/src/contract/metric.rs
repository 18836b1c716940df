//! A line of a metric table: the one place where a number is named and defined.

use std::cmp::Ordering;

use crate::protocol::Protocol;
use crate::reading::{Reader, Rows, Sums, Terms};
use crate::value::Value;

/// One line of a protocol's metric table: everything there is to know about one number.
pub struct Metric<P: Protocol> {
    /// The id without the family prefix; it stands nowhere else.
    pub id: &'static str,
    /// The heading under which tables show it.
    pub group: &'static str,
    /// Which direction is better; may depend on the preset.
    pub better: fn(&P) -> Better,
    /// The values it can take.
    pub range: Range,
    /// How people read its values.
    pub form: Form,
    /// What it measures.
    pub measures: &'static str,
    /// How it is computed.
    pub formula: &'static str,
    /// When it has no value, and the reason then given; empty when it always has one.
    pub undefined: &'static str,
    /// How it differs from what others compute under the same name; may be empty.
    pub differs: &'static str,
    /// Where the definition comes from.
    pub reference: &'static str,
    /// A worked example of `spec/` and the value it gives there, as JSON; a test runs it.
    pub example: (&'static str, &'static str),
    /// Whether the preset and the parameters have it.
    pub presets: fn(&P) -> bool,
    /// The evidence it needs, possibly from different units; without, it is left out of the report.
    pub needs: &'static [Need<P>],
    /// Its place among the numbers that are shown first, on every face.
    pub headline: Option<u8>,
    /// Whether the per-unit table has it as a column.
    pub per_unit: bool,
    /// Which of its numbers have an interval, and what is special about them.
    pub interval: IntervalRule,
    /// How it is read from rows.
    pub number: Number<P>,
}

/// Which numbers of a metric have an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalRule {
    /// Every one.
    Every,
    /// Every one; it is a mean over labels, and which labels take part differs from sample to sample.
    OverLabels,
    /// Every one; it is an order statistic, which has no smooth jackknife.
    OrderStatistic,
    /// All but the entries under these keys, which say how large the sample is.
    Without(&'static [&'static str]),
    /// None: it says how large or how spread the sample itself is.
    Never,
}

impl<P: Protocol> Clone for Metric<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Protocol> Copy for Metric<P> {}

/// How many lines some tables have together.
pub const fn lines_of<P: Protocol>(tables: &[&[Metric<P>]]) -> usize {
    let (mut lines, mut table) = (0, 0);
    while table < tables.len() {
        lines += tables[table].len();
        table += 1;
    }
    lines
}

/// The lines of some tables, one table after the other, so that each idea of a family keeps its own.
pub const fn joined<P: Protocol, const LINES: usize>(tables: &[&[Metric<P>]]) -> [Metric<P>; LINES] {
    let mut all = [Metric::DEFAULTS; LINES];
    let (mut at, mut table) = (0, 0);
    while table < tables.len() {
        let mut line = 0;
        while line < tables[table].len() {
            all[at] = tables[table][line];
            at += 1;
            line += 1;
        }
        table += 1;
    }
    all
}

impl<P: Protocol> Metric<P> {
    /// What most lines have: every preset, no needs, no headline, no column of the per-unit table, a
    /// definition of our own that differs from nobody's and always has a value. The fields that a line has
    /// to give are empty.
    pub const DEFAULTS: Self = Self {
        id: "",
        group: "",
        better: |_| Better::Neither,
        range: Range { low: f64::NEG_INFINITY, high: f64::INFINITY, text: "" },
        form: Form::Plain,
        measures: "",
        formula: "",
        undefined: "",
        differs: "",
        reference: "Calipers",
        example: ("", ""),
        presets: |_| true,
        needs: &[],
        headline: None,
        per_unit: false,
        interval: IntervalRule::Every,
        number: Number::Rows(|_, _| Value::undefined("")),
    };

    /// The id with the family prefix, as reports have it.
    pub fn full_id(&self) -> String {
        full_id::<P>(self.id)
    }

    /// Whether a report of these rows has the number: its preset does, and the rows hold what it needs.
    pub fn is_reported(&self, protocol: &P, rows: &Rows<'_, P::Row>) -> bool {
        (self.presets)(protocol) && self.needs.iter().all(|need| rows.iter().any(need.met))
    }

    /// Reads the number from rows.
    pub fn read(&self, protocol: &P, rows: &Rows<'_, P::Row>) -> Value {
        Reader::new(protocol, rows).value(self)
    }
}

/// How a number is read from rows: from all rows of a report, the rows of a group, a single row or the
/// rows of a resample.
///
/// *Correctness.* A row counts as often as its weight says, and a reading depends on weights and rows
/// alone. Rows of an accumulator all weigh 1.
pub enum Number<P: Protocol> {
    /// A function of sums over all rows.
    Pooled {
        /// What a row adds to the sums.
        terms: AddTerms<P>,
        /// The number.
        read: fn(&P, &Sums<'_, P::Row>) -> Value,
    },
    /// A function of the sums over each group of rows.
    Grouped {
        /// The order of groups; rows that are equal in it are of one group.
        order: fn(&P::Row, &P::Row) -> Ordering,
        /// What a row adds to the sums of its group.
        terms: AddTerms<P>,
        /// The number, from the groups that have a row, in order.
        read: fn(&P, &[Sums<'_, P::Row>]) -> Value,
    },
    /// The mean of the rows' own values where they have one: the exact sum over their number, rounded
    /// once.
    Mean {
        /// The value of a row.
        of: fn(&P, &P::Row) -> Value,
        /// Why there is no mean where no row has a value; without it, the reason of the first row that
        /// has what the line needs.
        none: Option<&'static str>,
    },
    /// What no sum gives.
    Rows(fn(&P, &Rows<'_, P::Row>) -> Value),
    /// One of the above, as the parameters decide.
    Chosen(fn(&P) -> Number<P>),
}

/// What a row adds to sums.
pub type AddTerms<P> = for<'r> fn(&P, &'r <P as Protocol>::Row, &mut Terms<'r>);

impl<P: Protocol> Clone for Number<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Protocol> Copy for Number<P> {}

impl<P: Protocol> Number<P> {
    /// See [`Number::Pooled`].
    pub const fn pooled(terms: AddTerms<P>, read: fn(&P, &Sums<'_, P::Row>) -> Value) -> Self {
        Self::Pooled { terms, read }
    }

    /// See [`Number::Mean`]; where no row has a value, the reason is that of a row.
    pub const fn mean(of: fn(&P, &P::Row) -> Value) -> Self {
        Self::Mean { of, none: None }
    }

    /// What the parameters decide on.
    pub fn chosen(&self, protocol: &P) -> Self {
        match *self {
            Self::Chosen(choose) => choose(protocol).chosen(protocol),
            number => number,
        }
    }
}

/// Evidence that at least one unit must have.
pub struct Need<P: Protocol> {
    /// The keys under which units bring it.
    pub keys: &'static [&'static str],
    /// Whether a row has it.
    pub met: fn(&P::Row) -> bool,
}

/// One column of the per-unit table that is not a metric.
pub struct Column<P: Protocol> {
    /// The heading.
    pub name: &'static str,
    /// The cell of one row.
    pub read: fn(&P, &P::Row) -> Value,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// A description, not a score.
    Neither,
}

/// What the lists among the values of a metric mean. Programs get lists whatever they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Numbers in an order, such as a curve over steps.
    Plain,
    /// Two numbers: from where to where.
    Interval,
    /// Pairs: a threshold and what the number is there.
    Sweep,
}

/// The values a metric can take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest value.
    pub low: f64,
    /// The largest value; infinite where only the data bounds it.
    pub high: f64,
    /// The range as people write it, with the names of the family.
    pub text: &'static str,
}

/// A line of the metric table without its type: what lists, docs and tables need.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricInfo {
    /// The id with the family prefix.
    pub id: String,
    /// See [`Metric::group`].
    pub group: &'static str,
    /// See [`Metric::better`].
    pub better: Better,
    /// See [`Metric::range`].
    pub range: Range,
    /// See [`Metric::form`].
    pub form: Form,
    /// See [`Metric::per_unit`].
    pub per_unit: bool,
    /// See [`Metric::headline`].
    pub headline: Option<u8>,
    /// See [`Metric::interval`].
    pub interval: IntervalRule,
    /// See [`Metric::measures`].
    pub measures: &'static str,
    /// See [`Metric::formula`].
    pub formula: &'static str,
    /// See [`Metric::undefined`].
    pub undefined: &'static str,
    /// See [`Metric::differs`].
    pub differs: &'static str,
    /// See [`Metric::reference`].
    pub reference: &'static str,
    /// See [`Metric::example`].
    pub example: (&'static str, &'static str),
}

/// Every line of a protocol's table, for the given parameters.
pub fn metric_infos<P: Protocol>(protocol: &P) -> Vec<MetricInfo> {
    P::METRICS
        .iter()
        .map(|metric| MetricInfo {
            id: full_id::<P>(metric.id),
            group: metric.group,
            better: (metric.better)(protocol),
            range: metric.range,
            form: metric.form,
            per_unit: metric.per_unit,
            headline: metric.headline,
            interval: metric.interval,
            measures: metric.measures,
            formula: metric.formula,
            undefined: metric.undefined,
            differs: metric.differs,
            reference: metric.reference,
            example: metric.example,
        })
        .collect()
}

/// The id with its family prefix.
pub(crate) fn full_id<P: Protocol>(id: &str) -> String {
    format!("{}.{id}", P::NAME)
}
