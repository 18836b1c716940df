//! What the structures of a parquet file look like. A decoder that goes by field numbers alone can
//! be sent astray by a field of another kind; such fields are refused here.

use super::thrift::Kind;

/// How one value is written.
pub(super) enum Shape {
    /// A value without parts.
    Plain(Kind),
    /// Values of one shape.
    List(&'static Shape),
    /// Fields by number; other numbers may hold anything.
    Struct(&'static [(i64, Shape)]),
}

impl Shape {
    /// The kind a value of this shape is written as.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Plain(kind) => *kind,
            Self::List(_) => Kind::List,
            Self::Struct(_) => Kind::Struct,
        }
    }
}

const BOOL: Shape = Shape::Plain(Kind::Bool);
const BYTE: Shape = Shape::Plain(Kind::Byte);
const INT: Shape = Shape::Plain(Kind::Int);
const DOUBLE: Shape = Shape::Plain(Kind::Double);
const BINARY: Shape = Shape::Plain(Kind::Binary);
const EMPTY: Shape = Shape::Struct(&[]);
const INTS: Shape = Shape::List(&INT);
const PAIRS: Shape = Shape::List(&Shape::Struct(&[(1, BINARY), (2, BINARY)]));

const STATISTICS: Shape = Shape::Struct(&[
    (1, BINARY),
    (2, BINARY),
    (3, INT),
    (4, INT),
    (5, BINARY),
    (6, BINARY),
    (7, BOOL),
    (8, BOOL),
]);

/// The header of a page.
pub(super) const PAGE_HEADER: Shape = Shape::Struct(&[
    (1, INT),
    (2, INT),
    (3, INT),
    (4, INT),
    (5, Shape::Struct(&[(1, INT), (2, INT), (3, INT), (4, INT), (5, STATISTICS)])),
    (6, EMPTY),
    (7, Shape::Struct(&[(1, INT), (2, INT), (3, BOOL)])),
    (
        8,
        Shape::Struct(&[
            (1, INT),
            (2, INT),
            (3, INT),
            (4, INT),
            (5, INT),
            (6, INT),
            (7, BOOL),
            (8, STATISTICS),
        ]),
    ),
]);

const TIME: Shape = Shape::Struct(&[(1, BOOL), (2, Shape::Struct(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);

const LOGICAL_TYPE: Shape = Shape::Struct(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Shape::Struct(&[(1, INT), (2, INT)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (9, EMPTY),
    (10, Shape::Struct(&[(1, BYTE), (2, BOOL)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Shape::Struct(&[(1, BYTE)])),
    (17, Shape::Struct(&[(1, BINARY)])),
    (18, Shape::Struct(&[(1, BINARY), (2, INT)])),
]);

const SCHEMA_ELEMENT: Shape = Shape::Struct(&[
    (1, INT),
    (2, INT),
    (3, INT),
    (4, BINARY),
    (5, INT),
    (6, INT),
    (7, INT),
    (8, INT),
    (9, INT),
    (10, LOGICAL_TYPE),
]);

const BOX: Shape = Shape::Struct(&[
    (1, DOUBLE),
    (2, DOUBLE),
    (3, DOUBLE),
    (4, DOUBLE),
    (5, DOUBLE),
    (6, DOUBLE),
    (7, DOUBLE),
    (8, DOUBLE),
]);

const COLUMN_METADATA: Shape = Shape::Struct(&[
    (1, INT),
    (2, INTS),
    (3, Shape::List(&BINARY)),
    (4, INT),
    (5, INT),
    (6, INT),
    (7, INT),
    (8, PAIRS),
    (9, INT),
    (10, INT),
    (11, INT),
    (12, STATISTICS),
    (13, Shape::List(&Shape::Struct(&[(1, INT), (2, INT), (3, INT)]))),
    (14, INT),
    (15, INT),
    (16, Shape::Struct(&[(1, INT), (2, INTS), (3, INTS)])),
    (17, Shape::Struct(&[(1, BOX), (2, INTS)])),
]);

const COLUMN_CHUNK: Shape = Shape::Struct(&[
    (1, BINARY),
    (2, INT),
    (3, COLUMN_METADATA),
    (4, INT),
    (5, INT),
    (6, INT),
    (7, INT),
    (8, EMPTY),
    (9, BINARY),
]);

const ROW_GROUP: Shape = Shape::Struct(&[
    (1, Shape::List(&COLUMN_CHUNK)),
    (2, INT),
    (3, INT),
    (4, Shape::List(&Shape::Struct(&[(1, INT), (2, BOOL), (3, BOOL)]))),
    (5, INT),
    (6, INT),
    (7, INT),
]);

/// The footer of a file.
pub(super) const FOOTER: Shape = Shape::Struct(&[
    (1, INT),
    (2, Shape::List(&SCHEMA_ELEMENT)),
    (3, INT),
    (4, Shape::List(&ROW_GROUP)),
    (5, PAIRS),
    (6, BINARY),
    (7, Shape::List(&Shape::Struct(&[(1, EMPTY)]))),
    (8, EMPTY),
    (9, BINARY),
]);
