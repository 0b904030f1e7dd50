//! The journal of a call: its questions, answers and memos, over all its rounds.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Entry, Fingerprint, JournalError};

/// The size limit of the journal of one call as JSON, in bytes.
///
/// One mebibyte: the journal is sent to the client and back in every round, a third larger because of
/// Base64. It is enough for an image made by a model.
pub const MAX_JOURNAL_BYTES: usize = 1024 * 1024;

/// The most questions and memos in the journal of one call.
///
/// A user answers a dozen questions at most; a handler with more is in a loop.
pub const MAX_JOURNAL_ENTRIES: usize = 256;

/// The size of an empty journal, rounded up.
const EMPTY_BYTES: usize = 32;

/// The size of an entry without its key and value: a fingerprint and punctuation, rounded up.
const ENTRY_BYTES: usize = 48;

/// The state of one call so far: the questions, the answers, and the values that its handler stored.
///
/// Answers and memos are kept as the JSON text in which they came, so that they are read identically in
/// every round, on every machine. Serialised, the journal is one line of JSON with a version. It can
/// only be deserialised from text, not from a [`Value`](serde_json::Value).
///
/// ```
/// use turnbuckle_session::round::Journal;
///
/// let mut journal = Journal::new();
/// let price: f64 = serde_json::from_str(journal.record_memo("price", &9.5)?.get())?;
/// let text = serde_json::to_string(&journal)?;
///
/// let later: Journal = serde_json::from_str(&text)?;
/// assert_eq!(later.memo("price").unwrap().get(), "9.5");
/// # assert_eq!(price, 9.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Journal {
    pub(super) asks: BTreeMap<String, Ask>,
    pub(super) memos: BTreeMap<String, Box<RawValue>>,
    bytes: usize,
}

/// A question and, once it has come, its answer.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) question: Fingerprint,
    pub(super) answer: Option<Box<RawValue>>,
}

impl Journal {
    /// Creates an empty journal.
    pub const fn new() -> Self {
        Self {
            asks: BTreeMap::new(),
            memos: BTreeMap::new(),
            bytes: EMPTY_BYTES,
        }
    }

    /// Returns whether there are no questions and no memos.
    pub fn is_empty(&self) -> bool {
        self.asks.is_empty() && self.memos.is_empty()
    }

    /// Returns the number of questions and memos.
    pub fn len(&self) -> usize {
        self.asks.len() + self.memos.len()
    }

    /// Returns an upper bound of the size as JSON, in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many bytes are left.
    pub(super) const fn left(&self) -> usize {
        MAX_JOURNAL_BYTES - self.bytes
    }

    /// Returns the fingerprint of the question under a key.
    pub fn question(&self, key: &str) -> Option<Fingerprint> {
        self.asks.get(key).map(|ask| ask.question)
    }

    /// Returns the answer to the question under a key, unparsed.
    pub fn answer(&self, key: &str) -> Option<&RawValue> {
        self.asks.get(key)?.answer.as_deref()
    }

    /// Returns the memo under a key.
    pub fn memo(&self, key: &str) -> Option<&RawValue> {
        self.memos.get(key).map(|memo| &**memo)
    }

    /// Checks that a question is new or the same as before, without recording it.
    ///
    /// # Errors
    /// [`JournalError::Changed`] if another question was asked under the key.
    pub fn check(&self, key: &str, question: Fingerprint) -> Result<(), JournalError> {
        match self.question(key) {
            Some(before) if before != question => Err(JournalError::Changed {
                key: key.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Records a question. The same question under the same key counts once.
    ///
    /// # Errors
    /// Fails if another question was asked under the key before, or the journal is full.
    pub fn asked(&mut self, key: &str, question: Fingerprint) -> Result<(), JournalError> {
        self.check(key, question)?;
        if !self.asks.contains_key(key) {
            self.enter(Entry::Ask, key, 0)?;
            let answer = None;
            self.asks.insert(key.to_owned(), Ask { question, answer });
        }
        Ok(())
    }

    /// Records an answer. The first one is kept, because the handler may have acted on it.
    ///
    /// # Errors
    /// Fails if nothing was asked under the key, or the journal is full.
    pub fn record_answer(&mut self, key: &str, answer: Box<RawValue>) -> Result<(), JournalError> {
        let left = MAX_JOURNAL_BYTES - self.bytes;
        let Some(ask) = self.asks.get_mut(key) else {
            return Err(JournalError::NotAsked {
                key: key.to_owned(),
            });
        };
        if ask.answer.is_none() {
            let bytes = answer.get().len();
            if bytes > left {
                return Err(too_large(Entry::Answer, key, bytes, left));
            }
            self.bytes += bytes;
            ask.answer = Some(answer);
        }
        Ok(())
    }

    /// Records a value, and returns the recorded value. The first value under a key is kept.
    ///
    /// Continue with the returned value rather than with the argument: then the first round uses
    /// exactly the same value as the later rounds.
    ///
    /// # Errors
    /// Fails if the value cannot be serialised as JSON, or the journal is full.
    pub fn record_memo<T>(&mut self, key: &str, value: &T) -> Result<&RawValue, JournalError>
    where
        T: Serialize + ?Sized,
    {
        let memo = to_raw_value(value).map_err(|source| JournalError::Unwritable {
            key: key.to_owned(),
            source,
        })?;
        self.keep(key, memo)
    }

    pub(super) fn keep(
        &mut self,
        key: &str,
        memo: Box<RawValue>,
    ) -> Result<&RawValue, JournalError> {
        if !self.memos.contains_key(key) {
            self.enter(Entry::Memo, key, memo.get().len())?;
        }
        Ok(self.memos.entry(key.to_owned()).or_insert(memo))
    }

    /// Checks the limits for one more entry, and counts it.
    fn enter(&mut self, entry: Entry, key: &str, value: usize) -> Result<(), JournalError> {
        let bytes = ENTRY_BYTES + written_length(key) + value;
        let left = MAX_JOURNAL_BYTES - self.bytes;
        if self.len() >= MAX_JOURNAL_ENTRIES {
            return Err(JournalError::TooMany {
                entry,
                key: key.to_owned(),
            });
        }
        if bytes > left {
            return Err(too_large(entry, key, bytes, left));
        }
        self.bytes += bytes;
        Ok(())
    }
}

impl Default for Journal {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the keys only: answers are the user's input, and memos may be secrets.
impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answered = self.asks.iter().filter(|(_, ask)| ask.answer.is_some());
        f.debug_struct("Journal")
            .field("asked", &self.asks.keys())
            .field(
                "answered",
                &answered.map(|(key, _)| key).collect::<Vec<_>>(),
            )
            .field("memos", &self.memos.keys())
            .field("bytes", &self.bytes)
            .finish()
    }
}

/// Returns an upper bound of a text's length as a JSON string.
fn written_length(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

fn too_large(entry: Entry, key: &str, bytes: usize, left: usize) -> JournalError {
    JournalError::TooLarge {
        entry,
        key: key.to_owned(),
        bytes,
        left,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turnbuckle_protocol::{InputRequest, RequestParams};

    use super::*;

    fn roots() -> Fingerprint {
        Fingerprint::of(&InputRequest::ListRoots(RequestParams::default()))
    }

    fn raw(text: impl Into<String>) -> Box<RawValue> {
        RawValue::from_string(text.into()).unwrap()
    }

    #[test]
    fn the_first_answer_and_the_first_memo_stay() {
        let mut journal = Journal::new();
        journal.asked("dirs", roots()).unwrap();
        journal.asked("dirs", roots()).unwrap();
        journal.record_answer("dirs", raw("1")).unwrap();
        journal.record_answer("dirs", raw("2")).unwrap();
        assert_eq!(journal.answer("dirs").unwrap().get(), "1");
        assert_eq!(journal.record_memo("n", &1).unwrap().get(), "1");
        assert_eq!(journal.record_memo("n", &2).unwrap().get(), "1");
        assert_eq!(journal.len(), 2);
    }

    #[test]
    fn an_answer_needs_a_question() {
        let refused = Journal::new().record_answer("dirs", raw("1")).unwrap_err();
        assert!(matches!(refused, JournalError::NotAsked { key } if key == "dirs"));
    }

    #[test]
    fn what_is_too_large_is_named() {
        let mut journal = Journal::new();
        journal.asked("dirs", roots()).unwrap();
        let large = "x".repeat(MAX_JOURNAL_BYTES);
        let refused = journal.record_memo("page", &large).unwrap_err();
        assert!(
            refused.to_string().starts_with("memo `page` needs"),
            "{refused}"
        );
        let refused = journal
            .record_answer("dirs", raw(json!(large).to_string()))
            .unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with("the answer to `dirs` needs"),
            "{refused}"
        );
        let refused = journal.asked(&large, roots()).unwrap_err();
        assert!(refused.to_string().len() < 300, "{refused}");
        assert_eq!(journal.len(), 1);
    }

    #[test]
    fn there_are_only_so_many_entries() {
        let mut journal = Journal::new();
        for number in 0..MAX_JOURNAL_ENTRIES {
            journal.record_memo(&number.to_string(), &number).unwrap();
        }
        let refused = journal.asked("one more", roots()).unwrap_err();
        assert!(matches!(refused, JournalError::TooMany { key, .. } if key == "one more"));
        journal
            .record_memo("7", "what is there stays readable")
            .unwrap();
    }

    #[test]
    fn what_people_answered_is_not_printed() {
        let mut journal = Journal::new();
        journal.asked("pin", roots()).unwrap();
        journal.record_answer("pin", raw("\"1234\"")).unwrap();
        journal.record_memo("token", "s3cret").unwrap();
        let printed = format!("{journal:?}");
        assert!(printed.contains("pin") && printed.contains("token"));
        assert!(!printed.contains("1234") && !printed.contains("s3cret"));
    }
}
