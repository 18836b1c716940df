//! The photos behind label maps: found by the name of the unit, laid below the panels.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use calipers_core::{Error, Result};
use calipers_io::image::FORMATS;

/// The most photos that are looked through for one name.
const MOST_FILES: usize = 1_000_000;
/// The most pixels of a photo.
const MOST_PIXELS: u64 = 1 << 28;

/// Red, green and blue of each pixel.
pub(super) struct Photo {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<[u8; 3]>,
}

impl Photo {
    /// The colour at a pixel of a map of this width and height, which may have another size.
    pub(super) fn at(&self, [x, y]: [usize; 2], [width, height]: [usize; 2]) -> [u8; 3] {
        let (x, y) = (x * self.width / width.max(1), y * self.height / height.max(1));
        self.pixels.get(y * self.width + x).copied().unwrap_or_default()
    }

    /// The photo of a unit: the PNG file in the folder or below it whose name is that of the unit, or
    /// begins with it and `_`, `-` or `.`.
    pub(super) fn find(folder: &Path, unit: &str) -> Result<Self> {
        let last = unit.rsplit('/').next().unwrap_or(unit);
        let belongs = |path: &Path| {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let rest = FORMATS.stem(&name).strip_prefix(last);
            FORMATS.by_name(&name) == FORMATS.called("png")
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '-', '.']))
        };
        let mut found: Vec<PathBuf> = files(folder)?.into_iter().filter(|path| belongs(path)).collect();
        // A unit may say its folder: of photos of one name, that in a folder of this name is meant.
        if let (Some((place, _)), true) = (unit.rsplit_once('/'), found.len() > 1) {
            found.retain(|path| path.parent().is_some_and(|parent| parent.ends_with(place)));
        }
        match found.as_slice() {
            [path] => read(path).map_err(|error| error.in_file(path.display())),
            [] => Err(Error::value(format!("no photo of {unit}"))
                .in_file(folder.display())
                .allowed(format!("{last}.png, or {last}_ and more before .png"))
                .advice("convert photos of other formats to PNG")),
            [first, second, ..] => Err(Error::value(format!("two photos of {unit}"))
                .in_file(folder.display())
                .found(format!("{} and {}", first.display(), second.display()))),
        }
    }
}

/// Every file below a folder, in the order of their names. Links are not followed.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |folder: &Path, error: std::io::Error| {
        Error::io(format!("cannot read the folder of photos: {error}")).in_file(folder.display())
    };
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, error))? {
            let entry = entry.map_err(|error| failed(&folder, error))?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
            if found.len() > MOST_FILES {
                return Err(Error::value("the folder of photos has too many files")
                    .in_file(folder.display())
                    .allowed(format!("{MOST_FILES}")));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Photo> {
    let file = fs::File::open(path).map_err(|error| Error::io(format!("cannot read the photo: {error}")))?;
    let broken = |error: png::DecodingError| Error::format(format!("not a photo: {error}"));
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(broken)?;
    let (width, height) = reader.info().size();
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(Error::value("the photo is too large").found(format!("{width} x {height}")));
    }
    let size = reader.output_buffer_size().ok_or_else(|| Error::value("the photo is too large"))?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).map_err(broken)?;
    let grey = matches!(frame.color_type, png::ColorType::Grayscale | png::ColorType::GrayscaleAlpha);
    let samples = frame.color_type.samples();
    let colour = |pixel: &[u8]| if grey { [pixel[0]; 3] } else { [pixel[0], pixel[1], pixel[2]] };
    let pixels = bytes[..frame.buffer_size()].chunks_exact(samples).map(colour).collect();
    Ok(Photo { width: width as usize, height: height as usize, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, kind: png::ColorType, data: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut encoder = png::Encoder::new(fs::File::create(path).unwrap(), 2, 1);
        encoder.set_color(kind);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
    }

    #[test]
    fn a_photo_is_found_by_the_name_of_its_unit() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write(&at("bonn/a_1_leftImg8bit.png"), png::ColorType::Rgb, &[1, 2, 3, 4, 5, 6]);
        write(&at("ulm/a_1.png"), png::ColorType::Grayscale, &[7, 8]);
        write(&at("a_10.png"), png::ColorType::Rgba, &[9; 8]);
        assert_eq!(Photo::find(folder.path(), "bonn/a_1").unwrap().pixels, [[1, 2, 3], [4, 5, 6]]);
        let grey = Photo::find(folder.path(), "ulm/a_1").unwrap();
        assert_eq!((grey.at([3, 0], [4, 4]), grey.at([0, 3], [4, 4])), ([8; 3], [7; 3]));
        let error = |unit: &str| Photo::find(folder.path(), unit).err().unwrap().to_string();
        assert!(error("a_1").contains("two photos"));
        assert!(error("b").contains("b.png"), "{}", error("b"));
        fs::write(at("b.png"), b"no photo").unwrap();
        assert!(error("b").contains("not a photo"));
    }
}
