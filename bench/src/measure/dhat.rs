//! Reads the profiles of DHAT: how often memory was asked for, and where.

use std::collections::HashMap;

use serde::Deserialize;

use crate::Result;

/// Blocks by the place that asked for them.
pub(crate) type Blocks = HashMap<Site, u64>;

/// A place in the code.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Site {
    /// The first place that is not in Rust's own library.
    pub(crate) place: String,
    /// The nearest place of ours that it happens for.
    pub(crate) behalf: String,
}

#[derive(Deserialize)]
struct Profile {
    pps: Vec<Point>,
    ftbl: Vec<String>,
}

#[derive(Deserialize)]
struct Point {
    /// Blocks in all.
    tbk: u64,
    /// The stack, innermost first, as places in the table of frames.
    fs: Vec<usize>,
}

/// Reads a profile.
pub(crate) fn blocks(profile: &str) -> Result<Blocks> {
    let Profile { pps, ftbl } = serde_json::from_str(profile)?;
    let mut blocks = Blocks::new();
    for Point { tbk, fs } in pps {
        let stack: Vec<_> = fs
            .iter()
            .filter_map(|at| ftbl.get(*at))
            .map(|it| frame(it))
            .collect();
        *blocks.entry(site(&stack)).or_default() += tbk;
    }
    Ok(blocks)
}

/// One level of a stack.
struct Frame<'a> {
    function: &'a str,
    /// File and line.
    place: &'a str,
}

/// A frame is written as `0x1A75AF: http::HeaderMap::reserve (src/map.rs:776)`.
fn frame(text: &str) -> Frame<'_> {
    let text = text.split_once(": ").map_or(text, |(_, rest)| rest);
    let (function, place) = text.rsplit_once(" (").unwrap_or((text, ""));
    Frame {
        function,
        place: place.trim_end_matches(')'),
    }
}

fn site(stack: &[Frame<'_>]) -> Site {
    let is_library =
        |it: &&Frame<'_>| it.place.starts_with("library/") || it.place.starts_with("in /");
    let mut outside = stack.iter().skip_while(is_library);
    let first = outside.next();
    let place = first.map_or("?", |it| it.place);
    // Paths of other crates begin at `src/`: the next function with a whole name tells which crate.
    let whole = first
        .into_iter()
        .chain(outside)
        .find(|it| it.function.contains("::"));
    let krate = whole.map_or("?", |it| krate(it.function));
    let place = if place.starts_with("crates/") {
        place.to_owned()
    } else {
        format!("{krate} {place}")
    };
    let ours = stack.iter().find(|it| it.place.starts_with("crates/"));
    Site {
        place,
        behalf: ours.map_or_else(String::new, |it| it.place.to_owned()),
    }
}

fn krate(function: &str) -> &str {
    let plain = function.trim_start_matches(['<', '&', '(']);
    plain.split("::").next().unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_belongs_to_the_first_place_outside_the_library() {
        let profile = r#"{"pps": [{"tbk": 500, "tb": 1, "fs": [0, 1, 2, 3, 4]}, {"tbk": 2, "tb": 1, "fs": [0, 1, 4]}],
            "ftbl": ["0x1: malloc (in /usr/vgpreload.so)", "0x2: alloc (library/alloc/src/alloc.rs:95)",
                     "0x3: clone (src/bytes.rs:677)", "0x4: bytes::bytes::shared (src/bytes.rs:9)",
                     "0x5: turnbuckle_server::door::open (crates/server/src/door.rs:7)"]}"#;
        let mut blocks: Vec<_> = blocks(profile)
            .expect("it is a profile")
            .into_iter()
            .collect();
        blocks.sort();
        let site = |place: &str| Site {
            place: place.to_owned(),
            behalf: "crates/server/src/door.rs:7".to_owned(),
        };
        let expected = [
            (site("bytes src/bytes.rs:677"), 500),
            (site("crates/server/src/door.rs:7"), 2),
        ];
        assert_eq!(blocks, expected);
    }
}
