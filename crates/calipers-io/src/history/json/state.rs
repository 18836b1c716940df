//! Hugging Face `trainer_state.json`: the rows are in `log_history`.

use calipers_core::{Error, Result};

use super::super::{Origin, Places, Table, Wanted};
use super::rows::Rows;
use super::syntax::scan::Scanner;
use super::syntax::value::{Kind, Value};
use crate::text::shown;

/// The key that holds the rows.
pub(super) const LOG: &str = "log_history";

/// What messages call a row.
const ENTRY: &str = "log_history entry";

/// Reads a document that is a trainer state.
pub(super) fn read(scan: &mut Scanner<'_>, wanted: &Wanted) -> Result<Table> {
    let mut rows = None;
    members(scan, |scan, key| {
        if key != LOG {
            scan.skip()?;
            return Ok(());
        }
        if scan.peek() != Some(b'[') {
            return Err(scan.unexpected("`log_history` is not a list", "a list of objects"));
        }
        let mut logged = Rows::new(scan.length(), wanted);
        logged.list(scan, ENTRY)?;
        rows = Some(logged);
        Ok(())
    })?;
    let mut rows = rows.ok_or_else(|| {
        Error::format("no `log_history` in the trainer state")
            .advice("give the trainer_state.json that the Hugging Face trainer wrote")
    })?;
    Ok(rows.take(wanted, Origin::TrainerState, Places::Numbered(ENTRY, 0)))
}

/// The `global_step` of a trainer state: among checkpoints, the greatest one has the whole history.
pub fn global_step(bytes: &[u8]) -> Result<Option<u64>> {
    let mut step = None;
    members(&mut Scanner::new(bytes)?, |scan, key| {
        let value = scan.value()?;
        if key == "global_step" {
            step = whole(value)?;
        }
        Ok(())
    })?;
    Ok(step)
}

fn whole(value: Value<'_>) -> Result<Option<u64>> {
    if value.kind == Kind::Null {
        return Ok(None);
    }
    let step = value.raw.parse().map_err(|_| {
        Error::value("`global_step` is not a whole number")
            .found(shown(value.raw.as_bytes()))
            .allowed("digits only, below 2^64")
    })?;
    Ok(Some(step))
}

/// Goes through the members of a document that is one object.
fn members<'a>(
    scan: &mut Scanner<'a>,
    mut member: impl FnMut(&mut Scanner<'a>, &str) -> Result<()>,
) -> Result<()> {
    if scan.peek() != Some(b'{') {
        return Err(scan.unexpected("a trainer state is not an object", "an object with `log_history`"));
    }
    let mut more = scan.open(b'}')?;
    while more {
        let key = scan.key()?;
        member(scan, &key)?;
        more = scan.more(b'}')?;
    }
    scan.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Table> {
        let wanted =
            Wanted { numbers: vec!["step".into(), "eval_F1".into()], texts: vec![], ..Wanted::default() };
        read(&mut Scanner::new(text.as_bytes())?, &wanted)
    }

    #[test]
    fn the_rows_are_those_of_log_history_and_the_last_one_counts() {
        let text = r#"{"step": 9, "log_history": [{"step": 1}], "x": [{"step": 7}], "log_history": [{"step": 2}, {"eval_F1": 1, "step": 3}]}"#;
        let table = read_text(text).unwrap();
        assert_eq!((table.origin, table.rows), (Origin::TrainerState, 2));
        assert_eq!(table.keys, ["step", "eval_F1"]);
        assert_eq!(table.number("step").unwrap().values, [2.0, 3.0]);
        assert_eq!(table.number("eval_F1").unwrap().rows, [1]);
        assert_eq!(table.places.of(1), "log_history entry 2");
    }

    #[test]
    fn a_state_without_its_list_is_refused() {
        for (text, words) in [
            (r#"{"global_step": 3}"#, "no `log_history`"),
            (r#"{"log_history": {"a": 1}}"#, "line 1, column 17"),
            (r#"{"log_history": null}"#, "`null`"),
            (r#"{"log_history": [{}, 3]}"#, "log_history entry 2, line 1, column 22"),
            (r#"[{"step": 1}]"#, "not an object"),
        ] {
            let error = read_text(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn the_global_step_is_a_whole_number_or_absent() {
        let step = |text: &str| global_step(text.as_bytes()).map_err(|error| error.to_string());
        assert_eq!(
            step(r#"{"log_history": [{"global_step": 1}], "global_step": 50, "a": NaN}"#),
            Ok(Some(50))
        );
        assert_eq!(step(r#"{"global_step": 1, "global_step": 18446744073709551615}"#), Ok(Some(u64::MAX)));
        assert_eq!(step("{}"), Ok(None));
        assert_eq!(step(r#"{"global_step": null}"#), Ok(None));
        for wrong in ["50.5", "-1", "\"50\"", "[]", "NaN", "18446744073709551616"] {
            let error = step(&format!("{{\"global_step\": {wrong}}}")).unwrap_err();
            assert!(error.contains(wrong) && error.contains("global_step"), "{error}");
        }
        assert!(step("{\"global_step\": 5").unwrap_err().contains("line 1, column 18"));
    }
}
