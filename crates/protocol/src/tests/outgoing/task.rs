//! Tasks of 2025-11-25.

use crate::{LegacyCreateTaskResult, LegacyTask, Task, TaskRequestParams, method};
use serde_json::json;

use crate::tests::{
    generator::{Generator, written},
    sample,
};

pub(super) fn tasks(g: &mut Generator) {
    let f = g.f;
    // The schema has no `_meta` in these params.
    let params = TaskRequestParams {
        task_id: "task-1".into(),
        meta: None,
    };
    g.request::<method::LegacyTasksGet>("GetTaskRequest", &[], params.clone());
    g.request::<method::LegacyTasksCancel>("CancelTaskRequest", &[], params.clone());
    g.request::<method::TasksResult>("GetTaskPayloadRequest", &[], params);
    let page = sample::page_params(f, g.to);
    g.request::<method::TasksList>("ListTasksRequest", &["PaginatedRequestParams"], page);

    let list = sample::legacy_tasks(f);
    g.result::<method::TasksList>("ListTasksResult", "", &["PaginatedResult"], list);
    for status in sample::STATUSES {
        one_task(g, &sample::task(f, status));
    }
    let payload = g.lowered(sample::call_result(f));
    g.push(&[], &["GetTaskPayloadResult"], payload);
    g.push(&["TaskMetadata"], &[], written(&sample::task_metadata(f)));
    g.push(&["RelatedTaskMetadata"], &[], json!({"taskId": "task-1"}));
}

fn one_task(g: &mut Generator, task: &Task) {
    let alone = Task {
        meta: None,
        ..task.clone()
    };
    g.value(&["Task"], &[], LegacyTask::from(alone));
    g.value(
        &["CreateTaskResult"],
        &["Result"],
        LegacyCreateTaskResult::from(task.clone()),
    );
    let task = LegacyTask::from(task.clone());
    g.result::<method::LegacyTasksGet>("GetTaskResult", "", &[], task.clone());
    g.result::<method::LegacyTasksCancel>("CancelTaskResult", "", &[], task.clone());
    let of = ["TaskStatusNotificationParams"];
    g.notification::<method::TasksStatus>("TaskStatusNotification", &of, task);
}
