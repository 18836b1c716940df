//! Street scenes drawn from a seed: a map of classes, as a labelling person would make it.

use calipers_core::SplitMix64;

/// Rows of a scene.
pub(super) const HEIGHT: usize = 96;
/// Columns of a scene.
pub(super) const WIDTH: usize = 160;

/// The classes by id.
pub(super) const CLASSES: [&str; 7] = ["sky", "road", "sidewalk", "building", "tree", "car", "pedestrian"];
const SKY: u8 = 0;
const ROAD: u8 = 1;
const SIDEWALK: u8 = 2;
const BUILDING: u8 = 3;
const TREE: u8 = 4;
const CAR: u8 = 5;
const PEDESTRIAN: u8 = 6;

/// Not labelled: the frame of the picture, and the bonnet of the car that took it.
pub(super) const VOID: u8 = 255;
const FRAME: usize = 2;
const BONNET: usize = 6;

/// A colour for each class, to look at.
pub(super) const COLOURS: [[u8; 3]; 7] = [
    [116, 173, 209],
    [110, 110, 115],
    [190, 174, 165],
    [150, 105, 80],
    [85, 145, 75],
    [60, 60, 160],
    [215, 70, 70],
];

/// The class of every pixel, row by row.
pub(super) fn draw(random: &mut SplitMix64) -> Vec<u8> {
    let mut canvas = Canvas(vec![SKY; HEIGHT * WIDTH]);
    let horizon = between(random, 38, 50);
    buildings(&mut canvas, horizon, random);
    ground(&mut canvas, horizon, random);
    for _ in 0..between(random, 2, 5) {
        tree(&mut canvas, horizon, random);
    }
    for _ in 0..between(random, 1, 4) {
        car(&mut canvas, horizon, random);
    }
    for _ in 0..between(random, 2, 6) {
        pedestrian(&mut canvas, horizon, random);
    }
    canvas.border();
    canvas.0
}

/// A whole number from `least` to `most`.
fn between(random: &mut SplitMix64, least: i64, most: i64) -> i64 {
    least + random.below((most - least + 1) as u64) as i64
}

struct Canvas(Vec<u8>);

impl Canvas {
    /// Paints the pixels of a box that the shape holds; what lies outside the picture is lost.
    fn paint(&mut self, class: u8, x: [i64; 2], y: [i64; 2], holds: impl Fn(i64, i64) -> bool) {
        for row in y[0].max(0)..y[1].min(HEIGHT as i64) {
            for column in x[0].max(0)..x[1].min(WIDTH as i64) {
                if holds(column, row) {
                    self.0[row as usize * WIDTH + column as usize] = class;
                }
            }
        }
    }

    fn ellipse(&mut self, class: u8, [x, y]: [i64; 2], [across, down]: [i64; 2]) {
        let inside = |column: i64, row: i64| {
            let (dx, dy) = ((column - x) * down, (row - y) * across);
            dx * dx + dy * dy <= (across * down) * (across * down)
        };
        self.paint(class, [x - across, x + across + 1], [y - down, y + down + 1], inside);
    }

    fn border(&mut self) {
        for (pixel, class) in self.0.iter_mut().enumerate() {
            let (x, y) = (pixel % WIDTH, pixel / WIDTH);
            let framed = !(FRAME..WIDTH - FRAME).contains(&x) || !(FRAME..HEIGHT - BONNET).contains(&y);
            *class = if framed { VOID } else { *class };
        }
    }
}

fn buildings(canvas: &mut Canvas, horizon: i64, random: &mut SplitMix64) {
    let mut x = -between(random, 0, 10);
    while x < WIDTH as i64 {
        let (wide, high) = (between(random, 14, 34), between(random, 8, 32));
        canvas.paint(BUILDING, [x, x + wide], [horizon - high, horizon], |_, _| true);
        // A gap between houses now and then.
        x += wide + if random.below(3) == 0 { between(random, 3, 12) } else { 0 };
    }
}

/// A road that narrows towards the horizon, with a sidewalk on both sides.
fn ground(canvas: &mut Canvas, horizon: i64, random: &mut SplitMix64) {
    let (middle, half) = (between(random, 60, 100), between(random, 50, 64));
    let deep = HEIGHT as i64 - horizon;
    let below = [horizon, HEIGHT as i64];
    canvas.paint(SIDEWALK, [0, WIDTH as i64], below, |_, _| true);
    canvas.paint(ROAD, [0, WIDTH as i64], below, |x, y| {
        (x - middle).abs() * deep <= 6 * deep + half * (y - horizon)
    });
}

fn tree(canvas: &mut Canvas, horizon: i64, random: &mut SplitMix64) {
    let x = if random.below(2) == 0 { between(random, 4, 45) } else { between(random, 115, 155) };
    let (foot, high) = (horizon + between(random, 1, 8), between(random, 14, 26));
    canvas.paint(TREE, [x - 1, x + 1], [foot - high, foot], |_, _| true);
    canvas.ellipse(TREE, [x, foot - high], [between(random, 5, 10), between(random, 6, 11)]);
}

fn car(canvas: &mut Canvas, horizon: i64, random: &mut SplitMix64) {
    let (x, foot) = (between(random, 40, 115), horizon + between(random, 6, 34));
    // Nearer cars are larger.
    let half = 4 + (foot - horizon) / 3;
    canvas.paint(CAR, [x - half, x + half], [foot - half, foot], |_, _| true);
    canvas.paint(CAR, [x - half / 2, x + half / 2], [foot - half - half / 2, foot - half], |_, _| true);
}

fn pedestrian(canvas: &mut Canvas, horizon: i64, random: &mut SplitMix64) {
    let x = if random.below(2) == 0 { between(random, 6, 40) } else { between(random, 120, 153) };
    let foot = horizon + between(random, 6, 30);
    let high = 6 + (foot - horizon) / 3;
    let half = 1 + (foot - horizon) / 14;
    canvas.paint(PEDESTRIAN, [x - half, x + half + 1], [foot - high, foot], |_, _| true);
    canvas.ellipse(PEDESTRIAN, [x, foot - high - half], [half, half]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_somewhere_and_the_border_is_void() {
        let mut random = SplitMix64::new(0);
        let mut seen = [0usize; 256];
        for _ in 0..12 {
            let map = draw(&mut random);
            assert_eq!(map.len(), HEIGHT * WIDTH);
            assert!(map[..WIDTH].iter().chain(&map[map.len() - WIDTH..]).all(|&class| class == VOID));
            map.iter().for_each(|&class| seen[usize::from(class)] += 1);
        }
        assert!((0..CLASSES.len()).all(|class| seen[class] > 500), "{:?}", &seen[..CLASSES.len()]);
    }
}
