//! Extensions: capabilities and methods beyond the core.
//!
//! An extension has an id, settings that each side declares, and its own methods and notifications,
//! which are described by the same traits as those of the core ([`Method`] and [`NotificationMethod`]).
//! With a side that does not declare the extension, only the core is used.
//!
//! The revision determines where it is declared: in `capabilities.extensions` since 2025-11-25, and in
//! `capabilities.experimental` before. [`Lower`] writes it to the right place, and
//! `capabilities.extension(id)` finds it in both.
//!
//! [`Method`]: crate::method::Method
//! [`NotificationMethod`]: crate::method::NotificationMethod
//! [`Lower`]: crate::Lower

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    JsonObject,
    grammar::{is_label, is_name},
};

/// An extension as a type: its id, and the settings that each side declares.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use turnbuckle_protocol::ExtensionSpec;
///
/// /// Servers that can show the weather of the past.
/// struct Almanac;
///
/// #[derive(Default, Serialize, Deserialize)]
/// struct AlmanacServer {
///     /// The first year there is something to say of.
///     since: u16,
/// }
///
/// #[derive(Default, Serialize, Deserialize)]
/// struct AlmanacClient {}
///
/// impl ExtensionSpec for Almanac {
///     const ID: &'static str = "com.example/almanac";
///     type Client = AlmanacClient;
///     type Server = AlmanacServer;
/// }
/// ```
pub trait ExtensionSpec {
    /// The id: a prefix that belongs to the extension's author, `/`, and a name.
    const ID: &'static str;
    /// The client's settings in its declaration. Serialises to an object.
    type Client: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The server's settings in its declaration. Serialises to an object.
    type Server: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// Why a text is not a valid extension id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{id}` is not an extension id: {problem}; write it like `com.example/almanac`")]
#[non_exhaustive]
pub struct BadExtensionId {
    /// The text.
    pub id: String,
    /// The problem.
    pub problem: &'static str,
}

/// Checks the id of an extension: it has the grammar of `_meta` keys, with a prefix.
///
/// ```
/// use turnbuckle_protocol::extension::check_id;
///
/// assert!(check_id("com.example/almanac").is_ok());
/// assert!(check_id("almanac").is_err());
/// ```
///
/// # Errors
/// Says which part is invalid.
pub fn check_id(id: &str) -> Result<(), BadExtensionId> {
    let bad = |problem| BadExtensionId {
        id: id.to_owned(),
        problem,
    };
    let Some((prefix, name)) = id.split_once('/') else {
        return Err(bad("it needs a prefix, which ends with `/`"));
    };
    if !prefix.split('.').all(is_label) {
        return Err(bad(
            "each label of its prefix must begin with a letter, end with a letter or a digit and \
             contain only letters, digits and hyphens",
        ));
    }
    if !is_name(name) {
        return Err(bad(
            "its name must begin and end with a letter or a digit and contain only letters, \
             digits, `-`, `_` and `.`",
        ));
    }
    Ok(())
}

/// Finds the settings of an extension in either place.
pub(crate) fn find<'a>(
    extensions: Option<&'a JsonObject>,
    experimental: Option<&'a JsonObject>,
    id: &str,
) -> Option<&'a Value> {
    let place = |map: Option<&'a JsonObject>| map.and_then(|map| map.get(id));
    place(extensions).or_else(|| place(experimental))
}

/// Moves extensions to `experimental`, where revisions before 2025-11-25 allow unknown members. An
/// existing entry there was made for those revisions and is kept.
pub(crate) fn move_to_experimental(
    extensions: &mut Option<JsonObject>,
    experimental: &mut Option<JsonObject>,
) {
    let Some(extensions) = extensions.take().filter(|map| !map.is_empty()) else {
        return;
    };
    let experimental = experimental.get_or_insert_default();
    for (id, settings) in extensions {
        experimental.entry(id).or_insert(settings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: M12
    #[test]
    fn an_id_has_a_prefix_and_a_name() {
        for id in [
            "io.modelcontextprotocol/ui",
            "com.example/my-ext_2.0",
            "a/b",
            "com.ex-ample/x",
        ] {
            assert_eq!(check_id(id), Ok(()), "{id}");
        }
        for id in [
            "",
            "ui",
            "/ui",
            "com.example/",
            "1com/x",
            "com./x",
            "com-/x",
            "com..a/x",
            "a/-x",
            "a/x-",
            "a/b/c",
            "a/ü",
            "a b/c",
        ] {
            assert!(check_id(id).is_err(), "{id}");
        }
    }

    #[test]
    fn an_entry_for_old_revisions_stays() {
        let map = |text: &str| serde_json::from_str::<JsonObject>(text).ok();
        let mut extensions = map(r#"{"a/x":{"new":1},"a/y":{}}"#);
        let mut experimental = map(r#"{"a/x":{"old":1}}"#);
        move_to_experimental(&mut extensions, &mut experimental);
        assert_eq!(extensions, None);
        assert_eq!(experimental, map(r#"{"a/x":{"old":1},"a/y":{}}"#));
        move_to_experimental(&mut Some(JsonObject::new()), &mut extensions);
        assert_eq!(extensions, None, "nothing is declared where nothing was");
    }
}
