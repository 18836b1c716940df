//! Comparisons as JSON.

use calipers_core::{Better, Value};
use serde_json::{Map, Value as Json, json};

use super::{Comparison, Difference, Line, Paired, Ranking, Ranks};
use crate::json::inputs;

/// The comparison as one object, several as an array.
pub fn write(comparisons: &[Comparison]) -> String {
    let mut all: Vec<Json> = comparisons.iter().map(one).collect();
    let json = if all.len() == 1 { all.remove(0) } else { Json::Array(all) };
    format!("{json:#}\n")
}

fn one(comparison: &Comparison) -> Json {
    let models = comparison
        .models
        .iter()
        .map(|model| json!({"name": model.name, "source": model.source, "reading": model.reading}));
    let lines = comparison.lines.iter().map(|line| (path(line), line_json(comparison, line)));
    let undefined = comparison.lines.iter().flat_map(|line| {
        line.reasons(&comparison.models).map(move |(reason, model)| (path(line), model, reason))
    });
    let undefined: Vec<Json> = undefined
        .map(|(id, model, reason)| json!({"metric": id, "model": model, "reason": reason}))
        .collect();
    let drawn = &comparison.drawn;
    let strata = drawn.strata.iter().map(|(name, [units, sampling_units])| {
        (name.clone(), json!({"units": units, "sampling_units": sampling_units}))
    });
    let warnings: Vec<Json> = comparison
        .warnings
        .iter()
        .map(|warning| json!({"code": warning.code, "message": warning.message, "units": warning.units}))
        .collect();
    json!({
        "calipers": comparison.version,
        "family": comparison.family,
        "subject": comparison.subject,
        "units": comparison.units,
        "models": models.collect::<Vec<_>>(),
        "resamples": drawn.bootstrap.resamples,
        "confidence": drawn.bootstrap.confidence,
        "seed": drawn.bootstrap.seed,
        "method": drawn.bootstrap.method.name(),
        "sampling_unit": drawn.sampling_unit,
        "cluster_by": drawn.cluster_by,
        "strata": Json::Object(strata.collect()),
        "tests": comparison.tests(),
        "correction": (comparison.tests() > 0).then_some("holm"),
        "metrics": Json::Object(lines.collect::<Map<_, _>>()),
        "undefined": undefined,
        "warnings": warnings,
        "inputs": inputs(&comparison.inputs),
    })
}

fn path(line: &Line) -> String {
    match &line.label {
        Some(label) => format!("{}.{label}", line.id),
        None => line.id.clone(),
    }
}

fn line_json(comparison: &Comparison, line: &Line) -> Json {
    let better = match line.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
        Better::Neither => "neither",
    };
    let names = || comparison.models.iter().map(|model| model.name.clone());
    let values = names().zip(line.values.iter().map(|value| Json::from(Value::as_f64(value))));
    let against =
        names().skip(1).zip(line.against.iter().map(|found| found.as_ref().map_or(Json::Null, difference)));
    let mut object = json!({
        "better": better,
        "values": values.collect::<Map<_, _>>(),
        "against_first": against.collect::<Map<_, _>>(),
    });
    if comparison.models.len() > 2
        && let Json::Object(object) = &mut object
    {
        let ranks = match &line.ranks {
            None => Json::Null,
            Some(Ranking::Unknown(reason)) => json!({"reason": reason}),
            Some(Ranking::Known(found)) => ranks(comparison, found),
        };
        object.insert("ranks".into(), ranks);
    }
    object
}

fn ranks(comparison: &Comparison, ranks: &Ranks) -> Json {
    let name = |model: usize| comparison.models[model].name.clone();
    let models = ranks.models.iter().map(|rank| {
        let to_best =
            rank.to_best.as_ref().map(|to| json!({"difference": to.difference, "interval": to.interval}));
        let object = json!({
            "rank": rank.rank,
            "expected": rank.expected,
            "probability": rank.probability,
            "to_best": to_best,
            "undistinguished": rank.undistinguished,
        });
        (name(rank.model), object)
    });
    let mut object = json!({
        "best": name(ranks.best),
        "resamples": ranks.resamples,
        "level": ranks.level,
        "models": models.collect::<Map<_, _>>(),
        "set": ranks.set.iter().map(|model| name(*model)).collect::<Vec<_>>(),
    });
    if let Json::Object(object) = &mut object
        && !ranks.unranked.is_empty()
    {
        let unranked = ranks.unranked.iter().map(|(model, reason)| (name(*model), reason.as_str().into()));
        object.insert("unranked".into(), Json::Object(unranked.collect()));
    }
    object
}

fn difference(found: &Difference) -> Json {
    json!({
        "difference": found.difference,
        "interval": found.interval,
        "paired": found.paired.as_ref().map(paired),
    })
}

fn paired(paired: &Paired) -> Json {
    let most = paired.most.iter().map(|pair| json!({"unit": pair.unit, "values": [pair.first, pair.other]}));
    json!({
        "wins": paired.wins,
        "ties": paired.ties,
        "losses": paired.losses,
        "left_out": paired.left_out,
        "sign_p": paired.sign,
        "permutation_p": paired.permutation,
        "permutation_exact": paired.exact,
        "adjusted_p": paired.adjusted,
        "differ_most": most.collect::<Vec<_>>(),
    })
}
