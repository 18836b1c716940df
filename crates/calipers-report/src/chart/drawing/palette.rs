//! The colours of pictures: a few roles, eight hues that colour-blind eyes tell apart, and sixteen
//! even steps from little to much. Each has a light and a dark form under one class name.

use serde::{Serialize, Serializer};

/// How many steps there are from little to much.
pub const LEVELS: u8 = 16;
/// From this step on writing is in the colour of the paper.
const INVERTED: u8 = 9;

/// The paper on which a drawing lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// White.
    Light,
    /// Nearly black.
    Dark,
}

/// What a colour is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Text and what matters most.
    Ink,
    /// Text that stands back.
    Quiet,
    /// Grid lines and frames.
    Rule,
    /// The background.
    Paper,
    /// Something wrong.
    Bad,
    /// One of several things alike, by position; colours come again after the eighth.
    Series(usize),
    /// A step of [`LEVELS`] from little to much.
    Level(u8),
    /// Writing on such a step.
    OnLevel(u8),
    /// A colour that belongs to the data, the same in every form.
    Fixed([u8; 3]),
}

const ROLES: [(&str, u32, u32); 5] = [
    ("ink", 0x1a1f29, 0xe8ecf3),
    ("quiet", 0x5d6675, 0xa3adbd),
    ("rule", 0xdfe4ec, 0x323a48),
    ("paper", 0xffffff, 0x171b22),
    ("bad", 0xc22f3d, 0xff7f86),
];

const SERIES: [(u32, u32); 8] = [
    (0x2763b0, 0x5f97ee),
    (0xe0562f, 0xff8058),
    (0x0f8f6f, 0x52d6ab),
    (0x8a2a78, 0xb85fa6),
    (0xd19a00, 0xf4d06f),
    (0x58b0e6, 0xb5e3ff),
    (0x4a4f57, 0x8b93a1),
    (0xa08a72, 0xd8c3a8),
];

const LEVEL: [(u32, u32); LEVELS as usize] = [
    (0xf1f6fb, 0x1b2231),
    (0xdcedfb, 0x182743),
    (0xb1e0ff, 0x1a3156),
    (0x98d2fe, 0x193b69),
    (0x81c3fa, 0x18467b),
    (0x6db5f3, 0x14528c),
    (0x5ca5eb, 0x0e5e9c),
    (0x4e96e1, 0x096bab),
    (0x4387d4, 0x0878b8),
    (0x3b78c6, 0x1285c4),
    (0x3669b6, 0x2192ce),
    (0x325ba4, 0x34a0d7),
    (0x2e4e90, 0x48adde),
    (0x2a417b, 0x5eb9e3),
    (0x263665, 0x75c6e8),
    (0x212b4f, 0x8ed1ec),
];

impl Colour {
    /// The step for a share of [0, 1]; only 0 itself is the lowest one.
    pub fn level(share: f64) -> Self {
        if share <= 0.0 {
            return Self::Level(0);
        }
        let steps = f64::from(LEVELS - 1);
        Self::Level((share.min(1.0) * steps).ceil().clamp(1.0, steps) as u8)
    }

    /// The name in class names and variables, if pages may change the colour.
    pub(crate) fn name(self) -> Option<String> {
        match self {
            Self::Ink | Self::Quiet | Self::Rule | Self::Paper | Self::Bad => Some(self.role().0.into()),
            Self::Series(i) => Some(format!("c{}", i % SERIES.len())),
            Self::Level(k) => Some(format!("q{}", k.min(LEVELS - 1))),
            Self::OnLevel(k) => Some(if k < INVERTED { "low" } else { "high" }.into()),
            Self::Fixed(_) => None,
        }
    }

    /// The colour on white paper, as CSS writes it.
    pub(crate) fn css(self) -> String {
        self.css_on(Ground::Light)
    }

    /// The colour on this paper, as CSS writes it.
    pub(crate) fn css_on(self, ground: Ground) -> String {
        hex(self.rgb(ground))
    }

    /// The colour on this paper, as red, green and blue in the lowest bytes.
    pub(crate) fn rgb(self, ground: Ground) -> u32 {
        let (light, dark) = match self {
            Self::Series(i) => SERIES[i % SERIES.len()],
            Self::Level(k) => LEVEL[usize::from(k.min(LEVELS - 1))],
            Self::OnLevel(k) => {
                let (_, light, dark) = if k < INVERTED { ROLES[0] } else { ROLES[3] };
                (light, dark)
            }
            Self::Fixed([r, g, b]) => [u32::from_be_bytes([0, r, g, b]); 2].into(),
            role => {
                let (_, light, dark) = role.role();
                (light, dark)
            }
        };
        match ground {
            Ground::Light => light,
            Ground::Dark => dark,
        }
    }

    fn role(self) -> (&'static str, u32, u32) {
        match self {
            Self::Quiet => ROLES[1],
            Self::Rule => ROLES[2],
            Self::Paper => ROLES[3],
            Self::Bad => ROLES[4],
            _ => ROLES[0],
        }
    }
}

impl Serialize for Colour {
    /// The colour on white paper, as CSS writes it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.css())
    }
}

/// A colour as CSS writes it.
fn hex(rgb: u32) -> String {
    format!("#{rgb:06x}")
}

/// Every name with its light and its dark form.
fn names() -> Vec<(String, u32, u32)> {
    let roles = ROLES.into_iter().map(|(name, light, dark)| (name.into(), light, dark));
    let series = SERIES.into_iter().enumerate().map(|(i, (light, dark))| (format!("c{i}"), light, dark));
    let levels = LEVEL.into_iter().enumerate().map(|(i, (light, dark))| (format!("q{i}"), light, dark));
    let writing = [("low".into(), ROLES[0].1, ROLES[0].2), ("high".into(), ROLES[3].1, ROLES[3].2)];
    roles.chain(series).chain(levels).chain(writing).collect()
}

/// The CSS rules by which pictures inside an element of class `chart` follow the variables.
pub fn rules() -> String {
    let rule = |(name, _, _): (String, _, _)| {
        format!(
            ".chart .f-{name}{{fill:var(--chart-{name})}}\n.chart .s-{name}{{stroke:var(--chart-{name})}}\n"
        )
    };
    names().into_iter().map(rule).collect()
}

/// The variables on white paper: CSS declarations for a selector of the page's choice.
pub fn light() -> String {
    names().into_iter().map(|(name, light, _)| format!("--chart-{name}:{};", hex(light))).collect()
}

/// The variables on dark paper: CSS declarations for a selector of the page's choice.
pub fn dark() -> String {
    names().into_iter().map(|(name, _, dark)| format!("--chart-{name}:{};", hex(dark))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(rgb: u32) -> [f64; 3] {
        [16, 8, 0].map(|shift| {
            let x = f64::from(rgb >> shift & 0xff) / 255.0;
            if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let luminance = |rgb| {
            let [r, g, b] = linear(rgb);
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    /// Lightness and two opponent axes in which distances are those the eye sees (OKLab).
    fn seen([r, g, b]: [f64; 3]) -> [f64; 3] {
        let cone = |x: f64, y: f64, z: f64| (x * r + y * g + z * b).max(0.0).cbrt();
        let l = cone(0.4122214708, 0.5363325363, 0.0514459929);
        let m = cone(0.2119034982, 0.6806995451, 0.1073969566);
        let s = cone(0.0883024619, 0.2817188376, 0.6299787005);
        [
            0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
            1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
            0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
        ]
    }

    /// What eyes without one kind of cone make of a colour (Machado, Oliveira and Fernandes 2009).
    const EYES: [[[f64; 3]; 3]; 3] = [
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    ];

    #[test]
    fn the_first_six_hues_stay_apart_for_colour_blind_eyes() {
        for form in [|pair: &(u32, u32)| pair.0, |pair: &(u32, u32)| pair.1] {
            for eye in EYES {
                let blind = |rgb: u32| {
                    let rgb = linear(rgb);
                    seen(eye.map(|row| (0..3).map(|i| row[i] * rgb[i]).sum()))
                };
                let hues: Vec<_> = SERIES[..6].iter().map(form).map(blind).collect();
                for (i, a) in hues.iter().enumerate() {
                    for b in &hues[..i] {
                        let apart = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
                        assert!(apart > 0.06, "{i}: {apart}");
                    }
                }
            }
        }
    }

    #[test]
    fn writing_can_be_read_on_every_step_and_paper() {
        for (k, (light, dark)) in LEVEL.into_iter().enumerate() {
            let role = if k < usize::from(INVERTED) { 0 } else { 3 };
            assert!(contrast(light, ROLES[role].1) > 4.3, "{k}");
            assert!(contrast(dark, ROLES[role].2) > 3.9, "{k}");
        }
        for (name, light, dark) in [ROLES[0], ROLES[1], ROLES[4]] {
            assert!(contrast(light, ROLES[3].1) > 4.5 && contrast(dark, ROLES[3].2) > 4.5, "{name}");
        }
    }

    #[test]
    fn steps_are_even_to_the_eye() {
        let lightness = |rgb: u32| seen(linear(rgb))[0];
        for pair in LEVEL.windows(2) {
            let (light, dark) =
                (lightness(pair[0].0) - lightness(pair[1].0), lightness(pair[1].1) - lightness(pair[0].1));
            assert!((0.02..0.07).contains(&light), "{pair:?} {light}");
            assert!((0.02..0.06).contains(&dark), "{pair:?} {dark}");
        }
    }

    #[test]
    fn only_nothing_is_the_lowest_step() {
        assert_eq!(Colour::level(0.0), Colour::Level(0));
        assert_eq!(Colour::level(1e-300), Colour::Level(1));
        assert_eq!(Colour::level(1.0), Colour::Level(15));
        assert_eq!(Colour::level(7.0), Colour::Level(15));
    }

    #[test]
    fn every_class_has_a_rule_and_both_forms() {
        for colour in [Colour::Ink, Colour::Bad, Colour::Series(9), Colour::Level(200), Colour::OnLevel(12)] {
            let name = colour.name().unwrap();
            assert!(rules().contains(&format!(".f-{name}{{")), "{name}");
            assert!(light().contains(&format!("--chart-{name}:{};", colour.css())), "{name}");
            assert!(dark().contains(&format!("--chart-{name}:#")), "{name}");
        }
    }
}
