//! The report as text.

use turnbuckle_command_line::style::{Style, elapsed};

use super::{
    check::{Area, Severity},
    finding::{Finding, counted},
    report::Report,
};

/// How many places of a finding are shown; `--json` shows all.
const SHOWN_PLACES: usize = 4;

/// The column at which the text of a line begins.
const INDENT: usize = 20;

/// The lines.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    let findings = report.findings();
    let mut lines = vec![title(report)];
    let spoken = report.subject().revisions;
    for area in Area::ALL {
        let here = findings.iter().filter(|it| it.check.area == area);
        let (good, bad): (Vec<_>, Vec<_>) = here.partition(|it| it.severity == Severity::Ok);
        if !good.is_empty() {
            let mut said: Vec<&str> = good.iter().map(|it| it.message.as_str()).collect();
            said.dedup();
            lines.push(line(Severity::Ok, area, &said.join(", ")));
        }
        for finding in bad {
            lines.extend(paragraph(finding, &spoken));
        }
    }
    lines.push(Style::Dim.out(&summary(report)));
    lines
}

/// The summary as one line.
pub(crate) fn summary(report: &Report) -> String {
    let findings = report.findings();
    let mut ids: Vec<_> = findings.iter().map(|it| it.check.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let (errors, warnings) = (
        report.count(Severity::Error),
        report.count(Severity::Warning),
    );
    let mut parts = vec![counted(ids.len(), "check")];
    if errors > 0 {
        parts.push(counted(errors, "error"));
    }
    if warnings > 0 {
        parts.push(counted(warnings, "warning"));
    }
    parts.push(elapsed(report.elapsed()));
    parts.join(", ")
}

fn title(report: &Report) -> String {
    let subject = report.subject();
    let mut parts = vec![match subject.title {
        Some(title) => format!("{}  {title}", subject.name),
        None => subject.name,
    }];
    parts.push(subject.transport);
    parts.extend(subject.revisions);
    Style::Strong.out(&parts.join(" · "))
}

fn line(severity: Severity, area: Area, said: &str) -> String {
    let (word, style) = match severity {
        Severity::Ok => ("ok", Style::Good),
        Severity::Warning => ("warn", Style::Warn),
        Severity::Error => ("error", Style::Bad),
    };
    // Padded before it is coloured, because escape sequences have no width.
    format!(
        "{} {:<10}  {said}",
        style.out(&format!("{word:>7}")),
        area.name()
    )
}

fn paragraph(finding: &Finding, spoken: &[String]) -> Vec<String> {
    let check = finding.check;
    let mut said = match finding.places.as_slice() {
        [] => finding.message.clone(),
        [place] => format!("{place}: {}", finding.message),
        places => {
            let shown = places[..places.len().min(SHOWN_PLACES)].join(", ");
            let more = match places.len().saturating_sub(SHOWN_PLACES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{}: {shown}{more}", finding.message)
        }
    };
    said.push_str("  ");
    said.push_str(&Style::Dim.out(&format!("[{}]", check.id)));
    let mut lines = vec![line(finding.severity, check.area, &said)];
    let indent = " ".repeat(INDENT);
    let mut add = |name: &str, text: &str, style: Option<Style>| {
        for (number, part) in text.lines().enumerate() {
            let name = if number == 0 { name } else { "" };
            let row = format!("{name:<7} {part}");
            let row = style.map_or_else(|| row.clone(), |style| style.out(&row));
            lines.push(format!("{indent}{row}"));
        }
    };
    for (number, piece) in finding.evidence.iter().enumerate() {
        let name = if number == 0 { "seen:" } else { "" };
        add(name, piece, Some(Style::Dim));
    }
    if !check.breaks.is_empty() {
        add("breaks:", check.breaks, None);
    }
    if let Some(rule) = check.rule {
        let numbers = match rule.numbers {
            "" => String::new(),
            numbers => format!(" ({})", numbers.replace(' ', ", ")),
        };
        add(
            "rule:",
            &format!("{}{numbers}", rule.page_for(spoken)),
            None,
        );
    }
    add("fix:", check.fix, None);
    lines
}
