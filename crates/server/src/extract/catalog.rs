//! The catalog from inside a handler: tools that add tools.

use super::Extract;
use crate::{Call, Catalog, Failure};

impl Extract for Catalog {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self::of(&call.shared))
    }
}
