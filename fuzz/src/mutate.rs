//! Changes to inputs that are likely to be read for a while before they turn out to be wrong.

/// Words that mean something to somebody.
const WORDS: [&str; 36] = [
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "\"\"",
    "0",
    "-1",
    "1e400",
    "18446744073709551616",
    "1.5",
    "\\u0000",
    "\\ud800",
    "\"type\"",
    "\"index\":0",
    "\"index\":9",
    "\"index\":4294967295",
    "\n",
    "\n\n",
    "\r\n",
    "data: ",
    "data:[DONE]\n\n",
    "event: error\n",
    ": c\n",
    "\"error\":{\"message\":\"no\"}",
    "\"finish_reason\":\"stop\"",
    "\"finishReason\":\"STOP\"",
    "\"delta\":{}",
    "\"arguments\":\"{\"",
    "\"text\":\"\"",
    "tollgate-gemini:",
    "dG9sbGdhdGUt",
    "\u{feff}",
    "\u{1f30d}",
    "[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
];

/// Numbers that look random and can be had again (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() % limit as u64) as usize }
    }
}

/// A case with some changes.
pub fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(6) {
        change(random, &mut input, seeds);
    }
    input
}

fn change(random: &mut Random, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
    let at = random.below(input.len() + 1);
    let end = (at + random.below(40)).min(input.len());
    match random.below(9) {
        0 if at < input.len() => input[at] = random.next() as u8,
        1 if at < input.len() => input[at] ^= 1 << random.below(8),
        2 => drop(input.drain(at..end)),
        3 => {
            let word = WORDS[random.below(WORDS.len())].bytes();
            drop(input.splice(at..at, word));
        }
        4 => {
            let word = WORDS[random.below(WORDS.len())].bytes();
            drop(input.splice(at..end, word));
        }
        5 => {
            let copied = input[at..end].to_vec();
            let place = random.below(input.len() + 1);
            drop(input.splice(place..place, copied));
        }
        6 => input.truncate(at),
        7 => swap_lines(random, input),
        _ => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len() + 1);
            let to = (from + random.below(400)).min(other.len());
            drop(input.splice(at..at, other[from..to].iter().copied()));
        }
    }
}

/// Puts two lines, which in a stream are events, in each other's place.
fn swap_lines(random: &mut Random, input: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    lines.swap(one, other);
    *input = lines.join(&b'\n');
}
