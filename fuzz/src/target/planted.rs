//! A mistake on purpose that five consecutive bytes trigger. Random inputs would find them once in a
//! trillion inputs; guided by coverage, the engine finds one byte after another. This shows that the engine
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
