//! `subscriptions/listen`: subscribing to changes, since 2026-07-28.

use serde::{Deserialize, Serialize};

use crate::{Meta, OtherMembers, envelope::Id, setter::setters};

/// The changes to be notified of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_list_changed: Option<bool>,
    /// Changes of the list of prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts_list_changed: Option<bool>,
    /// Changes of the list of resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources_list_changed: Option<bool>,
    /// Changes of single resources, by URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_subscriptions: Option<Vec<String>>,
    /// The status of single tasks, by id. Belongs to the tasks extension.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_ids: Option<Vec<String>>,
}

impl SubscriptionFilter {
    /// Creates an empty filter.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the list of tools.
    pub fn with_tools(mut self) -> Self {
        self.tools_list_changed = Some(true);
        self
    }

    /// Adds the list of prompts.
    pub fn with_prompts(mut self) -> Self {
        self.prompts_list_changed = Some(true);
        self
    }

    /// Adds the list of resources.
    pub fn with_resources(mut self) -> Self {
        self.resources_list_changed = Some(true);
        self
    }

    /// Adds a single resource.
    pub fn with_resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions
            .get_or_insert_default()
            .push(uri.into());
        self
    }

    /// Adds a single task.
    pub fn with_task(mut self, id: impl Into<String>) -> Self {
        self.task_ids.get_or_insert_default().push(id.into());
        self
    }

    /// Whether changes of the list of tools are wanted.
    pub fn wants_tools(&self) -> bool {
        self.tools_list_changed.unwrap_or(false)
    }

    /// Whether changes of the list of prompts are wanted.
    pub fn wants_prompts(&self) -> bool {
        self.prompts_list_changed.unwrap_or(false)
    }

    /// Whether changes of the list of resources are wanted.
    pub fn wants_resources(&self) -> bool {
        self.resources_list_changed.unwrap_or(false)
    }

    /// Returns the URIs of the single resources.
    pub fn resources(&self) -> &[String] {
        self.resource_subscriptions.as_deref().unwrap_or_default()
    }

    /// Returns the ids of the single tasks.
    pub fn tasks(&self) -> &[String] {
        self.task_ids.as_deref().unwrap_or_default()
    }

    /// Returns whether the filter is empty.
    pub fn is_empty(&self) -> bool {
        !(self.wants_tools() || self.wants_prompts() || self.wants_resources())
            && self.resources().is_empty()
            && self.tasks().is_empty()
    }
}

/// The params of `subscriptions/listen`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsListenRequestParams {
    /// The changes to be notified of.
    pub notifications: SubscriptionFilter,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl SubscriptionsListenRequestParams {
    /// Creates the params for these changes.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            meta: None,
        }
    }
}

setters! {
    impl SubscriptionsListenRequestParams {
        fn with_meta(meta: Meta);
    }
}

/// The params of `notifications/subscriptions/acknowledged`, the first notification of a stream: the
/// changes that will be reported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotificationParams {
    /// The requested changes that the server will report.
    pub notifications: SubscriptionFilter,
    /// Metadata, which contains the id of the listen request.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl SubscriptionsAcknowledgedNotificationParams {
    /// Creates the acknowledgement of a listen request.
    pub fn new(listen: &Id, notifications: SubscriptionFilter) -> Self {
        Self {
            notifications,
            meta: Some(Meta::new().with_subscription_id(listen)),
        }
    }
}

setters! {
    impl SubscriptionsAcknowledgedNotificationParams {
        fn with_meta(meta: Meta);
    }
}

/// The answer to `subscriptions/listen`, sent when the server ends the subscription regularly.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SubscriptionsListenResult {
    /// Metadata, which contains the id of the listen request.
    #[serde(rename = "_meta")]
    pub meta: Meta,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl SubscriptionsListenResult {
    /// Creates the answer that ends a listen request.
    pub fn new(listen: &Id) -> Self {
        Self {
            meta: Meta::new().with_subscription_id(listen),
            other: OtherMembers::new(),
        }
    }
}
