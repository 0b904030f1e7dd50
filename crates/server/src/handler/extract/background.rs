//! Going to the background in the middle of a call.

use std::sync::Arc;

use crate::{
    Call, Extract, Failure,
    handler::{Description, TaskChannel},
};

/// Lets a tool with `task` choose when it becomes a task: not when it is called, but where it says
/// [`begin`](Self::begin).
///
/// What comes before, questions to the user included, is part of the call itself, so that a client
/// hears of a mistake or a missing answer at once. Where the client started the call as a task, or
/// knows nothing of tasks, there is nothing to begin and the handler simply goes on.
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
    /// Goes on as a task: the client is given the task's id, and need not wait any longer. Code
    /// above this may run again if it asks something; code below it runs once.
    ///
    /// # Cancel safety
    /// If the task cannot begin, because too many are running, the call ends with that and the
    /// future is dropped.
    pub async fn begin(&self) {
        if let Some(channel) = &self.0 {
            channel.ask_to_begin().await;
        }
    }

    /// The id of the task, if the call is one by now.
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
