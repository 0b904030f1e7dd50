//! Reads the dates of a certificate, with the necessary part of X.509.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time during which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) from: SystemTime,
    pub(super) until: SystemTime,
}

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Reads the dates of a certificate in DER. `None` if it is not a certificate.
pub(super) fn validity(der: &[u8]) -> Option<Validity> {
    let mut certificate = Reader(der);
    let mut body = Reader(certificate.of(SEQUENCE)?);
    let mut body = Reader(body.of(SEQUENCE)?);
    let mut element = body.next()?;
    if element.0 == VERSION {
        element = body.next()?;
    }
    // The serial number has been read; the algorithm and the issuer follow.
    let _ = element;
    body.of(SEQUENCE)?;
    body.of(SEQUENCE)?;
    let mut dates = Reader(body.of(SEQUENCE)?);
    let mut date = || {
        let (tag, text) = dates.next()?;
        date(tag, text)
    };
    Some(Validity {
        from: date()?,
        until: date()?,
    })
}

/// Reads elements of DER.
struct Reader<'d>(&'d [u8]);

impl<'d> Reader<'d> {
    /// The next element: its tag and its contents.
    fn next(&mut self) -> Option<(u8, &'d [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let length = if first < 0x80 {
            usize::from(first)
        } else {
            let count = usize::from(first & 0x7f);
            // No certificate has a length of more than four bytes.
            if count == 0 || count > 4 || rest.len() < count {
                return None;
            }
            let (bytes, after) = rest.split_at(count);
            rest = after;
            bytes
                .iter()
                .fold(0, |length, byte| length << 8 | usize::from(*byte))
        };
        if rest.len() < length {
            return None;
        }
        let (contents, after) = rest.split_at(length);
        self.0 = after;
        Some((tag, contents))
    }

    fn of(&mut self, wanted: u8) -> Option<&'d [u8]> {
        let (tag, contents) = self.next()?;
        (tag == wanted).then_some(contents)
    }
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn date(tag: u8, text: &[u8]) -> Option<SystemTime> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i64 = year.parse().ok()?;
            // RFC 5280: years from 50 to 99 are in the last century.
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let number = |from: usize| rest.get(from..from + 2)?.parse::<i64>().ok();
    let days = days(year, number(0)?, number(2)?);
    let seconds = days * 86_400 + number(4)? * 3600 + number(6)? * 60 + number(8)?;
    let seconds = u64::try_from(seconds).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// The days since 1970 of a date in the Gregorian calendar. Years begin in March in this calculation.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_both_kinds_are_read() {
        let at = |seconds| Some(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(date(UTC_TIME, b"700101000000Z"), at(0));
        assert_eq!(date(UTC_TIME, b"240229120000Z"), at(1_709_208_000));
        assert_eq!(
            date(GENERALIZED_TIME, b"20500101000000Z"),
            at(2_524_608_000)
        );
        for wrong in ["", "Z", "2402", "24022912000xZ", "240229120000"] {
            assert_eq!(date(UTC_TIME, wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn bytes_that_are_not_a_certificate_have_no_dates() {
        for der in [
            &b""[..],
            b"\x30",
            b"\x30\x84\xff\xff\xff\xff",
            b"\x30\x80\x00\x00",
            b"\x30\x02\x30\x00",
            &[0x30; 64],
        ] {
            assert_eq!(validity(der), None);
        }
    }
}
