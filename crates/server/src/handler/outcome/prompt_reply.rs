//! Conversions into a prompt.

use std::error::Error;

use turnbuckle_protocol::{ContentBlock, GetPromptResult, PromptMessage};

use super::{Audio, Image, IntoOutcome, Unsendable};
use crate::Failure;

fn from_user(content: ContentBlock) -> GetPromptResult {
    GetPromptResult::new(vec![PromptMessage::user(content)])
}

impl IntoOutcome<GetPromptResult> for GetPromptResult {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(self)
    }
}

impl IntoOutcome<GetPromptResult> for PromptMessage {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(GetPromptResult::new(vec![self]))
    }
}

impl IntoOutcome<GetPromptResult> for Vec<PromptMessage> {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(GetPromptResult::new(self))
    }
}

impl<const N: usize> IntoOutcome<GetPromptResult> for [PromptMessage; N] {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(GetPromptResult::new(self.into()))
    }
}

impl IntoOutcome<GetPromptResult> for String {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(from_user(ContentBlock::text(self)))
    }
}

impl IntoOutcome<GetPromptResult> for &'static str {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(from_user(ContentBlock::text(self)))
    }
}

impl IntoOutcome<GetPromptResult> for ContentBlock {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(from_user(self))
    }
}

impl IntoOutcome<GetPromptResult> for Image {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(from_user(self.into()))
    }
}

impl IntoOutcome<GetPromptResult> for Audio {
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        Ok(from_user(self.into()))
    }
}

impl<T, E> IntoOutcome<GetPromptResult> for Result<T, E>
where
    T: IntoOutcome<GetPromptResult>,
    E: Into<Failure>,
{
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        self.map_err(Into::into)?.into_outcome()
    }
}

impl<T> IntoOutcome<GetPromptResult, Unsendable> for Result<T, Box<dyn Error>>
where
    T: IntoOutcome<GetPromptResult>,
{
    fn into_outcome(self) -> Result<GetPromptResult, Failure> {
        self.map_err(Failure::of_unsendable)?.into_outcome()
    }
}
