//! How tokens are chosen, and how many.

use crate::protocol::claude::capabilities::Capabilities;
use crate::protocol::convert::{ConvertError, Losses};
use crate::protocol::openai_chat::wire::request::Request;

/// `temperature` and `top_p` as Claude takes them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sampling {
    /// 0 to 1.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Not in all models.
    pub top_k: Option<u64>,
}

/// The most tokens of the answer. Claude wants a bound: where the client sets none, it is the model's own.
pub fn max_tokens(request: &Request<'_>, model: Capabilities, losses: &mut Losses) -> Result<u64, ConvertError> {
    let (path, asked) = match (request.max_completion_tokens, request.max_tokens) {
        (Some(tokens), _) => ("max_completion_tokens", tokens),
        (None, Some(tokens)) => ("max_tokens", tokens),
        (None, None) => return Ok(model.max_output),
    };
    if asked == 0 {
        return Err(ConvertError::invalid(path, "has to be at least 1"));
    }
    if asked > model.max_output {
        losses.add(path, "is reduced to what the model can write");
    }
    Ok(asked.min(model.max_output))
}

/// What of the sampling parameters Claude takes.
pub fn sampling(
    request: &Request<'_>,
    model: Capabilities,
    is_thinking: bool,
    losses: &mut Losses,
) -> Result<Sampling, ConvertError> {
    let temperature = within("temperature", request.temperature, 2.0)?;
    let top_p = within("top_p", request.top_p, 1.0)?;
    // 1 is what happens anyway.
    let temperature = temperature.filter(|temperature| *temperature != 1.0 || !(is_thinking || !model.sampling));
    let top_p = top_p.filter(|top_p| *top_p != 1.0);
    let top_k = request.top_k;
    if is_thinking || !model.sampling {
        let reason = if model.sampling { "is not taken while Claude thinks" } else { "is not taken by this model" };
        let given = [("temperature", temperature.is_some()), ("top_p", top_p.is_some()), ("top_k", top_k.is_some())];
        given.into_iter().filter(|(_, given)| *given).for_each(|(path, _)| losses.add(path, reason));
        return Ok(Sampling::default());
    }
    if temperature.is_some_and(|temperature| temperature > 1.0) {
        losses.add("temperature", "is reduced to 1, the most that Claude takes");
    }
    let mut sampling = Sampling { temperature: temperature.map(|temperature| temperature.min(1.0)), top_p, top_k };
    if sampling.temperature.is_some() && !model.both_samplings && sampling.top_p.take().is_some() {
        losses.add("top_p", "is not taken by this model beside temperature");
    }
    Ok(sampling)
}

/// A number between 0 and `most`.
fn within(path: &str, number: Option<f64>, most: f64) -> Result<Option<f64>, ConvertError> {
    match number {
        Some(number) if !(0.0..=most).contains(&number) => {
            Err(ConvertError::invalid(path, format!("has to be between 0 and {most}")))
        }
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::claude::capabilities;

    fn check(members: &str, model: &str, is_thinking: bool) -> Result<(Sampling, String), ConvertError> {
        let text = format!(r#"{{"model":"m","messages":[],{members}}}"#);
        let mut losses = Losses::default();
        let sampling =
            sampling(&serde_json::from_str(&text).unwrap(), capabilities::of(model), is_thinking, &mut losses)?;
        Ok((sampling, losses.text()))
    }

    /// B83: what is too high is reduced, what is absurd is refused, and of two that exclude each other one goes.
    #[test]
    fn sampling_keeps_to_what_the_model_takes() {
        let temperature = |temperature| Sampling { temperature: Some(temperature), ..Sampling::default() };
        let reduced = check(r#""temperature":1.6"#, "claude-sonnet-4-5", false).unwrap();
        assert!(reduced.0 == temperature(1.0) && reduced.1.starts_with("temperature:"), "{reduced:?}");
        let both = check(r#""temperature":0.3,"top_p":0.9"#, "claude-sonnet-4-5", false).unwrap();
        assert!(both.0 == temperature(0.3) && both.1.starts_with("top_p:"), "{both:?}");
        let thinking = check(r#""temperature":0.3"#, "claude-sonnet-4-5", true).unwrap();
        assert!(thinking.0 == Sampling::default() && thinking.1.starts_with("temperature:"), "{thinking:?}");
        assert_eq!(check(r#""temperature":1,"top_p":1"#, "claude-opus-5-5", false), Ok(<_>::default()));
        for absurd in [r#""temperature":-1"#, r#""temperature":2.1"#, r#""top_p":1.5"#] {
            assert!(matches!(check(absurd, "claude-sonnet-4-5", false), Err(ConvertError::Invalid { .. })), "{absurd}");
        }
    }

    /// B82: no small bound is invented, 0 and less is refused, and the newer name wins.
    #[test]
    fn the_bound_is_the_clients_or_the_models() {
        let check = |members: &str| {
            let text = format!(r#"{{"model":"m","messages":[]{members}}}"#);
            let model = capabilities::of("claude-sonnet-4-5");
            max_tokens(&serde_json::from_str(&text).unwrap(), model, &mut Losses::default())
        };
        assert_eq!(check(""), Ok(64_000));
        assert_eq!(check(r#","max_tokens":100,"max_completion_tokens":200"#), Ok(200));
        assert_eq!(check(r#","max_completion_tokens":999999"#), Ok(64_000));
        for refused in [r#","max_tokens":0"#, r#","max_tokens":-5"#, r#","max_completion_tokens":-1"#] {
            assert!(matches!(check(refused), Err(ConvertError::Invalid { .. })), "{refused}");
        }
    }
}
