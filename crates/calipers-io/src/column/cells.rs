//! The cells of a column, decoded one row group at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use calipers_core::{Error, Result};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;

use super::field::Field;
use super::lists::{Entry, Levels, Shape};
use super::{Opened, row_name};
use crate::array::{Array, Dtype};
use crate::history::parquet::groups::{Group, damaged};
use crate::history::parquet::guarded;
use crate::limits;

/// The bytes of row groups that stay decoded beside the last one, for rows that are not asked for in order.
const KEPT: usize = 128 << 20;

/// What stands in one row of a column.
#[derive(Clone, Debug)]
pub enum Cell {
    /// The bytes of a file.
    Bytes(Bytes),
    /// Numbers.
    Array(Array),
}

/// A column of a file. Its row groups are decoded when a row of theirs is asked for.
pub struct Column {
    pub(super) opened: Arc<Opened>,
    pub(super) field: Field,
    /// The decoded row groups, by place.
    groups: Vec<Mutex<Option<Arc<Cells>>>>,
    /// Which are decoded and how many bytes each has, the oldest first.
    recent: Mutex<Vec<(usize, usize)>>,
}

/// The cells of a row group: none where a row is null, and why one cannot be read.
type Cells = Vec<Result<Option<Cell>>>;

impl Column {
    pub(super) fn new(opened: Arc<Opened>, field: Field) -> Self {
        let groups = (0..opened.source().footer.num_row_groups()).map(|_| Mutex::default()).collect();
        Self { opened, field, groups, recent: Mutex::default() }
    }

    /// Whether its cells are files.
    pub fn holds_files(&self) -> bool {
        self.field.dtype.is_none()
    }

    /// What stands in a row, which must not be null.
    pub fn filled(&self, row: u64) -> Result<Cell> {
        self.cell(row)?.ok_or_else(|| {
            Error::value("a null in place of a file or an array")
                .at(format!("row {}", row_name(row)))
                .advice("write the bytes themselves: a path beside them is not followed")
        })
    }

    /// What stands in a row; none for a null.
    pub fn cell(&self, row: u64) -> Result<Option<Cell>> {
        let starts = &self.opened.starts;
        let group = starts.partition_point(|start| *start <= row).saturating_sub(1);
        let in_group = row.checked_sub(starts.get(group).copied().unwrap_or_default());
        let cells = self.group(group).map_err(|error| error.at(format!("row {}", row_name(row))))?;
        let cell = in_group.and_then(|at| cells.get(usize::try_from(at).ok()?)).cloned();
        cell.unwrap_or_else(|| Err(Error::value("the file has no such row")))
            .map_err(|error| error.at(format!("row {}", row_name(row))))
    }

    fn group(&self, group: usize) -> Result<Arc<Cells>> {
        let Some(slot) = self.groups.get(group) else { return Ok(Arc::default()) };
        let mut slot = locked(slot);
        if let Some(cells) = &*slot {
            return Ok(Arc::clone(cells));
        }
        let cells = Arc::new(guarded(|| self.decoded(group))?);
        *slot = Some(Arc::clone(&cells));
        drop(slot);
        self.forget_but(group, cells.iter().map(size).sum());
        Ok(cells)
    }

    /// Forgets the row groups that were decoded first, until the rest of them is small.
    fn forget_but(&self, group: usize, bytes: usize) {
        let mut recent = locked(&self.recent);
        recent.push((group, bytes));
        let mut kept: usize = recent.iter().map(|(_, bytes)| bytes).sum();
        // The one before is still read by others.
        while recent.len() > 2 && kept > KEPT {
            let (oldest, bytes) = recent.remove(0);
            kept -= bytes;
            *locked(&self.groups[oldest]) = None;
        }
    }

    fn decoded(&self, group: usize) -> Result<Cells> {
        let (mut cells, levels) = (Vec::new(), &self.field.levels);
        self.opened.source().column(group, self.field.place, |reader, group| {
            let Some(dtype) = self.field.dtype else {
                let ColumnReader::ByteArrayColumnReader(reader) = reader else {
                    return Err(damaged("bytes of another type"));
                };
                let mut at = 0;
                group.each(reader, |row, value| {
                    cells.extend((at..row).map(|_| Ok(None)));
                    cells.push(Ok(Some(Cell::Bytes(value.data().to_vec().into()))));
                    at = row + 1;
                    Ok(())
                })?;
                cells.resize_with(group.rows, || Ok(None));
                return Ok(());
            };
            let mut take = |cell| cells.push(cell);
            match reader {
                ColumnReader::BoolColumnReader(reader) => {
                    arrays(reader, group, levels, &mut take, dtype, |value| Some([u8::from(*value)]))
                }
                ColumnReader::Int32ColumnReader(reader) => match dtype {
                    Dtype::U8 => arrays(reader, group, levels, &mut take, dtype, |value| {
                        Some(u8::try_from(*value).ok()?.to_le_bytes())
                    }),
                    Dtype::I8 => arrays(reader, group, levels, &mut take, dtype, |value| {
                        Some(i8::try_from(*value).ok()?.to_le_bytes())
                    }),
                    Dtype::U16 => arrays(reader, group, levels, &mut take, dtype, |value| {
                        Some(u16::try_from(*value).ok()?.to_le_bytes())
                    }),
                    Dtype::I16 => arrays(reader, group, levels, &mut take, dtype, |value| {
                        Some(i16::try_from(*value).ok()?.to_le_bytes())
                    }),
                    _ => arrays(reader, group, levels, &mut take, dtype, |value| Some(value.to_le_bytes())),
                },
                ColumnReader::Int64ColumnReader(reader) => {
                    arrays(reader, group, levels, &mut take, dtype, |value| Some(value.to_le_bytes()))
                }
                ColumnReader::FloatColumnReader(reader) => {
                    arrays(reader, group, levels, &mut take, dtype, |value| Some(value.to_le_bytes()))
                }
                ColumnReader::DoubleColumnReader(reader) => {
                    arrays(reader, group, levels, &mut take, dtype, |value| Some(value.to_le_bytes()))
                }
                ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                    arrays(reader, group, levels, &mut take, dtype, |value| {
                        value.data().first_chunk::<2>().copied()
                    })
                }
                _ => Err(damaged("numbers of another type")),
            }
        })?;
        Ok(cells)
    }
}

/// Reads the rows of a column of lists one by one. `bytes` gives those of a value, unless it is none of
/// the type that the schema says.
fn arrays<T: DataType, const N: usize>(
    reader: &mut ColumnReaderImpl<T>,
    group: &Group,
    levels: &Levels,
    take: &mut dyn FnMut(Result<Option<Cell>>),
    dtype: Dtype,
    bytes: impl Fn(&T::T) -> Option<[u8; N]>,
) -> Result<()> {
    let (mut definitions, mut repetitions, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let (mut done, mut empty) = (0, 0);
    while done < group.rows && empty <= group.pages {
        definitions.clear();
        repetitions.clear();
        values.clear();
        let (rows, read, entries) = reader
            .read_records(1, Some(&mut definitions), Some(&mut repetitions), &mut values)
            .map_err(damaged)?;
        empty += usize::from(rows == 0);
        if rows == 0 {
            continue;
        }
        done += rows;
        // Where nothing may be null or a list, no levels are stored.
        definitions.resize(entries.max(definitions.len()), levels.value);
        repetitions.resize(definitions.len(), 0);
        if read as u64 > limits::PIXELS {
            return Err(Error::value("a row holds too many numbers")
                .found(read)
                .allowed(format!("at most {}", limits::PIXELS)));
        }
        let shape = shape(&definitions, &repetitions, levels);
        let Some(shape) = shape.transpose() else {
            take(Ok(None));
            continue;
        };
        let mut stored = Vec::with_capacity(values.len() * N);
        for value in &values {
            stored.extend(
                bytes(value).ok_or_else(|| damaged(format_args!("a value that is no {}", dtype.name())))?,
            );
        }
        take(
            shape
                .and_then(|shape| Array::shared(dtype, shape, Arc::new(stored)))
                .map(|array| Some(Cell::Array(array))),
        );
    }
    if done == group.rows { Ok(()) } else { Err(damaged(format_args!("{done} of {} rows", group.rows))) }
}

/// The lengths of the axes of a row; none where it is null.
fn shape(definitions: &[i16], repetitions: &[i16], levels: &Levels) -> Result<Option<Vec<u64>>> {
    let mut shape = Shape::new(levels.lists.len());
    for (definition, repetition) in definitions.iter().zip(repetitions) {
        if shape.take(*repetition, *definition, levels)? == Entry::Null {
            return Ok(None);
        }
    }
    shape.finish().map(Some)
}

fn size(cell: &Result<Option<Cell>>) -> usize {
    match cell {
        Ok(Some(Cell::Bytes(bytes))) => bytes.len(),
        Ok(Some(Cell::Array(array))) => array.bytes().len(),
        Ok(None) | Err(_) => 0,
    }
}

fn locked<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
