//! Names of members and methods that a server could read as other names.
//!
//! The gateway judges and edits members by their exact names and passes all others on unchanged. A server may be less
//! exact: the JSON package of Go takes `Name` for `name`, and the last of both counts. Some parsers ignore NUL
//! characters. So a client could show one value to the rules of the gateway and another one to the server. In the same
//! way, a server could answer `Tools/Call`, which no rule would judge.

use turnbuckle_protocol::{envelope::Members, method};
use turnbuckle_server::Reject;

/// The members of `params` that the gateway reads or writes.
const PARAMS: [&str; 10] = [
    "_meta",
    "name",
    "arguments",
    "uri",
    "ref",
    "cursor",
    "requestState",
    "inputResponses",
    "task",
    "taskId",
];

/// The members of the reference in a `completion/complete` request.
const REFERENCE: [&str; 3] = ["type", "name", "uri"];

/// Refuses a method that is not one of the protocol, but that a server could read as one.
pub(crate) fn check_method(name: &str) -> Result<(), Reject> {
    let is_known = method::find(name).is_some();
    let mut known = method::entries().iter();
    if !is_known && known.any(|entry| is_alike(name, entry.name)) {
        return Err(Reject::method_not_found(name));
    }
    Ok(())
}

/// Refuses params with a member that a server could read as another one, which the gateway reads or writes.
pub(crate) fn check(params: &Members<'_>) -> Result<(), Reject> {
    check_members(params, "params", &PARAMS)?;
    match params.get("ref").and_then(Members::of) {
        Some(reference) => check_members(&reference, "params.ref", &REFERENCE),
        None => Ok(()),
    }
}

fn check_members(members: &Members<'_>, place: &str, exact: &[&str]) -> Result<(), Reject> {
    let variant = members
        .iter()
        .map(|(name, _)| name)
        .find(|name| is_variant_of_any(name, exact));
    variant.map_or(Ok(()), |name| {
        let said = format!(
            "servers could read the member {name:?} of `{place}` as another one; check its spelling"
        );
        Err(Reject::invalid_params(said))
    })
}

/// Whether `name` differs from all of these names, but a server could read it as one of them.
pub(crate) fn is_variant_of_any(name: &str, exact: &[&str]) -> bool {
    !exact.contains(&name) && exact.iter().any(|other| is_alike(name, other))
}

fn is_alike(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

/// The characters of a name, changed so that names which some server takes for the same are equal.
pub(crate) fn folded(name: &str) -> impl Iterator<Item = char> + '_ {
    let exact = name.chars().filter(|character| *character != '\0');
    exact.map(|character| match character {
        // The characters besides ASCII that are equal to a letter of ASCII when case is ignored.
        'ſ' => 's',
        '\u{212a}' => 'k',
        'ı' | 'İ' => 'i',
        other => other.to_ascii_lowercase(),
    })
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::envelope::Raw;

    use super::*;

    fn is_ambiguous(params: &str) -> bool {
        let raw: &serde_json::value::RawValue = serde_json::from_str(params).expect("JSON");
        check(&Members::of(Raw::from(raw)).expect("an object")).is_err()
    }

    #[test]
    fn methods_that_a_server_could_read_as_one_of_the_protocol_are_refused() {
        for name in [
            "Tools/Call",
            "tools/Call",
            "RESOURCES/READ",
            "Tasks/result",
            "tool\u{17f}/call",
            "tools/call\0",
            "ta\u{17f}\u{212a}s/result",
            "\0ping",
        ] {
            assert!(check_method(name).is_err(), "{name:?}");
        }
        for name in ["tools/call", "logging/setLevel", "tools/calls", "x/y", ""] {
            assert!(check_method(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn members_of_the_protocol_and_unknown_ones_are_clear() {
        for params in [
            "{}",
            r#"{"name":"a","arguments":{"Name":1,"NAME":2},"_meta":{"Name":3},"task":{}}"#,
            r#"{"name":"a","names":1,"nam":2,"na me":3,"X-Vendor":4}"#,
            r#"{"ref":{"type":"ref/prompt","name":"a","title":"b"},"argument":{"name":"c"}}"#,
            r#"{"ref":"a"}"#,
        ] {
            assert!(!is_ambiguous(params), "{params}");
        }
    }

    #[test]
    fn other_spellings_of_members_of_the_protocol_are_ambiguous() {
        for params in [
            r#"{"name":"a","Name":"b"}"#,
            r#"{"NAME":"b"}"#,
            r#"{"name":"a","name\u0000":"b"}"#,
            r#"{"name":"a","Arguments":{}}"#,
            r#"{"uri":"a","URI":"b"}"#,
            r#"{"uri":"a","ur\u0131":"b"}"#,
            r#"{"name":"a","ta\u017f\u212a":{}}"#,
            r#"{"name":"a","RequestState":"b"}"#,
            r#"{"name":"a","_Meta":{}}"#,
            r#"{"ref":{"type":"ref/prompt","name":"a","Name":"b"}}"#,
            r#"{"Ref":{}}"#,
        ] {
            assert!(is_ambiguous(params), "{params}");
        }
    }
}
