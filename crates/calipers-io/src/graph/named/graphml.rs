//! GraphML: `graphml`, in it graphs, in them nodes and edges; everything else is passed over.

use calipers_core::{Error, ErrorKind, Result};
use quick_xml::Reader as XmlReader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;

use super::{NamedGraph, label_of};
use crate::graph::StoredGraph;
use crate::limits;

/// Reads every graph of a file.
pub fn parse(bytes: &[u8]) -> Result<Vec<StoredGraph>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::format("GraphML: the file is not UTF-8")
            .at(format!("line {}", line_of(bytes, error.valid_up_to())))
            .advice("write it again as UTF-8")
    })?;
    let mut reader = XmlReader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut parser = Parser { text, ..Parser::default() };
    loop {
        let at = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|error| {
            let at = reader.error_position() as usize;
            Error::format("GraphML: not well-formed XML")
                .at(format!("line {}", line_of(bytes, at)))
                .found(error)
                .advice("the file is cut or damaged: write it again")
        })?;
        if matches!(event, Event::Eof) {
            break;
        }
        parser.event(event, at).map_err(|error| error.at(format!("line {}", line_of(bytes, at))))?;
    }
    parser.end()
}

/// Where the parser is among the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Document,
    Root,
    Graph,
    Node,
    /// The value of a node's label.
    Label,
    /// In what is passed over, which began at this depth.
    Skipped(usize),
}

struct Parser<'t> {
    text: &'t str,
    lines: Lines,
    depth: usize,
    place: Place,
    has_root: bool,
    /// The id of the key that declares labels.
    label_key: Option<String>,
    label: String,
    directed: bool,
    graph: NamedGraph,
    done: Vec<StoredGraph>,
}

impl Default for Parser<'_> {
    fn default() -> Self {
        Self {
            text: "",
            lines: Lines::default(),
            depth: 0,
            place: Place::Document,
            has_root: false,
            label_key: None,
            label: String::new(),
            directed: false,
            graph: NamedGraph::default(),
            done: Vec::new(),
        }
    }
}

/// The number of a line, counted on from the last place that was asked for.
#[derive(Default)]
struct Lines {
    at: usize,
    breaks: u64,
}

impl Lines {
    fn line(&mut self, text: &str, at: usize) -> u64 {
        self.breaks += memchr::memchr_iter(b'\n', &text.as_bytes()[self.at..at]).count() as u64;
        self.at = at;
        self.breaks + 1
    }
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &bytes[..at.min(bytes.len())]).count()
}

impl Parser<'_> {
    fn event(&mut self, event: Event<'_>, at: usize) -> Result<()> {
        match event {
            Event::Start(element) => self.start(&element, at),
            Event::End(element) => self.finish_element(local(element.name())),
            Event::Text(text) if self.place == Place::Label => {
                self.label.push_str(&text.decode().unwrap_or_default());
                Ok(())
            }
            Event::GeneralRef(name) => {
                let known =
                    name.is_char_ref() || matches!(&*name, b"lt" | b"gt" | b"amp" | b"apos" | b"quot");
                if known { Ok(()) } else { Err(entity(&String::from_utf8_lossy(&name))) }
            }
            Event::DocType(_) => Err(Error::format("GraphML: a DOCTYPE is not allowed")
                .found("<!DOCTYPE")
                .advice("take it out: nothing outside of the file is ever fetched")),
            Event::Decl(declaration) => match declaration.encoding() {
                Some(Ok(name))
                    if !name.eq_ignore_ascii_case(b"utf-8") && !name.eq_ignore_ascii_case(b"us-ascii") =>
                {
                    Err(Error::format("GraphML: another encoding than UTF-8")
                        .found(String::from_utf8_lossy(&name))
                        .allowed("UTF-8")
                        .advice("write the file again as UTF-8"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn start(&mut self, element: &BytesStart<'_>, at: usize) -> Result<()> {
        self.depth += 1;
        if self.depth > limits::DEPTH {
            return Err(
                Error::format("GraphML: nested too deeply").allowed(format!("{} levels", limits::DEPTH))
            );
        }
        let name = element.name();
        let name = local(name);
        if matches!(name, b"hyperedge" | b"port") {
            return Err(Error::format("GraphML: only plain nodes and edges are read")
                .found(String::from_utf8_lossy(name))
                .advice("write hyperedges and ports as nodes and edges"));
        }
        if name == b"graph" && !matches!(self.place, Place::Root | Place::Document) {
            return Err(Error::format("GraphML: a graph inside a node or a graph")
                .advice("write each graph at the top of the file"));
        }
        self.place = match (self.place, name) {
            (Place::Document, b"graphml") if !self.has_root => {
                self.has_root = true;
                Place::Root
            }
            (Place::Document, _) => {
                return Err(Error::format("GraphML: another document")
                    .found(format!("<{}>", String::from_utf8_lossy(name)))
                    .allowed("<graphml>"));
            }
            (Place::Root, b"graph") => {
                self.directed = match attribute(element, b"edgedefault")?.as_deref() {
                    None | Some("undirected") => false,
                    Some("directed") => true,
                    Some(other) => return Err(odd("edgedefault", other, "directed or undirected")),
                };
                self.graph = NamedGraph::default();
                Place::Graph
            }
            (Place::Root, b"key") => {
                let is_label = attribute(element, b"attr.name")?.as_deref() == Some("label");
                let of_nodes = matches!(attribute(element, b"for")?.as_deref(), None | Some("node" | "all"));
                if is_label && of_nodes {
                    self.label_key = attribute(element, b"id")?;
                }
                Place::Skipped(self.depth)
            }
            (Place::Graph, b"node") => {
                let id = needed(element, b"id")?;
                let line = self.lines.line(self.text, at);
                if self.graph.declare(&id, line)?.is_err() {
                    return Err(Error::new(ErrorKind::Duplicate, "GraphML: two nodes of one id")
                        .found(id)
                        .advice("give every node an id of its own"));
                }
                Place::Node
            }
            (Place::Graph, b"edge") => {
                let line = self.lines.line(self.text, at);
                let from = self.graph.mention(&needed(element, b"source")?, line)?;
                let to = self.graph.mention(&needed(element, b"target")?, line)?;
                let directed = match attribute(element, b"directed")?.as_deref() {
                    None => self.directed,
                    Some("true" | "1") => true,
                    Some("false" | "0") => false,
                    Some(other) => return Err(odd("directed", other, "true or false")),
                };
                self.graph.edge(from, to, directed);
                Place::Skipped(self.depth)
            }
            (Place::Node, b"data")
                if self.label_key.is_some() && attribute(element, b"key")? == self.label_key =>
            {
                self.label.clear();
                Place::Label
            }
            (skipped @ Place::Skipped(_), _) => skipped,
            _ => Place::Skipped(self.depth),
        };
        Ok(())
    }

    fn finish_element(&mut self, name: &[u8]) -> Result<()> {
        self.place = match self.place {
            Place::Skipped(depth) if depth < self.depth => self.place,
            // What stands at this depth stands in an element of the one above.
            Place::Skipped(_) => match self.depth {
                2 => Place::Root,
                3 => Place::Graph,
                4 => Place::Node,
                _ => Place::Label,
            },
            Place::Label => {
                let value = label_of(&self.label);
                self.graph.label(value, || format!("`{}`", self.label.trim()));
                Place::Node
            }
            Place::Node => Place::Graph,
            Place::Graph if name == b"graph" => {
                let graph = std::mem::take(&mut self.graph);
                self.done.push(graph.finish(|name, line| {
                    Error::value("GraphML: an edge to a node that is not declared in its graph")
                        .at(format!("line {line}"))
                        .found(name)
                        .allowed("the ids of the graph's nodes")
                        .advice("declare the node, or correct the edge")
                })?);
                Place::Root
            }
            _ => Place::Document,
        };
        self.depth -= 1;
        Ok(())
    }

    fn end(self) -> Result<Vec<StoredGraph>> {
        if self.depth > 0 || !self.has_root {
            return Err(Error::format("GraphML: the file ends too early").advice("copy or write it again"));
        }
        if self.done.is_empty() {
            return Err(Error::value("GraphML: the file holds no graph").allowed("a <graph> in <graphml>"));
        }
        Ok(self.done)
    }
}

/// The name of an element without its prefix.
fn local(name: QName<'_>) -> &[u8] {
    name.local_name().into_inner()
}

fn attribute(element: &BytesStart<'_>, wanted: &[u8]) -> Result<Option<String>> {
    let mut found = None;
    for attribute in element.attributes() {
        let attribute =
            attribute.map_err(|error| Error::format("GraphML: a damaged attribute").found(error))?;
        if attribute.key.local_name().into_inner() != wanted {
            continue;
        }
        let value = attribute.unescape_value().map_err(|error| entity(&error.to_string()))?;
        found = Some(value.into_owned());
    }
    Ok(found)
}

fn needed(element: &BytesStart<'_>, wanted: &[u8]) -> Result<String> {
    attribute(element, wanted)?.ok_or_else(|| {
        let name = String::from_utf8_lossy(local(element.name())).into_owned();
        Error::format(format!("GraphML: <{name}> has no {}", String::from_utf8_lossy(wanted)))
            .advice("write the file again")
    })
}

fn odd(name: &str, found: &str, allowed: &str) -> Error {
    Error::value(format!("GraphML: an unknown value of {name}")).found(found).allowed(allowed)
}

fn entity(found: &str) -> Error {
    Error::format("GraphML: an entity that XML does not have by itself")
        .found(found)
        .allowed("&lt; &gt; &amp; &apos; &quot; and numbers")
        .advice("write the character itself: entities are never expanded")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Storage;

    fn read(graphs: &str) -> Result<Vec<StoredGraph>> {
        let text = format!(
            "<?xml version='1.0' encoding='UTF-8'?>\n<g:graphml xmlns:g=\"x\">\n{graphs}\n</g:graphml>"
        );
        parse(text.as_bytes())
    }

    #[test]
    fn nodes_edges_and_labels_are_read_and_everything_else_is_passed_over() {
        let graphs = read(
            "<key id='d0' for='node' attr.name='label'><default>0</default></key><desc>two</desc>
             <graph id='one' edgedefault='undirected'><data key='x'><node id='no'/></data>
             <edge source='n1' target='n0'><data key='w'>2</data></edge>
             <node id='n0'><data key='d0'> 1 </data><data key='d1'>7</data></node>
             <node id='n1'><desc/><data key='d0'>false</data></node></graph>
             <g:graph edgedefault='directed'><node id='1'/><node id='0'/><edge source='1' target='0'/>
             <edge source='0' target='0' directed='false'/></g:graph>",
        )
        .unwrap();
        assert_eq!((graphs.len(), graphs[0].nodes, graphs[0].storage), (2, Some(2), Storage::Once));
        assert_eq!(graphs[0].entries, [(1, 0)]);
        assert_eq!(graphs[0].labels, Some(vec![true, false]));
        assert_eq!(graphs[0].renumbered.as_deref(), Some("n0, n1"));
        assert_eq!(
            (&graphs[1].entries[..], graphs[1].storage),
            (&[(1, 0), (0, 0), (0, 0)][..], Storage::Both)
        );
        assert_eq!((&graphs[1].renumbered, &graphs[1].labels), (&None, &None));
    }

    #[test]
    fn labels_that_are_none_are_kept_as_a_reason() {
        let graphs = read(
            "<key id='d0' attr.name='label'/><graph><node id='a'><data key='d0'>Ann</data></node></graph>
             <graph><node id='a'><data key='d0'>1</data></node><node id='b'/></graph>",
        )
        .unwrap();
        assert_eq!(graphs[0].no_labels.as_deref(), Some("`Ann` at node 0"));
        assert_eq!(graphs[1].no_labels.as_deref(), Some("labels for 1 of 2 nodes"));
    }

    #[test]
    fn what_is_not_a_plain_graph_is_refused_with_its_line() {
        let deep = format!("<graph>{}{}</graph>", "<data>".repeat(200), "</data>".repeat(200));
        for (text, words) in [
            ("<graph><hyperedge/></graph>", "hyperedge"),
            ("<graph><node id='a'><port name='p'/></node></graph>", "port"),
            ("<graph><node id='a'><graph/></node></graph>", "inside a node"),
            ("<graph><node id='a'/><node id='a'/></graph>", "two nodes of one id"),
            ("<graph><node id='a'/><edge source='a' target='b'/></graph>", "not declared"),
            ("<graph><node/></graph>", "<node> has no id"),
            ("<graph><node id='&own;'/></graph>", "entity"),
            ("<graph><data>&own;</data></graph>", "entity"),
            ("<graph edgedefault='both'/>", "edgedefault"),
            ("<graph><node id='a'></graph>", "not well-formed"),
            ("<graph><node id='a' id='b'/></graph>", "damaged attribute"),
            (&deep, "too deeply"),
        ] {
            let error = read(text).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(words) && message.contains("line 3"), "{text}: {message}");
        }
        let typed = parse(b"<?xml version='1.0'?>\n<!DOCTYPE graphml [<!ENTITY a 'b'>]>\n<graphml/>");
        assert!(typed.unwrap_err().to_string().contains("line"));
        for other in [
            "",
            "<graphml>",
            "<svg/>",
            "<graphml></graphml>",
            "<?xml version='1.0' encoding='latin1'?><graphml/>",
        ] {
            assert!(parse(other.as_bytes()).is_err(), "{other}");
        }
        assert!(parse(b"<graphml>\n\xff</graphml>").unwrap_err().to_string().contains("line 2"));
    }
}
