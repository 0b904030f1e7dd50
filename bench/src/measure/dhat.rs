//! Reads the profiles of DHAT: how often memory was allocated, and where.

use std::collections::HashMap;

use serde::Deserialize;

use crate::{Result, report::name::plain};

/// Blocks by the place that allocated them.
pub(crate) type Blocks = HashMap<Site, u64>;

/// A place in the code: the innermost one that is not in Rust's own library.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Site {
    /// The nearest function whose name contains its crate.
    pub(crate) function: String,
    /// File and line.
    pub(crate) place: String,
}

#[derive(Deserialize)]
struct Profile {
    pps: Vec<Point>,
    ftbl: Vec<String>,
}

#[derive(Deserialize)]
struct Point {
    /// The total number of blocks.
    tbk: u64,
    /// The stack, innermost first, as indexes into the table of frames.
    fs: Vec<usize>,
}

/// Parses a profile.
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
    let outside = || stack.iter().skip_while(is_library);
    // Inlined functions have names without their crate.
    let whole = outside()
        .map(|it| plain(it.function))
        .find(|it| it.contains("::"));
    Site {
        function: whole.unwrap_or_default(),
        place: outside()
            .next()
            .map_or_else(String::new, |it| it.place.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_belongs_to_the_first_place_outside_the_library() {
        let profile = r#"{"pps": [{"tbk": 500, "tb": 1, "fs": [0, 1, 2, 3, 4]}, {"tbk": 2, "tb": 1, "fs": [0, 1, 4]}],
            "ftbl": ["0x1: malloc (in /usr/vgpreload.so)", "0x2: alloc (library/alloc/src/alloc.rs:95)",
                     "0x3: clone<a::B> (src/bytes.rs:677)", "0x4: bytes::bytes::shared (src/bytes.rs:9)",
                     "0x5: turnbuckle_server::door::open (door.rs:7)"]}"#;
        let mut blocks: Vec<_> = blocks(profile)
            .expect("it is a profile")
            .into_iter()
            .collect();
        blocks.sort();
        let site = |function: &str, place: &str| Site {
            function: function.to_owned(),
            place: place.to_owned(),
        };
        let expected = [
            (site("bytes::bytes::shared", "src/bytes.rs:677"), 500),
            (site("turnbuckle_server::door::open", "door.rs:7"), 2),
        ];
        assert_eq!(blocks, expected);
    }
}
