//! All tables together.

use super::{
    auth, cache, call, cancel, connect, discover, handshake, headers, http, lists, methods, origin,
    schema, session, start, stdout, time, tls,
};
use crate::check::Check;

/// All checks, in the order of the report.
pub(crate) fn all() -> impl Iterator<Item = &'static Check> {
    let tables = [
        connect::ALL,
        tls::ALL,
        start::ALL,
        stdout::ALL,
        http::ALL,
        auth::ALL,
        discover::ALL,
        handshake::ALL,
        headers::ALL,
        session::ALL,
        origin::ALL,
        methods::ALL,
        lists::ALL,
        cache::ALL,
        schema::ALL,
        cancel::ALL,
        call::ALL,
        time::ALL,
    ];
    tables.into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::check::{Area, Severity};

    #[test]
    fn every_id_is_unique_and_begins_with_its_area() {
        let mut seen = HashSet::new();
        for check in all() {
            assert!(seen.insert(check.id), "`{}` is there twice", check.id);
            let area = check.id.split('.').next();
            assert_eq!(area, Some(check.area.name()), "{}", check.id);
            assert_ne!(check.severity, Severity::Ok, "{}", check.id);
            assert!(!check.fix.is_empty() && !check.claim.is_empty());
        }
        for area in Area::ALL {
            assert!(all().any(|check| check.area == area), "{}", area.name());
        }
    }

    #[test]
    fn every_numbered_rule_is_in_the_list_of_rules() {
        let rules = include_str!("../../../../docs/rules.md");
        for check in all() {
            let numbers = check.rule.map_or("", |rule| rule.numbers);
            for number in numbers.split_whitespace() {
                assert!(
                    rules.contains(&format!("\n| {number} |")),
                    "`{}` cites {number}, and there is no such rule",
                    check.id
                );
            }
        }
    }
}
