//! The revision that two sides use: the server's answer to `initialize`, and the choice from a list of
//! versions that a peer has sent.

use turnbuckle_protocol::Revision;

use crate::Era;

/// Returns the revision that a server answers to an `initialize` that requests `requested`.
///
/// This is the requested revision if it is `supported` and has a handshake, and otherwise the newest
/// supported revision with a handshake. A future version, a modern one (which cannot be used after a
/// handshake) and an invalid one all get the newest legacy revision. `None` only if no supported
/// revision has a handshake: then the server must refuse, and list its revisions.
///
/// ```
/// use turnbuckle_protocol::Revision;
/// use turnbuckle_session::negotiate;
///
/// let ours = Revision::ALL;
/// assert_eq!(negotiate("2025-03-26", &ours), Some(Revision::V2025_03_26));
/// assert_eq!(negotiate("2026-07-28", &ours), Some(Revision::LATEST_LEGACY));
/// assert_eq!(negotiate("latest please", &ours), Some(Revision::LATEST_LEGACY));
/// assert_eq!(negotiate("2025-03-26", &[Revision::V2026_07_28]), None);
/// ```
pub fn negotiate(requested: &str, supported: &[Revision]) -> Option<Revision> {
    // lifecycle, version negotiation: the server MUST answer with the same version if it supports it,
    // and otherwise with another that it supports, preferably the latest.
    let same = Revision::from_date(requested)
        .filter(|revision| !revision.is_modern() && supported.contains(revision));
    same.or_else(|| newest(supported, Era::Legacy))
}

/// Returns the newest revision of `era` in `supported`.
pub fn newest(supported: &[Revision], era: Era) -> Option<Revision> {
    supported
        .iter()
        .copied()
        .filter(|revision| Era::from(*revision) == era)
        .max()
}

/// Returns the newest revision of `era` that is both `offered` by the peer and `supported` here.
///
/// Offered strings that are not a known revision are ignored.
///
/// ```
/// use turnbuckle_protocol::Revision;
/// use turnbuckle_session::{Era, negotiate::common};
///
/// let offered = ["2031-01-01", "2025-06-18", "2024-11-05"];
/// assert_eq!(common(&offered, Revision::ALL, Era::Legacy), Some(Revision::V2025_06_18));
/// assert_eq!(common(&offered, Revision::ALL, Era::Modern), None);
/// ```
pub fn common(offered: &[impl AsRef<str>], supported: &[Revision], era: Era) -> Option<Revision> {
    offered
        .iter()
        .filter_map(|date| Revision::from_date(date.as_ref()))
        .filter(|revision| Era::from(*revision) == era && supported.contains(revision))
        .max()
}

pub(crate) fn dates(revisions: &[Revision]) -> String {
    revisions
        .iter()
        .map(|revision| revision.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

    // rule: V2
    #[test]
    fn a_supported_legacy_version_comes_back_unchanged() {
        for &revision in Revision::LEGACY {
            assert_eq!(negotiate(revision.as_str(), Revision::ALL), Some(revision));
        }
    }

    #[test]
    fn whatever_else_is_asked_for_gets_the_newest_supported_handshake() {
        let some = [V2025_06_18, V2024_11_05, V2026_07_28];
        for (requested, supported, answer) in [
            ("2026-07-28", Revision::ALL, Some(V2025_11_25)),
            ("2099-12-31", Revision::ALL, Some(V2025_11_25)),
            ("", Revision::ALL, Some(V2025_11_25)),
            ("1.0.0", Revision::ALL, Some(V2025_11_25)),
            ("2025-03-26 ", Revision::ALL, Some(V2025_11_25)),
            ("2025-11-25", &some, Some(V2025_06_18)),
            ("2025-03-26", &some, Some(V2025_06_18)),
            ("2024-11-05", &some, Some(V2024_11_05)),
            ("2024-11-05", &[V2026_07_28], None),
            ("2024-11-05", &[], None),
        ] {
            assert_eq!(
                negotiate(requested, supported),
                answer,
                "{requested} of {supported:?}"
            );
        }
    }

    #[test]
    fn the_newest_common_version_is_picked_whatever_the_order() {
        let ours = [V2025_11_25, V2025_03_26];
        assert_eq!(
            common(&["2025-03-26", "2025-11-25"], &ours, Era::Legacy),
            Some(V2025_11_25)
        );
        assert_eq!(
            common(&["2025-06-18", "2025-03-26"], &ours, Era::Legacy),
            Some(V2025_03_26)
        );
        assert_eq!(common(&["2026-07-28"], &ours, Era::Modern), None);
        assert_eq!(common(&[] as &[&str], Revision::ALL, Era::Modern), None);
    }
}
