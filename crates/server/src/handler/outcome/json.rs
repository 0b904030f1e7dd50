//! Structured results.

use schemars::JsonSchema;
use serde::Serialize;
use turnbuckle_protocol::{
    CallToolResult, ReadResourceResult, ResourceContents, TextResourceContents,
};

use super::IntoOutcome;
use crate::{
    Failure, Fault,
    handler::{Description, OutputCheck},
};

/// A structured result with a schema.
///
/// If a tool returns it, it becomes `structuredContent` with an output schema, and is repeated as
/// text for clients without structured content. If a resource returns it, it becomes JSON text.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Serialize;
/// use turnbuckle_server::{Json, Tool};
///
/// #[derive(Serialize, JsonSchema)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// let tool = Tool::new("weather", async || Json(Weather { celsius: 9.0 }));
/// # drop(tool);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> Json<T> {
    fn to_text(&self) -> Result<String, Failure> {
        serde_json::to_string(&self.0).map_err(|error| unwritable(&error))
    }
}

fn unwritable(error: &serde_json::Error) -> Failure {
    let problem = format!("the result cannot be written as JSON: {error}");
    Failure::Fault(Fault::new(problem))
}

impl<T: Serialize + JsonSchema> IntoOutcome<CallToolResult> for Json<T> {
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        CallToolResult::structured(&self.0).map_err(|error| unwritable(&error))
    }

    fn describe(description: &mut Description) {
        let schema = turnbuckle_schema::output_schema::<T>();
        description.output = Some(OutputCheck::new(schema));
    }
}

impl<T: Serialize> IntoOutcome<ReadResourceResult> for Json<T> {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        let contents = TextResourceContents::new("", self.to_text()?);
        let contents = contents.with_mime_type("application/json");
        ResourceContents::Text(contents).into_outcome()
    }
}
