//! Tables against the slow and obvious reading, and the rules about them.

use proptest::prelude::*;

use super::*;
use crate::history::{Numbers, Places, Texts};

/// What counts about a table: its keys, the line of each row, its numbers and its names.
#[derive(Debug, PartialEq)]
struct Content {
    keys: Vec<String>,
    lines: Vec<String>,
    numbers: Vec<Column<u64>>,
    texts: Vec<Column<String>>,
}

/// Key, cells by row, and the place of the first cell that cannot be read.
type Column<T> = (String, Vec<(u32, T)>, Option<String>);

impl Content {
    fn of(table: &Table) -> Self {
        let bits = |(row, value): (&u32, &f64)| (*row, value.to_bits());
        let number = |column: &Numbers| {
            let place = column.unreadable.as_ref().map(|error| error.place().unwrap().to_owned());
            (column.key.clone(), column.rows.iter().zip(&column.values).map(bits).collect(), place)
        };
        let text = |column: &Texts| {
            let cell = |(row, name): &(u32, u32)| (*row, column.names[*name as usize].clone());
            (column.key.clone(), column.cells.iter().map(cell).collect(), None)
        };
        Self {
            keys: table.keys.clone(),
            lines: (0..table.rows as u32).map(|row| table.places.of(row)).collect(),
            numbers: table.numbers.iter().map(number).collect(),
            texts: table.texts.iter().map(text).collect(),
        }
    }
}

/// The table with commas as the csv crate reads it, row by row and cell by cell; the line of the
/// first row of another length as error.
fn obvious(text: &str, wanted: &Wanted) -> std::result::Result<Content, String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut records = Vec::new();
    for record in reader.records() {
        let record = record.unwrap();
        let start = record.position().unwrap().byte() as usize;
        let start = start + text[start..].bytes().take_while(|byte| b"\r\n".contains(byte)).count();
        let line = 1 + text[..start].matches('\n').count();
        let cells: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
        if cells.len() > 1 || !cells[0].is_empty() || text[start..].starts_with('"') {
            records.push((line, cells));
        }
    }
    let (_, header) = records.remove(0);
    let mut content = Content { keys: Vec::new(), lines: Vec::new(), numbers: Vec::new(), texts: Vec::new() };
    for name in &header {
        if !name.is_empty() && !content.keys.contains(name) {
            content.keys.push(name.clone());
        }
    }
    for (line, cells) in &records {
        if cells.len() != header.len() {
            return Err(format!("line {line}"));
        }
        content.lines.push(format!("line {line}"));
    }
    for key in wanted.numbers.iter().filter(|key| content.keys.contains(key)) {
        let places: Vec<usize> = (0..header.len()).filter(|place| header[*place] == *key).collect();
        let mut values = Vec::new();
        let mut unreadable = places.get(1).map(|second| {
            let line = 1 + text.lines().take_while(|line| line.trim().is_empty()).count();
            format!("line {line}, columns {} and {}", places[0] + 1, second + 1)
        });
        for (row, (line, cells)) in records.iter().enumerate() {
            let cell = &cells[places[0]];
            if unreadable.is_some() || ["", "NA", "N/A", "None", "null"].contains(&cell.as_str()) {
                continue;
            }
            match cell.parse::<f64>() {
                Ok(value) => values.push((row as u32, value.to_bits())),
                Err(_) => unreadable = Some(format!("line {line}, column `{key}`")),
            }
        }
        content.numbers.push((key.clone(), values, unreadable));
    }
    for key in wanted.texts.iter().filter(|key| content.keys.contains(key)) {
        let place = header.iter().position(|name| name == key).unwrap();
        let names = records.iter().map(|(_, cells)| &cells[place]).enumerate();
        let names = names.filter(|(_, name)| !name.is_empty());
        let names = names.map(|(row, name)| (row as u32, name.clone())).collect();
        content.texts.push((key.clone(), names, None));
    }
    Ok(content)
}

fn wanted(numbers: &[&str], texts: &[&str]) -> Wanted {
    let owned = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
    Wanted { numbers: owned(numbers), texts: owned(texts), ..Wanted::default() }
}

fn table(text: &str, numbers: &[&str], texts: &[&str]) -> Table {
    read(text.as_bytes(), &wanted(numbers, texts), &Options::default()).unwrap()
}

fn with_commas() -> Options {
    Options { delimiter: Some(b','), ..Options::default() }
}

/// A cell as it stands in a file.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<f64>().prop_map(|value| value.to_string()),
        4 => (-9999_i32..9999).prop_map(|value| format!("{}", f64::from(value) / 1000.0)),
        2 => prop::sample::select(vec!["", " ", "NA", "nan", "abc", "größe", "5\" disk", " 7 ", "\t-1e3"]).prop_map(str::to_owned),
        2 => "[a-c,;\n\" 0-9]{0,90}".prop_map(|text| format!("\"{}\"", text.replace('"', "\"\""))),
        1 => "[a-c]{60,140}",
    ]
}

fn any_table() -> impl Strategy<Value = String> {
    let line_end = prop::sample::select(vec!["\n", "\r\n", "\n\n", "\n \r\n"]);
    (1_usize..9).prop_flat_map(move |width| {
        let row = (prop::collection::vec(cell(), width), line_end.clone());
        let names =
            prop::collection::vec(prop::sample::select(vec!["a", "b", "c", " d", "\"e,\"", ""]), width);
        (names, prop::collection::vec(row, 0..20), any::<bool>()).prop_map(move |(mut names, rows, ended)| {
            names[0] = "a";
            let mut text = names.join(",") + "\n";
            for (cells, end) in rows {
                text += &(cells.join(",") + end);
            }
            if ended { text } else { text.trim_end().to_owned() }
        })
    })
}

/// Chunks of tables in any order, most of them no table.
fn any_text() -> impl Strategy<Value = String> {
    let chunk = prop::sample::select(vec![
        ",", ",", "\n", "\n", "\r\n", "\"", "\"\"", "a", "b", "1", "0.25", " ", "NA",
    ]);
    prop::collection::vec(chunk, 0..120).prop_map(|chunks| format!("a,b\n{}", chunks.concat()))
}

proptest! {
    #[test]
    fn tables_are_read_as_row_by_row_and_cell_by_cell(text in any_table()) {
        let wanted = wanted(&["c", "a", "e,", "x", "b"], &["d"]);
        match read(text.as_bytes(), &wanted, &with_commas()) {
            Ok(table) => prop_assert_eq!(Ok(Content::of(&table)), obvious(&text, &wanted)),
            Err(error) => prop_assert_eq!(error.what(), "a column occurs twice"),
        }
    }

    #[test]
    fn text_that_is_hardly_a_table_is_read_right_or_refused(text in any_text()) {
        let wanted = wanted(&["b"], &["a"]);
        match read(text.as_bytes(), &wanted, &with_commas()) {
            Ok(table) => {
                // A last line that is cut off is as if it were not there.
                let end = table.cut_at.map_or(text.len(), |cut| cut as usize);
                prop_assert!(table.cut_at.is_none() || text.rfind('\n') == Some(end - 1) && end < text.len());
                prop_assert_eq!(Ok(Content::of(&table)), obvious(&text[..end], &wanted));
            }
            Err(error) if error.what() == "a row of another length" => {
                prop_assert_eq!(Err(error.place().unwrap().to_owned()), obvious(&text, &wanted));
            }
            Err(error) => prop_assert!(error.what().contains("quote"), "{}", error),
        }
    }
}

#[test]
fn wanted_keys_come_in_the_order_wanted_and_others_are_only_named() {
    let found = table(
        "\u{feff},epoch,run,val\r\n0,0,r,0.5\r\n1,1,r,\r\n2,2,s,nan\r\n",
        &["val", "x", "epoch", "val"],
        &["run"],
    );
    assert_eq!(found.keys, ["epoch", "run", "val"]);
    assert_eq!((found.rows, &found.places), (3, &Places::LinesFrom(2)));
    let keys: Vec<_> = found.numbers.iter().map(|column| (&column.key[..], &column.rows[..])).collect();
    assert_eq!(keys, [("val", &[0, 2][..]), ("epoch", &[0, 1, 2][..])]);
    assert!(found.numbers[0].values[1].is_nan());
    let run = found.text("run").unwrap();
    assert_eq!(
        (&run.names[..], &run.cells[..]),
        (&["r".to_owned(), "s".to_owned()][..], &[(0, 0), (1, 0), (2, 1)][..])
    );
}

#[test]
fn a_last_line_that_is_cut_off_is_dropped_and_any_other_is_refused() {
    for (text, rows, cut_at) in [
        ("a,b,c\n0,1,2\n1,2", 1, Some(12)),
        ("a,b,c\n0,1,2\n1", 1, Some(12)),
        ("a,b,c\n0,1,2\n1,2,\"x", 1, Some(12)),
        ("\u{feff}a,b,c\n0,1,2\n1,2", 1, Some(15)),
        ("a,b,c\n0", 0, Some(6)),
        ("a,b,c\n0,1,2\n1,2,", 2, None),
        ("a,b,c\n0,1,2", 1, None),
    ] {
        let found = table(text, &["a", "b"], &["c"]);
        assert_eq!((found.rows, found.cut_at), (rows, cut_at), "{text}");
        assert_eq!(found.numbers[0].rows.len(), rows, "{text}");
    }
    for text in
        ["a,b,c\n0,1\n", "a,b,c\n0,1\n1,2,3", "a,b,c\n0,1,\"x\n", "a,b,c\n0,1,\"x\n1,2,3", "a,b\n0,1,2"]
    {
        assert!(read(text.as_bytes(), &wanted(&["a"], &[]), &with_commas()).is_err(), "{text}");
    }
}

#[test]
fn blank_lines_and_quoted_line_ends_count_as_lines() {
    assert_eq!(table("\n\na\n1\n2\n", &[], &[]).places, Places::LinesFrom(4));
    assert_eq!(table("a\n1\n\n2\n", &[], &[]).places, Places::Lines(vec![2, 4]));
    assert_eq!(table("a,b\n\"x\ny\",1\nz,2\n", &[], &[]).places, Places::Lines(vec![2, 4]));
    assert_eq!(table("a\n", &[], &[]).rows, 0);
}

#[test]
fn the_first_cell_that_is_no_number_is_named_and_other_columns_are_read_on() {
    let found = table("epoch,val,loss\n0,0.5,1\n1,abc,2\n2,0.7,3\n", &["val", "loss"], &[]);
    let error = found.numbers[0].unreadable.as_ref().unwrap();
    assert_eq!(error.place(), Some("line 3, column `val`"));
    assert!(error.to_string().contains("`abc`"), "{error}");
    assert_eq!((found.numbers[0].rows.len(), found.numbers[1].rows.len()), (1, 3));
}

#[test]
fn a_wanted_column_that_occurs_twice_is_unreadable() {
    let found = table("epoch,val,val,other,other\n0,1,2,3,4\n", &["epoch", "val"], &[]);
    let error = found.number("val").unwrap().unreadable.as_ref().unwrap();
    assert_eq!(error.place(), Some("line 1, columns 2 and 3"));
    assert!(found.number("epoch").unwrap().unreadable.is_none());
    assert!(read(b"r,r\n", &wanted(&[], &["r"]), &Options::default()).is_err());
}

#[test]
fn a_row_of_another_length_is_an_error_with_both_counts() {
    for (text, line, found) in
        [("a,b\n1,2\n\n3\n", "line 4", "1 cells"), ("a,b\n\"x\",2,\n", "line 2", "3 cells")]
    {
        let error = read(text.as_bytes(), &Wanted::default(), &Options::default()).unwrap_err();
        let message = error.to_string();
        assert_eq!(error.place(), Some(line));
        assert!(message.contains(found) && message.contains("2 cells"), "{message}");
    }
}

#[test]
fn bytes_that_are_no_text_are_an_error_with_their_place() {
    let error = read(b"\xef\xbb\xbfa,b\n1,\xe4\n", &Wanted::default(), &Options::default()).unwrap_err();
    assert_eq!(error.place(), Some("byte 9"));
}

#[test]
fn a_decimal_comma_is_read_when_asked_for() {
    let options = Options { decimal_comma: true, ..Options::default() };
    for text in ["e;v\n0;0,25\n", "e,v\n0,\"0,25\"\n"] {
        let found = read(text.as_bytes(), &wanted(&["v"], &[]), &options).unwrap();
        assert_eq!(found.numbers[0].values, [0.25]);
    }
}

fn long(text: &str, numbers: &[&str], texts: &[&str]) -> Result<Table> {
    let long = Long { key_column: "name".to_owned(), value_column: "value".to_owned() };
    read(text.as_bytes(), &wanted(numbers, texts), &Options { long: Some(long), ..Options::default() })
}

#[test]
fn the_long_layout_takes_values_by_key_and_ignores_the_rows_of_other_keys() {
    let text = "run\tepoch\tname\tvalue\nr\t0\tval\t0.5\nr\t?\tnote\tgood\nr\t1\tval\tNA\ns\t1\tval\t0.7\n";
    let found = long(text, &["epoch", "val", "loss"], &["run"]).unwrap();
    assert_eq!(found.keys, ["run", "epoch", "val", "note"]);
    assert_eq!((found.rows, found.numbers.len()), (4, 2));
    let (epoch, val) = (found.number("epoch").unwrap(), found.number("val").unwrap());
    assert_eq!((&epoch.rows[..], &epoch.unreadable), (&[0, 2, 3][..], &None));
    assert_eq!((&val.rows[..], &val.values[..]), (&[0, 3][..], &[0.5, 0.7][..]));
    assert_eq!(found.text("run").unwrap().cells, [(0, 0), (1, 0), (2, 0), (3, 1)]);
}

#[test]
fn the_long_layout_names_bad_values_and_missing_columns() {
    let found = long("name,value,epoch\nval,x,0\n", &["val", "epoch"], &[]).unwrap();
    let error = found.number("val").unwrap().unreadable.as_ref().unwrap();
    assert_eq!(error.place(), Some("line 2, column `val`"));
    let error = long("key,value\n", &[], &[]).unwrap_err().to_string();
    assert!(error.contains("`name`") && error.contains("`key`, `value`"), "{error}");
    assert!(long("name,value,value\n", &[], &[]).is_err());
}
