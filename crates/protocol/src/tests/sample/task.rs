//! Tasks and subscriptions.

use crate::{
    DetailedTask, ErrorObject, LegacyListTasksResult, LegacyTask, SubscriptionFilter, Task,
    TaskMetadata, TaskState, TaskStatus,
};

use super::{Fullness, input_requests};

pub(crate) fn task_metadata(f: Fullness) -> TaskMetadata {
    TaskMetadata { ttl: f.opt(60_000) }
}

pub(crate) fn task(f: Fullness, status: TaskStatus) -> Task {
    Task {
        task_id: "task-1".into(),
        status,
        status_message: f.opt("half done".into()),
        created_at: "2026-07-28T00:00:00Z".into(),
        last_updated_at: "2026-07-28T00:00:01Z".into(),
        ttl_ms: f.opt(60_000),
        poll_interval_ms: f.opt(500),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) const STATUSES: [TaskStatus; 5] = [
    TaskStatus::Working,
    TaskStatus::InputRequired,
    TaskStatus::Completed,
    TaskStatus::Failed,
    TaskStatus::Cancelled,
];

pub(crate) fn legacy_tasks(f: Fullness) -> LegacyListTasksResult {
    let bare = |status| {
        LegacyTask::from(Task {
            meta: None,
            ..task(f, status)
        })
    };
    LegacyListTasksResult {
        tasks: STATUSES.into_iter().map(bare).collect(),
        next_cursor: f.opt("next".into()),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    }
}

pub(crate) fn detailed_tasks(f: Fullness) -> Vec<DetailedTask> {
    let result = serde_json::value::to_raw_value(&serde_json::json!({"content": []})).unwrap();
    [
        TaskState::Working,
        TaskState::InputRequired(input_requests(f)),
        TaskState::Completed(result),
        TaskState::Failed(ErrorObject::internal("broken")),
        TaskState::Cancelled,
    ]
    .into_iter()
    .map(|state| DetailedTask {
        task_id: "task-1".into(),
        state,
        status_message: f.opt("half done".into()),
        created_at: "2026-07-28T00:00:00Z".into(),
        last_updated_at: "2026-07-28T00:00:01Z".into(),
        ttl_ms: f.opt(60_000),
        poll_interval_ms: f.opt(500),
        meta: f.message_meta(),
        other: crate::OtherMembers::new(),
    })
    .collect()
}

/// Without tasks, which belong to the extension.
pub(crate) fn subscription_filter(f: Fullness) -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: f.opt(true),
        prompts_list_changed: f.opt(true),
        resources_list_changed: f.opt(true),
        resource_subscriptions: f.opt(vec!["file:///a.txt".into()]),
        task_ids: None,
    }
}
