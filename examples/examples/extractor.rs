//! Your own extractor: a parameter of a handler that is computed from the call.
//!
//! ```text
//! cargo run -p examples --example extractor
//! ```

use turnbuckle::{Call, CallMeta, Extract, Failure, Reject, prelude::*};

/// The user's language, which this client sends in `_meta`.
struct Language(String);

impl Extract for Language {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let CallMeta(meta) = CallMeta::extract(call)?;
        match meta
            .0
            .get("example.com/language")
            .and_then(|language| language.as_str())
        {
            None => Ok(Self("en".to_owned())),
            Some(language) if language.len() == 2 => Ok(Self(language.to_owned())),
            Some(other) => Err(Reject::invalid_params(format!(
                "`{other}` is not a two-letter language code"
            ))
            .into()),
        }
    }
}

/// Says hello in the user's language.
#[tool(read_only)]
async fn hello(Language(language): Language) -> Result<&'static str, ToolError> {
    match &*language {
        "en" => Ok("Hello!"),
        "de" => Ok("Hallo!"),
        "fr" => Ok("Bonjour !"),
        other => Err(ToolError::new(format!("I do not speak `{other}`"))),
    }
}

#[tokio::main]
async fn main() -> Result<(), turnbuckle::ServeError> {
    turnbuckle::server!().tool(hello).serve(Stdio).await
}
