//! Each type has exactly the fields that the schemas define, with the same kinds.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Form, Ours, Rust,
    definition::OUTSIDE,
    definitions,
    fit::Names,
    source::{Member, declared, types},
};
use crate::tests::facts::{Fact, Kind, Table};

/// The differences from the schemas, and their reasons.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "`ContentBlock` may be OtherContent, which no revision has",
        "content that the specification may add is kept",
    ),
    (
        "`DiscoverResult.cacheScope` is required in every revision and optional here",
        "a result without it is private, and is read",
    ),
    (
        "`DiscoverResult.ttlMs` is required in every revision and optional here",
        "a result without it is stale at once, and is read",
    ),
    (
        "`ElicitationCompleteNotificationParams._meta` is in no revision",
        "every message may have it, though this schema does not say so",
    ),
    (
        "`InputResponse` may be Value, which no revision has",
        "an answer that cannot be read is kept",
    ),
    (
        "`LegacyTask._meta` is in no revision",
        "it is that of the results and notifications that are a task",
    ),
    (
        "`LegacyTask.ttl` is required in every revision and optional here",
        "it may be `null`",
    ),
    (
        "`SubscriptionFilter.taskIds` is in no revision",
        "the tasks extension has no schema",
    ),
    (
        "`SubscriptionsListenRequestParams._meta` is required in every revision and optional here",
        "the connection adds it to every modern request",
    ),
    (
        "`TaskRequestParams._meta` is in no revision",
        "every message may have it, though these schemas do not say so",
    ),
];

#[test]
fn every_type_is_that_of_the_schemas() {
    let faults = faults(&types());
    let known = DIFFERENCES.iter().map(|(fault, _)| (*fault).to_owned());
    let known: BTreeSet<_> = known.collect();
    let new: Vec<_> = faults.difference(&known).cloned().collect();
    assert!(
        new.is_empty(),
        "our types differ from the schemas:\n{}",
        new.join("\n")
    );
    let gone: Vec<_> = known.difference(&faults).cloned().collect();
    assert!(
        gone.is_empty(),
        "these are no longer differences:\n{}",
        gone.join("\n")
    );
}

#[test]
fn each_difference_is_found() {
    for (source, expected) in [
        (
            "pub struct Hologram { pub depth: u64 }",
            "`Hologram` is in no revision",
        ),
        (
            "pub struct ModelHint { pub name: Option<String>, pub bogus: Option<String> }",
            "`ModelHint.bogus` is in no revision",
        ),
        (
            "pub struct ModelHint { pub name: Option<String>, #[serde(flatten)] pub rest: String }",
            "`ModelHint.rest` is flat and `String`, not a map of JSON",
        ),
        (
            "pub struct ModelHint { #[serde(flatten)] pub inner: Inner }
             #[derive(Deserialize)]
             pub struct Inner { pub name: Option<String>, pub bogus: Option<String> }",
            "`ModelHint.bogus` is in no revision",
        ),
        (
            "pub struct ModelHint {}",
            "`ModelHint` lacks `name` of 2024-11-05",
        ),
        (
            "pub struct ModelHint { pub name: Option<u64> }",
            "`ModelHint.name` is `string` in 2025-06-18 and `u64` here",
        ),
        (
            "pub struct ModelHint { pub name: String }",
            "`ModelHint.name` is optional in a revision and required here",
        ),
        (
            "pub struct RelatedTask { #[serde(rename = \"taskId\")] pub id: Option<String> }",
            "`RelatedTask.taskId` is required in every revision and optional here",
        ),
        (
            "pub enum Role { User }",
            "`Role` lacks the word `assistant`",
        ),
        (
            "pub enum Role { User, Assistant, Critic }",
            "`Role` has the word `critic`, which is in no revision",
        ),
        (
            "pub enum ElicitRequestParams { Form(ElicitRequestFormParams) }",
            "`ElicitRequestParams` lacks a part of `ElicitRequestParams` of 2026-07-28",
        ),
    ] {
        let case = if source.contains("enum") {
            "lowercase"
        } else {
            "camelCase"
        };
        let derived =
            format!("#[derive(Serialize, Deserialize)] #[serde(rename_all = \"{case}\")] {source}");
        let file = syn::parse_file(&derived).expect("Rust");
        let found = faults(&declared(&file.items));
        assert!(found.contains(expected), "{source}: {found:?}");
    }
}

fn faults(ours: &[Ours]) -> BTreeSet<String> {
    let table = Table::read();
    let names = Names {
        table: &table,
        ours,
    };
    ours.iter()
        .filter(|ours| OUTSIDE.iter().all(|(name, _)| *name != ours.name))
        .flat_map(|ours| names.faults(ours))
        .collect()
}

/// A definition in a revision.
struct Place {
    path: String,
    revision: usize,
}

impl Names<'_> {
    fn faults(&self, ours: &Ours) -> Vec<String> {
        let name = &ours.name;
        let mut places = self.places(name);
        if matches!(ours.form, Form::Object(_)) {
            places.retain(|place| self.is_object(place));
        }
        if places.is_empty() {
            return vec![format!("`{name}` is in no revision")];
        }
        match &ours.form {
            Form::Object(members) => self.member_faults(name, members, &places),
            Form::Words(words) => self.word_faults(name, words, &places),
            Form::Either(variants) => self.variant_faults(name, variants, &places),
            Form::Other => Vec::new(),
        }
    }

    fn places(&self, name: &str) -> Vec<Place> {
        let revisions = 0..self.table.revisions.len();
        let all = definitions(name).into_iter().flat_map(|path| {
            revisions.clone().map(move |revision| Place {
                path: path.clone(),
                revision,
            })
        });
        all.filter(|place| {
            let kind = self.kind_at(&place.path, place.revision);
            // An alias of another type has no facts of its own.
            kind.is_some_and(|kind| !matches!(kind, Kind::Type(_)))
        })
        .collect()
    }

    fn is_object(&self, place: &Place) -> bool {
        let kind = self.kind_at(&place.path, place.revision);
        matches!(kind, Some(Kind::Object { .. } | Kind::All(_)))
    }

    /// Returns the kind at a path in a revision.
    fn kind_at(&self, path: &str, revision: usize) -> Option<&Kind> {
        if let Some(array) = path.strip_suffix("[]") {
            return match self.kind_at(array, revision)? {
                Kind::Array(items, _) => Some(items),
                _ => None,
            };
        }
        if let Some(map) = path.strip_suffix("{}") {
            return match self.kind_at(map, revision)? {
                Kind::Object { others, .. } => others.as_deref(),
                _ => None,
            };
        }
        let (owner, field) = match path.rsplit_once('.') {
            Some((owner, field)) => (owner, field),
            None => (path, ""),
        };
        let mut facts = self.table.facts.iter();
        let found = facts
            .find(|fact| fact.owner == owner && fact.field == field && fact.holds(revision))?;
        Some(&found.kind)
    }

    fn member_faults(&self, name: &str, members: &[Member], places: &[Place]) -> Vec<String> {
        let mut told: BTreeMap<&str, Vec<(&Fact, &Place)>> = BTreeMap::new();
        for place in places {
            for fact in self.table.fields(&place.path, place.revision) {
                told.entry(fact.field).or_default().push((fact, place));
            }
        }
        let mut faults = Vec::new();
        for member in members {
            let field = &member.name;
            if member.is_flat {
                if !["JsonObject", "OtherMembers"].contains(&&*member.rust.name) {
                    let rust = &member.rust;
                    faults.push(format!(
                        "`{name}.{field}` is flat and `{rust}`, not a map of JSON"
                    ));
                }
                continue;
            }
            let Some(facts) = told.remove(field.as_str()) else {
                faults.push(format!("`{name}.{field}` is in no revision"));
                continue;
            };
            let is_required = facts.len() == places.len()
                && facts
                    .iter()
                    .all(|(fact, place)| fact.is_required(place.revision));
            if is_required == member.is_optional {
                let (theirs, ours) = if is_required {
                    ("required in every revision", "optional")
                } else {
                    ("optional in a revision", "required")
                };
                faults.push(format!("`{name}.{field}` is {theirs} and {ours} here"));
            }
            for (fact, place) in facts {
                let path = format!("{}.{field}", place.path);
                if !self.fits(&member.rust, &fact.kind, &path, place.revision) {
                    faults.push(format!(
                        "`{name}.{field}` is `{}` in {} and `{}` here",
                        fact.text, self.table.revisions[place.revision], member.rust
                    ));
                }
            }
        }
        // serde writes the tag of a type, and the types for outcomes write `resultType`.
        let lacking = told.iter().filter(|(field, facts)| {
            **field != "resultType" && !matches!(facts[0].0.kind, Kind::Constant(_))
        });
        faults.extend(lacking.map(|(field, facts)| {
            let revision = self.table.revisions[facts[0].1.revision];
            format!("`{name}` lacks `{field}` of {revision}")
        }));
        faults
    }

    fn word_faults(&self, name: &str, words: &[String], places: &[Place]) -> Vec<String> {
        let mut theirs = BTreeSet::new();
        for place in places {
            match self.kind_at(&place.path, place.revision) {
                Some(Kind::Words(words)) => {
                    theirs.extend(words.iter().filter_map(|word| word.as_str()));
                }
                Some(Kind::Constant(word)) => theirs.extend(word.as_str()),
                // Any text is allowed here.
                _ => return Vec::new(),
            }
        }
        let ours = words.iter().map(String::as_str).collect();
        let extra = BTreeSet::difference(&ours, &theirs)
            .map(|word| format!("`{name}` has the word `{word}`, which is in no revision"));
        let lacking = theirs
            .difference(&ours)
            .map(|word| format!("`{name}` lacks the word `{word}`"));
        extra.chain(lacking).collect()
    }

    fn variant_faults(&self, name: &str, variants: &[Rust], places: &[Place]) -> Vec<String> {
        let whole = Rust {
            name: name.to_owned(),
            arguments: Vec::new(),
        };
        let mut faults = Vec::new();
        let mut used = BTreeSet::new();
        for place in places {
            let kind = self.kind_at(&place.path, place.revision);
            let kind = kind.expect("places have kinds");
            if !self.fits(&whole, kind, &place.path, place.revision) {
                faults.push(format!(
                    "`{name}` lacks a part of `{}` of {}",
                    place.path, self.table.revisions[place.revision]
                ));
            }
            used.extend(variants.iter().filter_map(|variant| {
                let is_used = self.is_part(variant, kind, place);
                is_used.then_some(variant.name.as_str())
            }));
        }
        let unused = variants
            .iter()
            .filter(|variant| !used.contains(variant.name.as_str()));
        faults.extend(
            unused.map(|variant| format!("`{name}` may be {variant}, which no revision has")),
        );
        faults
    }

    fn is_part(&self, variant: &Rust, kind: &Kind, place: &Place) -> bool {
        match kind {
            Kind::Either(kinds) => kinds.iter().any(|kind| self.is_part(variant, kind, place)),
            Kind::Type(name) if !definitions(&variant.name).contains(name) => {
                let kind = self.kind_at(name, place.revision);
                kind.is_some_and(|kind| {
                    matches!(kind, Kind::Either(_)) && self.is_part(variant, kind, place)
                })
            }
            Kind::Plain { types, .. } => types.iter().any(|name| {
                let alone = Kind::Plain {
                    types: vec![name.clone()],
                    format: None,
                    bounds: (None, None),
                };
                self.fits(variant, &alone, &place.path, place.revision)
            }),
            kind => self.fits(variant, kind, &place.path, place.revision),
        }
    }
}
