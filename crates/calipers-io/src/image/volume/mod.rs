//! Volumes of labels, and what their files say of the space that they lie in.

pub mod metaimage;
pub mod nifti;
mod samples;

use calipers_core::{Error, Result};

use crate::memory;

pub(crate) use samples::{Sample, Samples};

/// How a volume lies in space. Axes are counted as in the file: x, y, z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// How far elements are apart along each axis of the array, the slowest first.
    pub spacing: Option<Vec<f64>>,
    /// The unit vector of each axis, towards left, posterior and superior.
    pub directions: Option<[[f64; 3]; 3]>,
    /// Where the first element lies.
    pub origin: Option<[f64; 3]>,
    /// Whether lengths are metres or microns.
    pub in_other_unit: bool,
    /// Whether the axes have other lengths than the spacing says.
    pub disagrees: bool,
}

/// The sizes of two or three axes as `x x y x z`, if there are elements and not too many.
fn checked_sizes(sizes: &[u64], at: &str, most: u64) -> Result<u64> {
    let shown = || sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ");
    let elements = sizes.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
    match elements {
        Some(0) => Err(Error::format("the volume has no elements").at(at).found(shown())),
        Some(elements) if elements <= most && sizes.iter().all(|size| *size <= u64::from(u32::MAX)) => {
            memory::ask("the volume", elements.saturating_mul(8)).map_err(|error| error.at(at))?;
            Ok(elements)
        }
        _ => Err(Error::format("the volume is too large")
            .at(at)
            .found(format!("{} (x x y x z)", shown()))
            .allowed(format!("at most {most} elements"))),
    }
}

/// Vectors of length 1, of which none is 0.
fn unit_vectors(axes: [[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let mut unit = axes;
    for axis in &mut unit {
        let length = length(*axis);
        if !(length.is_finite() && length > 0.0) {
            return None;
        }
        axis.iter_mut().for_each(|component| *component /= length);
    }
    Some(unit)
}

fn length(vector: [f64; 3]) -> f64 {
    vector.iter().map(|component| component * component).sum::<f64>().sqrt()
}
