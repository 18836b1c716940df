//! Classes of one image as small integers, so that a map of up to 254 classes has a byte a pixel.

use std::fmt::Debug;

/// A pixel of a class map: a class below C, `C` for "no prediction", or [`ClassId::VOID`].
pub trait ClassId: Copy + Eq + Ord + Debug + Default + Send + Sync + 'static {
    /// The pixel is not scored.
    const VOID: Self;
    /// The most classes this type can tell apart, "no prediction" not counted.
    const MOST: usize;

    /// The value of a class; at most [`ClassId::MOST`].
    fn new(class: usize) -> Self;

    /// The class as a position.
    fn index(self) -> usize;
}

macro_rules! class_ids {
    ($($integer:ty: $most:literal),*) => {$(
        impl ClassId for $integer {
            const VOID: Self = Self::MAX;
            const MOST: usize = $most;

            fn new(class: usize) -> Self {
                class as Self
            }

            fn index(self) -> usize {
                self.into()
            }
        }
    )*};
}

class_ids!(u8: 254, u16: 65_534);
