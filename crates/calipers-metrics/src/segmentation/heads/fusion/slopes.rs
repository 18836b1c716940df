//! How the surprise of the true class changes when a head gets more weight.

use super::{Fusion, takes_part};
use crate::segmentation::heads::kernel::{logarithms, powers};
use crate::segmentation::probability::block::{LANES, Lanes};

impl Fusion<'_> {
    /// The derivative of every pixel's surprise by the logarithm of each head's weight, with the
    /// positions of the heads. Arguments as for [`Fusion::surprises`]; pixels whose surprise is
    /// infinite have no meaningful one.
    ///
    /// With scores s, masses m and the surprise -ln(p + floor), p = m_y / m: the derivative by s_k
    /// is p / (p + floor) times (share of k in m - share of k in m_y), and that of s_k by ln alpha
    /// is alpha times the head's log-probability. Masses that stand at the floor do not move.
    pub(crate) fn slopes(&self, classes: &[usize; LANES], floor: Option<f64>) -> Vec<(usize, Lanes)> {
        let shift = if self.floor.is_some() { [0.0; LANES] } else { self.peaks() };
        let surprises = self.surprises(classes, None);
        let total_logs = logarithms(&self.masses.total);
        let moves = |class: usize, lane: usize| self.floor.is_none_or(|f| self.masses.of[class][lane] > f);
        let factor: Lanes = match floor {
            Some(floor) => std::array::from_fn(|lane| {
                let p = self.masses.of[classes[lane]][lane] / self.masses.total[lane];
                p / (p + floor)
            }),
            None => [1.0; LANES],
        };
        // exp(s_k - shift) / m_y, without the mass of y, which may underflow.
        let to_own: Lanes = std::array::from_fn(|lane| shift[lane] + total_logs[lane] - surprises[lane]);
        let experts = || self.experts.iter().filter(|expert| takes_part(expert.block.head));
        let mut slopes: Vec<(usize, Lanes)> =
            experts().map(|expert| (expert.block.position, [0.0; LANES])).collect();
        for (group, scores) in self.groups.iter().zip(self.scores.iter()) {
            let (of_all, of_own) = (power(scores, &shift), power(scores, &to_own));
            let by_score: Lanes = std::array::from_fn(|lane| {
                let moving = group.members.iter().filter(|(class, _)| moves(*class, lane));
                let shares = moving.map(|&(class, count)| {
                    let own = if class == classes[lane] { of_own[lane] } else { 0.0 };
                    count * (of_all[lane] / self.masses.total[lane] - own)
                });
                factor[lane] * shares.sum::<f64>()
            });
            for ((expert, &channel), (_, slope)) in experts().zip(&group.channels).zip(&mut slopes) {
                for lane in 0..LANES {
                    let log = self.logs[channel][lane];
                    // A score of -inf has no mass to move.
                    let log = if log > f64::NEG_INFINITY { log } else { 0.0 };
                    slope[lane] += by_score[lane] * (expert.block.head.alpha * log);
                }
            }
        }
        slopes
    }

    /// The largest score of every pixel.
    fn peaks(&self) -> Lanes {
        let largest =
            |lane: usize| self.scores.iter().fold(f64::NEG_INFINITY, |most, scores| most.max(scores[lane]));
        std::array::from_fn(largest)
    }
}

/// e^(score - shift) of every pixel.
fn power(scores: &Lanes, shift: &Lanes) -> Lanes {
    let mut power = [0.0; LANES];
    powers(std::slice::from_ref(scores), shift, std::slice::from_mut(&mut power));
    power
}
