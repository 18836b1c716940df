//! Reports of one family side by side: their first numbers in one table.

use calipers_core::Better;

use super::{Block, Figure, Section};
use crate::grid::{Cell, Grid};
use crate::number::rounded;
use crate::terminal::arrow;

/// A section with a table for each family that several sections report; none where there is no such
/// family.
pub fn side_by_side(sections: &[Section]) -> Option<Section> {
    let mut families: Vec<&str> = sections.iter().filter_map(family).collect();
    families.dedup();
    let mut blocks = Vec::new();
    for (i, family_name) in families.iter().enumerate() {
        let again = families[..i].contains(family_name);
        let members: Vec<&Section> =
            sections.iter().filter(|section| family(section) == Some(family_name)).collect();
        if !again && members.len() > 1 {
            blocks.push(Block::Table { title: (*family_name).to_owned(), grid: grid(&members) });
        }
    }
    (!blocks.is_empty()).then(|| Section {
        heading: "Side by side".into(),
        slug: "comparison-of-reports".into(),
        blocks,
    })
}

/// The family of a report's section, by the ids of its first numbers.
fn family(section: &Section) -> Option<&str> {
    let figures = section.blocks.iter().find_map(|block| match block {
        Block::Headline(figures) => figures.first(),
        _ => None,
    });
    figures.and_then(|figure| figure.id.split_once('.')).map(|(family, _)| family)
}

/// The first numbers of a section that are single and defined.
fn figures(section: &Section) -> Vec<&Figure> {
    let mut found = Vec::new();
    for block in &section.blocks {
        if let Block::Headline(figures) = block {
            found.extend(figures.iter().filter(|figure| figure.value.as_f64().is_some()));
        }
    }
    found
}

/// A line for each number that is single in some section, a column for each section; the best of a line is
/// bold.
fn grid(members: &[&Section]) -> Grid {
    let mut names: Vec<String> = Vec::new();
    for figure in members.iter().flat_map(|section| figures(section)) {
        if !names.contains(&figure.name) {
            names.push(figure.name.clone());
        }
    }
    let found = |section: &Section, name: &str| {
        figures(section).into_iter().find(|figure| figure.name == name).cloned()
    };
    let row = |name: &String| {
        let figures: Vec<Option<Figure>> = members.iter().map(|section| found(section, name)).collect();
        let numbers = || figures.iter().flatten().filter_map(|figure| figure.value.as_f64());
        let better = figures.iter().flatten().next().map_or(Better::Neither, Figure::better);
        let best = match better {
            Better::Higher => numbers().reduce(f64::max),
            Better::Lower => numbers().reduce(f64::min),
            Better::Neither => None,
        };
        // Where all are equal, none is the best.
        let best = best.filter(|best| numbers().any(|x| x.total_cmp(best).is_ne()));
        let cells = figures.iter().map(|figure| {
            let number = figure.as_ref().and_then(|figure| figure.value.as_f64());
            match number.filter(|x| best.is_some_and(|best| x.total_cmp(&best).is_eq())) {
                Some(x) => Cell::Bold(rounded(x)),
                None => Cell::from(number),
            }
        });
        std::iter::once(Cell::Text(format!("{name} {}", arrow(better)).trim_end().to_owned()))
            .chain(cells)
            .collect()
    };
    let headings = members.iter().map(|section| section.heading.clone());
    Grid {
        columns: std::iter::once("number".to_owned()).chain(headings).collect(),
        rows: names.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use calipers_core::Value;

    use super::*;

    fn section(heading: &str, id: &str, value: f64) -> Section {
        let name = id.split_once('.').unwrap().1.to_owned();
        let value = Value::Number(value);
        let figure = Figure { id: id.into(), name, value, intervals: None, info: None };
        Section { heading: heading.into(), slug: "s".into(), blocks: vec![Block::Headline(vec![figure])] }
    }

    #[test]
    fn only_families_that_several_sections_report_are_beside_each_other() {
        let (a, b) = (section("a", "training.velocity", 1.0), section("b", "training.velocity", 2.0));
        let other = section("c", "segmentation.miou", 0.5);
        assert!(side_by_side(&[a.clone(), other.clone()]).is_none());
        let made = side_by_side(&[a, other, b]).unwrap();
        let [Block::Table { title, grid }] = made.blocks.as_slice() else { panic!("one table") };
        assert_eq!((title.as_str(), grid.columns.join(" ")), ("training", "number a b".into()));
        assert_eq!(grid.rows, [[Cell::Text("velocity".into()), Cell::Number(1.0), Cell::Number(2.0)]]);
    }
}
