//! A report in the XML of JUnit, which every CI reads.

use std::{fmt::Write as _, time::Duration};

use super::verdict::Verdict;

/// The report of all calls of one server.
pub(super) fn report(suite: &str, verdicts: &[Verdict]) -> String {
    let skipped = verdicts.iter().filter(|it| it.is_skipped).count();
    let failed = verdicts.iter().filter(|it| !it.has_passed()).count() - skipped;
    let time: Duration = verdicts.iter().map(|verdict| verdict.took).sum();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites><testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" \
         skipped=\"{skipped}\" time=\"{:.3}\">",
        escaped(suite),
        verdicts.len(),
        time.as_secs_f64(),
    );
    for verdict in verdicts {
        let _ = write!(
            text,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(suite),
            escaped(&verdict.title),
            verdict.took.as_secs_f64(),
        );
        if verdict.has_passed() {
            text.push_str("/>\n");
            continue;
        }
        if verdict.is_skipped {
            text.push_str(">\n    <skipped/>\n  </testcase>\n");
            continue;
        }
        let first = verdict.problems.first().map_or("", String::as_str);
        let all = verdict.problems.join("\n");
        let _ = writeln!(
            text,
            ">\n    <failure message=\"{}\">{}</failure>\n  </testcase>",
            escaped(first),
            escaped(&all),
        );
    }
    text.push_str("</testsuite></testsuites>\n");
    text
}

/// A text as XML, without characters that XML cannot represent.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            control if control.is_control() => escaped.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_xml_whatever_servers_say() {
        let verdict = |title: &str, problems: &[&str]| Verdict {
            title: title.to_owned(),
            problems: problems.iter().map(|it| (*it).to_owned()).collect(),
            is_skipped: false,
            took: Duration::from_millis(1500),
        };
        let mut skipped = verdict("c", &[]);
        skipped.is_skipped = true;
        skipped.took = Duration::ZERO;
        let verdicts = [
            verdict("a", &[]),
            verdict("<b>\"", &["1 < 2 &\u{1b}[0m", "more"]),
            skipped,
        ];
        let wanted = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <testsuites><testsuite name=\"lab\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"3.000\">\n  \
            <testcase classname=\"lab\" name=\"a\" time=\"1.500\"/>\n  \
            <testcase classname=\"lab\" name=\"&lt;b&gt;&quot;\" time=\"1.500\">\n    \
            <failure message=\"1 &lt; 2 &amp;\u{fffd}[0m\">1 &lt; 2 &amp;\u{fffd}[0m&#10;more</failure>\n  \
            </testcase>\n  \
            <testcase classname=\"lab\" name=\"c\" time=\"0.000\">\n    <skipped/>\n  \
            </testcase>\n</testsuite></testsuites>\n";
        assert_eq!(report("lab", &verdicts), wanted);
    }
}
