//! A question as a handler asks it, before it is sent to a client.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::value::{RawValue, to_raw_value};
use turnbuckle_protocol::{ElicitRequestFormParams, ElicitSchema, FormMode, InputRequest};

use super::{Fingerprint, canonical::Hasher, question};

/// A form with its serialised fields and their digest. They are computed once, because forms are asked
/// often and never change.
#[derive(Clone, Debug)]
pub struct FormSchema {
    schema: ElicitSchema,
    /// The serialised fields, if they can be serialised.
    text: Option<Box<RawValue>>,
    digest: [u8; 32],
    /// Why the form must not be sent, or `None`.
    fault: Option<&'static str>,
}

impl FormSchema {
    /// Creates a form with these fields.
    pub fn new(schema: ElicitSchema) -> Self {
        Self {
            text: to_raw_value(&schema).ok(),
            digest: digest(&schema),
            fault: question::form_fault(&schema),
            schema,
        }
    }

    /// Returns why the form must not be sent, or `None`.
    pub(super) const fn fault(&self) -> Option<&'static str> {
        self.fault
    }

    /// Returns the fields.
    pub const fn fields(&self) -> &ElicitSchema {
        &self.schema
    }
}

/// Returns the digest of the fields. It depends on their order, because users see it.
pub(super) fn digest(schema: &ElicitSchema) -> [u8; 32] {
    let mut hasher = Hasher::new("turnbuckle form");
    hasher.written(schema);
    hasher.finish()
}

/// A question that is converted to a request only when it is sent.
#[derive(Clone, Debug)]
pub enum QuestionDraft {
    /// Any question.
    Request(InputRequest),
    /// A form whose fields may be shared by all calls.
    Form {
        /// The message for the user.
        message: String,
        /// The fields.
        schema: Cow<'static, FormSchema>,
    },
}

impl QuestionDraft {
    /// Returns the fingerprint of the question.
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Request(request) => Fingerprint::of(request),
            Self::Form { message, schema } => question::of_form(message, &schema.digest),
        }
    }

    /// Returns the question as a request.
    pub fn to_request(&self) -> InputRequest {
        match self {
            Self::Request(request) => request.clone(),
            Self::Form { message, schema } => {
                ElicitRequestFormParams::new(message.as_str(), schema.schema.clone()).into()
            }
        }
    }
}

/// Serialised as the request.
impl Serialize for QuestionDraft {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Request(request) => request.serialize(serializer),
            Self::Form { message, schema } => match &schema.text {
                Some(text) => written(message, text, serializer),
                None => self.to_request().serialize(serializer),
            },
        }
    }
}

/// Serialises a form as a request, without copying its fields.
fn written<S: Serializer>(
    message: &str,
    requested_schema: &RawValue,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        mode: FormMode,
        message: &'a str,
        requested_schema: &'a RawValue,
    }
    let mut request = serializer.serialize_struct("InputRequest", 2)?;
    request.serialize_field("method", "elicitation/create")?;
    let params = Params {
        mode: FormMode::Form,
        message,
        requested_schema,
    };
    request.serialize_field("params", &params)?;
    request.end()
}

impl<T: Into<InputRequest>> From<T> for QuestionDraft {
    fn from(request: T) -> Self {
        Self::Request(request.into())
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::StringSchema;

    use super::*;

    #[test]
    fn a_form_is_the_same_whether_it_is_a_request_yet_or_not() {
        let schema = ElicitSchema::new().with_required("name", StringSchema::default());
        let posed = |schema: &ElicitSchema| QuestionDraft::Form {
            message: "Name?".into(),
            schema: Cow::Owned(FormSchema::new(schema.clone())),
        };
        let request = posed(&schema).to_request();
        assert_eq!(posed(&schema).fingerprint(), Fingerprint::of(&request));
        let [written, sent] = [
            serde_json::to_string(&posed(&schema)).unwrap(),
            serde_json::to_string(&request).unwrap(),
        ];
        assert_eq!(written, sent);
        let other = schema.with("note", StringSchema::default());
        assert_ne!(posed(&other).fingerprint(), Fingerprint::of(&request));
    }
}
