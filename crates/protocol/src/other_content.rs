//! Content of an unknown type.

use serde::{Deserialize, Deserializer, Serialize};

use crate::JsonObject;

/// Content of a type that this version does not know, with all its members.
///
/// It is kept so that such content does not make the rest unreadable, and can be passed on unchanged.
///
/// ```
/// use turnbuckle_protocol::ContentBlock;
///
/// let block: ContentBlock = serde_json::from_str(r#"{"type":"video","data":"AA=="}"#)?;
/// let ContentBlock::Other(other) = &block else { panic!("there is no video yet") };
/// assert_eq!(other.kind, "video");
/// assert_eq!(other.members["data"], "AA==");
/// assert_eq!(serde_json::to_string(&block)?, r#"{"type":"video","data":"AA=="}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OtherContent {
    /// The `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The other members, unchanged.
    #[serde(flatten)]
    pub members: JsonObject,
}

impl OtherContent {
    /// Creates content of a type, with its other members.
    pub fn new(kind: impl Into<String>, members: JsonObject) -> Self {
        Self {
            kind: kind.into(),
            members,
        }
    }

    pub(crate) fn read<'de, D: Deserializer<'de>>(kind: &str, rest: D) -> Result<Self, D::Error> {
        Ok(Self {
            kind: kind.to_owned(),
            members: JsonObject::deserialize(rest)?,
        })
    }
}
