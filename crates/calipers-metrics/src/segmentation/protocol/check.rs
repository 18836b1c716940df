//! Parameters that were stored: what a configuration resolves to, and nothing else.

use std::collections::BTreeSet;

use calipers_core::Result;
use calipers_core::check::{at_most, finite, keep, within};

use super::resolve::{MOST_BINS, check_originals, temperatures};
use crate::segmentation::labels::MOST_CLASSES;
use crate::segmentation::labels::mapping::NOT_USED;
use crate::segmentation::protocol::{
    Boundary, Conventions, Head, Kind, LabelSpace, Measure, Segmentation, Space,
};
use crate::segmentation::surface::Tolerance;

impl Segmentation {
    pub(super) fn check_stored(&self) -> Result<()> {
        self.labels.check()?;
        keep(self.truth_space != Space::Channel, "truth_space", "channel", "original or global")?;
        self.boundary.check()?;
        let bins = self.bins.count;
        keep((1..=MOST_BINS as usize).contains(&bins), "bins.count", bins, format_args!("1 to {MOST_BINS}"))?;
        let ordered = self.measure.windows(2).all(|pair| pair[0] < pair[1]);
        let listed = format!("{:?}", self.measure);
        keep(ordered && !self.measure.is_empty(), "measure", listed, "parts in order, each once")?;
        self.check_surface()?;
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        let known = bits(&self.temperatures) == bits(&temperatures());
        keep(known, "temperatures", "others", "2^(k/8) for k = -16 to 16")?;
        self.conventions.check()?;
        self.check_heads()?;
        self.clone().checked().map(drop)
    }

    fn check_surface(&self) -> Result<()> {
        for (field, is_there, measure) in [
            ("surface", self.surface.is_some(), Measure::Surface),
            ("images", self.images.is_some(), Measure::Images),
        ] {
            keep(is_there == self.measures(measure), field, is_there, "there if it is measured, else not")?;
        }
        if let Some(images) = self.images {
            images.checked()?;
        }
        let Some(surface) = &self.surface else { return Ok(()) };
        if let Some(Tolerance::Classes(classes)) = &surface.tolerance {
            let foreground: BTreeSet<&str> = self.labels.foreground().map(|(_, name)| name).collect();
            let other = classes.keys().find(|name| !foreground.contains(name.as_str()));
            let found = other.map_or("", String::as_str);
            keep(other.is_none(), "surface.tolerance", found, "foreground classes")?;
        }
        surface.clone().checked().map(drop)
    }

    fn check_heads(&self) -> Result<()> {
        let names: BTreeSet<&str> = self.heads.iter().map(|head| head.name.as_str()).collect();
        let unique = names.len() == self.heads.len() && !names.iter().any(|name| name.trim().is_empty());
        keep(unique && !names.is_empty(), "heads", self.heads.len(), "heads with a name of their own")?;
        for (at, head) in self.heads.iter().enumerate() {
            head.check(&self.labels).map_err(|error| error.at(format!("heads.{at}")))?;
        }
        let maps = self.heads.iter().filter(|head| head.kind == Kind::Labels).count();
        keep(maps == 0 || self.heads.len() == 1, "heads", "several label maps", "one label map, or scores")?;
        let weighs = self.heads.iter().any(|head| head.alpha > 0.0);
        keep(weighs, "heads.alpha", "0 everywhere", "a weight above 0")
    }
}

impl LabelSpace {
    fn check(&self) -> Result<()> {
        check_originals(&self.original)?;
        let classes = self.global.len();
        keep((1..=MOST_CLASSES).contains(&classes), "labels.global", classes, "1 to 65534 classes")?;
        let names: BTreeSet<&str> = self.global.iter().map(String::as_str).collect();
        let named = names.len() == classes && !names.iter().any(|name| name.trim().is_empty());
        keep(
            named && !names.contains(NOT_USED),
            "labels.global",
            "names",
            "a name for each class, each once",
        )?;
        let scored = self.original.keys().filter(|id| !self.ignore.contains(id));
        let claimed = scored.eq(self.to_global.keys());
        keep(claimed, "labels.to_global", "others", "every original that is not ignored")?;
        let held: BTreeSet<usize> = self.to_global.values().copied().collect();
        keep(held.iter().copied().eq(0..classes), "labels.to_global", held.len(), "every global class")?;
        self.background.map_or(Ok(()), |class| at_most("labels.background", class as u64, classes as u64 - 1))
    }
}

impl Head {
    fn check(&self, labels: &LabelSpace) -> Result<()> {
        let channels = self.channels.len();
        keep((1..=MOST_CLASSES).contains(&channels), "channels", channels, "1 to 65534")?;
        let last = channels as u64 - 1;
        let mut names = BTreeSet::new();
        let named = self.channels.iter().all(|name| name == NOT_USED || names.insert(name));
        keep(named, "channels", "a name twice", "each name once")?;
        let scored: BTreeSet<i64> = labels.to_global.keys().copied().collect();
        let claimed: BTreeSet<i64> = self.to_channel.keys().chain(&self.absent).copied().collect();
        let once = claimed.len() == self.to_channel.len() + self.absent.len();
        keep(once && claimed == scored, "to_channel", claimed.len(), "every scored original once")?;
        keep(!self.to_channel.is_empty(), "to_channel", 0, "a class at least")?;
        let places = self.to_channel.values().chain(&self.unused).chain(&self.rest);
        places
            .into_iter()
            .try_for_each(|&place| at_most("to_channel, unused or rest", place as u64, last))?;
        within("alpha", self.alpha, 0.0, f64::INFINITY)?;
        keep(self.tau > 0.0 && self.tau.is_finite(), "tau", self.tau, "a finite number above 0")
    }
}

impl Boundary {
    fn check(&self) -> Result<()> {
        keep(self.thickness >= 1, "boundary.thickness", self.thickness, "1 or more")?;
        let lengths = [("cheng", Some(self.cheng)), ("tolerance", Some(self.tolerance))];
        for (field, length) in lengths.into_iter().chain([("tolerance_px", self.tolerance_px)]) {
            let Some(length) = length else { continue };
            within(format_args!("boundary.{field}"), length, 0.0, f64::INFINITY)?;
        }
        Ok(())
    }
}

impl Conventions {
    fn check(&self) -> Result<()> {
        let floors = [self.fusion_floor, self.nll_floor];
        floors.into_iter().flatten().try_for_each(|floor| finite("conventions, a floor", floor))
    }
}
