//! `Background`: lets a handler choose when its call becomes a task.

use std::sync::Arc;

use crate::{
    Call, Extract, Failure,
    handler::{Description, TaskChannel},
};

/// Lets a tool with `task` decide when it becomes a task: when [`begin`](Self::begin) is called,
/// and not when the tool is called.
///
/// Work before `begin`, including questions to the user, belongs to the call itself: the client
/// gets errors and questions as the answer to its call. If the client started the call as a task,
/// or does not support tasks, `begin` does nothing.
///
/// ```
/// use turnbuckle_server::{Background, Tool, ToolError};
/// # async fn check() -> Result<(), ToolError> { Ok(()) }
/// # async fn build_it() {}
///
/// async fn build(background: Background) -> Result<String, ToolError> {
///     check().await?; // a mistake is answered at once
///     background.begin().await;
///     build_it().await; // takes an hour
///     Ok("built".into())
/// }
///
/// let tool = Tool::new("build", build).task();
/// ```
#[derive(Clone)]
pub struct Background(Option<Arc<TaskChannel>>);

impl Background {
    /// Continues as a task: the client gets the task's id and need not wait any longer. Code before
    /// it may run again if the handler asks a question; code after it runs once.
    ///
    /// # Cancel safety
    /// If the task cannot begin, because too many are running, the call ends with an error and this
    /// future is dropped.
    pub async fn begin(&self) {
        if let Some(channel) = &self.0 {
            channel.ask_to_begin().await;
        }
    }

    /// Returns the id of the task, if the call has become a task. `None` before
    /// [`begin`](Self::begin), and for clients that do not support tasks.
    pub fn task_id(&self) -> Option<&str> {
        let task = self.0.as_ref()?.task()?;
        Some(&task.task_id)
    }
}

impl Extract for Background {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self(call.task.clone()))
    }

    fn describe(description: &mut Description) {
        description.begins_task = true;
    }
}
