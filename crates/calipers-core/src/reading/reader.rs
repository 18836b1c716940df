//! Reads the lines of a metric table from one set of rows; what several lines add up is added up once.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::ptr::fn_addr_eq;
use std::rc::Rc;

use super::collect::{Precision, collected, grouped};
use super::rows::Rows;
use super::sums::Sums;
use crate::exact::ExactSum;
use crate::metric::{AddTerms, Number};
use crate::protocol::Protocol;
use crate::value::Value;

/// Rows that metrics are read from.
pub(crate) struct Reader<'a, P: Protocol> {
    protocol: &'a P,
    rows: &'a Rows<'a, P::Row>,
    known: RefCell<Vec<Known<'a, P>>>,
}

/// Sums that were asked for before. Function pointers tell them apart: should equal functions have two
/// addresses, rows are only added up once more.
struct Known<'a, P: Protocol> {
    order: Option<Order<P>>,
    terms: AddTerms<P>,
    groups: Rc<[Sums<'a, P::Row>]>,
}

pub(crate) type Order<P> = fn(&<P as Protocol>::Row, &<P as Protocol>::Row) -> Ordering;

impl<'a, P: Protocol> Reader<'a, P> {
    pub(crate) fn new(protocol: &'a P, rows: &'a Rows<'a, P::Row>) -> Self {
        Self { protocol, rows, known: RefCell::default() }
    }

    /// Reads one number.
    pub(crate) fn value(&self, number: &Number<P>) -> Value {
        let protocol = self.protocol;
        match number.chosen(protocol) {
            Number::Pooled { terms, read } => self.read(None, terms, |groups| read(protocol, &groups[0])),
            Number::Grouped { order, terms, read } => {
                self.read(Some(order), terms, |groups| read(protocol, groups))
            }
            Number::Mean { of, none } => self.mean(of, none),
            Number::Rows(read) => read(protocol, self.rows),
            Number::Chosen(_) => Value::undefined("no way of reading was chosen"),
        }
    }

    fn read(
        &self,
        order: Option<Order<P>>,
        terms: AddTerms<P>,
        read: impl Fn(&[Sums<'a, P::Row>]) -> Value,
    ) -> Value {
        let groups = self.groups(order, terms);
        let value = read(&groups);
        if undecided(&groups) { read(&self.sums(order, terms, Precision::Full)) } else { value }
    }

    fn groups(&self, order: Option<Order<P>>, terms: AddTerms<P>) -> Rc<[Sums<'a, P::Row>]> {
        let same = |known: &Known<'a, P>| {
            let ordered = match (known.order, order) {
                (None, None) => true,
                (Some(ours), Some(theirs)) => fn_addr_eq(ours, theirs),
                _ => false,
            };
            ordered && fn_addr_eq(known.terms, terms)
        };
        if let Some(known) = self.known.borrow().iter().find(|known| same(known)) {
            return Rc::clone(&known.groups);
        }
        let groups: Rc<[_]> = self.sums(order, terms, Precision::Enough).into();
        self.known.borrow_mut().push(Known { order, terms, groups: Rc::clone(&groups) });
        groups
    }

    fn sums(
        &self,
        order: Option<Order<P>>,
        terms: AddTerms<P>,
        precision: Precision,
    ) -> Vec<Sums<'a, P::Row>> {
        let groups = order.map_or_else(|| vec![self.rows.clone()], |order| grouped(self.rows, order));
        groups.iter().map(|rows| collected(self.protocol, rows, terms, precision)).collect()
    }

    fn mean(&self, of: fn(&P, &P::Row) -> Value, none: Option<&'static str>) -> Value {
        let (sum, count) = self.rows.folded(
            || (ExactSum::new(), 0u64),
            |(sum, count), row, times| {
                if let Some(number) = of(self.protocol, row).as_f64() {
                    (0..times).for_each(|_| sum.add(number));
                    *count += u64::from(times);
                }
            },
            |(sum, count), (more, others)| {
                sum.merge(&more);
                *count += others;
            },
        );
        if count > 0 {
            return Value::Number(sum.over(count));
        }
        match (none, self.rows.first()) {
            (Some(reason), _) => Value::undefined(reason),
            (None, Some(first)) => of(self.protocol, first),
            (None, None) => Value::undefined("there is no unit"),
        }
    }
}

/// Whether a number was read that the sums do not settle.
pub(crate) fn undecided<R>(groups: &[Sums<'_, R>]) -> bool {
    groups.iter().fold(false, |any, sums| sums.take_undecided() | any)
}
