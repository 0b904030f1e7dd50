//! A plain value as the argument of a tool that takes one.

use std::future::IntoFuture;

use serde::ser::Error;
use turnbuckle_protocol::Tool;

use super::{List, arguments::Arguments, builder::Subject};
use crate::{error::CallError, link::Link};

const METHOD: &str = "tools/call";

/// Names a plain value after the only argument that its tool takes. The tools are listed for that.
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
