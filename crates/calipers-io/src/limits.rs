//! The limits of every reader, in one place: they are named in the errors they cause.

/// Largest npy header, in bytes.
pub const NPY_HEADER: u64 = 64 << 10;
/// Largest number of axes of an array.
pub const RANK: usize = 32;
/// Largest safetensors header, in bytes.
pub const SAFETENSORS_HEADER: u64 = 16 << 20;
/// Most members of an archive.
pub const ARCHIVE_MEMBERS: usize = 100_000;
/// Largest ratio of inflated to stored bytes of an archive member.
pub const INFLATE_RATIO: u64 = 1_100;
/// Most bytes that one compressed file or archive member may inflate to.
pub const INFLATED: u64 = 1 << 40;
/// Deepest nesting of JSON and pickle values.
pub const DEPTH: usize = 128;
/// Longest line of a text format, in bytes.
pub const LINE: usize = 64 << 20;
/// Most columns of a delimited table.
pub const COLUMNS: usize = 1 << 18;
/// Longest unit name, in bytes.
pub const NAME: usize = 4 << 10;
/// Nodes that a graph may announce whatever its number of edges.
pub const FREE_NODES: u64 = 1 << 24;
/// Nodes that a larger graph may announce for each stored edge.
pub const NODES_PER_ENTRY: u64 = 16;
/// Most pixels of an image.
pub const PIXELS: u64 = 1 << 28;
/// Largest page of a parquet file, inflated, in bytes.
pub const PARQUET_PAGE: u64 = 256 << 20;
/// Rows that a parquet file may announce whatever its size.
pub const FREE_ROWS: u64 = 1 << 20;
/// Rows that a larger parquet file may announce for each of its bytes.
pub const ROWS_PER_BYTE: u64 = 64;
