//! Describes a schema in a few words, for messages that say what a branch or a contained item should be.

use super::run::Run;
use crate::kind::Kinds;
use crate::limits::MAX_LISTED;
use crate::node::{InPlace, Node, NodeId};
use crate::shown;

/// How many levels of nested branches are described; a longer text would not help the reader.
const MAX_LEVELS: usize = 3;

/// The values that a node accepts, as a noun phrase.
pub(crate) fn node(run: &Run<'_>, id: NodeId) -> String {
    describe(run, id, MAX_LEVELS)
}

fn describe(run: &Run<'_>, id: NodeId, levels: usize) -> String {
    let node = run.node(id);
    let Some(deeper) = levels.checked_sub(1) else {
        return unspecific();
    };
    if node.is_never {
        return "nothing".to_owned();
    }
    if let Some(constant) = &node.constant {
        return shown::value(constant);
    }
    if let Some(choices) = &node.choices {
        return shown::choices(choices);
    }
    if node.kinds != Kinds::ALL {
        return kinds(node);
    }
    match &*node.in_place {
        [InPlace::Reference(target)] => describe(run, *target, deeper),
        [InPlace::AnyOf(nodes) | InPlace::OneOf(nodes)] => {
            let words: Vec<String> = nodes
                .iter()
                .take(MAX_LISTED)
                .map(|id| describe(run, *id, deeper))
                .collect();
            words.join(" or ")
        }
        [InPlace::Not(id)] => format!("anything but {}", describe(run, *id, deeper)),
        _ if node.object.is_some() => object(node),
        _ => unspecific(),
    }
}

fn kinds(node: &Node) -> String {
    match node.kinds {
        Kinds::OBJECT => object(node),
        Kinds::STRING => text(node),
        kinds => kinds.in_words(),
    }
}

fn object(node: &Node) -> String {
    match &node.object {
        Some(rules) if rules.required().len() > 0 => {
            format!("an object with {}", shown::names(rules.required()))
        }
        _ => "an object".to_owned(),
    }
}

fn text(node: &Node) -> String {
    let Some(rules) = &node.text else {
        return "a string".to_owned();
    };
    match (&rules.pattern, rules.format) {
        (Some(pattern), _) => format!("a string that matches the pattern `{}`", pattern.source()),
        (None, Some(format)) => format.in_words().to_owned(),
        _ => "a string".to_owned(),
    }
}

fn unspecific() -> String {
    "a value that matches the schema there".to_owned()
}
