//! The extractor for `Changes`.

use super::Extract;
use crate::{Call, Changes, Failure};

impl Extract for Changes {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(call.context.changes.clone())
    }
}
