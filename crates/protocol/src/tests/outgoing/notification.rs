//! Notifications.

use crate::{
    ElicitationCompleteNotificationParams, NotificationParams, ResourceUpdatedNotificationParams,
    method,
};

use crate::tests::{generator::Generator, sample};

pub(super) fn notifications(g: &mut Generator) {
    let (f, to) = (g.f, g.to);
    let empty = NotificationParams {
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    };
    let of = ["NotificationParams"];
    g.notification::<method::Initialized>("InitializedNotification", &of, empty.clone());
    g.notification::<method::ToolsListChanged>("ToolListChangedNotification", &of, empty.clone());
    let exact = "PromptListChangedNotification";
    g.notification::<method::PromptsListChanged>(exact, &of, empty.clone());
    let exact = "ResourceListChangedNotification";
    g.notification::<method::ResourcesListChanged>(exact, &of, empty.clone());
    g.notification::<method::RootsListChanged>("RootsListChangedNotification", &of, empty);

    let of = ["CancelledNotificationParams"];
    let cancelled = sample::cancelled_params(f, to);
    g.notification::<method::Cancelled>("CancelledNotification", &of, cancelled);
    let of = ["ProgressNotificationParams"];
    g.notification::<method::Progress>("ProgressNotification", &of, sample::progress_params(f));
    let of = ["LoggingMessageNotificationParams"];
    g.notification::<method::Message>("LoggingMessageNotification", &of, sample::log_params(f));
    let of = ["ResourceUpdatedNotificationParams"];
    let uri = "file:///a.txt".into();
    let updated = ResourceUpdatedNotificationParams {
        uri,
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    };
    g.notification::<method::ResourcesUpdated>("ResourceUpdatedNotification", &of, updated);
    let of = ["SubscriptionsAcknowledgedNotificationParams"];
    let exact = "SubscriptionsAcknowledgedNotification";
    let accepted = sample::acknowledged_params(f);
    g.notification::<method::SubscriptionsAcknowledged>(exact, &of, accepted);

    // The schema of 2025-11-25 has no `_meta` here.
    let elicitation_id = "visit-1".into();
    let done = ElicitationCompleteNotificationParams {
        elicitation_id,
        meta: None,
    };
    g.notification::<method::ElicitationComplete>("ElicitationCompleteNotification", &[], done);
}
