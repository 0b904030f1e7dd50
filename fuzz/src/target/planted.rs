//! A mistake made on purpose, behind five bytes in a row. Chance alone finds them once in a
//! trillion inputs; guided by coverage they are found one after the other. It shows that the engine
//! works.

use super::Target;

pub const TARGET: Target = Target {
    name: "planted",
    run,
    seeds: &[b"....."],
    words: &[],
    is_planted: true,
};

fn run(input: &[u8]) {
    let mut rest = input.iter();
    for expected in b"[{\"/%" {
        if rest.next() != Some(expected) {
            return;
        }
    }
    panic!("found");
}
