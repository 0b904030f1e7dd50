//! The names of tools and prompts in the merged catalog.
//!
//! If a host has one server, its own names are used; if it has several, the names are
//! `server__name`. Model providers allow letters, digits, `_` and `-`, and at most 64 characters.
//! So other characters become `_`, and a longer name keeps its beginning and its end with a digest
//! between them. A name depends only on its server and on the entry itself, unless two names would
//! be equal: then the later one gets a digest too, and this is reported. Names are looked up in a
//! map and never split again.

use std::{collections::HashMap, fmt::Write, sync::Arc};

use sha2::{Digest, Sha256};

use crate::id::ServerId;

/// The maximum length of a name, as set by model providers.
pub(crate) const PROVIDER_LIMIT: usize = 64;

/// Digits of a digest in a name. Two names of one host collide by chance once in billions.
const DIGEST_DIGITS: usize = 8;

/// Whether names have a prefix that says which server they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// The names have no prefix, because there is only one server.
    None,
    /// There are several servers: `server__name`.
    Server,
}

/// Chooses the names for one list.
#[derive(Debug)]
pub struct Namer {
    prefix: Prefix,
    limit: usize,
    taken: HashMap<Arc<str>, (ServerId, String)>,
}

/// Two entries that would have had the same name in the host.
///
/// The catalog reports it as a [`Problem`](crate::Problem). The first entry keeps the name, and the
/// second gets a name with a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// The name that both entries would have had, such as `git__log`. The first entry has it.
    pub wanted: String,
    /// The server of the first entry, and the entry's own name there.
    pub first: (ServerId, String),
    /// The server of the second entry, and the entry's own name there.
    pub second: (ServerId, String),
    /// The name that the second entry has instead: the wanted name with a digest.
    pub given: String,
}

impl Namer {
    /// Makes a namer without any names in use.
    pub fn new(prefix: Prefix, limit: usize) -> Self {
        Self {
            prefix,
            limit,
            taken: HashMap::new(),
        }
    }

    /// Reserves memory for the names of this many more entries.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.taken.reserve(count);
    }

    /// Chooses a name for an entry of a server. Returns the collision too, if there was one.
    pub fn name(&mut self, server: &ServerId, own: &str) -> (Arc<str>, Option<Collision>) {
        let mut wanted = String::with_capacity(server.as_str().len() + 2 + own.len());
        if self.prefix == Prefix::Server {
            push_allowed(&mut wanted, server.as_str());
            wanted.push_str("__");
        }
        push_allowed(&mut wanted, own);
        // A digest costs more than the rest of this function, and few names need one.
        let name: Arc<str> = if wanted.len() <= self.limit {
            wanted.as_str().into()
        } else {
            with_digest(&wanted, self.limit, &digest(server, own, 0)).into()
        };
        let Some(first) = self.taken.get(&name) else {
            self.taken
                .insert(name.clone(), (server.clone(), own.to_owned()));
            return (name, None);
        };
        // A server may have chosen its names so that this one is in use too.
        let mut attempt = 0;
        let given: Arc<str> = loop {
            let digest = digest(server, own, attempt);
            let given = with_digest(&wanted, self.limit, &digest);
            if !self.taken.contains_key(given.as_str()) {
                break given.into();
            }
            attempt += 1;
        };
        let collision = Collision {
            wanted: name.to_string(),
            first: first.clone(),
            second: (server.clone(), own.to_owned()),
            given: given.to_string(),
        };
        self.taken
            .insert(given.clone(), (server.clone(), own.to_owned()));
        (given, Some(collision))
    }
}

/// Appends a name, replacing the characters that providers do not allow.
fn push_allowed(text: &mut String, name: &str) {
    let is_allowed = |letter: char| matches!(letter, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-');
    if name.chars().all(is_allowed) {
        text.push_str(name);
    } else {
        let letters = name.chars();
        text.extend(letters.map(|letter| if is_allowed(letter) { letter } else { '_' }));
    }
}

fn digest(server: &ServerId, own: &str, attempt: u32) -> String {
    let mut digest = Sha256::new();
    digest.update(server.as_str().len().to_le_bytes());
    digest.update(server.as_str());
    digest.update(own);
    if attempt > 0 {
        digest.update(attempt.to_le_bytes());
    }
    let mut text = String::new();
    for byte in &digest.finalize()[..DIGEST_DIGITS / 2] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The beginning and the end of a name, with a digest between them. The name is ASCII.
fn with_digest(name: &str, limit: usize, digest: &str) -> String {
    let room = limit.saturating_sub(DIGEST_DIGITS + 2);
    if name.len() <= room {
        return format!("{name}_{digest}");
    }
    // The beginning contains the server, and the end usually distinguishes the tools.
    let (head, tail) = (room - room / 2, room / 2);
    format!("{}_{digest}_{}", &name[..head], &name[name.len() - tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(prefix: Prefix, entries: &[(&str, &str)]) -> Vec<(String, bool)> {
        let mut namer = Namer::new(prefix, PROVIDER_LIMIT);
        entries
            .iter()
            .map(|(server, own)| {
                let (name, collision) = namer.name(&(*server).into(), own);
                (name.to_string(), collision.is_some())
            })
            .collect()
    }

    // rule: T9
    #[test]
    fn one_server_keeps_its_names_and_several_are_told_apart() {
        assert_eq!(
            names(Prefix::None, &[("git", "log")]),
            [("log".into(), false)]
        );
        let both = names(Prefix::Server, &[("git", "log"), ("hg", "log")]);
        assert_eq!(
            both,
            [("git__log".into(), false), ("hg__log".into(), false)]
        );
    }

    #[test]
    fn every_name_can_be_given_to_a_model() {
        let long = "x".repeat(200);
        let names = names(
            Prefix::Server,
            &[
                ("my server", "a/b.c"),
                ("é", "tool"),
                ("s", &long),
                (&long, "t"),
            ],
        );
        assert_eq!(names[0].0, "my_server__a_b_c");
        assert_eq!(names[1].0, "___tool");
        for (name, _) in &names {
            assert!(name.len() <= PROVIDER_LIMIT, "{name}");
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            assert!(name.chars().all(is_allowed), "{name}");
        }
        assert!(names[3].0.ends_with("__t"), "{}", names[3].0);
    }

    #[test]
    fn a_name_does_not_depend_on_other_entries() {
        let long = "long_".repeat(20);
        let alone = names(Prefix::Server, &[("b", &long)]);
        let among = names(Prefix::Server, &[("a", &long), ("b", &long), ("c", "x")]);
        assert_eq!(alone[0], among[1]);
        assert_ne!(among[0], among[1]);
    }

    #[test]
    fn two_of_one_name_are_told_apart_and_reported() {
        let both = names(
            Prefix::Server,
            &[("a", "b__c"), ("a__b", "c"), ("a", "b..c")],
        );
        assert_eq!(both[0], ("a__b__c".into(), false));
        assert!(both[1].1 && both[2].1);
        assert_ne!(both[1].0, both[2].0);
        assert!(both[1].0.starts_with("a__b__c_"), "{}", both[1].0);
    }
}
