//! The description of a handler, made when it is registered.

use std::any::TypeId;

use super::{arguments::Arguments, output_check::OutputCheck};

/// What a handler needs and returns, as its extractors and its return type describe it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of a handler, whatever the others say"
)]
#[derive(Default)]
pub struct Description {
    pub(crate) arguments: Option<Arguments>,
    pub(crate) output: Option<OutputCheck>,
    /// Whether the output schema was written by hand, so that the return type does not set it.
    pub(crate) is_output_declared: bool,
    /// Whether the handler takes the params of an extension's method.
    pub(crate) takes_params: bool,
    /// Whether the function needs the HTTP request.
    pub(crate) reads_http: bool,
    /// Whether the function completes an argument.
    pub(crate) completes: bool,
    /// Whether the function lists resources.
    pub(crate) lists: bool,
    /// Whether the handler itself decides when its call becomes a task.
    pub(crate) begins_task: bool,
    pub(crate) states: Vec<(TypeId, &'static str)>,
    pub(crate) problems: Vec<String>,
    /// Whether the handler sends log messages.
    pub(crate) logs: bool,
    /// Whether the handler takes the catalog, and so can add entries while the server runs.
    pub(crate) changes_catalog: bool,
}

impl Description {
    /// Reports that the handler cannot be registered, and why. Building the server then fails with
    /// this message.
    pub fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    /// Adds the description of an extractor in an `Option`. The handler can do without the
    /// extractor's state, and can be used where the extractor has no value.
    pub(crate) fn add_optional(&mut self, inner: Self) {
        if inner.arguments.is_some() {
            self.problem(
                "arguments cannot be optional as a whole: take `Args<T>` and make the fields of \
                 `T` optional",
            );
        }
        self.problems.extend(inner.problems);
        self.begins_task |= inner.begins_task;
        self.reads_http |= inner.reads_http;
        self.logs |= inner.logs;
        self.changes_catalog |= inner.changes_catalog;
    }
}
