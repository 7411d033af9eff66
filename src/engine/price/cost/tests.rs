use proptest::prelude::*;

use super::*;
use crate::store::options;

const MOST: u64 = MAX_INTEGER.unsigned_abs();

fn schedule(json: &str) -> Schedule {
    let rule: options::PriceRule = serde_json::from_str(&format!(r#"{{"model":"*",{json}}}"#)).unwrap();
    Schedule::from(&rule)
}

fn plain(usage: Usage, schedule: &Schedule) -> Cost {
    price(&usage, &Extras::default(), schedule)
}

/// B37: 36 + 5625 + 3000 + 15000 + 1200 micro-dollars.
#[test]
fn each_kind_of_claudes_tokens_has_its_price() {
    let claude = schedule(
        r#""rates":{"input":"3","output":"15","cache_read":"0.30","cache_write_short":"3.75","cache_write_long":"6"}"#,
    );
    let usage = Usage {
        input: 12,
        cache_write_short: 1500,
        cache_write_long: 500,
        cache_read: 50_000,
        output: 80,
        ..Usage::default()
    };
    let cost = plain(usage, &claude);
    assert_eq!(cost.total(), 24_861_000);
    let lines: Vec<_> = cost.lines().collect();
    assert_eq!(
        lines,
        [
            (Dimension::Input, 36_000),
            (Dimension::Output, 1_200_000),
            (Dimension::CacheRead, 15_000_000),
            (Dimension::CacheWriteShort, 5_625_000),
            (Dimension::CacheWriteLong, 3_000_000),
        ]
    );
}

/// B38: 12 tokens of the prompt, 8 from the cache, 198 of the answer and 405 of thinking, which cost as the answer does.
#[test]
fn geminis_thinking_costs_what_its_answer_does() {
    let gemini = schedule(r#""rates":{"input":"0.30","output":"2.50","cache_read":"0.03"}"#);
    let usage = Usage { input: 12, cache_read: 8, output: 198, reasoning: 405, ..Usage::default() };
    let cost = plain(usage, &gemini);
    assert_eq!(cost.of(Dimension::Input), 3_600);
    assert_eq!(cost.of(Dimension::CacheRead), 240);
    assert_eq!(cost.of(Dimension::Output), 495_000);
    assert_eq!(cost.of(Dimension::Reasoning), 1_012_500);
    assert_eq!(cost.total(), 1_511_340);
}

#[test]
fn halves_go_to_the_even_side() {
    // The price of a million in nano-dollars, the tokens, and what they cost.
    for (rate, tokens, nanos) in [
        ("0.000500000", 0, 0),
        ("0.000500000", 1, 0),
        ("0.000500000", 2, 1),
        ("0.000500000", 3, 2),
        ("0.000500000", 4, 2),
        ("0.000500000", 5, 2),
        ("0.000500000", 7, 4),
        ("0.000499999", 1, 0),
        ("0.000500001", 1, 1),
        ("0.001500000", 1, 2),
        ("0.002500000", 1, 2),
        ("0.002500001", 1, 3),
        ("0.000000001", 499_999, 0),
        ("0.000000001", 500_000, 0),
        ("0.000000001", 500_001, 1),
        ("0.000000001", 1_000_000, 1),
        ("0.000000001", 1_500_000, 2),
    ] {
        let schedule = schedule(&format!(r#""rates":{{"input":"{rate}"}}"#));
        assert_eq!(plain(Usage { input: tokens, ..Usage::default() }, &schedule).total(), nanos, "{rate} {tokens}");
    }
}

/// Each dimension is rounded by itself; nothing is rounded before it is summed up over tiers and multiplied.
#[test]
fn it_is_rounded_once_in_each_dimension() {
    let two = schedule(r#""rates":{"input":"0.0005","output":"0.0005"}"#);
    assert_eq!(plain(Usage { input: 1, output: 1, ..Usage::default() }, &two).total(), 0);
    let tiers = schedule(r#""rates":{"input":"0.0005"},"volume":[{"above":1,"rates":{"input":"0.0005"}}]"#);
    assert_eq!(plain(Usage { input: 2, ..Usage::default() }, &tiers).total(), 1);
    let thirds = schedule(r#""rates":{"input":"0.001"},"service_tiers":{"batch":{"multiplier":"0.333333"}}"#);
    let extras = Extras { service_tier: Some("batch"), ..Extras::default() };
    assert_eq!(price(&Usage { input: 3, ..Usage::default() }, &extras, &thirds).total(), 1);
}

#[test]
fn volume_tiers_are_marginal() {
    let schedule = schedule(
        r#""rates":{"input":"3","output":"10"},
           "volume":[{"above":2000,"rates":{"input":"1"}},{"above":1000,"rates":{"input":"2","output":"5"}}]"#,
    );
    for (input, output, nanos) in [
        (0, 0, 0),
        (999, 0, 999 * 3000),
        (1000, 0, 1000 * 3000),
        (1001, 0, 1000 * 3000 + 2000),
        (2000, 0, 1000 * 3000 + 1000 * 2000),
        (2001, 0, 1000 * 3000 + 1000 * 2000 + 1000),
        (5000, 0, 1000 * 3000 + 1000 * 2000 + 3000 * 1000),
        // Each kind is counted by itself.
        (0, 1000, 1000 * 10_000),
        (5000, 1001, 1000 * 3000 + 1000 * 2000 + 3000 * 1000 + 1000 * 10_000 + 5000),
    ] {
        let usage = Usage { input, output, ..Usage::default() };
        assert_eq!(plain(usage, &schedule).total(), nanos, "{input} {output}");
    }
}

/// A kind without a price of its own goes along with the one it falls back on, by its own amount.
#[test]
fn tiers_hold_for_what_falls_back_on_them() {
    let schedule = schedule(r#""rates":{"input":"3"},"volume":[{"above":10,"rates":{"input":"1"}}]"#);
    assert_eq!(plain(Usage { cache_read: 12, ..Usage::default() }, &schedule).total(), 10 * 3000 + 2 * 1000);
}

#[test]
fn a_long_prompt_changes_all_prices() {
    let schedule = schedule(
        r#""rates":{"input":"1","output":"5","cache_read":"0.1"},
           "long_context":[{"above":200,"rates":{"input":"4"}},{"above":100,"rates":{"input":"2","output":"7"}}]"#,
    );
    let cost = |input, cache_read, output| {
        let usage = Usage { input, cache_read, output, ..Usage::default() };
        plain(usage, &schedule).total()
    };
    assert_eq!(cost(100, 0, 10), 100 * 1000 + 10 * 5000);
    assert_eq!(cost(101, 0, 10), 101 * 2000 + 10 * 7000);
    // What came from the cache is part of the prompt, and keeps its price where the tier has none.
    assert_eq!(cost(60, 40, 10), 60 * 1000 + 40 * 100 + 10 * 5000);
    assert_eq!(cost(60, 41, 10), 60 * 2000 + 41 * 100 + 10 * 7000);
    assert_eq!(cost(200, 0, 10), 200 * 2000 + 10 * 7000);
    // A longer tier is on top of the shorter one.
    assert_eq!(cost(201, 0, 10), 201 * 4000 + 10 * 7000);
    // The answer does not make the prompt longer.
    assert_eq!(cost(1, 0, 1000), 1000 + 1000 * 5000);
}

#[test]
fn the_prompt_is_all_that_was_read() {
    let usage = Usage {
        input: 1,
        cache_read: 2,
        cache_write_short: 4,
        cache_write_long: 8,
        audio_input: 16,
        output: 1000,
        reasoning: 1000,
        audio_output: 1000,
    };
    assert_eq!(prompt_tokens(&usage), 31);
}

#[test]
fn the_service_tier_is_what_the_vendor_reported() {
    let schedule = schedule(
        r#""rates":{"input":"2","output":"8","request":"0.001","server_tool_call":"0.01"},
           "long_context":[{"above":100,"rates":{"input":"4"}}],
           "service_tiers":{"batch":{"multiplier":"0.5"},"Priority":{"multiplier":"1.75"},
             "own":{"rates":{"input":"1"},"long_context":[{"above":50,"rates":{"input":"3"}}]}}"#,
    );
    let cost = |service_tier, input| {
        let usage = Usage { input, output: 10, ..Usage::default() };
        let extras = Extras { service_tier, server_tool_calls: 2, ..Extras::default() };
        price(&usage, &extras, &schedule).total()
    };
    let pieces = 1_000_000 + 2 * 10_000_000;
    let standard = 10 * 2000 + 10 * 8000;
    assert_eq!(cost(None, 10), standard + pieces);
    assert_eq!(cost(Some("default"), 10), standard + pieces);
    // Pieces cost the same in every way.
    assert_eq!(cost(Some("batch"), 10), standard / 2 + pieces);
    assert_eq!(cost(Some("BATCH"), 10), standard / 2 + pieces);
    assert_eq!(cost(Some("priority"), 10), standard * 7 / 4 + pieces);
    // The multiplier is on top of the prices for long prompts.
    assert_eq!(cost(Some("batch"), 101), (101 * 4000 + 10 * 8000) / 2 + pieces);
    // Own prices have nothing of the usual ones.
    assert_eq!(cost(Some("own"), 10), 10 * 1000);
    assert_eq!(cost(Some("own"), 51), 51 * 3000);
}

#[test]
fn it_is_told_which_prices_hold() {
    let schedule = schedule(
        r#""rates":{"input":"2"},"long_context":[{"above":100,"rates":{"input":"4"}}],
           "service_tiers":{"batch":{"multiplier":"0.5"}}"#,
    );
    let told = |prompt, tier| serde_json::to_string(&schedule.applied(prompt, tier)).unwrap();
    assert_eq!(told(100, None), "{}");
    assert_eq!(told(101, Some("Batch")), r#"{"service_tier":"batch","long_context_above":100}"#);
    assert_eq!(told(100, Some("flex")), "{}");
}

#[test]
fn pieces_are_priced_by_the_piece() {
    let schedule =
        schedule(r#""rates":{"image":"0.04","request":"0.0015","server_tool_call":"0.01","embedding":"0.02"}"#);
    let usage = Usage { input: 1000, ..Usage::default() };
    let extras = Extras { images: 3, server_tool_calls: 2, embedded: true, ..Extras::default() };
    let cost = price(&usage, &extras, &schedule);
    assert_eq!(cost.of(Dimension::Image), 120_000_000);
    assert_eq!(cost.of(Dimension::Request), 1_500_000);
    assert_eq!(cost.of(Dimension::ServerToolCall), 20_000_000);
    assert_eq!(cost.of(Dimension::Embedding), 20_000);
    // What was not embedded has no price here.
    assert_eq!(price(&usage, &Extras { requests: 0, ..Extras::default() }, &schedule).total(), 0);
}

#[test]
fn nothing_overflows() {
    let dearest = schedule(
        r#""rates":{"input":"9007199","output":"9007199","image":"9007199"},
           "volume":[{"above":18446744073709551614,"rates":{"input":"9007199"}}],
           "service_tiers":{"dear":{"multiplier":"1000"}}"#,
    );
    let usage = Usage {
        input: u64::MAX,
        cache_read: u64::MAX,
        cache_write_short: u64::MAX,
        cache_write_long: u64::MAX,
        audio_input: u64::MAX,
        output: u64::MAX,
        reasoning: u64::MAX,
        audio_output: u64::MAX,
    };
    let extras = Extras {
        service_tier: Some("dear"),
        images: u64::MAX,
        requests: u64::MAX,
        server_tool_calls: u64::MAX,
        ..Extras::default()
    };
    let cost = price(&usage, &extras, &dearest);
    assert_eq!((cost.total(), cost.of(Dimension::Input), cost.of(Dimension::Image)), (MOST, MOST, MOST));
    // The most that can be kept is reached exactly.
    let one = schedule(r#""rates":{"image":"0.000000001"}"#);
    let images = |images| price(&Usage::default(), &Extras { images, ..Extras::default() }, &one).total();
    assert_eq!((images(MOST - 1), images(MOST), images(MOST + 1)), (MOST - 1, MOST, MOST));
}

fn some_usage(most: u64) -> impl Strategy<Value = Usage> {
    proptest::array::uniform8(0..=most).prop_map(|counts| {
        let [input, cache_read, cache_write_short, cache_write_long, audio_input, output, reasoning, audio_output] =
            counts;
        Usage { input, cache_read, cache_write_short, cache_write_long, audio_input, output, reasoning, audio_output }
    })
}

/// Prices of tokens, some of them left out.
fn some_rates() -> impl Strategy<Value = options::Rates> {
    let rate = proptest::option::of(0..30_000_000_000u64);
    proptest::array::uniform8(rate).prop_map(|nanos| {
        let [input, output, cache_read, cache_write_short, cache_write_long, reasoning, audio_input, audio_output] =
            nanos.map(|nanos| {
                nanos.map(|nanos| format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000).parse().unwrap())
            });
        options::Rates {
            input,
            output,
            cache_read,
            cache_write_short,
            cache_write_long,
            reasoning,
            audio_input,
            audio_output,
            ..options::Rates::default()
        }
    })
}

fn none() -> std::collections::BTreeMap<String, options::ServiceTier> {
    std::collections::BTreeMap::new()
}

fn add(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input + other.input,
        cache_read: one.cache_read + other.cache_read,
        cache_write_short: one.cache_write_short + other.cache_write_short,
        cache_write_long: one.cache_write_long + other.cache_write_long,
        audio_input: one.audio_input + other.audio_input,
        output: one.output + other.output,
        reasoning: one.reasoning + other.reasoning,
        audio_output: one.audio_output + other.audio_output,
    }
}

proptest! {
    /// More of anything never costs less, as long as a long prompt is not cheaper than a short one.
    #[test]
    fn more_never_costs_less(
        usage in some_usage(1_000_000),
        more in some_usage(1_000),
        rates in some_rates(),
        volume in some_rates(),
        above in 0..1_000_000u64,
    ) {
        let volume = [options::Tier { above, rates: volume }];
        let schedule = Schedule::new(&rates, &volume, &[], &none());
        let (less, greater) = (plain(usage, &schedule), plain(add(usage, more), &schedule));
        for dimension in Dimension::ALL {
            prop_assert!(less.of(dimension) <= greater.of(dimension), "{:?}", dimension);
        }
        prop_assert!(less.total() <= greater.total());
    }

    /// Without tiers it makes no difference how requests are cut, but for the rounding.
    #[test]
    fn the_sum_costs_the_sum_but_for_a_nano_dollar(
        one in some_usage(1_000_000_000),
        other in some_usage(1_000_000_000),
        rates in some_rates(),
    ) {
        let schedule = Schedule::new(&rates, &[], &[], &none());
        let both = plain(add(one, other), &schedule);
        let (one, other) = (plain(one, &schedule), plain(other, &schedule));
        for dimension in Dimension::ALL {
            prop_assert!(both.of(dimension).abs_diff(one.of(dimension) + other.of(dimension)) <= 1, "{:?}", dimension);
        }
        prop_assert!(both.total().abs_diff(one.total() + other.total()) <= Dimension::COUNT as u64);
    }

    /// The total is the sum of its lines.
    #[test]
    fn the_lines_sum_up(usage in some_usage(1_000_000_000), rates in some_rates()) {
        let cost = plain(usage, &Schedule::new(&rates, &[], &[], &none()));
        prop_assert_eq!(cost.lines().map(|(_, nanos)| nanos).sum::<u64>(), cost.total());
    }

    #[test]
    fn no_figures_panic(
        usage in some_usage(u64::MAX),
        rates in some_rates(),
        tier in some_rates(),
        above in any::<u64>(),
        pieces in any::<u64>(),
    ) {
        let tiers = [options::Tier { above, rates: tier }, options::Tier { above: 0, rates: tier }];
        let extras = Extras { images: pieces, requests: pieces, server_tool_calls: pieces, ..Extras::default() };
        let cost = price(&usage, &extras, &Schedule::new(&rates, &tiers, &tiers, &none()));
        prop_assert!(cost.total() <= MOST);
    }
}
