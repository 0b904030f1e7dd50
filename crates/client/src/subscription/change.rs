//! The changes that a listener receives.

use std::sync::Arc;

use serde_json::value::RawValue;
use turnbuckle_protocol::SubscriptionFilter;

use crate::notifications::ServerNotification;

/// A change at the server, or a possible one. A [`ChangeStream`](crate::ChangeStream) yields them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools has changed. List the tools again.
    ToolsChanged,
    /// The list of prompts has changed. List the prompts again.
    PromptsChanged,
    /// The list of resources has changed. The contents of resources need not have changed.
    ResourcesChanged,
    /// A subscribed resource, or a part of it, has changed. Read it again.
    #[non_exhaustive]
    ResourceUpdated {
        /// The URI of the changed resource. It may be longer than the subscribed URI, if a part has
        /// changed.
        uri: Arc<str>,
        /// The whole params, unparsed: some servers also send a `title`. Parse them as
        /// [`ResourceUpdatedNotificationParams`](crate::protocol::ResourceUpdatedNotificationParams).
        params: Arc<RawValue>,
    },
    /// Changes may have been missed: read everything again that must be up to date.
    Missed(Missed),
    /// Another notification of this subscription, such as one of an extension.
    Other {
        /// The method of the notification.
        method: Arc<str>,
        /// The params, unparsed; an empty object if the notification had none.
        params: Arc<RawValue>,
    },
}

/// Why changes may have been missed. In both cases, read again whatever must be up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missed {
    /// This stream was not read for too long, so this many of the oldest changes were dropped: more
    /// than 1024 were waiting.
    Lagged(u64),
    /// The connection was interrupted: a stream broke or a session ended, and another has been opened.
    Reopened,
}

impl Change {
    /// Returns the change that a notification reports; `None` if it reports no change.
    pub(super) fn of(news: &ServerNotification) -> Option<Self> {
        match news {
            ServerNotification::ToolsChanged => Some(Self::ToolsChanged),
            ServerNotification::PromptsChanged => Some(Self::PromptsChanged),
            ServerNotification::ResourcesChanged => Some(Self::ResourcesChanged),
            ServerNotification::ResourceUpdated { uri, params } => Some(Self::ResourceUpdated {
                uri: uri.clone(),
                params: params.clone(),
            }),
            ServerNotification::Other { method, params } => Some(Self::Other {
                method: method.clone(),
                params: params.clone(),
            }),
            ServerNotification::Visited { .. }
            | ServerNotification::Log(_)
            | ServerNotification::Missed(_) => None,
        }
    }

    /// Whether it adds nothing for a reader that has not read `earlier` yet.
    pub(super) fn repeats(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::ToolsChanged, Self::ToolsChanged)
            | (Self::PromptsChanged, Self::PromptsChanged)
            | (Self::ResourcesChanged, Self::ResourcesChanged)
            | (Self::Missed(Missed::Reopened), Self::Missed(Missed::Reopened)) => true,
            (Self::ResourceUpdated { uri, .. }, Self::ResourceUpdated { uri: other, .. }) => {
                uri == other
            }
            _ => false,
        }
    }

    /// How well the change fits the subscriptions; `None` if it does not fit.
    ///
    /// resources: an update may name a part of the subscribed resource, and the URI of a part has no
    /// defined form. So the exact URI is the best match, then a longer URI that begins with the
    /// subscribed one, and an update that matches no subscription goes to all listeners of resources.
    pub(super) fn fit(&self, filter: &SubscriptionFilter) -> Option<Fit> {
        match self {
            Self::ToolsChanged => filter.wants_tools().then_some(Fit::Exact),
            Self::PromptsChanged => filter.wants_prompts().then_some(Fit::Exact),
            Self::ResourcesChanged => filter.wants_resources().then_some(Fit::Exact),
            Self::ResourceUpdated { uri, .. } => {
                let each = filter.resources().iter();
                each.map(|wanted| {
                    if **wanted == **uri {
                        Fit::Exact
                    } else if uri.starts_with(wanted.as_str()) {
                        Fit::Part
                    } else {
                        Fit::Unplaced
                    }
                })
                .max()
            }
            Self::Missed(_) => Some(Fit::Exact),
            Self::Other { .. } => None,
        }
    }
}

/// How well a change fits the subscriptions, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// The URI may belong to the subscription.
    Unplaced,
    /// The URI begins with the subscribed URI.
    Part,
    /// The URI is the subscribed URI.
    Exact,
}
