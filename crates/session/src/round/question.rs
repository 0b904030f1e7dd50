//! The identity of a question (its fingerprint), and the checks before it is sent.

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use turnbuckle_protocol::{
    CreateMessageRequestParams, ElicitRequestParams, ElicitSchema, InputRequest, Revision, Role,
    SamplingContent, SamplingMessage,
};

use super::{canonical::Hasher, format::is_uri, question_draft, secret};

/// The kinds of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A form for a user.
    Form,
    /// A URL for a user to visit.
    Url,
    /// Sampling.
    Message,
    /// The roots.
    Roots,
}

impl Kind {
    /// Returns the kind of a question.
    pub fn of(request: &InputRequest) -> Self {
        match request {
            InputRequest::CreateMessage(_) => Self::Message,
            InputRequest::ListRoots(_) => Self::Roots,
            InputRequest::Elicit(params) => match **params {
                ElicitRequestParams::Url(_) => Self::Url,
                _ => Self::Form,
            },
            // A question of another kind is never sent: see `fault`.
            _ => Self::Form,
        }
    }

    const fn letter(self) -> u8 {
        match self {
            Self::Form => b'f',
            Self::Url => b'u',
            Self::Message => b'm',
            Self::Roots => b'r',
        }
    }

    fn from_letter(letter: u8) -> Option<Self> {
        [Self::Form, Self::Url, Self::Message, Self::Roots]
            .into_iter()
            .find(|kind| kind.letter() == letter)
    }
}

/// How many bytes of the digest are kept. Half of SHA-256 is enough: a collision gives no advantage,
/// because a handler could only confuse its own questions.
const FINGERPRINT_BYTES: usize = 16;

/// The length of a fingerprint as text: a letter for the kind, and Base64.
const TEXT_BYTES: usize = 1 + (FINGERPRINT_BYTES * 4).div_ceil(3);

/// The fingerprint by which a repeated question is recognised.
///
/// It is the same in every revision: members that only some revisions have, such as the `elicitationId`
/// of 2025-11-25 or `_meta`, are left out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    kind: Kind,
    digest: [u8; FINGERPRINT_BYTES],
}

impl Fingerprint {
    /// Returns the fingerprint of a question.
    pub fn of(request: &InputRequest) -> Self {
        let mut hasher = Hasher::new("turnbuckle question");
        match request {
            InputRequest::Elicit(params) => match &**params {
                ElicitRequestParams::Form(form) => {
                    return of_form(
                        &form.message,
                        &question_draft::digest(&form.requested_schema),
                    );
                }
                ElicitRequestParams::Url(url) => {
                    hasher.text(&url.message);
                    hasher.text(&url.url);
                }
                _ => hash_whole(request, &mut hasher),
            },
            InputRequest::ListRoots(_) => {}
            _ => hash_whole(request, &mut hasher),
        }
        Self::new(Kind::of(request), hasher)
    }

    fn new(kind: Kind, hasher: Hasher) -> Self {
        let mut digest = [0; FINGERPRINT_BYTES];
        digest.copy_from_slice(&hasher.finish()[..FINGERPRINT_BYTES]);
        Self { kind, digest }
    }

    fn parse(text: &str) -> Option<Self> {
        let text: &[u8; TEXT_BYTES] = text.as_bytes().try_into().ok()?;
        let (letter, base64) = text.split_first()?;
        let kind = Kind::from_letter(*letter)?;
        let mut digest = [0; FINGERPRINT_BYTES];
        let length = BASE64_URL_SAFE_NO_PAD.decode_slice(base64, &mut digest);
        (length == Ok(FINGERPRINT_BYTES)).then_some(Self { kind, digest })
    }

    /// Returns the kind of the question.
    pub const fn kind(&self) -> Kind {
        self.kind
    }
}

/// Returns the fingerprint of a form: of its message, and of the digest of its fields.
pub(super) fn of_form(message: &str, fields: &[u8]) -> Fingerprint {
    let mut hasher = Hasher::new("turnbuckle question");
    hasher.text(message);
    hasher.bytes(fields);
    Fingerprint::new(Kind::Form, hasher)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; TEXT_BYTES];
        let written = BASE64_URL_SAFE_NO_PAD.encode_slice(self.digest, &mut text[1..]);
        text[0] = self.kind.letter();
        written.map_err(|_| fmt::Error)?;
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Fingerprint;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the fingerprint of a question")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Fingerprint, E> {
                Fingerprint::parse(text)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Returns why a question must not be sent, or `None`.
pub(super) fn fault(request: &InputRequest, revision: Revision) -> Option<&'static str> {
    match request {
        InputRequest::CreateMessage(params) => tool_fault(params),
        InputRequest::ListRoots(_) => None,
        InputRequest::Elicit(params) => match &**params {
            // elicitation: in URL mode, `url` MUST contain a valid URL.
            ElicitRequestParams::Url(url) if !is_uri(&url.url) => Some(
                "its `url` is not an absolute URL; write the scheme and escape what is not ASCII",
            ),
            ElicitRequestParams::Url(url)
                if revision.rules().elicitation_ids && url.elicitation_id.is_none() =>
            {
                Some("2025-11-25 needs an `elicitationId` for a URL; set one before asking")
            }
            // elicitation: the URL MUST NOT contain credentials or personal data, nor grant access by
            // itself.
            ElicitRequestParams::Url(url) if secret::is_given_away(&url.url) => Some(
                "its `url` contains credentials or an e-mail address, which everyone who sees the link could \
                 use; link to a page that makes the user sign in",
            ),
            ElicitRequestParams::Form(form) => form_fault(&form.requested_schema),
            ElicitRequestParams::Url(_) => None,
            _ => Some(UNKNOWN),
        },
        _ => Some(UNKNOWN),
    }
}

const UNKNOWN: &str = "its kind is unknown";

fn hash_whole(request: &InputRequest, hasher: &mut Hasher) {
    let neutral = request.clone().lower_to(Revision::LATEST);
    let request = neutral.as_ref().unwrap_or(request);
    // A question that cannot be serialised cannot be sent either, so its fingerprint does not matter.
    hasher.value(&serde_json::to_value(request).unwrap_or(Value::Null));
}

/// elicitation: servers MUST NOT ask for secrets with a form.
pub(super) fn form_fault(schema: &ElicitSchema) -> Option<&'static str> {
    secret::is_asked_for(schema).then_some(
        "a field of the form asks for a secret, which would pass through the client; ask for it on \
         a page of yours, by URL, or rename the field if it is not a secret",
    )
}

/// Returns the first problem with the tool uses and results of a sampling request, or `None`.
///
/// sampling: a user message with tool results MUST contain nothing else, and every tool use MUST be
/// answered in the message that follows.
pub fn tool_fault(params: &CreateMessageRequestParams) -> Option<&'static str> {
    for (index, message) in params.messages.iter().enumerate() {
        let results = tool_results(message).count();
        if results > 0 && (results < message.content.len() || message.role != Role::User) {
            return Some("a message with tool results must be the user's and hold nothing else");
        }
        let following = params.messages.get(index + 1);
        let mut called = message.content.iter().filter_map(|content| match content {
            SamplingContent::ToolUse(call) => Some(&*call.id),
            _ => None,
        });
        if called.any(|id| {
            !following.is_some_and(|message| tool_results(message).any(|result| result == id))
        }) {
            return Some("a tool use must be answered by a tool result in the next message");
        }
    }
    None
}

fn tool_results(message: &SamplingMessage) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|content| match content {
        SamplingContent::ToolResult(result) => Some(&*result.tool_use_id),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::{
        ElicitRequestFormParams, ElicitRequestUrlParams, JsonObject, StringSchema,
        ToolResultContent, ToolUseContent,
    };

    use super::*;

    fn form(message: &str) -> InputRequest {
        let schema = ElicitSchema::new().with("name", StringSchema::default());
        ElicitRequestFormParams::new(message, schema).into()
    }

    #[test]
    fn the_same_question_has_the_same_fingerprint_and_another_has_not() {
        assert_eq!(
            Fingerprint::of(&form("Name?")),
            Fingerprint::of(&form("Name?"))
        );
        assert_ne!(
            Fingerprint::of(&form("Name?")),
            Fingerprint::of(&form("Who?"))
        );
        let bare = ElicitRequestFormParams::new("Name?", ElicitSchema::new());
        assert_ne!(
            Fingerprint::of(&form("Name?")),
            Fingerprint::of(&bare.into())
        );
    }

    #[test]
    fn the_id_of_a_visit_does_not_change_the_fingerprint() {
        let url = ElicitRequestUrlParams::new("Log in", "https://a.example/");
        let named = url.clone().with_elicitation_id("7f");
        assert_eq!(Fingerprint::of(&url.into()), Fingerprint::of(&named.into()));
    }

    #[test]
    fn a_fingerprint_survives_json_and_nothing_else_is_taken_for_one() {
        let fingerprint = Fingerprint::of(&form("Name?"));
        let text = serde_json::to_string(&fingerprint).unwrap();
        assert_eq!(
            serde_json::from_str::<Fingerprint>(&text).unwrap(),
            fingerprint
        );
        for text in [
            "",
            "f",
            "é",
            "xAAAAAAAAAAAAAAAAAAAAAA",
            "fAAAA",
            "f!!!!!!!!!!!!!!!!!!!!!!",
        ] {
            assert!(
                serde_json::from_value::<Fingerprint>(text.into()).is_err(),
                "{text}"
            );
        }
    }

    // rule: E11
    #[test]
    fn a_url_must_be_one_and_be_named_where_the_revision_wants_it() {
        let url = |url: &str| ElicitRequestUrlParams::new("Go", url);
        let latest = Revision::LATEST;
        assert!(fault(&url("not a url").into(), latest).is_some());
        assert!(fault(&url("https://a.example/x").into(), latest).is_none());
        assert!(fault(&url("https://a.example/x").into(), Revision::V2025_11_25).is_some());
        let named = url("https://a.example/x").with_elicitation_id("1");
        assert!(fault(&named.into(), Revision::V2025_11_25).is_none());
    }

    // rule: Q3
    #[test]
    fn tool_uses_must_be_answered_by_messages_of_results_alone() {
        let call = || SamplingContent::ToolUse(ToolUseContent::new("1", "t", JsonObject::new()));
        let result = |id: &str| SamplingContent::ToolResult(ToolResultContent::new(id, vec![]));
        let is_wrong = |messages| {
            let params = CreateMessageRequestParams::new(messages, 10);
            fault(&params.into(), Revision::LATEST).is_some()
        };
        let (user, assistant) = (SamplingMessage::user, SamplingMessage::assistant);
        assert!(!is_wrong(vec![
            user("hi".into()),
            assistant(call()),
            user(result("1"))
        ]));
        assert!(is_wrong(vec![assistant(call())]));
        assert!(is_wrong(vec![assistant(call()), user(result("2"))]));
        assert!(is_wrong(vec![
            assistant(call()),
            user("no".into()),
            user(result("1"))
        ]));
        assert!(is_wrong(vec![assistant(result("1"))]));
        let mut mixed = user(result("1"));
        mixed.content.push("and".into());
        assert!(is_wrong(vec![assistant(call()), mixed]));
    }
}
