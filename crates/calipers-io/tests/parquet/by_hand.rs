//! A parquet file built byte by byte, with a checksum on its page: what no writer here can make.

/// Whole numbers as the compact protocol has them.
fn int(value: i64) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    let mut bytes = Vec::new();
    loop {
        let more = rest > 0x7f;
        bytes.push((rest & 0x7f) as u8 | if more { 0x80 } else { 0 });
        rest >>= 7;
        if !more {
            return bytes;
        }
    }
}

/// A struct of whole numbers (5 or 6), texts (8), lists of structs (9) and structs (12), by field.
pub(crate) struct Struct(Vec<u8>, u8);

impl Struct {
    pub(crate) fn new() -> Self {
        Self(Vec::new(), 0)
    }

    fn head(&mut self, field: u8, kind: u8) {
        self.0.push((field - self.1) << 4 | kind);
        self.1 = field;
    }

    pub(crate) fn int(mut self, field: u8, kind: u8, value: i64) -> Self {
        self.head(field, kind);
        self.0.extend(int(value));
        self
    }

    pub(crate) fn text(mut self, field: u8, text: &str) -> Self {
        self.head(field, 8);
        self.0.push(text.len() as u8);
        self.0.extend(text.as_bytes());
        self
    }

    pub(crate) fn list(mut self, field: u8, kind: u8, elements: &[Vec<u8>]) -> Self {
        self.head(field, 9);
        self.0.push((elements.len() as u8) << 4 | kind);
        self.0.extend(elements.concat());
        self
    }

    pub(crate) fn inner(mut self, field: u8, inner: Self) -> Self {
        self.head(field, 12);
        self.0.extend(inner.end());
        self
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.push(0);
        self.0
    }
}

/// What a hand-made file claims.
pub(crate) struct Claims {
    pub(crate) rows: i64,
    pub(crate) page_values: i64,
    pub(crate) inflated: i64,
    pub(crate) codec: i64,
    pub(crate) encoding: i64,
    pub(crate) offset: i64,
}

impl Claims {
    /// The truth about a page of these values.
    pub(crate) fn of(values: &[f64]) -> Self {
        let count = values.len() as i64;
        Self { rows: count, page_values: count, inflated: 8 * count, codec: 0, encoding: 0, offset: 4 }
    }
}

/// A file with the one required column `val_F1` of doubles, in one plain page with its checksum.
pub(crate) fn file(values: &[f64], claims: &Claims) -> Vec<u8> {
    let body: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    of_body(&body, claims)
}

/// The same with the bytes of the page.
pub(crate) fn of_body(body: &[u8], claims: &Claims) -> Vec<u8> {
    let numbers =
        Struct::new().int(1, 5, claims.page_values).int(2, 5, claims.encoding).int(3, 5, 3).int(4, 5, 3);
    let header = Struct::new()
        .int(1, 5, 0)
        .int(2, 5, claims.inflated)
        .int(3, 5, body.len() as i64)
        .int(4, 5, i64::from(crc32fast::hash(body) as i32))
        .inner(5, numbers)
        .end();
    let length = (header.len() + body.len()) as i64;
    let name = [&[6][..], b"val_F1"].concat();
    let meta = Struct::new()
        .int(1, 5, 5)
        .list(2, 5, &[int(claims.encoding), int(3)])
        .list(3, 8, &[name])
        .int(4, 5, claims.codec)
        .int(5, 6, claims.rows)
        .int(6, 6, length)
        .int(7, 6, length)
        .int(9, 6, claims.offset);
    let chunk = Struct::new().int(2, 6, 4).inner(3, meta).end();
    let group = Struct::new().list(1, 12, &[chunk]).int(2, 6, length).int(3, 6, claims.rows).end();
    let root = Struct::new().text(4, "run").int(5, 5, 1).end();
    let leaf = Struct::new().int(1, 5, 5).int(3, 5, 0).text(4, "val_F1").end();
    let footer = Struct::new()
        .int(1, 5, 1)
        .list(2, 12, &[root, leaf])
        .int(3, 6, claims.rows)
        .list(4, 12, &[group])
        .end();
    let size = (footer.len() as u32).to_le_bytes();
    [b"PAR1", &header[..], body, &footer, &size, b"PAR1"].concat()
}
