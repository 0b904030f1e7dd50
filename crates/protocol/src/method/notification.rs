//! Every notification of the five revisions and the tasks extension.

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    CancelledNotificationParams, DetailedTask, ElicitationCompleteNotificationParams, LegacyTask,
    LoggingMessageNotificationParams, NotificationParams, ProgressNotificationParams,
    ResourceUpdatedNotificationParams, SubscriptionsAcknowledgedNotificationParams,
};

/// A notification: its name and its params.
pub trait NotificationMethod {
    /// The name on the wire.
    const NAME: &'static str;
    /// The params.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// Declares the types of notifications.
macro_rules! notifications {
    ($($(#[$doc:meta])* $name:ident = $wire:literal: $params:ty;)+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            pub struct $name;

            impl NotificationMethod for $name {
                const NAME: &'static str = $wire;
                type Params = $params;
            }
        )+

        /// The names of all notifications declared here.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$($wire),+];
    };
}

notifications! {
    /// `notifications/initialized`. Until 2025-11-25.
    Initialized = "notifications/initialized": NotificationParams;
    /// `notifications/cancelled`.
    Cancelled = "notifications/cancelled": CancelledNotificationParams;
    /// `notifications/progress`.
    Progress = "notifications/progress": ProgressNotificationParams;
    /// `notifications/message`.
    Message = "notifications/message": LoggingMessageNotificationParams;
    /// `notifications/tools/list_changed`.
    ToolsListChanged = "notifications/tools/list_changed": NotificationParams;
    /// `notifications/prompts/list_changed`.
    PromptsListChanged = "notifications/prompts/list_changed": NotificationParams;
    /// `notifications/resources/list_changed`.
    ResourcesListChanged = "notifications/resources/list_changed": NotificationParams;
    /// `notifications/resources/updated`.
    ResourcesUpdated = "notifications/resources/updated": ResourceUpdatedNotificationParams;
    /// `notifications/roots/list_changed`. Until 2025-11-25.
    RootsListChanged = "notifications/roots/list_changed": NotificationParams;
    /// `notifications/elicitation/complete`. Only in 2025-11-25.
    ElicitationComplete = "notifications/elicitation/complete": ElicitationCompleteNotificationParams;
    /// `notifications/tasks/status`. Only in 2025-11-25.
    TasksStatus = "notifications/tasks/status": LegacyTask;
    /// `notifications/subscriptions/acknowledged`. Since 2026-07-28.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged": SubscriptionsAcknowledgedNotificationParams;
    /// `notifications/tasks` of the tasks extension.
    Tasks = "notifications/tasks": DetailedTask;
}
