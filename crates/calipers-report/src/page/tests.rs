use super::*;
use crate::chart::images::{Images, Panel};
use crate::chart::{Art, Chart, Image};
use crate::fixture;
use crate::grid::Cell;
use calipers_core::Value;

const EVIL: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'";

fn picture(art: Art) -> Picture {
    let grid = Grid { columns: vec![EVIL.into()], rows: vec![vec![Cell::Text(EVIL.into())]] };
    Picture {
        slug: "stub".into(),
        title: EVIL.into(),
        caption: EVIL.into(),
        art,
        data: vec![(EVIL.into(), grid)],
        unit: None,
    }
}

fn hostile() -> Page {
    let mut report = fixture::realistic();
    report.metrics.push((EVIL.into(), Value::PerLabel(vec![(EVIL.into(), Value::undefined("</script>"))])));
    report.protocol.insert(EVIL.into(), EVIL.into());
    report.warnings[0] = Warning { code: EVIL.into(), message: EVIL.into(), units: vec![EVIL.into()] };
    let table = Table {
        columns: vec!["unit".into(), EVIL.into()],
        rows: vec![(EVIL.into(), vec![Value::Text(EVIL.into())])],
    };
    let pictures = vec![
        picture(Art::Missing(EVIL.into())),
        picture(Art::Chart(Chart::Images(Images {
            title: EVIL.into(),
            description: EVIL.into(),
            panels: vec![Panel {
                caption: EVIL.into(),
                image: Image { width: 1, height: 1, pixels: [[1, 2, 3]].into() },
            }],
            legend: vec![(crate::chart::Colour::Bad, EVIL.into())],
        }))),
    ];
    let section = report_section(&report, &fixture::infos(&report), Some((table, 1)), pictures);
    Page {
        title: EVIL.into(),
        sections: vec![Section { heading: EVIL.into(), slug: EVIL.into(), ..section }],
    }
}

#[test]
fn hostile_text_adds_no_element_and_no_attribute() {
    let html = write(&hostile());
    let own = html.replace(SCRIPT, "").replace(&style(), "");
    assert!(!own.contains("<script>alert") && !own.contains("<img src=x"), "markup got through");
    assert!(own.matches("<script").count() == own.matches("</script>").count());
    assert_eq!(
        own.matches("onerror=").count(),
        own.matches("onerror=alert(1)&gt;").count() + own.matches("onerror=alert(1)\\u003e").count()
    );
}

#[test]
fn the_policy_allows_the_script_and_the_style_that_are_there() {
    let html = write(&hostile());
    let script = html.rsplit("<script>").next().and_then(|rest| rest.split("</script>").next()).unwrap();
    let style = html.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap();
    let expected = policy::policy(script, style).replace('\'', "&#39;");
    assert!(html.contains(&format!("content=\"{expected}\"")), "{expected}");
    assert!(
        !html.contains("style=\"") && !html.contains("http:")
            || html.matches("http:").count() == html.matches("http://www.w3.org/2000/svg").count()
    );
}

#[test]
fn equal_pages_have_equal_bytes_and_every_place_its_own_name() {
    let html = write(&hostile());
    assert_eq!(html, write(&hostile()));
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
}

#[test]
fn a_hundred_thousand_units_stay_below_twenty_megabytes() {
    let rows = (0..100_000)
        .map(|i| {
            (format!("unit_{i:06}"), (0..30).map(|k| Value::Number(1.0 / f64::from(i + k + 1))).collect())
        })
        .collect();
    let columns = std::iter::once("unit".to_string()).chain((0..30).map(|k| format!("column_{k}"))).collect();
    let report = fixture::small();
    let section = report_section(&report, &[], Some((Table { columns, rows }, 100_000)), Vec::new());
    let html = write(&Page { title: "many".into(), sections: vec![section] });
    assert!(html.len() < 20_000_000, "{}", html.len());
    assert!(html.contains("of 100000 units are on this page"));
}

#[test]
fn a_million_classes_and_a_name_of_a_megabyte_stay_below_twenty_megabytes() {
    let mut report = fixture::small();
    let labels = (0..1_000_000).map(|i| (format!("class {i}"), Value::undefined("absent"))).collect();
    report.metrics = vec![
        ("segmentation.iou".into(), Value::PerLabel(labels)),
        (format!("segmentation.{}", "x".repeat(1_000_000)), Value::Number(0.5)),
    ];
    let section = report_section(&report, &[], None, Vec::new());
    let html = write(&Page { title: "x".repeat(1_000_000), sections: vec![section] });
    assert!(html.len() < 1_000_000, "{}", html.len());
}
