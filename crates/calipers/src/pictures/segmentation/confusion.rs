//! The confusion matrix as heat maps: counts, by row and by column.

use std::collections::{BTreeMap, BTreeSet};

use calipers_core::Accumulator;
use calipers_metrics::segmentation::{Measure, Segmentation};
use calipers_report::chart::heat::{Field, Heat};
use calipers_report::chart::{Art, Chart, Picture, compact};
use calipers_report::grid::Cell;

use super::super::readings::{missing, table, words};

/// The most classes that are drawn one by one.
const MOST: usize = 32;
const SLUG: &str = "confusion";
const TITLE: &str = "Confusion matrix";

/// Pixels by true and predicted position; the names of both.
struct Matrix {
    rows: Vec<String>,
    columns: Vec<String>,
    cells: Vec<Vec<u128>>,
    /// How many classes share the last row and column.
    gathered: usize,
}

/// What a cell is compared with.
#[derive(Clone, Copy)]
enum Whole {
    Largest,
    Row,
    Column,
}

/// The picture.
pub(super) fn picture(rows: &Accumulator<Segmentation>) -> Picture {
    if !rows.protocol().measures(Measure::Overlap) {
        return missing(SLUG, TITLE, "the confusion matrix was not requested");
    }
    let names = &rows.protocol().labels.global;
    let counts = total(rows);
    if counts.is_empty() {
        return missing(SLUG, TITLE, "no pixel is scored");
    }
    let matrix = matrix(names, &counts);
    let variants = [("by row", Whole::Row), ("by column", Whole::Column), ("counts", Whole::Largest)]
        .map(|(name, whole)| (name.to_owned(), Chart::Heat(matrix.heat(whole))));
    let gathered = match matrix.gathered {
        0 => String::new(),
        n => format!(
            " The {n} classes with the fewest mistakes are drawn as one, outside the scale of colours."
        ),
    };
    Picture {
        slug: SLUG.into(),
        title: TITLE.into(),
        caption: format!(
            "Rows are the truth, columns the prediction. By row: what became of each true class (the diagonal \
             is recall); by column: what each predicted class really was (the diagonal is precision).{gathered}"
        ),
        art: Art::Variants(variants.into()),
        data: vec![("confusion".into(), listed(names, &counts))],
        unit: None,
    }
}

fn total(rows: &Accumulator<Segmentation>) -> BTreeMap<(u32, u32), u128> {
    let mut counts = BTreeMap::new();
    for row in rows.rows().iter() {
        for (cell, count) in row.confusion.cells() {
            *counts.entry(cell).or_default() += u128::from(count);
        }
    }
    counts
}

/// Every cell that is not 0, with its share of the row and of the column.
fn listed(names: &[String], counts: &BTreeMap<(u32, u32), u128>) -> calipers_report::grid::Grid {
    let (mut truth, mut pred) = (BTreeMap::<u32, u128>::new(), BTreeMap::<u32, u128>::new());
    for ((t, p), count) in counts {
        *truth.entry(*t).or_default() += count;
        *pred.entry(*p).or_default() += count;
    }
    let share = |count: u128, whole: Option<&u128>| {
        Cell::from(whole.filter(|whole| **whole > 0).map(|whole| count as f64 / *whole as f64))
    };
    let name = |class: u32| words(names.get(class as usize).map_or("no prediction", String::as_str));
    let rows = counts.iter().map(|(&(t, p), &count)| {
        let shares = [share(count, truth.get(&t)), share(count, pred.get(&p))];
        let [by_row, by_column] = shares;
        vec![name(t), name(p), Cell::Number(count as f64), by_row, by_column]
    });
    table(&["truth", "prediction", "pixels", "share of row", "share of column"], rows)
}

/// The matrix of all classes, or of those with most mistakes and all others as one.
fn matrix(names: &[String], counts: &BTreeMap<(u32, u32), u128>) -> Matrix {
    let shown: Vec<u32> = if names.len() <= MOST {
        (0..names.len() as u32).collect()
    } else {
        let mut mistakes: BTreeMap<u32, u128> = BTreeMap::new();
        for (&(t, p), &count) in counts.iter().filter(|((t, p), _)| t != p) {
            *mistakes.entry(t).or_default() += count;
            *mistakes.entry(p).or_default() += count;
        }
        let none = names.len() as u32;
        let mut by_mistakes: Vec<(u32, u128)> = mistakes.into_iter().filter(|(c, _)| *c != none).collect();
        by_mistakes.sort_by_key(|(class, count)| (std::cmp::Reverse(*count), *class));
        by_mistakes
            .into_iter()
            .take(MOST - 1)
            .map(|(class, _)| class)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    };
    let gathered = names.len() - shown.len();
    let mut rows: Vec<String> = shown.iter().map(|class| names[*class as usize].clone()).collect();
    if gathered > 0 {
        rows.push(format!("{gathered} others"));
    }
    let mut columns = rows.clone();
    let unpredicted = counts.keys().any(|(_, pred)| *pred as usize == names.len());
    if unpredicted {
        columns.push("no prediction".into());
    }
    let place = |class: u32| match shown.binary_search(&class) {
        Ok(place) => place,
        Err(_) if class as usize == names.len() => columns.len() - 1,
        Err(_) => rows.len() - 1,
    };
    let mut cells = vec![vec![0; columns.len()]; rows.len()];
    for (&(t, p), &count) in counts {
        cells[place(t)][place(p)] += count;
    }
    Matrix { rows, columns, cells, gathered }
}

impl Matrix {
    fn heat(&self, whole: Whole) -> Heat {
        // What stands for many classes has no part in the scale: it would leave no colour to the others.
        let last = self.rows.len().checked_sub(1).filter(|_| self.gathered > 0);
        let alone = |i: usize, j: usize| Some(i) != last && Some(j) != last;
        let places = (0..self.rows.len()).flat_map(|i| (0..self.columns.len()).map(move |j| (i, j)));
        let largest = places.filter(|(i, j)| alone(*i, *j)).map(|(i, j)| self.cells[i][j]).max().unwrap_or(0);
        let by_row: Vec<u128> = self.cells.iter().map(|row| row.iter().sum()).collect();
        let by_column: Vec<u128> =
            (0..self.columns.len()).map(|j| self.cells.iter().map(|row| row[j]).sum()).collect();
        let field = |i: usize, j: usize| {
            let count = self.cells[i][j];
            let of = match whole {
                Whole::Largest => largest,
                Whole::Row => by_row[i],
                Whole::Column => by_column[j],
            };
            let value = (of > 0).then(|| count as f64 / of as f64);
            let exact = value.map_or("–".into(), |share| format!("{:.1} %", 100.0 * share));
            let named = format!("{} seen as {}: {count} pixels", self.rows[i], self.columns[j]);
            match whole {
                // The root lets rare mistakes show beside millions of hits.
                Whole::Largest => Field {
                    value: Some(count as f64),
                    share: value.map(f64::sqrt).filter(|_| alone(i, j)),
                    text: compact(count as f64),
                    tip: named,
                },
                Whole::Row | Whole::Column => Field {
                    value,
                    share: value.filter(|_| last.is_none() || Some(i) != last || Some(j) != last),
                    text: value.map_or(String::new(), percent),
                    tip: format!("{named}, {exact}"),
                },
            }
        };
        let cells =
            (0..self.rows.len()).map(|i| (0..self.columns.len()).map(|j| field(i, j)).collect()).collect();
        let (title, scale) = match whole {
            Whole::Largest => (
                "Confusion matrix, pixels",
                ["0".into(), format!("{} pixels, by square root", compact(largest as f64))],
            ),
            Whole::Row => ("Confusion matrix, share of each true class", percent_of("the row")),
            Whole::Column => ("Confusion matrix, share of each predicted class", percent_of("the column")),
        };
        Heat {
            title: title.into(),
            description: format!(
                "{} true classes against {} predicted ones",
                self.rows.len(),
                self.columns.len()
            ),
            row_title: "truth".into(),
            column_title: "prediction".into(),
            rows: self.rows.clone(),
            columns: self.columns.clone(),
            cells,
            scale,
        }
    }
}

fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "<1".into() } else { format!("{:.0}", 100.0 * share) }
}

fn percent_of(whole: &str) -> [String; 2] {
    ["0 %".into(), format!("100 % of {whole}")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pixel_is_lost_when_classes_are_gathered() {
        let names: Vec<String> = (0..1_000_000).map(|i| format!("class <{i}>")).collect();
        let cell = |i: u32| ((i % 1000 * 997, (i * 31) % 1_000_001), u128::from(i));
        let mut counts: BTreeMap<(u32, u32), u128> = (0..5000).map(cell).collect();
        counts.insert((3, 1_000_000), 7);
        let matrix = matrix(&names, &counts);
        assert_eq!((matrix.rows.len(), matrix.columns.len()), (MOST, MOST + 1));
        let drawn: u128 = matrix.cells.iter().flatten().sum();
        assert_eq!(drawn, counts.values().sum::<u128>());
        let text = Chart::Heat(matrix.heat(Whole::Row)).draw(720.0).to_string();
        let counts = matrix.heat(Whole::Largest);
        let shares = |row: &[Field]| row.iter().filter_map(|field| field.share).fold(0.0, f64::max);
        let alone = counts.cells[..MOST - 1].iter().map(|row| shares(&row[..MOST - 1])).fold(0.0, f64::max);
        assert!((alone - 1.0).abs() < 1e-12, "{alone}: the scale is that of classes drawn alone");
        assert!(counts.cells[MOST - 1].iter().all(|field| field.share.is_none()));
        assert!(text.len() < 400_000 && !text.contains("class <"), "{}", text.len());
    }
}
