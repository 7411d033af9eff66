//! All prices of a model: the usual ones, and those that hold in their stead.

use serde::Serialize;

use super::dimension::Dimension;
use super::rates::Rates;
use crate::store::options;

/// All prices of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schedule {
    usual: Prices,
    /// Each with the vendor's word for it, in small letters.
    service_tiers: Vec<(Box<str>, ServiceTier)>,
}

/// Prices with their tiers, which stand in the order of their amounts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Prices {
    rates: Rates,
    volume: Vec<Tier>,
    long_context: Vec<Tier>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tier {
    above: u64,
    rates: Rates,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ServiceTier {
    millionths: u64,
    prices: Option<Prices>,
}

/// Which of the prices hold for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Applied<'a> {
    /// The vendor's word for how it was served, if that has prices of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<&'a str>,
    /// The length of prompt beyond which they hold, if they do not hold for every prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_context_above: Option<u64>,
}

/// The prices that hold for a request, before the tiers by volume.
pub(super) struct Selected<'a> {
    rates: Rates,
    volume: &'a [Tier],
    millionths: u64,
    /// Which they are.
    pub(super) applied: Applied<'a>,
}

impl Schedule {
    /// The schedule of these prices.
    pub fn new<'a>(
        rates: &options::Rates,
        volume: &[options::Tier],
        long_context: &[options::Tier],
        service_tiers: impl IntoIterator<Item = (&'a String, &'a options::ServiceTier)>,
    ) -> Self {
        let service_tier = |(word, tier): (&String, &options::ServiceTier)| {
            let prices = tier.rates.as_ref().map(|rates| Prices::new(rates, &tier.volume, &tier.long_context));
            let tier = ServiceTier { millionths: tier.multiplier.millionths(), prices };
            (word.to_ascii_lowercase().into_boxed_str(), tier)
        };
        Self {
            usual: Prices::new(rates, volume, long_context),
            service_tiers: service_tiers.into_iter().map(service_tier).collect(),
        }
    }

    /// The usual prices, without any tier.
    pub fn rates(&self) -> &Rates {
        &self.usual.rates
    }

    /// Which prices hold for a prompt of this length that was served so.
    pub fn applied(&self, prompt_tokens: u64, service_tier: Option<&str>) -> Applied<'_> {
        self.select(prompt_tokens, service_tier).applied
    }

    pub(super) fn select(&self, prompt_tokens: u64, service_tier: Option<&str>) -> Selected<'_> {
        let tier = service_tier
            .and_then(|reported| self.service_tiers.iter().find(|(word, _)| word.eq_ignore_ascii_case(reported)));
        let prices = tier.and_then(|(_, tier)| tier.prices.as_ref()).unwrap_or(&self.usual);
        let mut selected = Selected {
            rates: prices.rates,
            volume: &prices.volume,
            millionths: tier.map_or(1_000_000, |(_, tier)| tier.millionths),
            applied: Applied { service_tier: tier.map(|(word, _)| &**word), long_context_above: None },
        };
        for tier in prices.long_context.iter().take_while(|tier| prompt_tokens > tier.above) {
            selected.rates = selected.rates.overlaid(&tier.rates);
            selected.applied.long_context_above = Some(tier.above);
        }
        selected
    }
}

impl From<&options::PriceRule> for Schedule {
    fn from(rule: &options::PriceRule) -> Self {
        Self::new(&rule.rates, &rule.volume, &rule.long_context, &rule.service_tiers)
    }
}

impl Prices {
    fn new(rates: &options::Rates, volume: &[options::Tier], long_context: &[options::Tier]) -> Self {
        let in_order = |tiers: &[options::Tier]| {
            let mut tiers: Vec<Tier> =
                tiers.iter().map(|tier| Tier { above: tier.above, rates: Rates::from(&tier.rates) }).collect();
            tiers.sort_by_key(|tier| tier.above);
            tiers
        };
        Self { rates: rates.into(), volume: in_order(volume), long_context: in_order(long_context) }
    }
}

impl Selected<'_> {
    /// What so many units cost, in millionths of a millionth of a nano-dollar: nothing is rounded yet. What cannot be counted is the
    /// most that can.
    pub(super) fn exact(&self, dimension: Dimension, units: u64) -> u128 {
        let mut rates = self.rates;
        let (mut from, mut sum) = (0, 0u128);
        for tier in self.volume {
            let upto = units.min(tier.above).max(from);
            sum = sum.saturating_add(u128::from(upto - from) * u128::from(rates.of(dimension)));
            rates = rates.overlaid(&tier.rates);
            from = upto;
        }
        sum = sum.saturating_add(u128::from(units - from) * u128::from(rates.of(dimension)));
        // The price of tokens is for a million of them, that of a piece is not multiplied by how it was served.
        sum.saturating_mul(if dimension.is_by_piece() { 1_000_000_000_000 } else { u128::from(self.millionths) })
    }
}
