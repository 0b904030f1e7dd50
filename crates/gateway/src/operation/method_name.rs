//! Names of methods that are almost those of the protocol.

use turnbuckle_protocol::method;

/// Whether a method differs from one of the protocol only in the case of its letters, like
/// `Tools/Call`. A server that ignores case would answer it, but no rule would judge it.
pub(crate) fn is_misspelt(name: &str) -> bool {
    let is_alike =
        |entry: &method::Entry| entry.name != name && entry.name.eq_ignore_ascii_case(name);
    method::entries().iter().any(is_alike)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_the_protocol_and_of_others_are_told_apart_from_misspelt_ones() {
        for name in ["Tools/Call", "tools/Call", "RESOURCES/READ", "Tasks/result"] {
            assert!(is_misspelt(name), "{name}");
        }
        for name in ["tools/call", "logging/setLevel", "tools/calls", "x/y", ""] {
            assert!(!is_misspelt(name), "{name}");
        }
    }
}
