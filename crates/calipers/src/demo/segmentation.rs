//! Street scenes and two models that look at them: one head over all classes, and three heads that
//! know some of the classes each. Both are more sure of themselves than they should be.

use std::path::Path;

use calipers_core::{Error, Result, SplitMix64};
use calipers_sources::output;
use half::f16;

use super::scene::{CLASSES, COLOURS, HEIGHT, VOID, WIDTH, draw};
use super::{Tensor, create_folder, write_safetensors};

const SCENES: usize = 12;
const PIXELS: usize = HEIGHT * WIDTH;

/// The configuration of the model with one head.
pub const BASELINE: &str = "baseline.toml";
/// The configuration of the model with three heads.
pub const MULTI_HEAD: &str = "multi-head.toml";

/// A head: its name, and the classes of each channel; the first channel has all others.
type Head = (&'static str, &'static [&'static [usize]]);

const FLAT: Head = ("flat", &[&[0], &[1], &[2], &[3], &[4], &[5], &[6]]);
const HEADS: [Head; 3] = [
    ("ground", &[&[0, 3, 4, 5, 6], &[1], &[2]]),
    ("object", &[&[0, 1, 2, 3, 4], &[5], &[6]]),
    ("stuff", &[&[1, 2, 5, 6], &[0], &[3], &[4]]),
];

/// Writes the data set: `truth/*.png`, `baseline/*.safetensors`, `multi-head/*.safetensors` and a
/// configuration for each model.
pub fn write(folder: &Path, seed: u64) -> Result<()> {
    let below = ["truth", "baseline", "multi-head"].map(|name| folder.join(name));
    below.iter().try_for_each(|folder| create_folder(folder))?;
    let [truth, baseline, multi_head] = below;
    let mut random = SplitMix64::new(seed);
    for number in 0..SCENES {
        let map = draw(&mut random);
        let name = format!("scene_{number:02}");
        output::write(&truth.join(format!("{name}.png")), &picture(&map)?)?;
        let file = format!("{name}.safetensors");
        let flat = logits(&map, FLAT, Eyes { blur: 3, patches: 1.7, grain: 0.7, boldness: 2.6 }, &mut random);
        write_safetensors(&baseline.join(&file), &[flat])?;
        let eyes = Eyes { blur: 2, patches: 1.5, grain: 0.6, boldness: 2.2 };
        let heads = HEADS.map(|head| logits(&map, head, eyes, &mut random));
        write_safetensors(&multi_head.join(&file), &heads)?;
    }
    output::write(&folder.join(BASELINE), config("baseline", &[FLAT]).as_bytes())?;
    output::write(&folder.join(MULTI_HEAD), config("multi-head", &HEADS).as_bytes())
}

/// A palette picture: the index is the id, the colour is for people.
fn picture(map: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH as u32, HEIGHT as u32);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    let mut palette = COLOURS.concat();
    palette.resize(3 * (usize::from(VOID) + 1), 0);
    encoder.set_palette(palette);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(map));
    written.map_err(|error| Error::io(format!("cannot encode a picture: {error}")))?;
    Ok(bytes)
}

/// How a model sees: how far it smears edges, how strongly it is mistaken about patches and single
/// pixels, and by how much it exaggerates what it believes.
#[derive(Clone, Copy)]
struct Eyes {
    blur: usize,
    patches: f64,
    grain: f64,
    boldness: f64,
}

/// How much truth is in a logit.
const CLARITY: f64 = 5.0;

fn logits(map: &[u8], (name, channels): Head, eyes: Eyes, random: &mut SplitMix64) -> Tensor {
    let mut bytes = Vec::with_capacity(2 * channels.len() * PIXELS);
    for classes in channels {
        let patches = patches(random);
        for (pixel, (near, patch)) in share_near(map, classes, eyes.blur).iter().zip(patches).enumerate() {
            // The models have learnt nothing about what nobody labels.
            let near = if map[pixel] == VOID { 0.0 } else { *near };
            let belief = CLARITY * near + eyes.patches * patch + eyes.grain * noise(random);
            bytes.extend_from_slice(&f16::from_f64(eyes.boldness * belief).to_le_bytes());
        }
    }
    Tensor { name, dtype: "F16", shape: vec![channels.len(), HEIGHT, WIDTH], bytes }
}

/// The share of these classes in the square around each pixel.
fn share_near(map: &[u8], classes: &[usize], reach: usize) -> Vec<f64> {
    let share = |pixel: usize| {
        let (x, y) = (pixel % WIDTH, pixel / WIDTH);
        let rows = y.saturating_sub(reach)..(y + reach + 1).min(HEIGHT);
        let columns = x.saturating_sub(reach)..(x + reach + 1).min(WIDTH);
        let area = rows.len() * columns.len();
        let inside = rows.flat_map(|row| &map[row * WIDTH..][columns.clone()]);
        inside.filter(|class| classes.contains(&usize::from(**class))).count() as f64 / area as f64
    };
    (0..PIXELS).map(share).collect()
}

/// About normal: mean 0, deviation 1.
fn noise(random: &mut SplitMix64) -> f64 {
    3f64.sqrt() * ((0..4).map(|_| random.unit()).sum::<f64>() - 2.0)
}

/// Noise that changes slowly over the picture.
fn patches(random: &mut SplitMix64) -> impl Iterator<Item = f64> + use<> {
    const SIDE: usize = 12;
    const ACROSS: usize = WIDTH / SIDE + 2;
    let corners: Vec<f64> = (0..ACROSS * (HEIGHT / SIDE + 2)).map(|_| noise(random)).collect();
    (0..PIXELS).map(move |pixel| {
        let (x, y) = (pixel % WIDTH, pixel / WIDTH);
        let (right, down) = ((x % SIDE) as f64 / SIDE as f64, (y % SIDE) as f64 / SIDE as f64);
        let corner = |dx: usize, dy: usize| corners[(y / SIDE + dy) * ACROSS + x / SIDE + dx];
        let above = corner(0, 0) * (1.0 - right) + corner(1, 0) * right;
        let below = corner(0, 1) * (1.0 - right) + corner(1, 1) * right;
        above * (1.0 - down) + below * down
    })
}

fn config(pred: &str, heads: &[Head]) -> String {
    let quoted = |names: &[&str]| format!("{names:?}");
    let mut text = format!(
        "# Seven classes; 255 is the border that nobody labelled.\n\
         measure = [\"overlap\", \"boundary\", \"calibration\"]\n\n\
         [data]\ntruth = \"truth\"\npred = \"{pred}\"\n\n\
         [labels]\noriginal = {}\nignore = [{VOID}]\n",
        quoted(&CLASSES)
    );
    for (name, channels) in heads {
        text.push_str(&format!("\n[[heads]]\nname = \"{name}\"\nkind = \"logits\"\n"));
        if channels.len() < CLASSES.len() {
            let mut names: Vec<&str> = channels.iter().map(|classes| CLASSES[classes[0]]).collect();
            names[0] = "other";
            text.push_str(&format!("channels = {}\nrest = \"other\"\n", quoted(&names)));
        }
        text.push_str("alpha = 1.0\ntau = 1.0\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use calipers_metrics::segmentation::config::Config;
    use calipers_sources::config_file;

    #[test]
    fn every_class_has_one_channel_in_every_head() {
        for (name, channels) in HEADS.iter().chain([&FLAT]) {
            let mut classes: Vec<usize> = channels.concat();
            classes.sort_unstable();
            assert_eq!(classes, (0..CLASSES.len()).collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    fn the_configurations_say_what_the_heads_are() {
        let protocol =
            config_file::parse::<Config>(&config("multi-head", &HEADS)).unwrap().resolve().unwrap();
        for (head, (name, channels)) in protocol.heads.iter().zip(HEADS) {
            assert_eq!(head.name, name);
            for (channel, classes) in channels.iter().enumerate() {
                assert!(classes.iter().all(|class| head.to_channel[&(*class as i64)] == channel), "{name}");
            }
        }
        config_file::parse::<Config>(&config("baseline", &[FLAT])).unwrap().resolve().unwrap();
    }
}
