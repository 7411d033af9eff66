//! Who among equals goes first: the strategies.
//!
//! A [`Lot`] is prepared once for each configuration, so that choosing among many costs little: a draw by weight is a binary search,
//! and whoever is not asked for is not looked at.

use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::engine::load::Busy;
use crate::protocol::hash::{hash, mix};
use crate::store::options::Strategy;

/// How often one who can be used is drawn for, before the next in line is taken.
const DRAWS: u64 = 8;

/// Equals, by their places in a list.
#[derive(Debug, Default)]
pub struct Lot {
    weights: Vec<u32>,
    /// The weights up to each place, its own included.
    sums: Vec<u64>,
    /// A hash of each id, which a conversation's is mixed with.
    seeds: Vec<u64>,
    /// The places, the heaviest first.
    ranked: Vec<usize>,
    /// Where each place is among those.
    ranks: Vec<usize>,
    /// What all weights are multiples of.
    unit: u64,
    /// From one turn's point to the next, in units; coprime to all of them together, so that each is met once a round.
    stride: u64,
    is_uniform: bool,
}

/// What a choice depends on.
pub struct Draw<'a> {
    /// The strategy.
    pub strategy: Strategy,
    /// The number of this turn.
    pub turn: u64,
    /// The conversation; without one a turn is taken by weight.
    pub session: Option<u64>,
    /// How busy whoever has this place is.
    pub load: &'a dyn Fn(usize) -> Busy,
}

impl Lot {
    /// A lot of those with these weights, ids and names, in their order.
    pub fn new<'a>(members: impl Iterator<Item = (u32, &'a Arc<str>, &'a Arc<str>)>) -> Self {
        let (mut lot, mut names, mut sum) = (Self::default(), Vec::new(), 0);
        for (weight, id, name) in members {
            sum += u64::from(weight);
            lot.weights.push(weight);
            lot.sums.push(sum);
            lot.seeds.push(hash(0, id.as_bytes()));
            names.push(name);
        }
        let mut ranked: Vec<_> = (0..).zip(lot.weights.iter().zip(names)).collect();
        ranked.sort_by(|(_, (weight, name)), (_, (other, other_name))| other.cmp(weight).then(name.cmp(other_name)));
        lot.ranked = ranked.into_iter().map(|(place, _)| place).collect();
        lot.ranks = vec![0; lot.ranked.len()];
        for (rank, place) in lot.ranked.iter().enumerate() {
            lot.ranks.get_mut(*place).into_iter().for_each(|own| *own = rank);
        }
        lot.unit = lot.weights.iter().fold(0, |divisor, weight| common_divisor(divisor, u64::from(*weight))).max(1);
        lot.stride = stride(sum / lot.unit);
        lot.is_uniform = lot.weights.first().is_some_and(|first| *first > 0 && lot.weights.iter().all(|w| w == first));
        lot
    }

    /// Hands places over in the order in which they are tried, of those that are `usable`, until `take` has enough and says `false`.
    pub fn visit(&self, draw: &Draw<'_>, usable: &mut dyn FnMut(usize) -> bool, take: &mut dyn FnMut(usize) -> bool) {
        let start = match (draw.strategy, draw.session) {
            (Strategy::Priority, _) => {
                let _ = self.ranked.iter().all(|place| !usable(*place) || take(*place));
                return;
            }
            (Strategy::Session, Some(session)) => {
                return self.by_session(session, self.scores(session), usable, take);
            }
            (Strategy::RoundRobin, _) => Some((draw.turn % self.weights.len().max(1) as u64) as usize),
            // Whoever rests leaves its turns to all others by weight, not to the next in line.
            (Strategy::Weighted | Strategy::Session, _) => {
                let others = (1..DRAWS).map(|number| self.drawn(draw.turn, number));
                std::iter::once(self.turn(draw.turn)).chain(others).find(|place| usable(*place))
            }
            (Strategy::LeastInFlight, _) => {
                let draws = (0..2 * DRAWS).map(|number| self.drawn(draw.turn, number));
                two_of(draws.filter(|place| usable(*place))).map(|two| less_busy(draw, two))
            }
        };
        let count = self.weights.len();
        match start {
            Some(start) => {
                let _ = (start..count).chain(0..start.min(count)).all(|place| !usable(place) || take(place));
            }
            // Where most rest, a draw seldom meets one who does not, and who is next in line would have the turns of all who rest before
            // it. So those who can be used are gathered, and drawn among.
            None => self.visit_few(draw, (0..count).filter(|place| usable(*place)).collect(), take),
        }
    }

    /// Hands over `few` places, of those that can be used, as [`Lot::visit`] does where nobody else can be. They are in ascending order.
    pub fn visit_few(&self, draw: &Draw<'_>, mut few: Vec<usize>, take: &mut dyn FnMut(usize) -> bool) {
        let start = match (draw.strategy, draw.session) {
            (Strategy::Priority, _) => {
                few.sort_by_key(|place| self.ranks.get(*place));
                0
            }
            (Strategy::Session, Some(session)) => {
                let scores = few.iter().filter_map(|place| {
                    let (seed, weight) = (self.seeds.get(*place)?, self.weights.get(*place)?);
                    let drawn = mix(session, *seed);
                    let score = if self.is_uniform { drawn } else { score(drawn, *weight) };
                    Some(Entry::new(score, true, *place as u32))
                });
                return self.by_session(session, scores.collect(), &mut |_| true, take);
            }
            (Strategy::RoundRobin, _) => {
                let turn = (draw.turn % self.weights.len().max(1) as u64) as usize;
                few.partition_point(|place| *place < turn)
            }
            (Strategy::Weighted | Strategy::Session | Strategy::LeastInFlight, _) => self.drawn_among(draw, &few),
        };
        let (before, after) = few.split_at_checked(start).unwrap_or((&[], &few));
        let _ = after.iter().chain(before).all(|place| take(*place));
    }

    /// Which of `few` places goes first.
    fn drawn_among(&self, draw: &Draw<'_>, few: &[usize]) -> usize {
        let sums: Vec<u64> = few
            .iter()
            .scan(0, |sum, place| {
                *sum += u64::from(self.weights.get(*place).copied().unwrap_or_default());
                Some(*sum)
            })
            .collect();
        let drawn = |number| holding(&sums, within(&sums, mix(draw.turn, number)));
        let two = if draw.strategy == Strategy::LeastInFlight {
            two_of((0..2 * DRAWS).filter_map(|number| few.get(drawn(number)).copied()))
        } else {
            None
        };
        let less_busy = two.and_then(|two| few.binary_search(&less_busy(draw, two)).ok());
        less_busy.unwrap_or_else(|| drawn(0))
    }

    /// Whose turn it is: in each round everybody has exactly as many turns as its weight says, and they are well spread.
    fn turn(&self, turn: u64) -> usize {
        let round = self.sums.last().copied().unwrap_or_default() / self.unit;
        if round == 0 {
            return 0;
        }
        let step = u128::from(turn % round) * u128::from(self.stride) % u128::from(round);
        holding(&self.sums, step as u64 * self.unit)
    }

    /// Somebody drawn by weight; each number of a turn is another draw.
    fn drawn(&self, turn: u64, number: u64) -> usize {
        self.at(mix(turn, number))
    }

    /// The place at this fraction of all weights; the first one where nobody has any.
    fn at(&self, fraction: u64) -> usize {
        if self.sums.last().is_none_or(|total| *total == 0) {
            return 0;
        }
        holding(&self.sums, within(&self.sums, fraction))
    }

    /// What each scores for a conversation, or a bound of it.
    fn scores(&self, session: u64) -> Vec<Entry> {
        let scores = self.seeds.iter().zip(&self.weights).zip(0..).map(|((seed, weight), place)| {
            let drawn = mix(session, *seed);
            // With equal weights what is drawn has the same order.
            let score = if self.is_uniform { drawn } else { ceiling(drawn, *weight) };
            Entry::new(score, self.is_uniform, place)
        });
        scores.collect()
    }

    /// Weighted rendezvous hashing: every isolate comes to the same order by itself, and when somebody leaves or comes, only its own
    /// conversations move.
    fn by_session(
        &self,
        session: u64,
        scores: Vec<Entry>,
        usable: &mut dyn FnMut(usize) -> bool,
        take: &mut dyn FnMut(usize) -> bool,
    ) {
        let mut heap: BinaryHeap<_> = scores.into();
        while let Some(entry) = heap.pop() {
            let place = entry.place();
            if entry.is_exact() {
                if usable(place) && !take(place) {
                    return;
                }
                continue;
            }
            // A logarithm for each would cost more than all the rest, so only those get one who might be next.
            let (seed, weight) = (self.seeds.get(place).copied(), self.weights.get(place).copied());
            let drawn = mix(session, seed.unwrap_or_default());
            heap.push(Entry::new(score(drawn, weight.unwrap_or_default()), true, place as u32));
        }
    }
}

/// The first two places of `draws` that differ.
fn two_of(mut draws: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    let first = draws.next()?;
    Some((first, draws.find(|place| *place != first)?))
}

/// The less busy of two places.
fn less_busy(draw: &Draw<'_>, (first, second): (usize, usize)) -> usize {
    if (draw.load)(second).is_less_than((draw.load)(first)) { second } else { first }
}

/// The point at this fraction of all weights.
fn within(sums: &[u64], fraction: u64) -> u64 {
    let total = sums.last().copied().unwrap_or_default();
    ((u128::from(fraction) * u128::from(total)) >> 64) as u64
}

/// The place that this point of all weights belongs to.
fn holding(sums: &[u64], point: u64) -> usize {
    sums.partition_point(|sum| *sum <= point)
}

/// A score, whether it is one or only a bound, and whose; in one number, which is quickly compared. Of equal scores the first place has
/// the greatest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn new(score: u64, is_exact: bool, place: u32) -> Self {
        Self(u128::from(score) << 64 | u128::from(!is_exact) << 32 | u128::from(u32::MAX - place))
    }

    fn is_exact(self) -> bool {
        self.0 >> 32 & 1 == 0
    }

    fn place(self) -> usize {
        (u32::MAX - self.0 as u32) as usize
    }
}

/// The number coprime to `round` that is nearest to the golden section of it: its multiples fill the round evenly from the first few on.
fn stride(round: u64) -> u64 {
    let wanted = (round as f64 * 0.618_033_988_749_895) as u64;
    let is_coprime = |candidate: &u64| common_divisor(*candidate, round) == 1;
    (0..=round).flat_map(|away| [wanted + away, wanted.saturating_sub(away)]).find(is_coprime).unwrap_or(1)
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// A number drawn evenly from 0 to 1, without the ends.
fn fraction(drawn: u64) -> f64 {
    ((drawn >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// The score of whoever drew this and has this weight: the one with the greatest is first as often as its weight says. As bits, which
/// are ordered as the figures are.
fn score(drawn: u64, weight: u32) -> u64 {
    (f64::from(weight) / -fraction(drawn).ln()).to_bits()
}

/// Not less than the score.
fn ceiling(drawn: u64, weight: u32) -> u64 {
    // A logarithm may be off by its last bits.
    (f64::from(weight) / (1.0 - fraction(drawn)) * (1.0 + 1e-9)).to_bits()
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use super::*;

    const STRATEGIES: [Strategy; 5] =
        [Strategy::Weighted, Strategy::RoundRobin, Strategy::Priority, Strategy::LeastInFlight, Strategy::Session];

    fn lot(weights: &[u32]) -> Lot {
        let names: Vec<Arc<str>> = (0..weights.len()).map(|place| format!("n{place:03}").into()).collect();
        Lot::new(weights.iter().zip(&names).map(|(weight, name)| (*weight, name, name)))
    }

    fn order_with(
        lot: &Lot,
        strategy: Strategy,
        turn: u64,
        resting: &[usize],
        load: &dyn Fn(usize) -> Busy,
    ) -> Vec<usize> {
        let mut order = Vec::new();
        let draw = Draw { strategy, turn, session: Some(mix(turn, 77)), load };
        lot.visit(&draw, &mut |place| !resting.contains(&place), &mut |place| {
            order.push(place);
            true
        });
        order
    }

    fn order(lot: &Lot, strategy: Strategy, turn: u64, resting: &[usize]) -> Vec<usize> {
        order_with(lot, strategy, turn, resting, &|_| Busy::default())
    }

    fn firsts(lot: &Lot, strategy: Strategy, resting: &[usize], turns: u64) -> Vec<u64> {
        let mut firsts = vec![0; lot.weights.len()];
        for turn in 0..turns {
            firsts[order(lot, strategy, turn, resting)[0]] += 1;
        }
        firsts
    }

    #[track_caller]
    fn check_shares(lot: &Lot, strategy: Strategy, resting: &[usize], shares: &[f64], tolerance: f64) {
        let firsts = firsts(lot, strategy, resting, 6000);
        for (first, share) in firsts.iter().zip(shares) {
            assert!((*first as f64 / 6000.0 - share).abs() <= tolerance, "{strategy:?}: {firsts:?}");
        }
    }

    #[test]
    fn each_is_visited_once_whoever_goes_first() {
        for weights in [&[] as &[u32], &[5], &[0, 0], &[1, 2, 3], &[0, 100, 0, 1], &[7; 40]] {
            for strategy in STRATEGIES {
                for turn in 0..20 {
                    let mut order = order(&lot(weights), strategy, turn, &[]);
                    order.sort_unstable();
                    assert_eq!(order, (0..weights.len()).collect::<Vec<_>>(), "{strategy:?} {weights:?}");
                }
            }
        }
    }

    #[test]
    fn no_more_are_visited_than_are_wanted_nor_any_that_rests() {
        for strategy in STRATEGIES {
            let mut taken = Vec::new();
            let draw = Draw { strategy, turn: 3, session: Some(9), load: &|_| Busy::default() };
            lot(&[1; 50]).visit(&draw, &mut |place| place % 2 == 1, &mut |place| {
                taken.push(place);
                taken.len() < 3
            });
            assert_eq!(taken.len(), 3, "{strategy:?}");
            assert!(taken.iter().all(|place| place % 2 == 1), "{strategy:?}");
        }
    }

    #[test]
    fn shares_follow_the_weights() {
        let weighted = lot(&[1, 2, 3]);
        let sixths = [1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0];
        check_shares(&weighted, Strategy::Weighted, &[], &sixths, 0.001);
        check_shares(&weighted, Strategy::Session, &[], &sixths, 0.02);
        check_shares(&weighted, Strategy::RoundRobin, &[], &[1.0 / 3.0; 3], 0.001);
        check_shares(&weighted, Strategy::Priority, &[], &[0.0, 0.0, 1.0], 0.0);
        check_shares(&lot(&[4; 4]), Strategy::Session, &[], &[0.25; 4], 0.02);
        check_shares(&lot(&[4; 4]), Strategy::LeastInFlight, &[], &[0.25; 4], 0.02);
        // Who has no weight is a last resort.
        for strategy in [Strategy::Weighted, Strategy::Session, Strategy::Priority, Strategy::LeastInFlight] {
            assert_eq!(firsts(&lot(&[0, 5, 0]), strategy, &[], 100)[1], 100, "{strategy:?}");
        }
    }

    #[test]
    fn shares_are_right_from_the_start() {
        let check = |weights: &[u32], round: &[u64]| {
            let turns = round.iter().sum();
            assert_eq!(firsts(&lot(weights), Strategy::Weighted, &[], turns), round);
        };
        check(&[100, 100], &[1, 1]);
        check(&[1, 3], &[1, 3]);
        check(&[50, 10, 10], &[5, 1, 1]);
        check(&[6, 0, 4], &[3, 0, 2]);
        check(&[7; 30], &[1; 30]);
        let first = |turn| order(&lot(&[5, 1, 1]), Strategy::Weighted, turn, &[])[0];
        // Nobody has all of its turns in a row.
        assert!((0..7).all(|start| (start..start + 5).any(|turn| first(turn) != 0)));
    }

    #[test]
    fn the_share_of_one_that_rests_is_divided_by_weight() {
        let weighted = lot(&[1, 1, 1, 3]);
        for strategy in [Strategy::Weighted, Strategy::Session] {
            check_shares(&weighted, strategy, &[0], &[0.0, 0.2, 0.2, 0.6], 0.03);
        }
        assert_eq!(order(&lot(&[1, 9, 5, 9]), Strategy::Priority, 0, &[1]), [3, 2, 0]);
        assert_eq!(order(&lot(&[1, 1, 1]), Strategy::RoundRobin, 4, &[1]), [2, 0]);
    }

    #[test]
    fn where_most_rest_the_others_share_by_weight() {
        let is_up = |place: usize| matches!(place, 3 | 4 | 5 | 90 | 400);
        let lot = lot(&[1; 500]);
        let firsts = |strategy, load: &dyn Fn(usize) -> Busy| {
            let mut firsts = [0; 500];
            for turn in 0..1000 {
                let draw = Draw { strategy, turn, session: Some(mix(turn, 77)), load };
                let mut count = 0;
                lot.visit(&draw, &mut |place| is_up(place), &mut |place| {
                    firsts[place] += u32::from(count == 0);
                    count += 1;
                    true
                });
                assert_eq!(count, 5, "{strategy:?}");
            }
            [3, 4, 5, 90, 400].map(|place| firsts[place])
        };
        for strategy in [Strategy::Weighted, Strategy::LeastInFlight, Strategy::Session] {
            let firsts = firsts(strategy, &|_| Busy::default());
            assert!(firsts.iter().all(|count| (150..250).contains(count)), "{strategy:?}: {firsts:?}");
        }
        // One of them is busy: there is always another to compare it with.
        let load = |place| Busy { under_way: u32::from(place == 4), latency_ms: None };
        assert_eq!(firsts(Strategy::LeastInFlight, &load)[1], 0);
        // Who has no weight is tried all the same.
        let lot = self::lot(&[0, 5, 0]);
        for strategy in STRATEGIES {
            assert_eq!(order(&lot, strategy, 0, &[1]).len(), 2, "{strategy:?}");
        }
    }

    /// Whoever is left is tried in the same order, however they were found.
    #[test]
    fn few_have_the_order_that_they_have_among_all() {
        for weights in [vec![3; 30], (0..30).map(|place| place * 7 % 11).collect()] {
            let lot = lot(&weights);
            let resting: Vec<usize> = (0..30).filter(|place| place % 9 != 2).collect();
            for strategy in [Strategy::Priority, Strategy::Session, Strategy::RoundRobin] {
                for turn in 0..60 {
                    let draw = Draw { strategy, turn, session: Some(mix(turn, 77)), load: &|_| Busy::default() };
                    let mut few = Vec::new();
                    lot.visit_few(&draw, vec![2, 11, 20, 29], &mut |place| {
                        few.push(place);
                        true
                    });
                    assert_eq!(few, order(&lot, strategy, turn, &resting), "{strategy:?}");
                }
            }
        }
    }

    /// Conversations of one that rests go elsewhere and come back; the others stay.
    #[test]
    fn only_the_conversations_of_one_that_rests_move() {
        for weights in [&[5_u32; 7], &[1, 2, 3, 4, 5, 6, 7]] {
            let lot = lot(weights);
            for turn in 0..500 {
                let before = order(&lot, Strategy::Session, turn, &[]);
                let during = order(&lot, Strategy::Session, turn, &[3]);
                let expected: Vec<usize> = before.iter().copied().filter(|place| *place != 3).collect();
                assert_eq!(during, expected);
            }
        }
    }

    /// The bound by which logarithms are saved never hides who is first.
    #[test]
    fn the_order_is_that_of_the_scores() {
        let weights: Vec<u32> = (0..60).map(|place| place * place % 17).collect();
        let lot = lot(&weights);
        for session in 0..300 {
            let mut expected: Vec<usize> = (0..60).collect();
            expected.sort_by_key(|place| {
                let exact = score(mix(mix(session, 77), lot.seeds[*place]), weights[*place]);
                (Reverse(exact), *place)
            });
            assert_eq!(order(&lot, Strategy::Session, session, &[]), expected);
        }
    }

    #[test]
    fn of_two_the_less_busy_goes_first() {
        let lot = lot(&[1; 10]);
        let load = |place| Busy { under_way: u32::from(place == 4), latency_ms: None };
        let firsts = (0..2000).map(|turn| order_with(&lot, Strategy::LeastInFlight, turn, &[], &load)[0]);
        assert_eq!(firsts.filter(|first| *first == 4).count(), 0);
        // With nobody to compare with, busy ones are taken as well.
        let others: Vec<usize> = (0..10).filter(|place| *place != 4).collect();
        assert_eq!(order_with(&lot, Strategy::LeastInFlight, 1, &others, &load), [4]);
    }
}
