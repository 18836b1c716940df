//! The sessions of a run: where it was resumed or started again, and what that does to what was logged
//! before.
//!
//! ```text
//! session 1   x 0 1 2 3 4 5
//! session 2          x 3 4 5 6       rewind: 0 1 2 | 3 4 5 6      the later session stands from its first x on
//!                                    append: 0 1 2 3 4 5 | 3 4 5 6, numbered on
//! ```

use calipers_core::Result;
use calipers_io::history::{Origin, Session, Table};
use calipers_metrics::training::{Restarts, Sample};

use super::x_axis::later;
use super::x_values::{Cursor, readable};

/// The key under which W&B counts its steps.
const WANDB_STEP: &str = "_step";
const STEP: &str = "step";

/// What became of the sessions of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resumed {
    /// The values of each run that came out of it: one, unless sessions are runs of their own.
    pub runs: Vec<Vec<Sample>>,
    /// How many sessions there were.
    pub sessions: usize,
    /// How many values a later session took away.
    pub removed: usize,
    /// The x from which on it did so first.
    pub from: Option<f64>,
    /// By how much later steps were shifted, because they were counted from the start again.
    pub shifted: Option<f64>,
}

/// Applies a rule to the sessions of a run whose values stand in the order of their rows.
pub fn resume(table: &Table, x_key: &str, samples: Vec<Sample>, rule: Restarts) -> Result<Resumed> {
    let starts = match (table.run.sessions.as_slice(), rule) {
        ([], Restarts::Auto | Restarts::Overlay) => Vec::new(),
        ([], _) => steps_back(table, x_key, &samples)?,
        (sessions, _) => begun(sessions, &samples),
    };
    let mut resumed = Resumed { sessions: starts.len() + 1, ..Resumed::default() };
    if starts.is_empty() || rule == Restarts::Overlay {
        resumed.sessions = 1;
        resumed.runs.push(samples);
        return Ok(resumed);
    }
    match (rule, table.origin) {
        (Restarts::Auto, Origin::Tensorboard) => purge(table, samples, &mut resumed)?,
        (Restarts::Auto, Origin::Wandb) if x_key == WANDB_STEP => {
            match shifts(table)? {
                Some(shifts) => shift(samples, &shifts, &mut resumed),
                None => rewind(samples, &starts, &mut resumed),
            };
        }
        (Restarts::Auto | Restarts::Rewind | Restarts::Overlay, _) => rewind(samples, &starts, &mut resumed),
        (Restarts::Append, _) => {
            let numbered = pieces(samples, &starts).into_iter().zip(0..).flat_map(|(piece, session)| {
                piece.into_iter().map(move |sample| Sample { session, ..sample })
            });
            resumed.runs.push(numbered.collect());
        }
        (Restarts::Runs, _) => {
            resumed.runs = pieces(samples, &starts).into_iter().filter(|piece| !piece.is_empty()).collect();
        }
    }
    Ok(resumed)
}

/// The positions of the first values of sessions that the log itself tells.
fn begun(sessions: &[Session], samples: &[Sample]) -> Vec<usize> {
    let at = |session: &Session| samples.partition_point(|sample| sample.row < session.row);
    // A writer that begins before anything was logged begins no later session.
    sessions.iter().filter(|session| session.row > 0).map(at).collect()
}

/// The positions at which x does not rise and nothing says that the value was meant to follow.
fn steps_back(table: &Table, x_key: &str, samples: &[Sample]) -> Result<Vec<usize>> {
    let ranks = ranks(table, x_key, samples)?;
    let back = |at: &usize| {
        let rises = samples[at - 1].x < samples[*at].x;
        !rises && ranks.as_ref().is_none_or(|ranks| ranks[at - 1] >= ranks[*at])
    };
    Ok((1..samples.len()).filter(back).collect())
}

/// When each value was logged, by the column that says so.
pub fn ranks(table: &Table, x_key: &str, samples: &[Sample]) -> Result<Option<Vec<f64>>> {
    let Some(column) = later(table, x_key) else { return Ok(None) };
    readable(column)?;
    let mut cursor = Cursor::new(column);
    // A row without the key was logged before anything is known of.
    let mut rank = |row| cursor.at(row).filter(|rank| !rank.is_nan()).unwrap_or(f64::NEG_INFINITY);
    Ok(Some(samples.iter().map(|sample| rank(sample.row)).collect()))
}

fn pieces(samples: Vec<Sample>, starts: &[usize]) -> Vec<Vec<Sample>> {
    let ends = starts.iter().copied().chain([samples.len()]);
    let mut from = 0;
    let mut piece = |end: usize| {
        let piece = samples[from..end].to_vec();
        from = end;
        piece
    };
    ends.map(&mut piece).collect()
}

/// Every session takes the place of what came before it, from its first x on.
fn rewind(samples: Vec<Sample>, starts: &[usize], resumed: &mut Resumed) {
    let mut kept: Vec<Sample> = Vec::new();
    for piece in pieces(samples, starts) {
        if let Some(first) = piece.first() {
            take_back(&mut kept, first.x, |sample| sample.x, resumed);
        }
        kept.extend(piece);
    }
    resumed.runs.push(kept);
}

fn take_back(kept: &mut Vec<Sample>, from: f64, place: impl Fn(&Sample) -> f64, resumed: &mut Resumed) {
    let before = kept.len();
    kept.retain(|sample| place(sample) < from);
    if kept.len() < before {
        resumed.removed += before - kept.len();
        resumed.from.get_or_insert(from);
    }
}

/// Every start of a writer removes what was logged before it from its step on, as TensorBoard does.
fn purge(table: &Table, samples: Vec<Sample>, resumed: &mut Resumed) -> Result<()> {
    let steps = table.number(STEP).map(|column| readable(column).map(|()| column)).transpose()?;
    let mut cursor = steps.map(Cursor::new);
    let mut with_steps: Vec<(Sample, f64)> = Vec::new();
    let mut samples = samples.into_iter().peekable();
    let mut add_up_to = |row: u32, kept: &mut Vec<(Sample, f64)>| {
        while let Some(sample) = samples.next_if(|sample| sample.row < row) {
            let step = cursor.as_mut().and_then(|cursor| cursor.at(sample.row)).unwrap_or(sample.x);
            kept.push((sample, step));
        }
    };
    for session in &table.run.sessions {
        add_up_to(session.row, &mut with_steps);
        let from = session.from_step.unwrap_or(f64::NEG_INFINITY);
        let before = with_steps.len();
        with_steps.retain(|(_, step)| *step < from);
        if with_steps.len() < before {
            resumed.removed += before - with_steps.len();
            resumed.from.get_or_insert(from);
        }
    }
    add_up_to(u32::MAX, &mut with_steps);
    resumed.runs.push(with_steps.into_iter().map(|(sample, _)| sample).collect());
    Ok(())
}

/// From which row on W&B's steps are moved by how much; none where every file counts on.
fn shifts(table: &Table) -> Result<Option<Vec<(u32, f64)>>> {
    let Some(steps) = table.number(WANDB_STEP) else { return Ok(None) };
    readable(steps)?;
    let at = |row: u32| steps.rows.partition_point(|known| *known < row);
    let (mut shifts, mut from, mut moved) = (Vec::new(), 0, 0.0);
    let ends = table.run.sessions.iter().map(|session| session.row).chain([u32::MAX]);
    let (mut first_of_all, mut last, mut start) = (None, f64::NEG_INFINITY, 0);
    for end in ends {
        let piece = &steps.values[from..at(end)];
        if let Some(first) = piece.first() {
            match first_of_all {
                None => first_of_all = Some(*first),
                Some(earliest) if *first <= earliest => {
                    moved = last + 1.0;
                    shifts.push((start, moved));
                }
                Some(_) if moved > 0.0 => shifts.push((start, 0.0)),
                Some(_) => {}
            }
            let by = shifts.last().map_or(0.0, |(_, by)| *by);
            last = piece.iter().fold(last, |last, step| last.max(step + by));
        }
        (from, start) = (at(end), end);
    }
    Ok((moved > 0.0).then_some(shifts))
}

/// Moves the steps of files that counted from the start again behind those of the files before them.
fn shift(samples: Vec<Sample>, shifts: &[(u32, f64)], resumed: &mut Resumed) {
    let moved = |sample: Sample| {
        let by = shifts.iter().rev().find(|(row, _)| sample.row >= *row).map_or(0.0, |(_, by)| *by);
        Sample { x: sample.x + by, ..sample }
    };
    resumed.shifted = shifts.first().map(|(_, by)| *by);
    resumed.runs.push(samples.into_iter().map(moved).collect());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::tests::table;

    fn samples(x: &[f64]) -> Vec<Sample> {
        (0..).zip(x).map(|(row, x)| Sample { row, x: *x, value: f64::from(row), session: 0 }).collect()
    }

    fn x(run: &[Sample]) -> Vec<f64> {
        run.iter().map(|sample| sample.x).collect()
    }

    const AGAIN: &[f64] = &[0.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0];

    #[test]
    fn a_table_is_rewound_appended_or_divided_only_on_request() {
        let table = table(Origin::Table, &[("epoch", AGAIN)]);
        let resumed = |rule| resume(&table, "epoch", samples(AGAIN), rule).unwrap();
        assert_eq!(x(&resumed(Restarts::Auto).runs[0]), AGAIN);
        assert_eq!(x(&resumed(Restarts::Overlay).runs[0]), AGAIN);
        let rewound = resumed(Restarts::Rewind);
        assert_eq!(x(&rewound.runs[0]), [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((rewound.removed, rewound.from, rewound.sessions), (2, Some(2.0), 2));
        assert_eq!(rewound.runs[0][2].value.to_bits(), 4.0_f64.to_bits(), "the later session stands");
        let appended = resumed(Restarts::Append);
        assert_eq!(
            appended.runs[0].iter().map(|sample| sample.session).collect::<Vec<_>>(),
            [0, 0, 0, 0, 1, 1, 1]
        );
        let runs = resumed(Restarts::Runs).runs;
        assert_eq!((x(&runs[0]), x(&runs[1])), (AGAIN[..4].to_vec(), AGAIN[4..].to_vec()));
    }

    #[test]
    fn a_step_that_goes_on_begins_no_session() {
        let table = table(Origin::Table, &[("step", &[0.0, 1.0, 2.0, 3.0])]);
        let twice = samples(&[0.0, 0.0, 1.0, 1.0]);
        assert_eq!(resume(&table, "epoch", twice, Restarts::Runs).unwrap().runs.len(), 1);
    }

    #[test]
    fn a_writer_that_starts_at_a_step_removes_what_was_logged_from_there_on() {
        let mut table = table(Origin::Tensorboard, &[("step", AGAIN)]);
        table.run.sessions = vec![
            Session { row: 0, from_step: Some(0.0) },
            Session { row: 4, from_step: Some(2.0) },
            Session { row: 7, from_step: Some(4.0) },
        ];
        let resumed = resume(&table, "step", samples(AGAIN), Restarts::Auto).unwrap();
        assert_eq!(x(&resumed.runs[0]), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!((resumed.removed, resumed.from), (3, Some(2.0)));
    }

    #[test]
    fn files_of_wandb_that_count_anew_are_shifted_and_others_rewind() {
        let with = |steps: &[f64], row| {
            let mut table = table(Origin::Wandb, &[("_step", steps)]);
            table.run.sessions = vec![Session { row, from_step: None }];
            resume(&table, "_step", samples(steps), Restarts::Auto).unwrap()
        };
        let anew = with(&[0.0, 1.0, 2.0, 0.0, 1.0], 3);
        assert_eq!((x(&anew.runs[0]), anew.shifted), (vec![0.0, 1.0, 2.0, 3.0, 4.0], Some(3.0)));
        let on = with(&[0.0, 1.0, 2.0, 2.0, 3.0], 3);
        assert_eq!((x(&on.runs[0]), on.shifted, on.removed), (vec![0.0, 1.0, 2.0, 3.0], None, 1));
    }
}
