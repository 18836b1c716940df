//! The stack machine that reads a pickle: a short table of opcodes, everything else is refused.

use calipers_core::{Error, Result};

use super::{Node, Object, Value};
use crate::file::empty;
use crate::limits;

pub(super) struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    allowed: &'static [&'static str],
    nodes: Vec<Node<'a>>,
    stack: Vec<Value>,
    /// Where on the stack the open marks are.
    marks: Vec<usize>,
    memo: Vec<Option<Value>>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8], allowed: &'static [&'static str]) -> Self {
        Self {
            bytes,
            at: 0,
            allowed,
            nodes: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
        }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn into_nodes(self) -> Vec<Node<'a>> {
        self.nodes
    }

    pub(super) fn run(&mut self) -> Result<Value> {
        if self.bytes.is_empty() {
            return Err(empty());
        }
        let version = match self.bytes {
            [0x80, version, ..] => *version,
            _ => {
                return Err(Error::format("pickle: not a pickle of protocol 2 to 5")
                    .advice("pickle it with protocol 2 or later"));
            }
        };
        if !(2..=5).contains(&version) {
            return Err(Error::format("pickle: unknown protocol").found(version).allowed("2 to 5"));
        }
        self.at = 2;
        while self.step()? {}
        let root = self.pop()?;
        if self.at < self.bytes.len() {
            return Err(Error::format("pickle: bytes after the end"));
        }
        if self.stack.is_empty() && self.marks.is_empty() {
            Ok(root)
        } else {
            Err(Error::format("pickle: it ends with values left over"))
        }
    }

    /// Carries out one opcode; `false` after the last one.
    fn step(&mut self) -> Result<bool> {
        let start = self.at;
        let [opcode] = self.array()?;
        match opcode {
            b'.' => return Ok(false),
            0x95 => self.frame()?,
            b'(' => self.mark()?,
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'N' => self.stack.push(Value::None),
            0x88 => self.stack.push(Value::Bool(true)),
            0x89 => self.stack.push(Value::Bool(false)),
            b'J' => self.int32()?,
            b'K' | b'M' => self.small_int(opcode)?,
            0x8a | 0x8b => self.long(opcode)?,
            b'G' => self.float()?,
            b'X' | 0x8c | 0x8d | b'U' | b'T' => self.text(opcode)?,
            b'B' | b'C' | 0x8e | 0x96 => self.opaque_bytes(opcode)?,
            b'}' => self.push(Node::Dict(Vec::new()))?,
            b']' | 0x8f => self.push(Node::List(Vec::new()))?,
            b')' => self.push(Node::Tuple(Vec::new()))?,
            0x85..=0x87 => self.short_tuple(usize::from(opcode - 0x84))?,
            b't' | 0x91 => self.marked_tuple()?,
            b'a' => self.append()?,
            b'e' | 0x90 => self.append_marked()?,
            b's' => self.set_item()?,
            b'u' => self.set_marked_items()?,
            b'h' | b'j' => self.recall(opcode)?,
            b'q' | b'r' => self.memorise(opcode)?,
            0x94 => self.memo.push(Some(self.top()?)),
            b'c' => self.global_lines()?,
            0x93 => self.global_from_stack()?,
            b'R' | 0x81 => self.call()?,
            b'b' => self.give_state()?,
            b'Q' => self.persistent()?,
            other => {
                self.at = start;
                let error = Error::format("pickle: this opcode is not allowed; nothing was executed");
                let error = error.found(format!("{:?} (0x{other:02x})", char::from(other)));
                return Err(error.advice("save plain values, without references to code"));
            }
        }
        Ok(true)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let bytes = self.bytes[self.at..].get(..length);
        let bytes = bytes.ok_or_else(cut)?;
        self.at += length;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A length that the following bytes must be able to hold.
    fn length(&mut self, bytes: usize) -> Result<usize> {
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(self.take(bytes)?);
        // One that does not fit is longer than any file.
        Ok(usize::try_from(u64::from_le_bytes(wide)).unwrap_or(usize::MAX))
    }

    fn push(&mut self, node: Node<'a>) -> Result<()> {
        let number = u32::try_from(self.nodes.len()).map_err(|_| Error::format("pickle: too many values"))?;
        self.nodes.push(node);
        self.stack.push(Value::Node(number));
        Ok(())
    }

    /// How far down the stack the values since the last mark reach.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Value> {
        let reachable = self.stack.len() > self.floor();
        self.stack
            .pop()
            .filter(|_| reachable)
            .ok_or_else(|| Error::format("pickle: a value is missing on the stack"))
    }

    fn top(&self) -> Result<Value> {
        let reachable = self.stack.len() > self.floor();
        self.stack
            .last()
            .copied()
            .filter(|_| reachable)
            .ok_or_else(|| Error::format("pickle: a value is missing on the stack"))
    }

    fn node(&mut self, value: Value) -> Option<&mut Node<'a>> {
        match value {
            Value::Node(number) => self.nodes.get_mut(number as usize),
            _ => None,
        }
    }

    fn mark(&mut self) -> Result<()> {
        if self.marks.len() == limits::DEPTH {
            return Err(
                Error::format("pickle: nested too deeply").allowed(format!("{} levels", limits::DEPTH))
            );
        }
        self.marks.push(self.stack.len());
        Ok(())
    }

    fn pop_mark(&mut self) -> Result<Vec<Value>> {
        let mark = self.marks.pop().ok_or_else(|| Error::format("pickle: a mark is missing"))?;
        Ok(self.stack.split_off(mark))
    }

    fn frame(&mut self) -> Result<()> {
        let length = self.length(8)?;
        if length <= self.bytes.len() - self.at { Ok(()) } else { Err(cut()) }
    }

    fn int32(&mut self) -> Result<()> {
        let value = i32::from_le_bytes(self.array()?);
        self.stack.push(Value::Int(value.into()));
        Ok(())
    }

    fn small_int(&mut self, opcode: u8) -> Result<()> {
        let value = self.length(if opcode == b'K' { 1 } else { 2 })?;
        self.stack.push(Value::Int(value as i64));
        Ok(())
    }

    fn long(&mut self, opcode: u8) -> Result<()> {
        let length = self.length(if opcode == 0x8a { 1 } else { 4 })?;
        let bytes = self.take(length)?;
        if bytes.len() > 8 {
            return self.push(Node::Opaque("an integer of more than 64 bits"));
        }
        let negative = bytes.last().is_some_and(|last| *last >= 0x80);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        self.stack.push(Value::Int(i64::from_le_bytes(wide)));
        Ok(())
    }

    fn float(&mut self) -> Result<()> {
        let value = f64::from_be_bytes(self.array()?);
        self.stack.push(Value::Float(value));
        Ok(())
    }

    fn text(&mut self, opcode: u8) -> Result<()> {
        let length = self.length(match opcode {
            0x8c | b'U' => 1,
            b'X' | b'T' => 4,
            _ => 8,
        })?;
        let start = self.at;
        let bytes = self.take(length)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => self.push(Node::Text(text)),
            // Python 2 kept bytes and text in one type.
            Err(_) if matches!(opcode, b'U' | b'T') => self.push(Node::Opaque("bytes")),
            Err(_) => {
                self.at = start;
                Err(Error::format("pickle: a text is not UTF-8"))
            }
        }
    }

    fn opaque_bytes(&mut self, opcode: u8) -> Result<()> {
        let length = self.length(match opcode {
            b'C' => 1,
            b'B' => 4,
            _ => 8,
        })?;
        self.take(length)?;
        self.push(Node::Opaque("bytes"))
    }

    fn short_tuple(&mut self, length: usize) -> Result<()> {
        let mut values = Vec::with_capacity(length);
        for _ in 0..length {
            values.push(self.pop()?);
        }
        values.reverse();
        self.push(Node::Tuple(values))
    }

    fn marked_tuple(&mut self) -> Result<()> {
        let values = self.pop_mark()?;
        self.push(Node::Tuple(values))
    }

    fn append(&mut self) -> Result<()> {
        let value = self.pop()?;
        self.extend_top(vec![value])
    }

    fn append_marked(&mut self) -> Result<()> {
        let values = self.pop_mark()?;
        self.extend_top(values)
    }

    fn extend_top(&mut self, values: Vec<Value>) -> Result<()> {
        let top = self.top()?;
        match self.node(top) {
            Some(Node::List(list)) => list.extend(values),
            _ => return Err(Error::format("pickle: values are appended to something that is not a list")),
        }
        Ok(())
    }

    fn set_item(&mut self) -> Result<()> {
        let (value, key) = (self.pop()?, self.pop()?);
        self.set_items(&[key, value])
    }

    fn set_marked_items(&mut self) -> Result<()> {
        let values = self.pop_mark()?;
        self.set_items(&values)
    }

    fn set_items(&mut self, values: &[Value]) -> Result<()> {
        let (pairs, odd) = values.as_chunks();
        if !odd.is_empty() {
            return Err(Error::format("pickle: a key has no value"));
        }
        let top = self.top()?;
        let items = match self.node(top) {
            Some(Node::Dict(items)) => items,
            Some(Node::Object(object)) => &mut object.items,
            _ => return Err(Error::format("pickle: keys are set in something that is not a dict")),
        };
        items.extend(pairs.iter().map(|[key, value]| (*key, *value)));
        Ok(())
    }

    fn recall(&mut self, opcode: u8) -> Result<()> {
        let number = self.length(if opcode == b'h' { 1 } else { 4 })?;
        let value = self.memo.get(number).copied().flatten();
        self.stack.push(value.ok_or_else(|| Error::format("pickle: an unknown memo number").found(number))?);
        Ok(())
    }

    fn memorise(&mut self, opcode: u8) -> Result<()> {
        let number = self.length(if opcode == b'q' { 1 } else { 4 })?;
        // Every number takes an opcode of at least two bytes, so that writers stay far below this.
        if number >= self.bytes.len() {
            return Err(Error::format("pickle: the memo number is too large").found(number));
        }
        if number >= self.memo.len() {
            self.memo.resize(number + 1, None);
        }
        self.memo[number] = Some(self.top()?);
        Ok(())
    }

    fn global_lines(&mut self) -> Result<()> {
        let start = self.at;
        let (module, name) = (self.line()?, self.line()?);
        self.global(module, name).inspect_err(|_| self.at = start)
    }

    fn line(&mut self) -> Result<&'a str> {
        let length = self.bytes[self.at..].iter().position(|b| *b == b'\n');
        let line = self.take(length.unwrap_or(usize::MAX))?;
        self.at += 1;
        std::str::from_utf8(line).map_err(|_| Error::format("pickle: a name is not UTF-8"))
    }

    fn global_from_stack(&mut self) -> Result<()> {
        let (name, module) = (self.pop()?, self.pop()?);
        match (self.text_of(module), self.text_of(name)) {
            (Some(module), Some(name)) => self.global(module, name),
            _ => Err(Error::format("pickle: a class has no name")),
        }
    }

    fn text_of(&mut self, value: Value) -> Option<&'a str> {
        match self.node(value)? {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    fn global(&mut self, module: &str, name: &str) -> Result<()> {
        let known = self.allowed.iter().find(|full| {
            full.strip_prefix(module).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| rest == name)
        });
        match known {
            Some(full) => self.push(Node::Global(full)),
            None => {
                let full: String = format!("{module}.{name}").chars().take(200).collect();
                Err(Error::format(format!("pickle: {full} is not allowed; nothing was executed"))
                    .found(&full)
                    .allowed(self.allowed.join(", "))
                    .advice("save plain values of these types; other objects are never made"))
            }
        }
    }

    fn call(&mut self) -> Result<()> {
        let (arguments, callee) = (self.pop()?, self.pop()?);
        let is_tuple = matches!(self.node(arguments), Some(Node::Tuple(_)));
        let class = match self.node(callee) {
            Some(Node::Global(class)) => Some(*class),
            // An object that would be called is known by its class, and so is what it would give.
            Some(Node::Object(object)) => Some(object.class),
            _ => None,
        };
        match class {
            Some(class) if is_tuple => {
                let object = Object { class, arguments, items: Vec::new(), state: Value::None };
                self.push(Node::Object(Box::new(object)))
            }
            _ => Err(Error::format("pickle: a call of something that is not a class; nothing was executed")),
        }
    }

    fn give_state(&mut self) -> Result<()> {
        let (state, top) = (self.pop()?, self.top()?);
        match self.node(top) {
            Some(Node::Object(object)) => object.state = state,
            _ => return Err(Error::format("pickle: a state for something that is not an object")),
        }
        Ok(())
    }

    fn persistent(&mut self) -> Result<()> {
        let name = self.pop()?;
        self.push(Node::Persistent(name))
    }
}

fn cut() -> Error {
    Error::format("pickle: the file ends too early").advice("copy or write the file again")
}
