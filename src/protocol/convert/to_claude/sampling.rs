//! How tokens are chosen, and which texts end an answer.

use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::convert::sampling::{NOT_TAKEN, NOT_WHILE_THINKING, note_not_taken, within};
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::wire::Text;

/// Sampling as Claude takes it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampling {
    /// 0 to 1.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Not in all models.
    pub top_k: Option<u64>,
}

/// A parameter of the client, with its path.
pub type Given<'p, T> = (&'p str, Option<T>);

/// B83: what of the sampling parameters the model takes. With thinking it takes none.
pub fn sampling(
    temperature: Given<'_, f64>,
    top_p: Given<'_, f64>,
    top_k: Given<'_, u64>,
    model: Capabilities,
    thinks: bool,
    losses: &mut Losses,
) -> Result<Sampling, ConvertError> {
    if thinks || !model.sampling {
        let reason = if model.sampling { NOT_WHILE_THINKING } else { NOT_TAKEN };
        for (path, value) in [temperature, top_p] {
            within(path, value, 0.0..=f64::INFINITY, losses)?;
        }
        note_not_taken(&[temperature, top_p], reason, losses);
        if top_k.1.is_some() {
            losses.add(top_k.0, reason);
        }
        return Ok(Sampling::default());
    }
    // 1 is what happens anyway, and must not displace the other.
    let is_set = |number: &f64| *number != 1.0;
    let mut sampling = Sampling {
        temperature: within(temperature.0, temperature.1.filter(is_set), 0.0..=1.0, losses)?,
        top_p: within(top_p.0, top_p.1.filter(is_set), 0.0..=1.0, losses)?,
        top_k: top_k.1.filter(|count| *count > 0),
    };
    if sampling.temperature.is_some() && !model.both_samplings && sampling.top_p.take().is_some() {
        losses.add(top_p.0, "is not taken by this model beside a temperature");
    }
    Ok(sampling)
}

/// Texts that end the answer. Claude refuses blank ones.
pub fn stop_sequences<'a>(given: &'a [Text<'a>], path: &str, losses: &mut Losses) -> Option<Vec<Text<'a>>> {
    let kept: Vec<_> = given.iter().filter(|text| !text.trim().is_empty()).map(Text::by_ref).collect();
    if kept.len() < given.len() {
        losses.add(path, "blank texts cannot end the answer, they are left out");
    }
    (!kept.is_empty()).then_some(kept)
}
