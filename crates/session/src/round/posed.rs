//! A question as a handler poses it, before anybody has to be sent it.

use std::borrow::Cow;

use turnbuckle_protocol::{ElicitRequestFormParams, ElicitSchema, InputRequest};

use super::{Fingerprint, canonical::Hasher, question};

/// A form, and what tells it from others, found out once: forms are asked often and change never.
#[derive(Clone, Debug)]
pub struct FormSchema {
    schema: ElicitSchema,
    digest: [u8; 32],
}

impl FormSchema {
    /// Of these fields.
    pub fn new(schema: ElicitSchema) -> Self {
        let digest = digest(&schema);
        Self { schema, digest }
    }

    /// The fields.
    pub const fn fields(&self) -> &ElicitSchema {
        &self.schema
    }
}

/// What tells the fields of a form from others. Their order is a part of what people see.
pub(super) fn digest(schema: &ElicitSchema) -> [u8; 32] {
    let mut hasher = Hasher::new("turnbuckle form");
    hasher.written(schema);
    hasher.finish()
}

/// A question, made into a request only where it has to be sent.
#[derive(Clone, Debug)]
pub enum Posed {
    /// Any question.
    Request(InputRequest),
    /// A form whose fields are shared by all who ask it.
    Form {
        /// What the person reads.
        message: String,
        /// The fields.
        schema: Cow<'static, FormSchema>,
    },
}

impl Posed {
    /// What the question is recognised by.
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Request(request) => Fingerprint::of(request),
            Self::Form { message, schema } => question::of_form(message, &schema.digest),
        }
    }

    pub(super) fn to_request(&self) -> InputRequest {
        match self {
            Self::Request(request) => request.clone(),
            Self::Form { message, schema } => {
                ElicitRequestFormParams::new(message.as_str(), schema.schema.clone()).into()
            }
        }
    }
}

impl<T: Into<InputRequest>> From<T> for Posed {
    fn from(request: T) -> Self {
        Self::Request(request.into())
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::StringSchema;

    use super::*;

    #[test]
    fn a_form_is_known_by_the_same_whether_it_is_a_request_yet_or_not() {
        let schema = ElicitSchema::new().with_required("name", StringSchema::default());
        let posed = |schema: &ElicitSchema| Posed::Form {
            message: "Name?".into(),
            schema: Cow::Owned(FormSchema::new(schema.clone())),
        };
        let request = posed(&schema).to_request();
        assert_eq!(posed(&schema).fingerprint(), Fingerprint::of(&request));
        let other = schema.with("note", StringSchema::default());
        assert_ne!(posed(&other).fingerprint(), Fingerprint::of(&request));
    }
}
