//! The formats that can be checked. In JSON Schema `format` is an annotation by default; with
//! [`Formats::Assert`] the formats listed here are checked. Every other format remains an
//! annotation.

use std::net::{Ipv4Addr, Ipv6Addr};

/// How `format` is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Formats {
    /// `format` is an annotation and never rejects a value, which is the specification's default.
    #[default]
    Annotate,
    /// A value must have its format if that is `date`, `time`, `date-time`, `email`, `hostname`, `ipv4`,
    /// `ipv6`, `uri` or
    /// `uuid`.
    Assert,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Date,
    Time,
    DateTime,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Uri,
    Uuid,
}

impl Format {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "time" => Self::Time,
            "date-time" => Self::DateTime,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uri" => Self::Uri,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }

    pub(crate) fn admits(self, text: &str) -> bool {
        match self {
            Self::Date => is_date(text),
            Self::Time => is_time(text),
            Self::DateTime => {
                let is_separator = |one: u8| matches!(one, b'T' | b't');
                text.as_bytes().get(10).copied().is_some_and(is_separator)
                    && text.split_at_checked(10).is_some_and(|(date, time)| {
                        is_date(date) && time.get(1..).is_some_and(is_time)
                    })
            }
            Self::Email => is_email(text),
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Uri => is_uri(text),
            Self::Uuid => is_uuid(text),
        }
    }

    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Date => "a date",
            Self::Time => "a time with its offset",
            Self::DateTime => "a date and time with its offset",
            Self::Email => "an email address",
            Self::Hostname => "a host name",
            Self::Ipv4 => "an IPv4 address",
            Self::Ipv6 => "an IPv6 address",
            Self::Uri => "an absolute URI",
            Self::Uuid => "a UUID",
        }
    }

    /// An example of this format.
    pub(crate) fn sample(self) -> &'static str {
        match self {
            Self::Date => "2026-01-31",
            Self::Time => "09:30:00Z",
            Self::DateTime => "2026-01-31T09:30:00Z",
            Self::Email => "someone@example.com",
            Self::Hostname => "example.com",
            Self::Ipv4 => "192.0.2.1",
            Self::Ipv6 => "2001:db8::1",
            Self::Uri => "https://example.com/",
            Self::Uuid => "123e4567-e89b-12d3-a456-426614174000",
        }
    }
}

/// A number of exactly this many digits.
fn number(text: Option<&str>, length: usize) -> Option<u32> {
    let text = text.filter(|text| text.len() == length)?;
    text.bytes()
        .all(|digit| digit.is_ascii_digit())
        .then(|| text.parse().ok())?
}

fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut part = |length| number(parts.next(), length);
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else {
        return false;
    };
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let Some(at) = text.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (clock, offset) = text.split_at(at);
    let Some(minutes_ahead) = offset_minutes(offset) else {
        return false;
    };
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (number(parts.next(), 2), number(parts.next(), 2));
    let (second, fraction) = match parts
        .next()
        .map(|rest| rest.split_once('.').unwrap_or((rest, "0")))
    {
        Some((second, fraction)) => (number(Some(second), 2), fraction),
        None => return false,
    };
    let (Some(hour @ 0..=23), Some(minute @ 0..=59), Some(second @ 0..=60)) =
        (hour, minute, second)
    else {
        return false;
    };
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|digit| digit.is_ascii_digit());
    // A leap second is the last of a day in UTC.
    let utc = (i64::from(hour) * 60 + i64::from(minute) - minutes_ahead).rem_euclid(24 * 60);
    is_fraction && (second < 60 || utc == 23 * 60 + 59)
}

fn offset_minutes(offset: &str) -> Option<i64> {
    if offset.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = match offset.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (number(Some(hours), 2)?, number(Some(minutes), 2)?);
    (hours < 24 && minutes < 60).then(|| sign * (i64::from(hours) * 60 + i64::from(minutes)))
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    is_local_part(local) && is_domain(domain)
}

fn is_local_part(local: &str) -> bool {
    if let Some(quoted) = local
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        let mut characters = quoted.chars();
        while let Some(one) = characters.next() {
            let is_bad =
                one == '"' || one.is_control() || (one == '\\' && characters.next().is_none());
            if is_bad {
                return false;
            }
        }
        return true;
    }
    let is_atom = |one: u8| one.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&one);
    local
        .split('.')
        .all(|atom| !atom.is_empty() && atom.bytes().all(is_atom))
}

fn is_domain(domain: &str) -> bool {
    let literal = domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    match literal {
        Some(address) => match address.strip_prefix("IPv6:") {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => address.parse::<Ipv4Addr>().is_ok(),
        },
        None => is_hostname(domain),
    }
}

fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|one| one.is_ascii_alphanumeric() || one == b'-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|one: char| one.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|one| one.is_ascii_alphanumeric() || b"+-.".contains(&one));
    is_scheme && has_uri_characters(rest) && rest.strip_prefix("//").is_none_or(has_authority)
}

fn has_uri_characters(text: &str) -> bool {
    let is_plain =
        |one: u8| one.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&one);
    let is_escape = |rest: &str| {
        rest.as_bytes()
            .get(..2)
            .is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
    };
    text.bytes().all(is_plain)
        && text.split('%').skip(1).all(is_escape)
        && text.bytes().filter(|one| *one == b'#').count() <= 1
}

fn has_authority(rest: &str) -> bool {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, port)) => {
            if address.parse::<Ipv6Addr>().is_err() && !address.starts_with(['v', 'V']) {
                return false;
            }
            ("", port)
        }
        None => host
            .split_once(':')
            .map_or((host, ""), |(name, _)| (name, &host[name.len()..])),
    };
    let is_port = port
        .strip_prefix(':')
        .unwrap_or(port)
        .bytes()
        .all(|one| one.is_ascii_digit());
    let user_is_plain = authority
        .rsplit_once('@')
        .is_none_or(|(user, _)| !user.contains(['[', ']', '@']));
    is_port && user_is_plain && !host.contains(['[', ']']) && !path.contains(['[', ']'])
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text
            .bytes()
            .enumerate()
            .all(|(position, one)| match position {
                8 | 13 | 18 | 23 => one == b'-',
                _ => one.is_ascii_hexdigit(),
            })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_of_its_format() {
        let names = [
            "date",
            "time",
            "date-time",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uri",
            "uuid",
        ];
        for name in names {
            let format = Format::named(name).expect(name);
            assert!(format.admits(format.sample()), "{name}");
            assert!(!format.admits(""), "{name}");
            assert!(!format.admits("é"), "{name}");
        }
        assert_eq!(Format::named("int32"), None);
    }

    #[test]
    fn days_and_leap_seconds_follow_the_calendar() {
        assert!(Format::Date.admits("2024-02-29") && !Format::Date.admits("2023-02-29"));
        assert!(!Format::Date.admits("2023-2-9") && !Format::Date.admits("20230209"));
        assert!(Format::Time.admits("23:59:60Z") && !Format::Time.admits("12:00:60Z"));
        assert!(Format::Time.admits("15:59:60.5-08:00"));
        assert!(!Format::DateTime.admits("2023-01-01 10:00:00Z"));
        assert!(!Format::Time.admits("10:00:00") && !Format::Time.admits("24:00:00Z"));
    }
}
