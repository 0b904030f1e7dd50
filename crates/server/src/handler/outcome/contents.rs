//! Conversions into the contents of a resource.
//!
//! Contents without a URI get the URI that was read, and contents without a media type get that of
//! the resource.

use std::error::Error;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use turnbuckle_protocol::{
    BlobResourceContents, ReadResourceResult, ResourceContents, TextResourceContents,
};

use super::{IntoOutcome, Json, Unsendable};
use crate::Failure;

impl IntoOutcome<ReadResourceResult> for ReadResourceResult {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        Ok(self)
    }
}

impl IntoOutcome<ReadResourceResult> for ResourceContents {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        Ok(ReadResourceResult::new(vec![self]))
    }
}

impl IntoOutcome<ReadResourceResult> for Vec<ResourceContents> {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        Ok(ReadResourceResult::new(self))
    }
}

impl IntoOutcome<ReadResourceResult> for String {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        ResourceContents::Text(TextResourceContents::new("", self)).into_outcome()
    }
}

impl IntoOutcome<ReadResourceResult> for &'static str {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        self.to_owned().into_outcome()
    }
}

/// Becomes a text of JSON.
impl IntoOutcome<ReadResourceResult> for serde_json::Value {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        Json(self).into_outcome()
    }
}

impl IntoOutcome<ReadResourceResult> for Vec<u8> {
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        let contents = BlobResourceContents::new("", STANDARD.encode(self));
        ResourceContents::Blob(contents).into_outcome()
    }
}

impl<T, E> IntoOutcome<ReadResourceResult> for Result<T, E>
where
    T: IntoOutcome<ReadResourceResult>,
    E: Into<Failure>,
{
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        self.map_err(Into::into)?.into_outcome()
    }
}

impl<T> IntoOutcome<ReadResourceResult, Unsendable> for Result<T, Box<dyn Error>>
where
    T: IntoOutcome<ReadResourceResult>,
{
    fn into_outcome(self) -> Result<ReadResourceResult, Failure> {
        self.map_err(Failure::of_unsendable)?.into_outcome()
    }
}
