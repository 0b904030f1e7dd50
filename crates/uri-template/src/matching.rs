//! Matches a URI with a template, to get the values of the template's variables.
//!
//! Matching takes two passes. The first goes from the end of the URI to its start, and fills a table: from which
//! units can which steps still reach the end? The second goes from the start, and takes at every step the first
//! way that is open in the table. Nothing is tried twice, so no URI can make this slow.

use super::binding::{Bindings, Variables};
use super::pairs;
use super::pattern::{Capture, Pairs, Pattern, Step};
use super::traversal::Paths;
use super::unit::{Unit, Units};

/// The longest URI that is matched, in bytes. RFC 9110 (4.1) recommends supporting at least 8000 octets; longer
/// URIs do not match, because they would need a table of several megabytes.
pub const MAX_URI_BYTES: usize = 8192;

/// The values of the variables in `uri`, if it matches `pattern`.
pub(super) fn matches(pattern: &Pattern, uri: &str, paths: Paths) -> Option<Variables> {
    if uri.len() > MAX_URI_BYTES {
        return None;
    }
    let mut rest = Units::new(uri);
    for expected in &pattern.start {
        if rest.next()? != *expected {
            return None;
        }
    }
    let mut units = Vec::with_capacity(rest.rest().len());
    units.extend(rest);
    let reach = Reach::new(&pattern.steps, &units);
    if !reach.is_open(0, 0) {
        return None;
    }
    walk(&pattern.steps, &units, &reach, paths)
}

fn walk(steps: &[Step], units: &[Unit], reach: &Reach, paths: Paths) -> Option<Variables> {
    let mut bindings = Bindings::new(paths);
    let mut at = 0;
    let mut index = 0;
    while let Some(step) = steps.get(index) {
        index += 1;
        match step {
            Step::Literal(text) => at += text.len(),
            Step::OrSkipTo(target) if !reach.is_open(index, at) => {
                for name in steps[index..*target].iter().flat_map(Step::names) {
                    bindings.leave_out(name)?;
                }
                index = *target;
            }
            Step::OrSkipTo(_) => {}
            Step::Capture(capture) => {
                let end = (at + 1..=units.len()).find(|end| reach.is_open(index, *end))?;
                let value = capture.value(&units[at..end])?;
                let variable = &capture.variable;
                bindings.bind(
                    &variable.name,
                    value,
                    capture.allow,
                    variable.modifier.limit(),
                )?;
                at = end;
            }
            Step::Pairs(pairs) => {
                let start = at + 1;
                let length = units[start..].iter().position(|unit| pairs.end_at(*unit));
                at = length.map_or(units.len(), |length| start + length);
                pairs::read(pairs, &units[start..at], &mut bindings)?;
            }
        }
    }
    Some(bindings.finish())
}

/// For every step and every position in the URI: can the template match from there to the end?
struct Reach {
    /// One more than the number of units, because a step can also be at the end of the URI.
    width: usize,
    /// A row for each step, and one for the end of the template.
    cells: Vec<bool>,
}

impl Reach {
    fn new(steps: &[Step], units: &[Unit]) -> Self {
        let width = units.len() + 1;
        let mut cells = vec![false; width * (steps.len() + 1)];
        if let Some(end) = cells.last_mut() {
            *end = true;
        }
        for (index, step) in steps.iter().enumerate().rev() {
            let (row, later) = cells[index * width..].split_at_mut(width);
            match step {
                Step::Literal(text) => fill_literal(row, &later[..width], text, units),
                Step::Capture(capture) => fill_capture(row, &later[..width], capture, units),
                Step::Pairs(pairs) => fill_pairs(row, &later[..width], pairs, units),
                Step::OrSkipTo(target) => {
                    let skipped = &later[(target - index - 1) * width..];
                    for (at, cell) in row.iter_mut().enumerate() {
                        *cell = later[at] || skipped[at];
                    }
                }
            }
        }
        Self { width, cells }
    }

    fn is_open(&self, step: usize, at: usize) -> bool {
        self.cells[step * self.width + at]
    }
}

fn fill_literal(row: &mut [bool], next: &[bool], text: &[Unit], units: &[Unit]) {
    for (at, cell) in row.iter_mut().enumerate() {
        let is_open = next.get(at + text.len()).is_some_and(|open| *open);
        *cell = is_open && units[at..].starts_with(text);
    }
}

fn fill_capture(row: &mut [bool], next: &[bool], capture: &Capture, units: &[Unit]) {
    // The nearest place to the right where the variable could end.
    let mut nearest = None;
    for (at, unit) in units.iter().enumerate().rev() {
        if !capture.takes(*unit) {
            nearest = None;
        } else if next[at + 1] {
            nearest = Some(at + 1);
        }
        row[at] = nearest.is_some_and(|end| end - at <= capture.variable.modifier.limit());
    }
}

fn fill_pairs(row: &mut [bool], next: &[bool], pairs: &Pairs, units: &[Unit]) {
    let mut end = units.len();
    for (at, unit) in units.iter().enumerate().rev() {
        row[at] = pairs.begin_at(*unit) && next[end];
        if pairs.end_at(*unit) {
            end = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MAX_VARIABLES, Template};
    use super::*;
    use serde_json::{Value, json};

    fn matched(template: &str, uri: &str) -> Option<Value> {
        let template = Template::parse(template).expect(template);
        template.matches(uri).map(Value::Object)
    }

    fn check(table: &[(&str, &str, Value)]) {
        for (template, uri, expected) in table {
            assert_eq!(
                matched(template, uri).as_ref(),
                Some(expected),
                "{template} {uri}"
            );
        }
    }

    fn check_none(table: &[(&str, &str)]) {
        for (template, uri) in table {
            assert_eq!(matched(template, uri), None, "{template} {uri}");
        }
    }

    #[test]
    fn a_simple_variable_takes_one_segment() {
        check(&[
            (
                "seat://{flight}/{row}",
                "seat://XY1/12",
                json!({"flight": "XY1", "row": "12"}),
            ),
            ("x:{a}", "x:b%20c", json!({"a": "b c"})),
            ("x:{a}", "x:%C3%A9é", json!({"a": "éé"})),
            ("x:{a}", "x:a.b-c_d~e", json!({"a": "a.b-c_d~e"})),
            ("x:{a}", "x:50%25", json!({"a": "50%"})),
            ("x:{a}", "x:%3A%3f%23", json!({"a": ":?#"})),
            ("x:{a,b}", "x:1,2", json!({"a": "1", "b": "2"})),
            ("x:{a}-{b}", "x:1-2-3", json!({"a": "1", "b": "2-3"})),
            ("x:{a}{b}", "x:123", json!({"a": "1", "b": "23"})),
            ("x:{a:2}{b}", "x:1234", json!({"a": "1", "b": "234"})),
            ("x:{a:2}-{b}", "x:12-4", json!({"a": "12", "b": "4"})),
            ("x:{a:1}", "x:%F0%9F%A6%80", json!({"a": "🦀"})),
            ("x:{a}.txt", "x:a.txt.txt", json!({"a": "a.txt"})),
        ]);
        check_none(&[
            ("x:{a}", "x:"),
            ("x:{a}", "x:b/c"),
            ("x:{a}", "x:b/"),
            ("x:{a}", "x:b?c"),
            ("x:{a}", "x:b#c"),
            ("x:{a}", "x:b,c"),
            ("x:{a}", "x:b:c"),
            ("x:{a}", "y:b"),
            ("x:{a}", "X"),
            ("x:{a}", ""),
            ("x:{a,b}", "x:1"),
            ("x:{a}/{b}", "x:/b"),
            ("x:{a}/{b}", "x:a/"),
            ("x:{a:2}", "x:123"),
            ("x:{a}.txt", "x:.txt"),
            ("x:{a}.txt", "x:a.txt2"),
        ]);
    }

    #[test]
    fn malformed_uris_do_not_match() {
        for template in ["x:{a}", "x:{+a}", "x:b{?a}", "x:{a*}", "x:b{?a*}"] {
            for tail in [
                "%", "%4", "%zz", "%ff", "%c0%ae", "%e2%82", "{a}", "b\n", "b\0", "%C3",
            ] {
                let start = if template.contains('?') {
                    "x:b?a="
                } else {
                    "x:"
                };
                let uri = format!("{start}{tail}");
                assert_eq!(matched(template, &uri), None, "{template} {uri:?}");
            }
        }
    }

    #[test]
    fn literals_are_compared_as_uris_are() {
        check(&[
            ("x:~é/{a}", "x:%7e%c3%a9/1", json!({"a": "1"})),
            ("x:%7E%C3%A9/{a}", "x:~é/1", json!({"a": "1"})),
            ("x:%2f/{a}", "x:%2F/1", json!({"a": "1"})),
            ("x:%ff/{a}", "x:%FF/1", json!({"a": "1"})),
            ("x:{a}/é", "x:1/%C3%A9", json!({"a": "1"})),
        ]);
        check_none(&[
            ("x:%2F{a}", "x:/1"),
            ("x:/{a}", "x:%2F1"),
            ("x:{a}/", "x:1%2F"),
        ]);
    }

    #[test]
    fn a_reserved_variable_spans_segments() {
        check(&[
            (
                "file:///{+path}",
                "file:///a/b%20c.txt",
                json!({"path": "a/b c.txt"}),
            ),
            ("x:{+a}/{b}", "x:1/2/3", json!({"a": "1/2", "b": "3"})),
            ("x:{a}/{+b}", "x:1/2/3", json!({"a": "1", "b": "2/3"})),
            ("x:{+a}/{+b}", "x:1/2/3", json!({"a": "1", "b": "2/3"})),
            ("x:{+a}/edit", "x:1/edit/edit", json!({"a": "1/edit"})),
            ("x:{+a}{.b}", "x:1.2/3.4", json!({"a": "1.2/3", "b": "4"})),
            ("x:{+a}{?b}", "x:1/2?b=3", json!({"a": "1/2", "b": "3"})),
            ("x:{+a}{?b}", "x:1/2", json!({"a": "1/2"})),
            ("x:{+a}{#b}", "x:1/2#3", json!({"a": "1/2", "b": "3"})),
            ("x:{+a}", "x:1?b=3#4", json!({"a": "1?b=3#4"})),
            ("x:{+a,b}", "x:1,2,3", json!({"a": "1", "b": "2,3"})),
            ("x:{+a:3}/b", "x:1/2/b", json!({"a": "1/2"})),
        ]);
        check_none(&[
            ("x:{+a}", "x:"),
            ("x:{+a}/b", "x:/b"),
            ("x:{+a}{?b}", "x:1?c=2"),
        ]);
    }

    #[test]
    fn what_is_optional_is_taken_if_it_can_be() {
        check(&[
            ("x:{a}{.b}", "x:1.tar.gz", json!({"a": "1", "b": "tar.gz"})),
            ("x:{a}{.b}", "x:1", json!({"a": "1"})),
            ("x:{a}{.b}", "x:.env", json!({"a": ".env"})),
            ("x:a{.b,c}", "x:a.1.2.3", json!({"b": "1", "c": "2.3"})),
            ("x:a{/b,c}", "x:a/1/2", json!({"b": "1", "c": "2"})),
            ("x:a{/b,c}", "x:a/1", json!({"b": "1"})),
            ("x:a{/b,c}", "x:a", json!({})),
            ("x:a{/b}/c", "x:a/c", json!({})),
            ("x:a{/b}/c", "x:a/c/c", json!({"b": "c"})),
            ("x:a{#b}", "x:a#1/2", json!({"b": "1/2"})),
            ("x:a{#b,c}", "x:a#1,2", json!({"b": "1", "c": "2"})),
            ("x:a{#b}", "x:a", json!({})),
            ("{/a}{.b}{#c}", "", json!({})),
        ]);
        check_none(&[
            ("x:a{/b}", "x:a/"),
            ("x:a{/b}", "x:a/1/2"),
            ("x:a{.b}", "x:a."),
            ("x:a{#b}", "x:a#"),
            ("x:a{#b,c}", "x:a,2"),
        ]);
    }

    #[test]
    fn pairs_come_in_any_order_and_may_be_absent() {
        check(&[
            ("x:a{?b,c}", "x:a?b=1&c=2", json!({"b": "1", "c": "2"})),
            ("x:a{?b,c}", "x:a?c=2&b=1", json!({"b": "1", "c": "2"})),
            ("x:a{?b,c}", "x:a?c=2", json!({"c": "2"})),
            ("x:a{?b,c}", "x:a", json!({})),
            ("x:a{?b}{&c}", "x:a?c=2&b=1", json!({"b": "1", "c": "2"})),
            ("x:a{?b}{&c}", "x:a&c=2", json!({"c": "2"})),
            ("x:a?f=1{&b}", "x:a?f=1&b=2", json!({"b": "2"})),
            ("x:a?f=1{&b}", "x:a?f=1", json!({})),
            ("x:a{?b}{#c}", "x:a?b=1#2", json!({"b": "1", "c": "2"})),
            ("x:a{?b}", "x:a?b=", json!({"b": ""})),
            ("x:a{?b}", "x:a?b", json!({"b": ""})),
            ("x:a{?b}", "x:a?b=1=2", json!({"b": "1=2"})),
            (
                "x:a{?b}",
                "x:a?b=10:30,11+%26%C3%A9",
                json!({"b": "10:30,11+&é"}),
            ),
            ("x:a{?b:2}", "x:a?b=12", json!({"b": "12"})),
            ("x:a{?%C3%A9}", "x:a?%c3%a9=1", json!({"%C3%A9": "1"})),
            ("x:a{;b,c}/d", "x:a;c=1;b/d", json!({"b": "", "c": "1"})),
            ("x:a{;b}{?c}", "x:a;b=1?c=2", json!({"b": "1", "c": "2"})),
        ]);
        check_none(&[
            ("x:a{?b}", "x:a?"),
            ("x:a{?b}", "x:a?c=1"),
            ("x:a{?b}", "x:a?b=1&c=1"),
            ("x:a{?b}", "x:a?b=1&b=1"),
            ("x:a{?b}", "x:a?b=1&"),
            ("x:a{?b}", "x:a&b=1"),
            ("x:a{?b}", "x:a?B=1"),
            ("x:a{?b}", "x:a?=1"),
            ("x:a{?b}", "x:a?b=1#2"),
            ("x:a{?b:2}", "x:a?b=123"),
            ("x:a?f=1{&b}", "x:a"),
        ]);
    }

    #[test]
    fn an_exploded_variable_is_a_list_or_takes_the_pairs_left_over() {
        check(&[
            ("x:{a*}", "x:1,2%2C,3", json!({"a": ["1", "2,", "3"]})),
            ("x:{a*}", "x:1", json!({"a": ["1"]})),
            ("x:{+a*}", "x:1/2,3", json!({"a": ["1/2", "3"]})),
            ("x:a{/b*}", "x:a/1/2/3", json!({"b": ["1", "2", "3"]})),
            ("x:a{/b*}/c", "x:a/1/c/c", json!({"b": ["1", "c"]})),
            (
                "x:a{/b*}{.c}",
                "x:a/1.2/3.4",
                json!({"b": ["1.2", "3"], "c": "4"}),
            ),
            ("x:a{/b*}", "x:a", json!({})),
            (
                "www{.b*}",
                "www.example.com",
                json!({"b": ["example", "com"]}),
            ),
            ("x:a{?b*}", "x:a?b=1&b=2", json!({"b": ["1", "2"]})),
            (
                "x:a{?b*,c}",
                "x:a?b=1&c=3&b=2",
                json!({"b": ["1", "2"], "c": "3"}),
            ),
            (
                "x:a{?b*,c}",
                "x:a?c=3&y=2&x=1",
                json!({"b": {"y": "2", "x": "1"}, "c": "3"}),
            ),
            (
                "x:a{?b*,c*}",
                "x:a?b=1&x=1",
                json!({"b": ["1"], "c": {"x": "1"}}),
            ),
            ("x:a{?b*}", "x:a", json!({})),
            ("x:a{;b*}", "x:a;b=1;b=2", json!({"b": ["1", "2"]})),
        ]);
        check_none(&[
            ("x:{a*}", "x:"),
            ("x:{a*}", "x:1,,2"),
            ("x:{a*}", "x:,1"),
            ("x:a{/b*}", "x:a/"),
            ("x:a{/b*}", "x:a//1"),
            ("x:a{/b*}", "x:a/1/"),
            ("x:a{?b*}", "x:a?b=1&c=2"),
            ("x:a{?b*}", "x:a?c=1&c=2"),
        ]);
    }

    #[test]
    fn a_name_has_one_value() {
        check(&[
            ("x:{a}/{a}", "x:1/1", json!({"a": "1"})),
            ("x:{a}/{a}", "x:~/%7E", json!({"a": "~"})),
            ("x:a{/b:1,b}", "x:a/v/value", json!({"b": "value"})),
        ]);
        check_none(&[("x:{a}/{a}", "x:1/2"), ("x:a{/b:1,b}", "x:a/w/value")]);
        // If `a` had a value, the optional part would be present.
        check_none(&[
            ("x{/a*}:{a}", "x:1"),
            ("x:{a}{?a}", "x:1"),
            ("x:{a}{?a,b}", "x:1?b=2"),
        ]);
    }

    #[test]
    fn no_uri_of_any_length_takes_long() {
        let greedy = "{+a}".repeat(MAX_VARIABLES - 1) + "{?b}";
        let template = Template::parse(&greedy)
            .expect("a template")
            .allow_any_path();
        for unit in ["a", "?", "/", "#", "?b=", "%2F"] {
            let uri = unit.repeat(MAX_URI_BYTES / unit.len() - 1) + "%";
            assert_eq!(template.matches(&uri), None, "{unit}");
        }
    }

    #[test]
    fn a_uri_beyond_the_limit_does_not_match() {
        let long = format!("x:{}", "a".repeat(MAX_URI_BYTES - 2));
        assert!(matched("x:{a}", &long).is_some());
        assert_eq!(matched("x:{a}", &(long + "a")), None);
    }
}
