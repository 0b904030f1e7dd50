//! Finds single members of an object, and elements of an array, without parsing the rest.

use std::borrow::Cow;

use super::{
    Raw,
    scan::{NotJson, Scanner},
};

impl<'a> Raw<'a> {
    /// Returns a member of an object; the first one, if the name occurs more than once. Returns `None`
    /// if there is no such member, or the value is not an object.
    pub fn member(self, name: &str) -> Option<Raw<'a>> {
        let mut found = None;
        // The rest of the object is not needed, so the scan stops there with an error.
        let _ = Scanner::new(self.get()).members(|scanner, other| {
            let value = scanner.value()?;
            if other == name {
                found = Some(value);
                return Err(NotJson);
            }
            Ok(())
        });
        found
    }

    /// Returns the member at this path.
    pub fn at(self, path: &[&str]) -> Option<Raw<'a>> {
        path.iter().try_fold(self, |raw, name| raw.member(name))
    }

    /// Returns the members of an object, in order; empty if the value is not an object.
    pub fn members(self) -> Vec<(Cow<'a, str>, Raw<'a>)> {
        let mut all = Vec::new();
        let _ = Scanner::new(self.get()).members(|scanner, name| {
            all.push((name, scanner.value()?));
            Ok(())
        });
        all
    }

    /// Returns the number of JSON nodes, which is limited in messages.
    pub fn nodes(self) -> usize {
        let mut scanner = Scanner::new(self.get());
        let _ = scanner.value();
        scanner.nodes()
    }

    /// Returns the elements of an array; empty if the value is not an array.
    pub fn elements(self) -> Vec<Raw<'a>> {
        let mut all = Vec::new();
        let _ = Scanner::new(self.get()).elements(|element| all.push(element));
        all
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::from(serde_json::from_str::<&RawValue>(text).expect("JSON"))
    }

    #[test]
    fn members_are_found_by_path() {
        let object = raw(r#"{"a":{"b":[1, {"c":2}]}, "a":3}"#);
        assert_eq!(
            object.at(&["a", "b"]).map(Raw::get),
            Some(r#"[1, {"c":2}]"#)
        );
        assert_eq!(object.member("b").map(Raw::get), None);
        assert_eq!(object.members().len(), 2);
        let elements = object.at(&["a", "b"]).unwrap().elements();
        assert_eq!(elements[1].member("c").map(Raw::get), Some("2"));
        assert!(raw("[1, 2]").nodes() > raw("7").nodes());
        assert!(raw("7").members().is_empty() && raw("7").elements().is_empty());
    }
}
