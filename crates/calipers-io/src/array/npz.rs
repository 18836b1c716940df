//! npz files: a zip archive with one npy file for each name.

use std::io::{self, Write};
use std::sync::Arc;

use calipers_core::{Error, Result};

use super::{Array, Arrays, Decode, npy, read_at};
use crate::archive::zip::{Archive, ArchiveWriter};
use crate::file::ReadAt;

/// Opens an archive; its arrays are read and inflated when they are asked for. Members that are
/// not npy files are ignored.
pub fn open(source: Arc<dyn ReadAt>) -> Result<Arrays> {
    refuse_other_than_zip(&*source)?;
    let archive = Arc::new(Archive::open(source, "npz")?);
    let entry = |name: &str| {
        let key = name.strip_suffix(".npy")?.to_string();
        let (archive, name) = (Arc::clone(&archive), name.to_string());
        let decode: Decode = Box::new(move || member(&archive, &name));
        Some((key, decode))
    };
    Ok(Arrays { stored: archive.names().filter_map(entry).collect(), texts: Default::default() })
}

fn refuse_other_than_zip(source: &dyn ReadAt) -> Result<()> {
    let mut first = [0; 2];
    if source.size() >= 2 {
        read_at(source, &mut first, 0)?;
    }
    if source.size() > 0 && first != *b"PK" {
        return Err(Error::format("not an npz file")
            .at("byte 0")
            .advice("an npz file is a zip archive: write it with numpy.savez"));
    }
    Ok(())
}

fn member(archive: &Archive, name: &str) -> Result<Array> {
    let bytes = archive.read(name)?.unwrap_or_default();
    npy::parse_owned(bytes).map_err(|error| error.at(format!("member {name}")))
}

/// Writes arrays as an archive, uncompressed and in their order: equal arrays give equal bytes.
pub fn write_to(arrays: &[(String, Array)], out: &mut dyn Write) -> io::Result<()> {
    let mut archive = ArchiveWriter::new(out);
    for (name, array) in arrays {
        archive
            .member(&format!("{name}.npy"), &[&npy::written_header(array)?, &npy::written_elements(array)])?;
    }
    archive.finish()
}
