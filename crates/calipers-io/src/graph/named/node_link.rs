//! Node-link JSON, as networkx writes it: an object with `nodes` and `links` or `edges`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;

use calipers_core::{Error, ErrorKind, Result};
use serde::de::{self, DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;

use super::{NamedGraph, label_of};
use crate::graph::StoredGraph;
use crate::text::{Lines, first_line, without_mark};

/// Reads an object, an array of objects, or one object per line.
pub fn parse(bytes: &[u8]) -> Result<Vec<StoredGraph>> {
    let text = without_mark(bytes);
    match first_line(text).and_then(|line| line.first()) {
        Some(b'[') => read(text, |json, failure| json.deserialize_seq(List { failure })),
        Some(b'{') if of_lines(text) => {
            let mut graphs = Vec::new();
            for line in Lines::new(text) {
                let line = line?;
                if !line.text.trim_ascii().is_empty() {
                    let graph = read(line.text, |json, failure| Object { failure }.deserialize(json));
                    graphs.push(graph.map_err(|error| error.at(format!("object in line {}", line.number)))?);
                }
            }
            Ok(graphs)
        }
        Some(b'{') => Ok(vec![read(text, |json, failure| Object { failure }.deserialize(json))?]),
        _ => Err(Error::format("node-link JSON: neither an object nor an array of objects")
            .at("line 1")
            .allowed("what networkx.node_link_data gives")),
    }
}

/// Whether the first line is an object of its own and something follows it.
fn of_lines(text: &[u8]) -> bool {
    let mut values = Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let first = values.next().is_some_and(|value| value.is_ok());
    first && !text[values.byte_offset()..].trim_ascii().is_empty()
}

/// An error of ours goes beside the reader, which knows only its own.
type Failure = RefCell<Option<Error>>;

fn read<T>(
    text: &[u8],
    value: impl FnOnce(&mut Deserializer<serde_json::de::SliceRead<'_>>, &Failure) -> serde_json::Result<T>,
) -> Result<T> {
    let failure = Failure::default();
    let mut json = Deserializer::from_slice(text);
    let read = value(&mut json, &failure).and_then(|value| json.end().map(|()| value));
    read.map_err(|error| match failure.take() {
        Some(own) if error.line() > 0 => own.at(format!("line {}, column {}", error.line(), error.column())),
        Some(own) => own,
        None => Error::format("node-link JSON: not what networkx.node_link_data gives")
            .at(format!("line {}, column {}", error.line(), error.column()))
            .found(error.to_string().split(" at line").next().unwrap_or_default()),
    })
}

fn fail<E: de::Error>(failure: &Failure, error: Error) -> E {
    let said = E::custom(error.what());
    failure.replace(Some(error));
    said
}

/// Refuses a key that an object has twice.
fn once<E: de::Error>(seen: &mut Vec<String>, key: &str, failure: &Failure) -> std::result::Result<(), E> {
    if seen.iter().any(|known| known == key) {
        let error = Error::new(ErrorKind::Duplicate, "node-link JSON: a key occurs twice in one object");
        return Err(fail(failure, error.found(key)));
    }
    seen.push(key.to_owned());
    Ok(())
}

/// An array of graphs.
struct List<'f> {
    failure: &'f Failure,
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = Vec<StoredGraph>;

    crate::expecting!("an array of objects with nodes and edges");

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Vec<StoredGraph>, A::Error> {
        let mut graphs = Vec::new();
        while let Some(graph) = list.next_element_seed(Object { failure: self.failure })? {
            graphs.push(graph);
        }
        Ok(graphs)
    }
}

/// One graph.
struct Object<'f> {
    failure: &'f Failure,
}

crate::seed!(Object<'_> => StoredGraph, deserialize_map);

impl<'de> Visitor<'de> for Object<'_> {
    type Value = StoredGraph;

    crate::expecting!("an object with nodes and edges");

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<StoredGraph, A::Error> {
        let failure = self.failure;
        let (mut seen, mut graph, mut directed) = (Vec::new(), NamedGraph::default(), false);
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            once(&mut seen, &key, failure)?;
            match &*key {
                "directed" => directed = map.next_value()?,
                "nodes" => map.next_value_seed(Nodes { graph: &mut graph, failure })?,
                "links" | "edges" => {
                    let other = if key == "links" { "edges" } else { "links" };
                    if seen.iter().any(|key| key == other) {
                        let error = Error::value("node-link JSON: both 'links' and 'edges'");
                        return Err(fail(failure, error.allowed("one of the two")));
                    }
                    map.next_value_seed(Edges { graph: &mut graph, failure })?;
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        let has = |key: &str| seen.iter().any(|seen| seen == key);
        if !has("nodes") || !(has("links") || has("edges")) {
            let error = Error::format("node-link JSON: an object without 'nodes' and 'links' or 'edges'")
                .found(format!("keys {}", seen.join(", ")))
                .allowed("what networkx.node_link_data gives")
                .advice("name the format with --graph-format, or take the file out of the folder");
            return Err(fail(failure, error));
        }
        // All edges of an object go one way, or none does.
        graph.directed.fill(directed);
        let stored = graph.finish(|name, edge| {
            Error::value("node-link JSON: an end of an edge is no node")
                .at(format!("edge {edge}"))
                .found(name.trim_start_matches('"'))
                .allowed("the ids in 'nodes'")
                .advice("ends are ids, never positions")
        });
        stored.map_err(|error| fail(failure, error))
    }
}

struct Nodes<'g> {
    graph: &'g mut NamedGraph,
    failure: &'g Failure,
}

crate::seed!(Nodes<'_> => (), deserialize_seq);

impl<'de> Visitor<'de> for Nodes<'_> {
    type Value = ();

    crate::expecting!("an array of nodes");

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        let (mut index, failure) = (0, self.failure);
        while let Some(node) = list.next_element_seed(Keys { wanted: ["id", "label"], failure })? {
            let [id, label] = node;
            let Some(Scalar::Name(id)) = id else {
                return Err(fail(failure, no_id("a node").at(format!("node {index}"))));
            };
            let declared = self.graph.declare(&id, 0).map_err(|error| fail(failure, error))?;
            if declared.is_err() {
                let error = Error::new(ErrorKind::Duplicate, "node-link JSON: two nodes of one id");
                return Err(fail(
                    failure,
                    error.at(format!("node {index}")).found(id.trim_start_matches('"')),
                ));
            }
            match label {
                None => {}
                Some(Scalar::Name(text)) if !text.starts_with('"') => {
                    self.graph.label(label_of(&text), || format!("`{text}`"));
                }
                Some(Scalar::Name(text)) => self.graph.label(None, || format!("`{}`", &text[1..])),
                Some(Scalar::Bool(label)) => self.graph.label(Some(label), String::new),
                Some(Scalar::Other(what)) => self.graph.label(None, || what.clone()),
            }
            index += 1;
        }
        Ok(())
    }
}

struct Edges<'g> {
    graph: &'g mut NamedGraph,
    failure: &'g Failure,
}

crate::seed!(Edges<'_> => (), deserialize_seq);

impl<'de> Visitor<'de> for Edges<'_> {
    type Value = ();

    crate::expecting!("an array of edges");

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<(), A::Error> {
        let (mut index, failure) = (0, self.failure);
        while let Some([from, to]) = list.next_element_seed(Keys { wanted: ["source", "target"], failure })? {
            let mut end = |name: Option<Scalar>| match name {
                Some(Scalar::Name(name)) => self.graph.mention(&name, index),
                Some(Scalar::Bool(_) | Scalar::Other(_)) | None => {
                    Err(no_id("an end of an edge").at(format!("edge {index}")))
                }
            };
            let ends = end(from).and_then(|from| Ok((from, end(to)?)));
            let (from, to) = ends.map_err(|error| fail(failure, error))?;
            self.graph.edge(from, to, false);
            index += 1;
        }
        Ok(())
    }
}

fn no_id(what: &str) -> Error {
    Error::value(format!("node-link JSON: the id of {what} is neither a text nor a whole number"))
        .allowed("a text or a whole number")
        .advice("relabel the nodes in Python before writing them")
}

/// An object of which two values are wanted.
struct Keys<'f> {
    wanted: [&'static str; 2],
    failure: &'f Failure,
}

crate::seed!(Keys<'_> => [Option<Scalar>; 2], deserialize_map);

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = [Option<Scalar>; 2];

    crate::expecting!("an object");

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
        let (mut seen, mut found) = (Vec::new(), [None, None]);
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            once(&mut seen, &key, self.failure)?;
            match self.wanted.iter().position(|wanted| *wanted == key) {
                Some(place) => found[place] = Some(map.next_value()?),
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(found)
    }
}

/// A value that may name a node: a text behind a quotation mark, or a whole number in digits.
enum Scalar {
    Name(String),
    Bool(bool),
    Other(String),
}

impl<'de> de::Deserialize<'de> for Scalar {
    fn deserialize<D: de::Deserializer<'de>>(json: D) -> std::result::Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Scalar, E> {
                Ok(Scalar::Name(format!("\"{text}")))
            }

            fn visit_u64<E>(self, number: u64) -> std::result::Result<Scalar, E> {
                Ok(Scalar::Name(number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> std::result::Result<Scalar, E> {
                Ok(Scalar::Name(number.to_string()))
            }

            fn visit_bool<E>(self, value: bool) -> std::result::Result<Scalar, E> {
                Ok(Scalar::Bool(value))
            }

            fn visit_f64<E>(self, number: f64) -> std::result::Result<Scalar, E> {
                Ok(Scalar::Other(number.to_string()))
            }

            fn visit_unit<E>(self) -> std::result::Result<Scalar, E> {
                Ok(Scalar::Other("null".into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<Scalar, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other("a list".into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other("an object".into()))
            }
        }

        json.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Storage;

    fn read(text: &str) -> Result<Vec<StoredGraph>> {
        parse(text.as_bytes())
    }

    #[test]
    fn objects_arrays_and_lines_are_graphs() {
        let one = r#"{"directed":false,"multigraph":false,"graph":{"name":"x"},"nodes":[{"id":1,"label":1},{"label":0,"id":0}],"links":[{"source":0,"target":1,"weight":2.5}]}"#;
        let other =
            r#"{"edges":[{"source":"b","target":"a"}],"nodes":[{"id":"a"},{"id":"b"}],"directed":true}"#;
        let graph = &read(one).unwrap()[0];
        assert_eq!((graph.nodes, &graph.entries[..], graph.storage), (Some(2), &[(0, 1)][..], Storage::Once));
        assert_eq!((&graph.labels, &graph.renumbered), (&Some(vec![false, true]), &None));
        for text in [format!("[{one},\n{other}]"), format!("{one}\n\n{other}\n")] {
            let graphs = read(&text).unwrap();
            assert_eq!((graphs.len(), &graphs[1].entries[..]), (2, &[(1, 0)][..]));
            assert_eq!((graphs[1].renumbered.as_deref(), graphs[1].storage), (Some("a, b"), Storage::Both));
        }
        let pretty = one.replace(',', ",\n ");
        assert_eq!(&read(&pretty).unwrap()[0], graph, "over several lines");
    }

    #[test]
    fn ends_are_ids_and_never_positions() {
        let read = read(r#"{"nodes":[{"id":10},{"id":20}],"links":[{"source":0,"target":1}]}"#);
        let error = read.unwrap_err().to_string();
        assert!(error.contains("no node") && error.contains("edge 0"), "{error}");
    }

    #[test]
    fn what_is_not_plain_is_refused_with_its_place() {
        let node = |id: &str| format!(r#"{{"nodes":[{{"id":"a"}},{id}],"links":[]}}"#);
        for (text, words) in [
            (node(r#"{"id":"a"}"#), "two nodes of one id"),
            (node(r#"{"id":1.5}"#), "neither a text nor a whole number"),
            (node(r#"{"id":null}"#), "neither a text nor a whole number"),
            (node(r#"{"name":"x"}"#), "node 1"),
            (node(r#"{"id":"b","id":"c"}"#), "a key occurs twice"),
            (node("3"), "line 1, column"),
            (r#"{"nodes":[],"links":[],"edges":[]}"#.into(), "both 'links' and 'edges'"),
            (r#"{"nodes":[],"links":[],"nodes":[]}"#.into(), "a key occurs twice"),
            (r#"{"graphs":[]}"#.into(), "without 'nodes'"),
            (r#"{"nodes":[{"id":0}],"links":[{"source":0}]}"#.into(), "an end of an edge"),
            (r#"{"nodes":[{"id":0}],"links":[{"source":0,"target":"0"}]}"#.into(), "no node"),
            (r#"{"nodes":[],"links":[]"#.into(), "EOF"),
            (r#"{"nodes":[],"links":[]} x"#.into(), "line 1"),
            ("3".into(), "neither an object"),
        ] {
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
