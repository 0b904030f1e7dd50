//! Small changes to an input.

use fastrand::Rng;

/// The longest input: most faults can be found with small inputs, which run fast.
pub const MAX_BYTES: usize = 4096;

/// Bytes with a meaning in the formats that the targets parse.
const BYTES: &[u8] = b"{}[]\":,\\/%?&=#;.-+eE09 \t\r\n\0\x1b\x7f\xff\xc3\xe2\xf0";

/// Numbers for which number parsers often fail.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1e400",
    "1E-400",
    "3.0",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "0.1",
];

/// Changes an input in one to four places. `words` are pieces that have a meaning for the target;
/// `other` is another input, from which parts are taken.
pub fn mutate(input: &mut Vec<u8>, random: &mut Rng, words: &[&str], other: &[u8]) {
    for _ in 0..random.usize(1..=4) {
        change(input, random, words, other);
    }
    input.truncate(MAX_BYTES);
}

fn change(input: &mut Vec<u8>, random: &mut Rng, words: &[&str], other: &[u8]) {
    let at = random.usize(..=input.len());
    match random.u8(..10) {
        0 if at < input.len() => input[at] ^= 1 << random.u8(..8),
        1 if at < input.len() => input[at] = BYTES[random.usize(..BYTES.len())],
        2 => input.insert(at, BYTES[random.usize(..BYTES.len())]),
        3 => {
            let part = part(input.len(), random);
            input.drain(part);
        }
        4 => {
            let copy = input[part(input.len(), random)].to_vec();
            insert(input, at, &copy);
        }
        5 => insert(input, at, &other[part(other.len(), random)]),
        6 => insert(input, at, NUMBERS[random.usize(..NUMBERS.len())].as_bytes()),
        7 => {
            let end = part(other.len(), random).end;
            input.truncate(at);
            input.extend_from_slice(&other[end..]);
        }
        _ if !words.is_empty() => insert(input, at, words[random.usize(..words.len())].as_bytes()),
        _ => input.insert(at, random.u8(..)),
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// A range in a text of this length; usually a short one.
fn part(length: usize, random: &mut Rng) -> std::ops::Range<usize> {
    let start = random.usize(..=length);
    let longest = if random.bool() { 8 } else { length };
    let end = random.usize(start..=length.min(start.saturating_add(longest)));
    start..end
}
