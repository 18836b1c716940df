//! Markers of several curves or groups: each has a shape of its own as well as a colour, so that a grey print
//! and colour-blind readers can tell them apart.

use super::canvas::{Canvas, Paint, Path};
use super::palette::Colour;

/// Corners of closed outlines around the origin, for a radius of 1; a circle comes before them.
const OUTLINES: [&[[f64; 2]]; 5] = [
    // A square, a triangle, a diamond, a triangle on its tip, a cross: about as large to the eye.
    &[[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
    &[[0.0, -1.2], [1.1, 0.8], [-1.1, 0.8]],
    &[[0.0, -1.25], [1.1, 0.0], [0.0, 1.25], [-1.1, 0.0]],
    &[[0.0, 1.2], [1.1, -0.8], [-1.1, -0.8]],
    &[
        [-0.4, -1.1],
        [0.4, -1.1],
        [0.4, -0.4],
        [1.1, -0.4],
        [1.1, 0.4],
        [0.4, 0.4],
        [0.4, 1.1],
        [-0.4, 1.1],
        [-0.4, 0.4],
        [-1.1, 0.4],
        [-1.1, -0.4],
        [-0.4, -0.4],
    ],
];

/// Draws the sign of what has this colour.
pub(crate) fn marker(
    canvas: &mut Canvas,
    colour: Colour,
    [x, y]: [f64; 2],
    radius: f64,
    paint: Paint,
    tip: Option<&str>,
) {
    let place = match colour {
        Colour::Series(place) => place % (OUTLINES.len() + 1),
        _ => 0,
    };
    let Some(outline) = place.checked_sub(1).map(|place| OUTLINES[place]) else {
        return canvas.circle([x, y], radius, paint, tip);
    };
    let mut path = Path::through(outline.iter().map(|[dx, dy]| [x + radius * dx, y + radius * dy]));
    path.close();
    canvas.path(path, paint, tip);
}
