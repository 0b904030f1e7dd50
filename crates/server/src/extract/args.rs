//! The arguments of a call.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::Extract;
use crate::{Call, Failure, Fault, arguments::Arguments, describe::Description};

/// The arguments, as a type of yours.
///
/// The tool's input schema is the schema of `T`: doc comments become descriptions, `Option`
/// fields may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Args<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send> Extract for Args<T> {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let arguments = call.arguments.as_deref().ok_or_else(|| {
            Failure::Fault(Fault::new("the handler was registered without arguments"))
        })?;
        arguments.read(call.input()).map(Self)
    }

    fn describe(description: &mut Description) {
        if description.arguments.is_some() {
            description.problem("a handler takes its arguments once: two `Args` parameters");
        }
        match turnbuckle_schema::arguments_schema::<T>() {
            Ok(schema) => description.arguments = Some(Arguments::derived::<T>(schema)),
            Err(error) => description.problem(error.to_string()),
        }
    }
}

/// The arguments as they came: a JSON object, unparsed and unchecked.
///
/// For handlers that pass them on. Give the tool its schema with
/// [`Tool::input_schema`](crate::Tool::input_schema).
#[derive(Clone, Debug)]
pub struct RawArgs(pub Option<Box<RawValue>>);

impl Extract for RawArgs {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self(call.raw_arguments().map(ToOwned::to_owned)))
    }
}
