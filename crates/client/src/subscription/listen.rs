//! Subscriptions of a listener.

use turnbuckle_protocol::{ServerCapabilities, SubscriptionFilter};

/// Which changes to subscribe to: those of lists, and of single resources. Pass it to
/// [`Connection::listen`](crate::Connection::listen).
///
/// ```
/// use turnbuckle_client::Listen;
///
/// let everything = Listen::lists().resource("file:///home/ada/notes.md");
/// let tools_only = Listen::new().tools();
/// # let _ = (everything, tools_only);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "it is given to `Connection::listen`"]
pub struct Listen(SubscriptionFilter);

impl Listen {
    /// Creates an empty set of subscriptions. Add some before you pass it to `listen`: an empty set is
    /// an error.
    pub fn new() -> Self {
        Self::default()
    }

    /// Subscribes to changes of the lists of tools, prompts and resources. Add single resources with
    /// [`resource`](Self::resource).
    pub fn lists() -> Self {
        Self::new().tools().prompts().resources()
    }

    /// Adds changes of the list of tools.
    pub fn tools(self) -> Self {
        Self(self.0.with_tools())
    }

    /// Adds changes of the list of prompts.
    pub fn prompts(self) -> Self {
        Self(self.0.with_prompts())
    }

    /// Adds changes of the list of resources. Changes of their contents are not included; use
    /// [`resource`](Self::resource).
    pub fn resources(self) -> Self {
        Self(self.0.with_resources())
    }

    /// Adds changes of the contents of one resource, which need not be listed. It may be called for any
    /// number of resources.
    pub fn resource(self, uri: impl Into<String>) -> Self {
        let uri = uri.into();
        if self.0.resources().contains(&uri) {
            return self;
        }
        Self(self.0.with_resource(uri))
    }

    /// Returns the subscriptions as a filter of the protocol.
    pub fn filter(&self) -> &SubscriptionFilter {
        &self.0
    }
}

impl From<SubscriptionFilter> for Listen {
    fn from(filter: SubscriptionFilter) -> Self {
        Self(filter)
    }
}

/// Returns the part of a filter that a server with a session supports by its capabilities. Whether it
/// accepts single resources is only known after subscribing to them.
pub(crate) fn offered(
    wanted: &SubscriptionFilter,
    capabilities: Option<&ServerCapabilities>,
) -> SubscriptionFilter {
    let Some(can) = capabilities else {
        return wanted.clone();
    };
    let resources = can.resources.as_ref();
    let tools = can.tools.as_ref().and_then(|can| can.list_changed);
    let prompts = can.prompts.as_ref().and_then(|can| can.list_changed);
    let list = resources.and_then(|can| can.list_changed);
    let subscribe = resources.and_then(|can| can.subscribe);
    let both = |wanted: bool, can: Option<bool>| (wanted && can == Some(true)).then_some(true);
    // In sessions, servers report the status of tasks without a subscription.
    let mut offered = SubscriptionFilter::new();
    offered.tools_list_changed = both(wanted.wants_tools(), tools);
    offered.prompts_list_changed = both(wanted.wants_prompts(), prompts);
    offered.resources_list_changed = both(wanted.wants_resources(), list);
    offered.resource_subscriptions = wanted
        .resource_subscriptions
        .clone()
        .filter(|_| subscribe == Some(true));
    offered
}

/// Returns the part of a filter that was not granted.
pub(crate) fn refused(
    wanted: &SubscriptionFilter,
    granted: &SubscriptionFilter,
) -> SubscriptionFilter {
    let left = |wanted: bool, granted: bool| (wanted && !granted).then_some(true);
    let without = |wanted: &[String], granted: &[String]| {
        let left: Vec<String> = wanted
            .iter()
            .filter(|one| !granted.contains(one))
            .cloned()
            .collect();
        (!left.is_empty()).then_some(left)
    };
    let mut refused = SubscriptionFilter::new();
    refused.tools_list_changed = left(wanted.wants_tools(), granted.wants_tools());
    refused.prompts_list_changed = left(wanted.wants_prompts(), granted.wants_prompts());
    refused.resources_list_changed = left(wanted.wants_resources(), granted.wants_resources());
    refused.resource_subscriptions = without(wanted.resources(), granted.resources());
    refused.task_ids = without(wanted.tasks(), granted.tasks());
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_named_twice_is_asked_for_once() {
        let listen = Listen::new().resource("a:b").resource("a:b");
        assert_eq!(listen.filter().resources(), ["a:b"]);
    }

    #[test]
    fn a_session_is_asked_for_what_it_declares_and_the_rest_is_refused() {
        let can: ServerCapabilities = serde_json::from_value(serde_json::json!({
            "tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true},
        }))
        .unwrap();
        let wanted = Listen::lists().resource("a:b");
        let granted = offered(wanted.filter(), Some(&can));
        assert_eq!(
            granted,
            Listen::new().tools().resource("a:b").filter().clone()
        );
        let refused = refused(wanted.filter(), &granted);
        assert_eq!(refused, Listen::new().prompts().resources().0);
    }
}
