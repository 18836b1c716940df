//! A file on a server, of which parts are fetched when they are asked for.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use calipers_core::Result;

use super::Address;
use super::runtime::{wait, wait_all};
use super::transfer::{Part, Target, instant};
use crate::file::ReadAt;

/// What is fetched first: most files are whole with it, and one request is enough.
const FIRST: u64 = 1 << 20;
/// What is fetched at least after that, and at most in one request.
const BLOCK: u64 = 1 << 20;
const PIECE: u64 = 8 << 20;
/// How many requests of one file are under way at a time.
const REQUESTS: usize = 8;
/// How many blocks are kept.
const KEPT: usize = 4;

/// A file on a server.
struct Object {
    target: Target,
    size: u64,
    tag: Option<String>,
    first: Vec<u8>,
    blocks: Mutex<VecDeque<(u64, Arc<Vec<u8>>)>>,
}

/// Opens the file at an address; with it what changes when the file does.
pub fn open(address: &Address) -> Result<(Arc<dyn ReadAt>, SystemTime)> {
    let target = Target::of(address)?;
    let Part { bytes, size, tag, modified } = wait(target.clone().get(Some(0..FIRST), None))?;
    let stamp = tag.as_deref().map(instant).or(modified).unwrap_or(SystemTime::UNIX_EPOCH);
    let object = Object { target, size, tag, first: bytes, blocks: Mutex::default() };
    Ok((Arc::new(object), stamp))
}

impl Object {
    /// Fetches a range in pieces, several at a time.
    fn fetch(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let starts: Vec<u64> = (range.start..range.end).step_by(PIECE as usize).collect();
        for starts in starts.chunks(REQUESTS) {
            let piece = |start: &u64| {
                let piece = *start..(start + PIECE).min(range.end);
                self.target.clone().get(Some(piece), self.tag.clone())
            };
            for part in wait_all(starts.iter().map(piece).collect())? {
                bytes.extend_from_slice(&part.bytes);
            }
        }
        Ok(bytes)
    }

    /// The block of at least that range.
    fn block(&self, range: &Range<u64>) -> Result<(u64, Arc<Vec<u8>>)> {
        let holds = |(start, bytes): &&(u64, Arc<Vec<u8>>)| {
            *start <= range.start && range.end <= start + bytes.len() as u64
        };
        let blocks = || self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((start, bytes)) = blocks().iter().find(holds) {
            return Ok((*start, Arc::clone(bytes)));
        }
        let start = range.start / BLOCK * BLOCK;
        let bytes = Arc::new(self.fetch(start..range.end.next_multiple_of(BLOCK).min(self.size))?);
        let mut blocks = blocks();
        blocks.push_back((start, Arc::clone(&bytes)));
        if blocks.len() > KEPT {
            blocks.pop_front();
        }
        Ok((start, bytes))
    }
}

impl ReadAt for Object {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.checked_add(buffer.len() as u64).filter(|end| *end <= self.size);
        let Some(end) = end else { return Err(io::ErrorKind::UnexpectedEof.into()) };
        // What was fetched first is not fetched once more.
        let held = self.first.len() as u64;
        if offset < held {
            let (inside, rest) = buffer.split_at_mut((end.min(held) - offset) as usize);
            inside.copy_from_slice(&self.first[offset as usize..][..inside.len()]);
            return if rest.is_empty() { Ok(()) } else { self.read_exact_at(rest, held) };
        }
        if end - offset > BLOCK {
            buffer.copy_from_slice(&self.fetch(offset..end).map_err(io::Error::other)?);
            return Ok(());
        }
        let (start, block) = self.block(&(offset..end)).map_err(io::Error::other)?;
        buffer.copy_from_slice(&block[(offset - start) as usize..][..buffer.len()]);
        Ok(())
    }
}
