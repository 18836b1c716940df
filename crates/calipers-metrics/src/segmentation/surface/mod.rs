//! How far the surfaces of predicted objects lie from those of the true ones, in images and volumes.
//!
//! Every foreground class (all but the background) is looked at alone. The **surface** of a class are its
//! elements with a face neighbour of another label or outside the image; a distance is that of the centres
//! of two elements, in the units of the spacing. The **directed distances** from the truth are, for each
//! element of the true surface, the distance to the nearest one of the predicted surface, and likewise from
//! the prediction. Rows keep what every number of a unit is read from: the largest distance, the two
//! around each percentile, exact sums, and how many lie within the tolerance.
//!
//! **Void** elements are neither of the class nor of another label: a face towards them makes no surface.
//!
//! The conventions `medpy`, `monai` and `deepmind` reproduce what these libraries compute:
//!
//! * in all three, void is another label;
//! * `medpy` takes percentiles of the distances of both directions together;
//! * `monai` and `deepmind` have infinite distances where one side alone has a surface;
//! * `deepmind` measures between corner points of the grid, each weighing as much as the length or area of
//!   surface around it.
//!
//! ```text
//! maps --points--> lists of points per class --nearest--> squared distances --row--> SurfaceRow --reading--> numbers
//! ```

/// What every definition says of the four conventions.
macro_rules! conventions {
    () => {
        concat!(
            "Conventions: medpy, monai and deepmind count void as another label, which makes surfaces \
             there. ",
            "deepmind measures between corner points of the grid, each weighing as much as the length or \
             area ",
            "of surface around it. monai takes means over the classes of each unit, then over units. Where ",
            "one side alone has a surface, monai (but for percentiles) and deepmind have an infinite \
             distance, ",
            "strict and medpy have none."
        )
    };
}

mod grid;
pub(crate) mod lines;
mod nearest;
mod percent;
mod points;
mod reading;
mod row;
mod settings;
mod slice;
mod states;
pub(crate) mod warnings;

pub use grid::Grid;
pub use lines::HD95;
pub use row::{Apart, Space, SurfaceRow, Weights};
pub use settings::{
    Absent, Convention, Images, ImagesConfig, Missing, MissingConfig, MissingRule, Surface, SurfaceConfig,
    Tolerance,
};

pub use slice::{FarthestSlice, farthest_slice};

pub(crate) use grid::check_spacing;
pub(crate) use percent::Percent;
pub(crate) use row::surfaces;
pub(crate) use settings::{images, surface};
