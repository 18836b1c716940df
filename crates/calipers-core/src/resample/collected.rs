//! Every number in every sample, read by as many workers as there are.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::resample::{BLOCK, Resampler, Weights, blocks};
use crate::stop;
use crate::workers::Workers;

/// Every number of each model in so many samples, sample after sample; NaN where it is not defined. All
/// models are read from the same weights.
pub fn collected(
    models: &[&dyn Resampler],
    samples: u32,
    weights: &(dyn Fn(Range<u32>) -> Weights + Sync),
    workers: &dyn Workers,
) -> Result<Vec<Vec<f64>>> {
    let mut all: Vec<Vec<f64>> = models.iter().map(|model| room(*model, samples)).collect::<Result<_>>()?;
    let blocks = blocks(samples);
    let mut parts: Vec<Mutex<Vec<&mut [f64]>>> = blocks.iter().map(|_| Mutex::default()).collect();
    for (model, all) in models.iter().zip(&mut all) {
        let mut chunks = all.chunks_mut((BLOCK as usize * model.leaves().len()).max(1));
        for part in &mut parts {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).push(chunks.next().unwrap_or_default());
        }
    }
    // Only the thread that has the callback can ask; the others look at what it found.
    let unwanted = AtomicBool::new(false);
    workers.each(parts.len(), &|at| {
        if stop::asked() {
            unwanted.store(true, Ordering::Relaxed);
        }
        if unwanted.load(Ordering::Relaxed) {
            return;
        }
        let weights = weights(blocks[at].clone());
        let mut part = parts[at].lock().unwrap_or_else(PoisonError::into_inner);
        for (model, chunk) in models.iter().zip(part.iter_mut()) {
            let read = model.read(&weights);
            let values = read.iter().flatten().map(|number| number.unwrap_or(f64::NAN));
            chunk.iter_mut().zip(values).for_each(|(kept, value)| *kept = value);
        }
    });
    drop(parts);
    if unwanted.into_inner() {
        return Err(stop::interrupted());
    }
    Ok(all)
}

/// How many numbers are made room for before it is asked whether they are still wanted.
const STRETCH: usize = 1 << 20;

/// Room for every number of a model, none of them defined yet.
fn room(model: &dyn Resampler, samples: u32) -> Result<Vec<f64>> {
    let length = model.leaves().len() * samples as usize;
    let mut all: Vec<f64> = Vec::new();
    let no_room = |_| Error::value("the numbers of all resamples do not fit into memory");
    all.try_reserve_exact(length).map_err(no_room)?;
    while all.len() < length {
        stop::wanted()?;
        all.resize(length.min(all.len() + STRETCH), f64::NAN);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resample::{Leaf, Means};
    use crate::workers::Alone;

    #[test]
    fn models_without_a_number_do_not_shift_the_others() {
        let leaf = |id: &str| Leaf { id: id.into(), label: None };
        let column = |first: f64| (0..9).map(|unit| Some(first + f64::from(unit))).collect::<Vec<_>>();
        let two = Means::new(9, [(leaf("a"), column(0.0)), (leaf("b"), column(50.0))]);
        let (none, one) = (Means::new(9, []), Means::new(9, [(leaf("b"), column(50.0))]));
        let weights = |block: Range<u32>| Weights::resamples(5, 9, block);
        let all = collected(&[&two, &none, &one], 75, &weights, &Alone).unwrap();
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [150, 0, 75]);
        let slow: Vec<f64> = two.read(&weights(0..75)).into_iter().flatten().map(Option::unwrap).collect();
        assert_eq!(all[0], slow);
        assert_eq!(all[2], slow.iter().skip(1).step_by(2).copied().collect::<Vec<_>>());
    }
}
