//! Who is tried, and in which order.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::snapshot::{Credential, Provider};
use crate::protocol::convert::ServerTools;
use crate::store::options::MemberPolicy;
use crate::store::settings::MediaSettings;

/// How a model name is to be served.
pub struct Plan {
    /// Most upstream calls, over all targets together.
    pub max_attempts: u32,
    /// How long a stream may be quiet before its client gets a sign of life.
    pub heartbeat: Option<Duration>,
    /// How the request is converted for a target of another dialect.
    pub conversion: ConversionRules,
    /// How files are fetched that a conversion needs.
    pub media: MediaSettings,
    /// Who may serve it, in the order in which they are tried; never empty.
    pub targets: Vec<Target>,
}

/// How a request is converted for a target of another dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversionRules {
    /// Whether it is refused rather than answered with a loss.
    pub strict: bool,
    /// What becomes of tools that the other vendor does not have.
    pub server_tools: ServerTools,
}

/// One provider, the model there, and the credentials that may be spent.
pub struct Target {
    /// The provider.
    pub provider: Rc<Provider>,
    /// The model as the provider names it.
    pub model: Arc<str>,
    /// How it is tried.
    pub policy: Rc<MemberPolicy>,
    /// The credentials, in the order in which they are tried; empty where none is needed.
    pub credentials: Vec<Rc<Credential>>,
}

/// Puts the item whose turn it is first and leaves the others in their order. Over many turns each item is first as often
/// as its weight says, and successive turns are spread. Losing the count only restarts the rotation.
pub fn rotate<T>(items: &mut [T], weight: impl Fn(&T) -> u32, turn: u64) {
    let total: u64 = items.iter().map(|item| u64::from(weight(item))).sum();
    if items.len() < 2 || total == 0 {
        return;
    }
    // Multiples of the golden ratio, taken as fractions, fill an interval evenly from the first few on.
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut point = ((u128::from(turn.wrapping_mul(GOLDEN_RATIO)) * u128::from(total)) >> 64) as u64;
    for (index, item) in items.iter().enumerate() {
        let share = u64::from(weight(item));
        if point < share {
            items.rotate_left(index);
            return;
        }
        point -= share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_first_as_often_as_its_weight_says() {
        let mut first = [0; 3];
        for turn in 0..600 {
            let mut items = [(0, 1), (1, 2), (2, 3)];
            rotate(&mut items, |item| item.1, turn);
            first[items[0].0] += 1;
        }
        for (times, expected) in first.into_iter().zip([100i32, 200, 300]) {
            assert!((expected - 3..=expected + 3).contains(&times), "{first:?}");
        }
    }

    #[test]
    fn equals_take_turns_from_the_start() {
        let firsts: Vec<i32> = (0..4)
            .map(|turn| {
                let mut items = [(0, 100), (1, 100)];
                rotate(&mut items, |item| item.1, turn);
                items[0].0
            })
            .collect();
        assert_eq!(firsts, [0, 1, 0, 1]);
    }

    #[test]
    fn weightless_items_keep_their_order() {
        let mut items = [(0, 0), (1, 0)];
        rotate(&mut items, |item| item.1, 5);
        assert_eq!(items, [(0, 0), (1, 0)]);
    }
}
