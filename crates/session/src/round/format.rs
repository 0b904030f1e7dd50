//! The four formats for text fields of a form.

/// Whether a text is a date: `2026-01-31`.
pub(super) fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut part = |length| digits(parts.next()?, length);
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(is_leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Whether a text is a date and time of RFC 3339: `2026-01-31T09:30:00Z`.
pub(super) fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return false;
    };
    let Some((clock, offset)) = time.split_at_checked(8) else {
        return false;
    };
    is_date(date) && is_clock(clock) && is_offset(skip_fraction(offset))
}

/// Whether a text has the form of an e-mail address. Whether it exists is not checked.
pub(super) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_label = |label: &str| {
        let is_inner = |one: char| one.is_alphanumeric() || one == '-';
        !label.is_empty()
            && label.chars().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // The longest local part that RFC 5321 allows.
    (1..=64).contains(&local.len())
        && !local.contains(|one: char| one.is_whitespace() || one.is_control() || one == '@')
        && domain.split('.').all(is_label)
}

/// Whether a text is an absolute URI of RFC 3986.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme_byte = |one: u8| one.is_ascii_alphanumeric() || b"+-.".contains(&one);
    scheme.starts_with(|one: char| one.is_ascii_alphabetic())
        && scheme.bytes().all(is_scheme_byte)
        && !rest.trim_start_matches('/').is_empty()
        && rest
            .bytes()
            .all(|one| one.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&one))
        && rest.split('%').skip(1).all(|escaped| {
            let digits = escaped.as_bytes().first_chunk::<2>();
            digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        })
}

fn is_clock(text: &str) -> bool {
    let mut parts = text.splitn(3, ':');
    let mut part = |most| digits(parts.next()?, 2).filter(|number| *number <= most);
    // A leap second is second 60 of its minute.
    part(23).is_some() && part(59).is_some() && part(60).is_some()
}

fn skip_fraction(text: &str) -> &str {
    match text.strip_prefix('.') {
        Some(fraction) if fraction.starts_with(|one: char| one.is_ascii_digit()) => {
            fraction.trim_start_matches(|one: char| one.is_ascii_digit())
        }
        _ => text,
    }
}

fn is_offset(text: &str) -> bool {
    if text.eq_ignore_ascii_case("z") {
        return true;
    }
    let hours_minutes = text
        .strip_prefix(['+', '-'])
        .and_then(|text| text.split_once(':'));
    hours_minutes.is_some_and(|(hours, minutes)| {
        digits(hours, 2).is_some_and(|hours| hours <= 23)
            && digits(minutes, 2).is_some_and(|minutes| minutes <= 59)
    })
}

/// Parses a number with exactly this many digits.
fn digits(text: &str, length: usize) -> Option<u32> {
    let is_number = text.len() == length && text.bytes().all(|one| one.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is_valid: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(is_valid(text), "{text}");
        }
        for text in bad {
            assert!(!is_valid(text), "{text}");
        }
    }

    #[test]
    fn days_exist() {
        check(
            is_date,
            &["2026-01-31", "2024-02-29", "2000-02-29", "0001-12-01"],
            &[
                "",
                "2026-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-00-10",
                "2026-04-31",
                "2026-1-01",
                "2026-01-00",
                "26-01-01",
                "2026/01/01",
                "2026-01-01-",
                "+026-01-01",
                "२०२६-01-01",
            ],
        );
    }

    #[test]
    fn moments_say_their_offset() {
        check(
            is_date_time,
            &[
                "2026-01-31T09:30:00Z",
                "2026-01-31t23:59:60z",
                "2026-01-31T09:30:00.125+05:30",
            ],
            &[
                "2026-01-31",
                "2026-01-31T09:30:00",
                "2026-01-31T24:00:00Z",
                "2026-01-31T09:60:00Z",
                "2026-01-31T09:30Z",
                "2026-01-31T09:30:00.Z",
                "2026-01-31T09:30:00+5:30",
                "2026-01-31T09:30:00+24:00",
                "2026-01-31 09:30:00Z",
                "2026-01-31T09:30:0éZ",
            ],
        );
    }

    #[test]
    fn addresses_have_two_parts() {
        check(
            is_email,
            &[
                "a@b",
                "some.one+tag@mail.example.com",
                "jörg@bücher.example",
            ],
            &[
                "", "a", "@b", "a@", "a b@c", "a@b..c", "a@-b", "a@b.", "a@b@c", "a@b c",
            ],
        );
        assert!(!is_email(&format!("{}@b", "a".repeat(65))));
    }

    #[test]
    fn uris_are_absolute_and_escaped() {
        check(
            is_uri,
            &[
                "https://a.example/x?y=%20#z",
                "mailto:a@b",
                "urn:isbn:1",
                "x-y+z.1:/a",
            ],
            &[
                "",
                "a",
                "/a",
                ":a",
                "1a:b",
                "https://",
                "https://a b",
                "http:%2",
                "http:%zz",
                "a:é",
            ],
        );
    }
}
