//! How listeners are notified of updates of resources.

/// How a listener is notified of an update of a resource. Returned by
/// [`Relay::update_notice`](crate::Relay::update_notice).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateNotice {
    /// With all that the update says: the URI of the updated resource, which may be a part of the
    /// one that the listener follows, and other members.
    Whole,
    /// Only with the URI that the listener follows.
    FollowedOnly,
    /// The listener is not notified.
    Nothing,
}

/// Decides how one listener is notified, by the URI that it follows and that of the updated
/// resource.
pub(crate) type NoticeOf = Box<dyn Fn(&str, &str) -> UpdateNotice + Send + Sync>;
