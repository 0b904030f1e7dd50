//! Cursors: where the next page of a list begins.
//!
//! `t7` means the seventh tool that every caller sees. An entry that only some callers see is
//! identified by the last entry before it that every caller sees, and by a fingerprint of its own
//! key: `t7-` and sixteen hexadecimal digits. Neither form reveals entries that the caller does not
//! see, and both mean the same to every process that serves the same list.

/// A position in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The number of the last entry of the page; if only some callers see that entry, the number of
    /// the last entry before it that every caller sees. 0 if there is no such entry.
    pub(super) number: u64,
    /// The fingerprint of the last entry of the page, if only some callers see it.
    pub(super) restricted: Option<u64>,
}

impl Cursor {
    /// The cursor as text: letters, digits and a hyphen.
    pub(super) fn write(self, list: &str) -> String {
        let number = self.number;
        match self.restricted {
            None => format!("{list}{number}"),
            Some(fingerprint) => format!("{list}{number}-{fingerprint:016x}"),
        }
    }

    /// Reads a cursor of this list; `None` if the text is not in the form of a cursor.
    pub(super) fn read(text: &str, list: &str) -> Option<Self> {
        let place = text.strip_prefix(list)?;
        let (number, restricted) = match place.split_once('-') {
            None => (place, None),
            Some((number, fingerprint)) => {
                (number, Some(u64::from_str_radix(fingerprint, 16).ok()?))
            }
        };
        let number = number.parse().ok()?;
        let cursor = Self { number, restricted };
        // Each cursor has only one text: no signs, no leading zeros.
        (cursor.write(list) == text).then_some(cursor)
    }
}

/// FNV-1a of a key. It must be the same in every process. It need not resist attacks, because the
/// author chooses the keys.
pub(crate) fn fingerprint(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_in_the_form_in_which_it_is_written_and_in_no_other() {
        for restricted in [None, Some(0), Some(fingerprint("secret")), Some(u64::MAX)] {
            let cursor = Cursor {
                number: 7,
                restricted,
            };
            assert_eq!(Cursor::read(&cursor.write("t"), "t"), Some(cursor));
            assert_eq!(Cursor::read(&cursor.write("t"), "p"), None);
        }
        let bad = [
            "",
            "t",
            "t-1",
            "t+1",
            "t07",
            "t7-",
            "t7-1",
            "t7-+00000000000000f",
            "t7-00000000000000FF",
            "t7-00000000000000000",
            "t7x",
            " t7",
            "t99999999999999999999",
        ];
        for text in bad {
            assert_eq!(Cursor::read(text, "t"), None, "{text}");
        }
    }
}
