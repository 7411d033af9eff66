//! Sampling parameters: within their limits, and for models that take none.

use std::ops::RangeInclusive;

use super::{ConvertError, Losses};

/// What is said of a parameter that the model never takes.
pub const NOT_TAKEN: &str = "is not taken by this model";

/// What is said of a parameter that the model takes only if it does not think.
pub const NOT_WHILE_THINKING: &str = "is not taken by this model while it thinks";

/// A number within `limits`: a greater one is brought to the greatest, which is a loss, a smaller one makes no sense (B83).
pub fn within(
    path: &str,
    value: Option<f64>,
    limits: RangeInclusive<f64>,
    losses: &mut Losses,
) -> Result<Option<f64>, ConvertError> {
    let Some(value) = value else { return Ok(None) };
    let (least, most) = limits.into_inner();
    if value.is_nan() || value < least {
        return Err(ConvertError::invalid(path, format!("has to be from {least} to {most}")));
    }
    if value > most {
        losses.add(path, "is lowered to the greatest that is allowed");
    }
    Ok(Some(value.min(most)))
}

/// Notes that the model takes none of `given`. 1 is what happens anyway, be it temperature or nucleus.
pub fn note_not_taken(given: &[(&str, Option<f64>)], reason: &'static str, losses: &mut Losses) {
    for (path, value) in given {
        if value.is_some_and(|value| value != 1.0) {
            losses.add(*path, reason);
        }
    }
}

/// The bound on the tokens of an answer, within what the model can write (B82).
pub fn max_tokens(path: &str, wanted: u64, most: u64, losses: &mut Losses) -> Result<u64, ConvertError> {
    if wanted == 0 {
        return Err(ConvertError::invalid(path, "has to be at least 1"));
    }
    if wanted > most {
        losses.add(path, "is lowered to what the model can write");
    }
    Ok(wanted.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// B82, B83: too much is brought to the limit and told, too little is refused, the default is nothing to tell.
    #[test]
    fn parameters_keep_to_their_limits() {
        let mut losses = Losses::default();
        assert_eq!(within("t", Some(0.5), 0.0..=1.0, &mut losses), Ok(Some(0.5)));
        assert_eq!(max_tokens("m", 5, 10, &mut losses), Ok(5));
        note_not_taken(&[("t", Some(1.0)), ("p", None)], NOT_TAKEN, &mut losses);
        assert!(losses.is_empty());
        assert_eq!(within("t", Some(1.6), 0.0..=1.0, &mut losses), Ok(Some(1.0)));
        assert_eq!(max_tokens("m", 50, 10, &mut losses), Ok(10));
        note_not_taken(&[("k", Some(0.3))], NOT_TAKEN, &mut losses);
        assert_eq!(losses.iter().map(|loss| &*loss.path).collect::<Vec<_>>(), ["t", "m", "k"]);
        for value in [-1.0, f64::NAN] {
            assert!(matches!(within("t", Some(value), 0.0..=1.0, &mut losses), Err(ConvertError::Invalid { .. })));
        }
        assert!(matches!(max_tokens("m", 0, 10, &mut losses), Err(ConvertError::Invalid { .. })));
    }
}
