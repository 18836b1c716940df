"""Writers of the binary logs that training libraries leave: TensorBoard, W&B and MLflow."""
import json
import math
import sqlite3
import struct
import zlib


def crc32c(data, _t=[]):
    if not _t:
        for i in range(256):
            c = i
            for _ in range(8):
                c = (c >> 1) ^ 0x82F63B78 if c & 1 else c >> 1
            _t.append(c)
    c = 0xFFFFFFFF
    for b in data:
        c = (c >> 8) ^ _t[(c ^ b) & 255]
    return c ^ 0xFFFFFFFF


def masked(data):
    c = crc32c(data)
    return (((c >> 15) | (c << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append((n & 127) | (128 if n > 127 else 0))
        n >>= 7
        if not n:
            return bytes(out)


def pb(field, v):
    """one protobuf field: int -> varint, float -> double, bytes/str -> length delimited"""
    if isinstance(v, int):
        return varint(field << 3) + varint(v)
    if isinstance(v, float):
        return varint(field << 3 | 1) + struct.pack("<d", v)
    v = v.encode() if isinstance(v, str) else v
    return varint(field << 3 | 2) + varint(len(v)) + v


def tf_record(data):
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked(head)) + data + struct.pack("<I", masked(data))


def tf_scalar(wall, step, tag, value, tensor=None):
    if tensor is None:
        val = pb(1, tag) + varint(2 << 3 | 5) + struct.pack("<f", value)
    elif tensor == "float":                                      # DT_FLOAT with packed float_val
        val = pb(1, tag) + pb(8, pb(1, 1) + pb(2, b"") + pb(5, struct.pack("<f", value)))
    elif tensor == "double":                                     # DT_DOUBLE, tensor_content
        val = pb(1, tag) + pb(8, pb(1, 2) + pb(2, b"") + pb(4, struct.pack("<d", value)))
    return tf_record(pb(1, float(wall)) + (pb(2, step) if step else b"") + pb(5, pb(1, val)))


def tf_version(wall):
    return tf_record(pb(1, float(wall)) + pb(3, "brain.Event:2"))


def wandb_frame(records):
    """LevelDB-style log with the 7-byte header inside the first 32 KiB block"""
    out = bytearray(b":W&B" + struct.pack("<HB", 0xBEE1, 0))
    for data in records:
        first = True
        while True:
            left = 32768 - len(out) % 32768
            if left < 7:
                out += b"\0" * left
                left = 32768
            part, data = data[:left - 7], data[left - 7:]
            kind = 1 if first and not data else 2 if first else 4 if not data else 3
            out += struct.pack("<IHB", zlib.crc32(bytes([kind]) + part), len(part), kind) + part
            first = False
            if not data:
                break
    return bytes(out)


def wandb_run(run_id, project, group, name):
    return pb(17, pb(1, run_id) + pb(3, project) + (pb(6, group) if group else b"") + (pb(8, name) if name else b""))


def jnum(v):
    if isinstance(v, float) and math.isnan(v):
        return "NaN"
    if isinstance(v, float) and math.isinf(v):
        return "Infinity" if v > 0 else "-Infinity"
    return repr(v)


def wandb_history(step, items, nested=False):
    body = b""
    for k, v in items.items():
        key = pb(2, k) if nested and "." not in k else b"".join(pb(2, part) for part in k.split(".")) if "." in k else pb(1, k)
        body += pb(1, key + pb(16, jnum(v) if not isinstance(v, str) else json.dumps(v)))
    return pb(2, body + pb(2, pb(1, step) if step else b""))


def wandb_file(run_id, project, group, name, rows, pad=0, nested=True):
    recs = [pb(1, 1) + pb(21, b""), pb(1, 2) + wandb_run(run_id, project, group, name)]
    for i, row in enumerate(rows):
        recs.append(pb(1, i + 3) + wandb_history(i, row, nested))
        if pad:                                                  # console output between the rows
            recs.append(pb(1, 1000 + i) + pb(4, pb(1, 1) + pb(3, "x" * pad)))
    recs.append(pb(1, 9999) + pb(18, pb(1, 0)))
    return wandb_frame(recs)


def mlflow_sqlite(runs):
    """The bytes of a database. runs: [(uuid, name, {key: [(value, timestamp, step)]}, {tag: value}, deleted)]"""
    c = sqlite3.connect(":memory:")
    c.execute("PRAGMA page_size=1024")
    c.executescript("""
      create table experiments (experiment_id integer not null primary key, name varchar(256) not null, lifecycle_stage varchar(32));
      create table runs (run_uuid varchar(32) not null primary key, name varchar(250), status varchar(9), lifecycle_stage varchar(20), experiment_id integer);
      create table metrics ("key" varchar(250) not null, value float not null, timestamp bigint not null, run_uuid varchar(32) not null,
        step bigint default '0' not null, is_nan boolean default '0' not null, primary key ("key", timestamp, step, run_uuid, value, is_nan));
      create table params ("key" varchar(250) not null, value varchar(8000) not null, run_uuid varchar(32) not null);
      create table tags ("key" varchar(250) not null, value varchar(8000), run_uuid varchar(32) not null);
      insert into experiments values (1, 'exp', 'active');""")
    for uuid, name, ms, tags, deleted in runs:
        c.execute("insert into runs values (?,?,?,?,1)", (uuid, name, "FINISHED", "deleted" if deleted else "active"))
        for k, v in tags.items():
            c.execute("insert into tags values (?,?,?)", (k, v, uuid))
        for k, vs in ms.items():
            for value, ts, step in vs:
                nan = math.isnan(value)
                big = 1.7976931348623157e308
                stored = 0.0 if nan else big if value == math.inf else -big if value == -math.inf else value
                c.execute("insert into metrics values (?,?,?,?,?,?)", (k, stored, ts, uuid, step, int(nan)))
    c.commit()
    c.execute("vacuum")
    return c.serialize()
