//! Conversions into the result of a tool.

use std::error::Error;

use turnbuckle_protocol::{CallToolResult, ContentBlock, EmbeddedResource, ResourceLink};

use super::{Audio, Image, IntoOutcome, Unsendable};
use crate::{Failure, ToolError, handler::Description};

impl IntoOutcome<CallToolResult> for CallToolResult {
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        Ok(self)
    }
}

impl IntoOutcome<CallToolResult> for () {
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::default())
    }
}

impl IntoOutcome<CallToolResult> for String {
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::new(vec![ContentBlock::text(self)]))
    }
}

/// JSON without a schema: an object becomes structured content and the same as text.
impl IntoOutcome<CallToolResult> for serde_json::Value {
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        Ok(self.into())
    }
}

impl<B: Into<ContentBlock>> IntoOutcome<CallToolResult> for Vec<B> {
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::new(
            self.into_iter().map(Into::into).collect(),
        ))
    }
}

impl<const N: usize, B: Into<ContentBlock>> IntoOutcome<CallToolResult> for [B; N] {
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        Ok(CallToolResult::new(
            self.into_iter().map(Into::into).collect(),
        ))
    }
}

macro_rules! as_text {
    ($($kind:ty),*) => {
        $(impl IntoOutcome<CallToolResult> for $kind {
            fn into_outcome(self) -> Result<CallToolResult, Failure> {
                Ok(CallToolResult::new(vec![ContentBlock::text(self.to_string())]))
            }
        })*
    };
}

as_text!(&'static str, bool, char, i8, i16, i32, i64, i128, isize);
as_text!(u8, u16, u32, u64, u128, usize, f32, f64);

macro_rules! as_block {
    ($($kind:ty),*) => {
        $(impl IntoOutcome<CallToolResult> for $kind {
            fn into_outcome(self) -> Result<CallToolResult, Failure> {
                Ok(CallToolResult::new(vec![self.into()]))
            }
        })*
    };
}

as_block!(ContentBlock, Image, Audio, ResourceLink, EmbeddedResource);

impl<T, E> IntoOutcome<CallToolResult> for Result<T, E>
where
    T: IntoOutcome<CallToolResult>,
    E: Into<ToolError>,
{
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => error.into().into_result(),
        }
    }

    fn describe(description: &mut Description) {
        T::describe(description);
    }
}

impl<T> IntoOutcome<CallToolResult, Unsendable> for Result<T, Box<dyn Error>>
where
    T: IntoOutcome<CallToolResult>,
{
    fn into_outcome(self) -> Result<CallToolResult, Failure> {
        match self {
            Ok(value) => value.into_outcome(),
            Err(error) => ToolError::of_unsendable(error).into_result(),
        }
    }

    fn describe(description: &mut Description) {
        T::describe(description);
    }
}
