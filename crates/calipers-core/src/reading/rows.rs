//! Rows with their names, each as often as it counts.

use std::iter::repeat_n;
use std::sync::{Arc, Mutex, PoisonError};

use crate::unit_id::UnitId;
use crate::workers::{Alone, Workers};

/// Rows with their names, in key order. In a resample a row counts several times or not at all.
#[derive(Debug)]
pub struct Rows<'a, R> {
    all: Arc<[(&'a UnitId, &'a R)]>,
    /// Positions of the rows that take part; all of them without.
    members: Option<Arc<[u32]>>,
    /// How often the row at each position counts; once without.
    weights: Option<&'a [u32]>,
    workers: &'a dyn Workers,
}

impl<R> Clone for Rows<'_, R> {
    fn clone(&self) -> Self {
        Self { all: Arc::clone(&self.all), members: self.members.clone(), ..*self }
    }
}

impl<'a, R> Rows<'a, R> {
    /// The rows as given; the caller keeps them in key order.
    pub fn new(rows: Vec<(&'a UnitId, &'a R)>) -> Self {
        Self { all: rows.into(), members: None, weights: None, workers: &Alone }
    }

    /// The same rows, with workers to share long passes over them.
    pub fn on(self, workers: &'a dyn Workers) -> Self {
        Self { workers, ..self }
    }

    /// The same rows, each as often as the number at its position says.
    pub(crate) fn weighted<'w>(&self, weights: &'w [u32]) -> Rows<'w, R>
    where
        'a: 'w,
    {
        Rows { weights: Some(weights), ..self.clone() }
    }

    /// The rows at the given positions alone.
    pub(crate) fn of(&self, members: Arc<[u32]>) -> Self {
        Self { members: Some(members), ..self.clone() }
    }

    /// The rows that count, each as often as it does, without the others.
    pub(crate) fn alone(&self) -> Self {
        let weight = |at: usize| self.weights.map_or(1, |weights| weights[at]) as usize;
        let places = (0..self.places()).map(|place| self.position(place));
        Self {
            workers: self.workers,
            ..Self::new(places.flat_map(|at| repeat_n(self.all[at], weight(at))).collect())
        }
    }

    /// The row at a position alone, once.
    pub fn single(&self, position: usize) -> Self {
        Self { weights: None, ..self.of([self.position(position) as u32].into()) }
    }

    /// The rows without their names, each as often as it counts.
    pub fn iter(&self) -> impl Iterator<Item = &'a R> + Clone + '_ {
        self.counted().flat_map(|(_, row, times)| repeat_n(row, times as usize))
    }

    /// Names and rows, each as often as it counts.
    pub fn named(&self) -> impl Iterator<Item = (&'a str, &'a R)> + Clone + '_ {
        self.counted().flat_map(|(name, row, times)| repeat_n((name, row), times as usize))
    }

    /// Names and rows that count, with how often.
    pub fn counted(&self) -> impl Iterator<Item = (&'a str, &'a R, u32)> + Clone + '_ {
        let one = |place| {
            let at = self.position(place);
            let times = self.weights.map_or(1, |weights| weights[at]);
            let (name, row) = self.all[at];
            (times > 0).then(|| (name.as_str(), row, times))
        };
        (0..self.places()).filter_map(one)
    }

    /// The first row that counts.
    pub fn first(&self) -> Option<&'a R> {
        self.counted().next().map(|(_, row, _)| row)
    }

    /// How many rows there are, each as often as it counts.
    pub fn len(&self) -> usize {
        match self.weights {
            None => self.places(),
            Some(_) => self.counted().map(|(_, _, times)| times as usize).sum(),
        }
    }

    /// Whether none counts.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// The row at a position, whatever it counts.
    pub(crate) fn at(&self, position: usize) -> &'a R {
        self.all[position].1
    }

    /// The positions of the rows that take part.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.places()).map(|place| self.position(place) as u32)
    }

    /// How many places there are, and which row is at one of them.
    fn places(&self) -> usize {
        self.members.as_ref().map_or(self.all.len(), |members| members.len())
    }

    fn position(&self, place: usize) -> usize {
        self.members.as_ref().map_or(place, |members| members[place] as usize)
    }

    /// A pass over all rows: each worker folds neighbours into a part of its own, and the parts are
    /// joined in their order. What comes out may not depend on where the parts begin.
    pub fn folded<T: Send>(
        &self,
        new: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, &'a R, u32) + Sync,
        join: impl Fn(&mut T, T),
    ) -> T
    where
        R: Sync,
    {
        let places = self.places();
        let length = places.div_ceil(self.workers.count().max(1)).max(1);
        let parts: Vec<Mutex<Option<T>>> = (0..places.div_ceil(length)).map(|_| Mutex::default()).collect();
        self.workers.each(parts.len(), &|k| {
            let mut part = new();
            for place in k * length..((k + 1) * length).min(places) {
                let at = self.position(place);
                let times = self.weights.map_or(1, |weights| weights[at]);
                if times > 0 {
                    add(&mut part, self.all[at].1, times);
                }
            }
            *parts[k].lock().unwrap_or_else(PoisonError::into_inner) = Some(part);
        });
        let parts =
            parts.into_iter().filter_map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner));
        let joined = parts.reduce(|mut whole, part| {
            join(&mut whole, part);
            whole
        });
        joined.unwrap_or_else(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does the last job first.
    #[derive(Debug)]
    struct Backwards(usize);

    impl Workers for Backwards {
        fn count(&self) -> usize {
            self.0
        }

        fn each(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
            (0..jobs).rev().for_each(job);
        }
    }

    fn numbered(count: u32) -> Vec<(UnitId, u32)> {
        (0..count).map(|row| (format!("{row:02}").into(), row)).collect()
    }

    #[test]
    fn a_pass_takes_every_row_once_and_in_order_whoever_shares_it() {
        let rows = numbered(10);
        for count in [0, 1, 2, 3, 9, 10, 50] {
            for length in [0, 1, 10] {
                let workers = Backwards(count);
                let some = Rows::new(rows[..length].iter().map(|(id, row)| (id, row)).collect()).on(&workers);
                let add = |seen: &mut Vec<u32>, row: &u32, times| seen.extend(repeat_n(*row, times as usize));
                let seen = some.folded(Vec::new, add, |seen, more| seen.extend(more));
                assert_eq!(seen, (0..length as u32).collect::<Vec<_>>(), "{count} workers");
            }
        }
    }

    #[test]
    fn a_row_counts_as_often_as_its_weight_says() {
        let rows = numbered(4);
        let all = Rows::new(rows.iter().map(|(id, row)| (id, row)).collect());
        let drawn = all.weighted(&[2, 0, 1, 3]);
        assert_eq!(drawn.iter().copied().collect::<Vec<_>>(), [0, 0, 2, 3, 3, 3]);
        assert_eq!((drawn.len(), drawn.is_empty(), drawn.first()), (6, false, Some(&0)));
        let some = drawn.of([1, 2].into());
        assert_eq!(some.named().collect::<Vec<_>>(), [("02", &2)]);
        assert_eq!(drawn.single(1).iter().collect::<Vec<_>>(), [&1]);
        assert_eq!(
            drawn.of([0, 1, 2].into()).alone().weighted(&[1, 0, 2]).iter().collect::<Vec<_>>(),
            [&0, &2, &2]
        );
    }
}
