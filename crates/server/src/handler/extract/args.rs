//! The arguments of a call.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, value::RawValue};

use super::Extract;
use crate::{
    Call, Failure, Fault,
    handler::{Arguments, Description, arguments::Patterns},
};

/// Extracts the arguments as a type.
///
/// The tool's input schema is the schema of `T`: doc comments become descriptions, and fields of
/// type `Option` are optional. If the arguments do not match, the model gets an error that says
/// what was expected, and the handler does not run.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use turnbuckle_server::{Args, Tool};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum {
///     left: i64,
///     right: i64,
/// }
///
/// async fn add(Args(sum): Args<Sum>) -> String {
///     (sum.left + sum.right).to_string()
/// }
///
/// let tool = Tool::new("add", add);
/// # drop(tool);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Args<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send> Extract for Args<T> {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        read(call).map(Self)
    }

    fn describe(description: &mut Description) {
        describe::<T>(description, |schema| {
            Arguments::derived::<T>(schema, Patterns::SOME)
        });
    }
}

/// Parses the arguments of a call into a type.
pub(super) fn read<T: DeserializeOwned>(call: &Call<'_>) -> Result<T, Failure> {
    let arguments = call.arguments.as_deref().ok_or_else(|| {
        Failure::Fault(Fault::new("the handler was registered without arguments"))
    })?;
    arguments.read(call.input())
}

/// Describes the arguments. `derived` makes them from their schema.
pub(super) fn describe<T: JsonSchema>(
    description: &mut Description,
    derived: impl FnOnce(Map<String, Value>) -> Arguments,
) {
    if description.arguments.is_some() {
        description
            .problem("the handler has two `Args` parameters: use one struct for all arguments");
    }
    match turnbuckle_schema::arguments_schema::<T>() {
        Ok(schema) => description.arguments = Some(derived(schema)),
        Err(error) => description.problem(error.to_string()),
    }
}

/// Extracts the arguments as a JSON object, unparsed and unchecked.
///
/// Use it in handlers that forward the arguments. Set the tool's schema with
/// [`Tool::input_schema`](crate::Tool::input_schema).
#[derive(Clone, Debug)]
pub struct RawArgs(pub Option<Box<RawValue>>);

impl Extract for RawArgs {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self(call.raw_arguments().map(ToOwned::to_owned)))
    }
}
