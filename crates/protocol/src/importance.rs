//! Display names, and sorting by importance.

use std::cmp::Ordering;

use crate::{Annotations, Implementation, Prompt, Resource, ResourceTemplate, Role, Tool};

/// The default priority: the middle of the scale.
const UNSAID_PRIORITY: f64 = 0.5;

/// An entry with a display name.
pub trait Named {
    /// Returns the display name: the title, or else the title in the annotations of a tool, or else the
    /// name. Blank titles are ignored.
    fn display_name(&self) -> &str;
}

fn chosen<'a>(titles: [Option<&'a String>; 2], name: &'a str) -> &'a str {
    let titles = titles.into_iter().flatten();
    let mut titles = titles
        .map(|title| title.trim())
        .filter(|title| !title.is_empty());
    titles.next().unwrap_or(name)
}

impl Named for Tool {
    fn display_name(&self) -> &str {
        let annotated = self.annotations.as_ref();
        let annotated = annotated.and_then(|annotations| annotations.title.as_ref());
        chosen([self.title.as_ref(), annotated], &self.name)
    }
}

macro_rules! titled {
    ($($kind:ty),*) => {
        $(impl Named for $kind {
            fn display_name(&self) -> &str {
                chosen([self.title.as_ref(), None], &self.name)
            }
        })*
    };
}

titled!(Prompt, Resource, ResourceTemplate, Implementation);

/// An entry with annotations: its audience and priority.
pub trait Annotated {
    /// Returns the annotations, if there are any.
    fn annotations(&self) -> Option<&Annotations>;
}

impl Annotated for Resource {
    fn annotations(&self) -> Option<&Annotations> {
        self.annotations.as_ref()
    }
}

impl Annotated for ResourceTemplate {
    fn annotations(&self) -> Option<&Annotations> {
        self.annotations.as_ref()
    }
}

/// Sorts entries by priority, the most important first. Among equal priorities, those that changed last
/// come first, and the others keep their order. Entries without a priority are in the middle.
///
/// ```
/// use turnbuckle_protocol::{Annotations, Resource, importance};
///
/// let minor = Resource::new("a://minor", "minor")
///     .with_annotations(Annotations::new().with_priority(0.1));
/// let major = Resource::new("a://major", "major")
///     .with_annotations(Annotations::new().with_priority(1.0));
/// let mut resources = vec![minor, Resource::new("a://plain", "plain"), major];
/// importance::sort(&mut resources);
/// let names: Vec<_> = resources.iter().map(|resource| &*resource.name).collect();
/// assert_eq!(names, ["major", "plain", "minor"]);
/// ```
pub fn sort<T: Annotated>(entries: &mut [T]) {
    entries.sort_by(|one, other| {
        let by_priority = priority(other).total_cmp(&priority(one));
        by_priority.then_with(|| match (modified(one), modified(other)) {
            (Some(one), Some(other)) => other.cmp(&one),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        })
    });
}

/// Returns the entries for this audience: those that name it, and those without an audience.
pub fn for_audience<T: Annotated>(entries: &[T], side: Role) -> impl Iterator<Item = &T> {
    entries.iter().filter(move |entry| {
        let audience = entry
            .annotations()
            .and_then(|hints| hints.audience.as_ref());
        audience.is_none_or(|audience| audience.is_empty() || audience.contains(&side))
    })
}

/// Returns the entries with at least this priority, from 0 to 1. Entries without a priority count as
/// 0.5.
pub fn at_least<T: Annotated>(entries: &[T], least: f64) -> impl Iterator<Item = &T> {
    entries
        .iter()
        .filter(move |entry| priority(*entry) >= least)
}

fn priority(entry: &impl Annotated) -> f64 {
    let said = entry.annotations().and_then(|hints| hints.priority);
    said.filter(|priority| priority.is_finite())
        .unwrap_or(UNSAID_PRIORITY)
}

/// When an entry was last changed; `None` if this is missing or not a valid time.
fn modified(entry: &impl Annotated) -> Option<i128> {
    moment(entry.annotations()?.last_modified.as_deref()?)
}

/// Parses a time of ISO 8601 to nanoseconds, such as `2025-01-12T15:00:58.5+01:00`. Seconds and the
/// time of day may be missing, and a time without a zone is UTC.
fn moment(text: &str) -> Option<i128> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, time),
        None => (text, "00:00Z"),
    };
    let [year, month, day] = parts(date, '-')?;
    let (clock, zone) = match time.find(['Z', 'z', '+', '-']) {
        Some(place) => time.split_at(place),
        None => (time, "Z"),
    };
    let away = match zone.strip_prefix(['+', '-']) {
        None => 0,
        Some(offset) => {
            let digits = offset.replace(':', "");
            let number: i64 = digits.parse().ok()?;
            let minutes = match digits.len() {
                2 => number * 60,
                4 => number / 100 * 60 + number % 100,
                _ => return None,
            };
            if zone.starts_with('-') {
                -minutes
            } else {
                minutes
            }
        }
    };
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let [hour, minute, second] = parts(clock, ':').or_else(|| {
        let [hour, minute] = parts(clock, ':')?;
        Some([hour, minute, 0])
    })?;
    let is_time = (1..=12).contains(&month) && (1..=31).contains(&day) && hour <= 24;
    if !is_time || minute > 59 || second > 60 || !fraction.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let nanos: i128 = format!("{fraction:0<9.9}").parse().ok()?;
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - away;
    Some(i128::from(minutes * 60 + second) * 1_000_000_000 + nanos)
}

/// Parses exactly `N` numbers without signs, separated by `between`.
fn parts<const N: usize>(text: &str, between: char) -> Option<[i64; N]> {
    let numbers: Option<Vec<i64>> = text
        .split(between)
        .map(|part| {
            let is_number =
                (1..=4).contains(&part.len()) && part.bytes().all(|it| it.is_ascii_digit());
            is_number.then(|| part.parse().ok()).flatten()
        })
        .collect();
    numbers?.try_into().ok()
}

/// Returns the days from 0000-03-01 to a date of the Gregorian calendar. Years begin in March here, so
/// that a leap day is the last day of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month < 3 {
        (year - 1, month + 9)
    } else {
        (year, month - 3)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolAnnotations;

    // rule: RS13
    #[test]
    fn a_tool_is_shown_by_its_title_then_the_one_among_its_annotations_then_its_name() {
        let mut tool = Tool::new("get_weather", serde_json::Map::new());
        assert_eq!(tool.display_name(), "get_weather");
        let annotations = ToolAnnotations {
            title: Some("Weather of old".into()),
            ..ToolAnnotations::default()
        };
        tool.annotations = Some(annotations);
        assert_eq!(tool.display_name(), "Weather of old");
        tool.title = Some("Weather".into());
        assert_eq!(tool.display_name(), "Weather");
        tool.title = Some("  ".into());
        assert_eq!(tool.display_name(), "Weather of old");
        assert_eq!(Prompt::new("greet").display_name(), "greet");
    }

    fn resource(name: &str, hints: Annotations) -> Resource {
        Resource::new(format!("a://{name}"), name).with_annotations(hints)
    }

    fn names<'a>(resources: impl IntoIterator<Item = &'a Resource>) -> Vec<&'a str> {
        resources
            .into_iter()
            .map(|resource| &*resource.name)
            .collect()
    }

    // rule: RS13
    #[test]
    fn what_matters_comes_first_and_then_what_is_new() {
        let mut all = vec![
            resource(
                "old",
                Annotations::new().with_last_modified("2024-01-01T00:00:00Z"),
            ),
            resource("minor", Annotations::new().with_priority(0.0)),
            resource("plain", Annotations::new()),
            resource("odd", Annotations::new().with_priority(f64::NAN)),
            resource(
                "new",
                Annotations::new().with_last_modified("2025-01-01T00:00:00Z"),
            ),
            resource("major", Annotations::new().with_priority(1.0)),
        ];
        sort(&mut all);
        assert_eq!(
            names(&all),
            ["major", "new", "old", "plain", "odd", "minor"]
        );
        assert_eq!(names(at_least(&all, 0.6)), ["major"]);
        assert_eq!(at_least(&all, 0.5).count(), 5);
    }

    // rule: RS13
    #[test]
    fn times_are_compared_whatever_their_zone_and_form_are() {
        let in_order = [
            "2023-12-31",
            "2024-02-29T23:59Z",
            "2024-03-01T00:00:00Z",
            "2025-01-12T15:00:58+02:00",
            "2025-01-12T09:00:58-05:00",
            "2025-01-12T14:00:58.25Z",
            "2025-01-12T15:00:58.5+0100",
            "2025-01-12 14:00:59",
        ];
        let moments: Vec<_> = in_order.iter().map(|text| moment(text).unwrap()).collect();
        assert!(moments.is_sorted(), "{moments:?}");
        assert_eq!(moments[2] - moments[1], 60 * 1_000_000_000);
        for odd in [
            "",
            "yesterday",
            "2024-13-01",
            "2024-01-01T25:00Z",
            "2024-01-01T00:00+1",
            "2024-1",
        ] {
            assert_eq!(moment(odd), None, "{odd}");
        }
        let at =
            |name: &str, time: &str| resource(name, Annotations::new().with_last_modified(time));
        let mut all = vec![
            at("earlier", "2025-01-12T15:00:58+02:00"),
            at("never", "some day"),
            at("later", "2025-01-12T14:00:58Z"),
        ];
        sort(&mut all);
        assert_eq!(names(&all), ["later", "earlier", "never"]);
    }

    #[test]
    fn entries_without_an_audience_are_for_every_side() {
        let all = [
            resource("both", Annotations::new()),
            resource(
                "model",
                Annotations::new().with_audience(vec![Role::Assistant]),
            ),
            resource("person", Annotations::new().with_audience(vec![Role::User])),
        ];
        assert_eq!(names(for_audience(&all, Role::User)), ["both", "person"]);
        assert_eq!(
            names(for_audience(&all, Role::Assistant)),
            ["both", "model"]
        );
    }
}
