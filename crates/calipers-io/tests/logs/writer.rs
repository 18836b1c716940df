//! Small writers of event files and W&B logs.

/// A protocol buffer field that holds a number.
pub(crate) fn whole(number: u64, value: u64) -> Vec<u8> {
    [varint(number << 3), varint(value)].concat()
}

/// A protocol buffer field that holds eight bytes.
pub(crate) fn double(number: u64, value: f64) -> Vec<u8> {
    [&varint(number << 3 | 1)[..], &value.to_le_bytes()].concat()
}

/// A protocol buffer field that holds four bytes.
pub(crate) fn single(number: u64, value: f32) -> Vec<u8> {
    [&varint(number << 3 | 5)[..], &value.to_le_bytes()].concat()
}

/// A protocol buffer field that holds text or a message.
pub(crate) fn bytes(number: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    [&varint(number << 3 | 2)[..], &varint(content.len() as u64), content].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// CRC of the reflected polynomial, bit by bit.
fn checksum(bytes: &[u8], polynomial: u32) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (polynomial & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// One record of an event file.
pub(crate) fn event(data: &[u8]) -> Vec<u8> {
    let masked = |bytes: &[u8]| {
        let crc = checksum(bytes, 0x82f6_3b78);
        crc.rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
    };
    let length = (data.len() as u64).to_le_bytes();
    [&length[..], &masked(&length), data, &masked(data)].concat()
}

/// The event with which every event file begins.
pub(crate) fn version(wall_time: f64) -> Vec<u8> {
    event(&[double(1, wall_time), bytes(3, "brain.Event:2")].concat())
}

/// An event that holds one value under a tag; `content` is the field of the value.
pub(crate) fn tagged(wall_time: f64, step: u64, tag: &str, content: &[u8]) -> Vec<u8> {
    summary(wall_time, step, &[(tag, content)])
}

/// An event that holds several values.
pub(crate) fn summary(wall_time: f64, step: u64, values: &[(&str, &[u8])]) -> Vec<u8> {
    let values = values.iter().map(|(tag, content)| bytes(1, [&bytes(1, tag)[..], content].concat()));
    let step = if step == 0 { Vec::new() } else { whole(2, step) };
    event(&[double(1, wall_time), step, bytes(5, values.collect::<Vec<_>>().concat())].concat())
}

/// A W&B log of records, in blocks of 32 KiB.
pub(crate) fn log(records: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b":W&B\xe1\xbe\0".to_vec();
    for record in records {
        let mut rest = &record[..];
        let mut begun = false;
        loop {
            let mut left = 32_768 - out.len() % 32_768;
            if left < 7 {
                out.resize(out.len() + left, 0);
                left = 32_768;
            }
            let (part, after) = rest.split_at(rest.len().min(left - 7));
            let kind = match (begun, after.is_empty()) {
                (false, true) => 1,
                (false, false) => 2,
                (true, false) => 3,
                (true, true) => 4,
            };
            let data = [&[kind], part].concat();
            out.extend(checksum(&data, 0xedb8_8320).to_le_bytes());
            out.extend((part.len() as u16).to_le_bytes());
            out.extend(data);
            (rest, begun) = (after, true);
            if rest.is_empty() {
                break;
            }
        }
    }
    out
}

/// One item of a W&B record: keys from the outermost inwards, and the JSON text of its value.
pub(crate) fn item(keys: &[&str], json: &str) -> Vec<u8> {
    let keys: Vec<u8> = keys.iter().flat_map(|key| bytes(2, key)).collect();
    [keys, bytes(16, json)].concat()
}

/// One item of a W&B record whose key is written as one text.
pub(crate) fn flat_item(key: &str, json: &str) -> Vec<u8> {
    [bytes(1, key), bytes(16, json)].concat()
}

/// A history record.
pub(crate) fn history(step: u64, items: &[Vec<u8>]) -> Vec<u8> {
    let items: Vec<u8> = items.iter().flat_map(|item| bytes(1, item)).collect();
    let step = if step == 0 { Vec::new() } else { whole(1, step) };
    bytes(2, [items, bytes(2, step)].concat())
}

/// A configuration record.
pub(crate) fn config(items: &[Vec<u8>]) -> Vec<u8> {
    bytes(5, items.iter().flat_map(|item| bytes(1, item)).collect::<Vec<_>>())
}

/// A run record.
pub(crate) fn run(id: &str, group: &str, name: &str) -> Vec<u8> {
    bytes(17, [bytes(1, id), bytes(3, "demo"), bytes(6, group), bytes(8, name)].concat())
}
