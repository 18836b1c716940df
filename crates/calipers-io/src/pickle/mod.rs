//! Python pickles as plain data.
//!
//! A pickle is a program that builds objects by calling what it names. Here nothing is ever called:
//! a call becomes an [`Object`] that remembers what would have been called with what, and only
//! names from a short table given by the reader are let through at all.
//!
//! Values live in one flat list and refer to each other by number, so that neither sharing nor
//! nesting nor cycles can cost more than the length of the input.

mod machine;

use calipers_core::{Error, Result};

use machine::Machine;

/// A value: small ones whole, others by number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(i64),
    /// A float.
    Float(f64),
    /// Anything else, to be looked up with [`Pickle::node`].
    Node(u32),
}

/// A value that has parts or a length.
#[derive(Debug)]
pub enum Node<'a> {
    /// A text.
    Text(&'a str),
    /// A list or a set.
    List(Vec<Value>),
    /// A tuple or a frozen set.
    Tuple(Vec<Value>),
    /// A dictionary: keys and values in the order of the file, repeated keys included.
    Dict(Vec<(Value, Value)>),
    /// A class or function, `module.name`, that is in the table of the reader.
    Global(&'static str),
    /// The result of a call that did not happen.
    Object(Box<Object>),
    /// Something outside of the pickle, by what it is known there.
    Persistent(Value),
    /// Plain data that no reader needs; says what it is.
    Opaque(&'static str),
}

/// A call that did not happen.
#[derive(Debug)]
pub struct Object {
    /// The class or function, `module.name`.
    pub class: &'static str,
    /// Its arguments, a tuple.
    pub arguments: Value,
    /// What would be put into the result as into a dictionary.
    pub items: Vec<(Value, Value)>,
    /// The state that the result would be given.
    pub state: Value,
}

/// A whole pickle.
#[derive(Debug)]
pub struct Pickle<'a> {
    nodes: Vec<Node<'a>>,
    root: Value,
}

/// Reads a pickle of protocol 2 to 5. `allowed` are the classes and functions, `module.name`, that
/// it may mention.
pub fn parse<'a>(bytes: &'a [u8], allowed: &'static [&'static str]) -> Result<Pickle<'a>> {
    let mut machine = Machine::new(bytes, allowed);
    let root = machine.run().map_err(|error| error.at(format!("byte {}", machine.at())))?;
    Ok(Pickle { nodes: machine.into_nodes(), root })
}

impl<'a> Pickle<'a> {
    /// The value that the pickle is about.
    pub fn root(&self) -> Value {
        self.root
    }

    /// What a value stands for, unless it is a small one.
    pub fn node(&self, value: Value) -> Option<&Node<'a>> {
        match value {
            Value::Node(number) => self.nodes.get(number as usize),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self, value: Value) -> Option<&'a str> {
        match self.node(value)? {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of a list or tuple.
    pub fn sequence(&self, value: Value) -> Option<&[Value]> {
        match self.node(value)? {
            Node::List(values) | Node::Tuple(values) => Some(values),
            _ => None,
        }
    }

    /// The pairs of a dictionary.
    pub fn dict(&self, value: Value) -> Option<&[(Value, Value)]> {
        match self.node(value)? {
            Node::Dict(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The object, if it is one.
    pub fn object(&self, value: Value) -> Option<&Object> {
        match self.node(value)? {
            Node::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The value under a text key; a key that occurs twice is an error.
    pub fn lookup(&self, pairs: &[(Value, Value)], key: &str) -> Result<Option<Value>> {
        let mut found =
            pairs.iter().filter(|(name, _)| self.text(*name) == Some(key)).map(|(_, value)| *value);
        let first = found.next();
        match found.next() {
            Some(_) => Err(Error::format(format!("pickle: the key '{key}' occurs twice"))),
            None => Ok(first),
        }
    }

    /// What a value is, for messages.
    pub fn describe(&self, value: Value) -> String {
        match (value, self.node(value)) {
            (Value::None, _) => "None".into(),
            (Value::Bool(value), _) => if value { "True" } else { "False" }.into(),
            (Value::Int(value), _) => value.to_string(),
            (Value::Float(value), _) => value.to_string(),
            (_, Some(Node::Text(text))) => {
                format!("the text '{}'", text.chars().take(80).collect::<String>())
            }
            (_, Some(Node::List(values))) => format!("a list of {}", values.len()),
            (_, Some(Node::Tuple(values))) => format!("a tuple of {}", values.len()),
            (_, Some(Node::Dict(pairs))) => format!("a dict of {}", pairs.len()),
            (_, Some(Node::Global(name))) => format!("the name {name}"),
            (_, Some(Node::Object(object))) => format!("an object of {}", object.class),
            (_, Some(Node::Persistent(_))) => "a storage".into(),
            (_, Some(Node::Opaque(what))) => (*what).into(),
            (Value::Node(_), None) => "nothing".into(),
        }
    }
}
