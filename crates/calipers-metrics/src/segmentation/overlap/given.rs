//! A confusion matrix over the originals that somebody else counted, regrouped into global classes.

use std::collections::BTreeMap;

use calipers_core::{Error, Result};

use crate::segmentation::protocol::{Segmentation, Unpredicted};
use crate::segmentation::row::Row;

/// Sums the cells of a matrix into global classes. Rows of ignored originals are ignored pixels, their
/// columns and the optional last column are pixels without a prediction.
pub(crate) fn regroup(protocol: &Segmentation, rows: usize, columns: usize, counts: &[u64]) -> Result<Row> {
    let labels = &protocol.labels;
    let listed: Vec<i64> = labels.original.keys().copied().collect();
    let classes = listed.len();
    let fits = rows == classes && (columns == classes || columns == classes + 1);
    if !fits || rows.checked_mul(columns) != Some(counts.len()) {
        return Err(Error::value("the confusion matrix has another shape than the list of classes")
            .found(format!("{rows} x {columns}, {} counts", counts.len()))
            .allowed(format!(
                "{classes} x {classes}, or {classes} x {} with pixels without a prediction",
                classes + 1
            ))
            .advice("rows and columns are all listed classes in id order, ignored ones included"));
    }
    let none = protocol.classes();
    let mut confusion = BTreeMap::new();
    let mut ignored = 0u64;
    let cells = counts.iter().enumerate().filter(|&(_, &count)| count != 0);
    for (cell, &count) in cells {
        let (row, column) = (cell / columns, cell % columns);
        let place = || format!("row {row}, column {column}");
        let sum = match labels.to_global.get(&listed[row]) {
            None => &mut ignored,
            Some(&truth) => {
                let class = listed.get(column).and_then(|id| labels.to_global.get(id)).copied();
                if class.is_none() && labels.unpredicted == Unpredicted::Error {
                    return Err(Error::value("the confusion matrix has pixels without a predicted class")
                        .at(place())
                        .found(format!("{count} pixel(s)"))
                        .allowed("0")
                        .advice("count such pixels as wrong with --unpredicted wrong"));
                }
                confusion.entry((truth as u32, class.unwrap_or(none) as u32)).or_default()
            }
        };
        *sum = sum.checked_add(count).ok_or_else(|| {
            Error::value("the counts of a class add up to more than 64 bits hold").at(place()).found(count)
        })?;
    }
    Ok(Row { height: 0, width: 0, ignored, confusion: confusion.into(), pixels: None })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::segmentation::protocol::config::Config;

    fn animals(unpredicted: &str) -> Segmentation {
        let config = json!({"labels": {
            "original": {"3": "cat", "5": "hole", "9": "dog", "-2": "none"}, "global": ["none", "animal"],
            "groups": {"animal": ["cat", "dog"]}, "ignore": ["hole", 255], "unpredicted": unpredicted,
        }});
        serde_json::from_value::<Config>(config).unwrap().resolve().unwrap()
    }

    /// Rows and columns: none, cat, hole, dog, and no prediction.
    const COUNTS: [u64; 20] = [1, 2, 0, 4, 0, 8, 16, 0, 32, 0, 1, 1, 1, 1, 1, 64, 128, 0, 256, 0];

    #[test]
    fn originals_are_summed_into_classes_and_ignored_rows_are_ignored_pixels() {
        let row = regroup(&animals("error"), 4, 5, &COUNTS).unwrap();
        let cells = [((0, 0), 1), ((0, 1), 6), ((1, 0), 72), ((1, 1), 432)];
        assert_eq!(row.confusion, cells.into_iter().collect());
        assert_eq!((row.ignored, row.height, row.width, row.pixels), (5, 0, 0, None));
    }

    #[test]
    fn ignored_columns_and_the_last_one_are_pixels_without_a_prediction() {
        let mut counts = COUNTS;
        counts[7] = 1000;
        counts[4] = 50;
        let row = regroup(&animals("wrong"), 4, 5, &counts).unwrap();
        assert_eq!((row.confusion.get((1, 2)), row.confusion.get((0, 2))), (1000, 50));
        counts[4] = 0;
        let text = regroup(&animals("error"), 4, 5, &counts).unwrap_err().to_string();
        for word in ["row 1, column 2", "1000", "--unpredicted wrong"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn other_shapes_and_sums_beyond_64_bits_are_refused() {
        for (rows, columns) in [(3, 3), (4, 6), (4, 3), (5, 4), (0, 0)] {
            let counts = vec![0; rows * columns];
            let text = regroup(&animals("error"), rows, columns, &counts).unwrap_err().to_string();
            assert!(text.contains(&format!("{rows} x {columns}")) && text.contains("4 x 5"), "{text}");
        }
        assert!(regroup(&animals("error"), 4, 4, &[0; 15]).is_err());
        let mut counts = [0; 16];
        (counts[5], counts[7]) = (u64::MAX, 1);
        let text = regroup(&animals("error"), 4, 4, &counts).unwrap_err().to_string();
        assert!(text.contains("row 1, column 3"), "{text}");
    }
}
