//! Content of a kind that this version does not know.

use serde::{Deserialize, Deserializer, Serialize};

use crate::JsonObject;

/// A piece of content of a kind that this version does not know, with all that came with it.
///
/// It is kept so that one such piece does not make the others unreadable, and passed on as it came.
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
    /// Its `type`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its other members, as they came.
    #[serde(flatten)]
    pub members: JsonObject,
}

impl OtherContent {
    /// Content of a kind, with its other members.
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
