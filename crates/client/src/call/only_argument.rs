//! Calls of tools with a single plain value as the argument.

use std::future::IntoFuture;

use serde::ser::Error;
use turnbuckle_protocol::Tool;

use super::{List, arguments::Arguments, builder::Subject};
use crate::{error::CallError, link::Link};

const METHOD: &str = "tools/call";

/// Finds the name of the tool's only argument, and makes the plain value that argument. The tools are
/// listed to find the name.
pub(super) async fn name(link: &Link, mut subject: Subject) -> Result<Subject, CallError> {
    let Some(value) = subject.plain.take() else {
        return Ok(subject);
    };
    let tools = List::<Tool>::new(link).into_future().await?;
    let tool = subject.text();
    let listed = tools.iter().find(|listed| listed.name == tool);
    let arguments = listed.map_or_else(
        || Err(Error::custom(format_args!("there is no tool `{tool}`"))),
        |listed| Arguments::Plain(value).for_tool(listed),
    );
    subject.arguments = arguments.map_err(|source| CallError::unwritable(METHOD, source))?;
    Ok(subject)
}
