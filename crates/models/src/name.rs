//! Converts the names of tools to names that an API accepts, and back.

use std::collections::BTreeMap;

/// Determines which names an API accepts.
#[derive(Debug)]
pub(crate) struct NameRule {
    /// The most characters of a name.
    pub(crate) max: usize,
    /// Whether a character is allowed in a name.
    pub(crate) allows: fn(char) -> bool,
    /// Whether a name may begin with a character.
    pub(crate) may_begin: fn(char) -> bool,
}

impl NameRule {
    pub(crate) fn accepts(&self, name: &str) -> bool {
        let first = name.chars().next();
        first.is_some_and(self.may_begin)
            && name.chars().count() <= self.max
            && name.chars().all(self.allows)
    }
}

/// Maps the names of tools that a model sees to the host's names for them.
#[derive(Clone, Debug, Default)]
pub struct ToolNames {
    told: BTreeMap<String, String>,
    hosted: BTreeMap<String, String>,
}

impl ToolNames {
    pub(crate) fn add(&mut self, name: &str, rule: &NameRule) -> String {
        let told = if rule.accepts(name) && !self.told.contains_key(name) {
            name.to_owned()
        } else {
            fitting(name, rule, |taken| self.told.contains_key(taken))
        };
        self.told.insert(told.clone(), name.to_owned());
        self.hosted.insert(name.to_owned(), told.clone());
        told
    }

    /// The host's name of a tool, from the model's name. A name that the model made up is returned
    /// unchanged.
    pub fn host_name<'n>(&'n self, told: &'n str) -> &'n str {
        self.told.get(told).map_or(told, String::as_str)
    }

    /// The model's name of a tool, from the host's name. If the tool is no longer in the list, the
    /// name is returned unchanged.
    pub fn model_name<'n>(&'n self, hosted: &'n str) -> &'n str {
        self.hosted.get(hosted).map_or(hosted, String::as_str)
    }
}

/// A similar name that the rule accepts and that is not in use: characters are replaced, and a
/// changed name contains a hash, so that it is the same in every list.
pub(crate) fn fitting(name: &str, rule: &NameRule, is_taken: impl Fn(&str) -> bool) -> String {
    let mut clean: String = name
        .chars()
        .map(|character| {
            if (rule.allows)(character) {
                character
            } else {
                '_'
            }
        })
        .collect();
    if !clean.chars().next().is_some_and(rule.may_begin) {
        clean.insert(0, '_');
    }
    if rule.accepts(&clean) && !is_taken(&clean) {
        return clean;
    }
    for round in 0_u32.. {
        let hash = hash(name, round);
        // The beginning and the end stay readable: `search_a1b2c3d4_repositories`.
        let room = rule.max.saturating_sub(hash.len() + 2);
        let (head, tail) = (room - room / 2, room / 2);
        let characters: Vec<char> = clean.chars().collect();
        let candidate = if characters.len() <= room {
            format!("{clean}_{hash}")
        } else {
            let head: String = characters[..head].iter().collect();
            let tail: String = characters[characters.len() - tail..].iter().collect();
            format!("{head}_{hash}_{tail}")
        };
        if !is_taken(&candidate) {
            return candidate;
        }
    }
    unreachable!("some of four billion names are free")
}

/// FNV-1a. The result must be the same in every version of this program.
fn hash(name: &str, round: u32) -> String {
    let seed = 0x811c_9dc5 ^ round;
    let hash = name.bytes().fold(seed, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{GEMINI, OPENAI};

    #[test]
    fn a_name_that_fits_stays_and_others_keep_head_and_tail() {
        let mut names = ToolNames::default();
        let rule = &OPENAI.tool_names;
        assert_eq!(names.add("git__log", rule), "git__log");
        assert_eq!(names.add("files/read.all", rule), "files_read_all");
        let second = names.add("files/read_all", rule);
        assert_ne!(second, "files_read_all");
        assert!(
            second.starts_with("files_read_all_") && rule.accepts(&second),
            "{second}"
        );
        let long = format!("{}end", "a".repeat(100));
        let told = names.add(&long, rule);
        assert!(told.len() == 64 && told.ends_with("end"), "{told}");
        for name in ["git__log", "files/read.all", "files/read_all", &long] {
            assert_eq!(names.host_name(names.model_name(name)), name);
        }
        assert_eq!(names.host_name("made_up"), "made_up");
    }

    #[test]
    fn the_first_character_and_foreign_letters_are_replaced() {
        let rule = &GEMINI.tool_names;
        assert_eq!(fitting("1st", rule, |_| false), "_1st");
        assert_eq!(fitting("größe", rule, |_| false), "gr__e");
        assert_eq!(fitting("", rule, |_| false), "_");
    }
}
