//! HTML under construction: text and attribute values can only get in escaped.

use calipers_core::error::printable;

use crate::chart::Drawing;

/// The most characters of one text from outside that a page shows.
const LONGEST: usize = 300;

/// HTML so far.
pub(crate) struct Markup(String);

/// Attributes: fixed names, any values.
pub(crate) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Markup {
    pub(crate) fn new() -> Self {
        Self(String::new())
    }

    /// Markup of our own.
    pub(crate) fn raw(&mut self, html: &str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    /// Text from anywhere, cut where it is very long.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        let mut characters = text.chars();
        let head: String = characters.by_ref().take(LONGEST).collect();
        escape(&printable(&head), &mut self.0);
        if characters.next().is_some() {
            self.0.push('…');
        }
        self
    }

    /// A name that may break after its underscores.
    pub(crate) fn words(&mut self, name: &str) -> &mut Self {
        let head: String = name.chars().take(LONGEST).collect();
        for (i, word) in head.split('_').enumerate() {
            self.raw(if i > 0 { "_<wbr>" } else { "" }).text(word);
        }
        if head.len() < name.len() { self.raw("…") } else { self }
    }

    /// Sentences of this project, which may be longer than a name.
    pub(crate) fn prose(&mut self, text: &str) -> &mut Self {
        let head: String = text.chars().take(20 * LONGEST).collect();
        escape(&printable(&head), &mut self.0);
        self
    }

    pub(crate) fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) -> &mut Self {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            self.0.push_str("=\"");
            escape(&printable(value), &mut self.0);
            self.0.push('"');
        }
        self.0.push('>');
        self
    }

    /// An element without content.
    pub(crate) fn void(&mut self, tag: &'static str, attributes: Attributes<'_>) -> &mut Self {
        self.open(tag, attributes)
    }

    pub(crate) fn close(&mut self, tag: &'static str) -> &mut Self {
        self.0.push_str("</");
        self.0.push_str(tag);
        self.0.push('>');
        self
    }

    /// An element that holds text.
    pub(crate) fn element(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) -> &mut Self {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// A drawing, which escapes its own words.
    pub(crate) fn svg(&mut self, drawing: &Drawing) -> &mut Self {
        self.0.push_str(&drawing.to_string());
        self
    }

    /// A JSON block that scripts read as text and browsers never as markup or code.
    pub(crate) fn json(&mut self, id: &str, json: &str) -> &mut Self {
        self.open("script", &[("type", "application/json"), ("id", id)]);
        for c in json.chars() {
            match c {
                '<' => self.0.push_str("\\u003c"),
                '>' => self.0.push_str("\\u003e"),
                '&' => self.0.push_str("\\u0026"),
                '\u{2028}' => self.0.push_str("\\u2028"),
                '\u{2029}' => self.0.push_str("\\u2029"),
                c => self.0.push(c),
            }
        }
        self.close("script").raw("\n")
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_text_nor_attributes_nor_data_become_markup() {
        let evil = "</script><img src=x onerror=\"alert(1)\">'&\u{2028}\u{0}";
        let mut html = Markup::new();
        html.open("b", &[("title", evil)]).text(evil).close("b");
        html.json("d", &serde_json::to_string(evil).unwrap());
        let text = html.finish();
        assert_eq!(text.matches('<').count(), 4, "{text}");
        assert!(!text.contains("onerror=\"") && !text.contains(['\u{2028}', '\u{0}']), "{text}");
        let block = text.split("\"d\">").nth(1).unwrap().strip_suffix("</script>\n").unwrap();
        assert_eq!(serde_json::from_str::<String>(block).unwrap(), evil);
    }

    #[test]
    fn a_very_long_name_is_cut() {
        let mut html = Markup::new();
        html.text(&"x".repeat(1_000_000));
        assert!(html.finish().len() < 400);
    }
}
