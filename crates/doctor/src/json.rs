//! The report as JSON.

use serde_json::{Value, json};

use super::{
    check::{Severity, url},
    report::Report,
};

/// One object: the server, the counts, and every finding, including checks that passed.
pub(crate) fn report(report: &Report) -> Value {
    let subject = report.subject();
    let findings: Vec<Value> = report
        .findings()
        .iter()
        .map(|finding| {
            let check = finding.check;
            let rule = check.rule.map(|rule| {
                let numbers: Vec<&str> = rule.numbers.split_whitespace().collect();
                let page = rule.page_for(&subject.revisions);
                json!({ "page": page, "numbers": numbers, "url": url(&page) })
            });
            let mut value = json!({
                "id": check.id,
                "area": check.area,
                "severity": finding.severity,
                "message": finding.message,
                "places": finding.places,
                "evidence": finding.evidence,
            });
            // Advice is only given for problems.
            if finding.severity > Severity::Ok {
                value["breaks"] = json!((!check.breaks.is_empty()).then_some(check.breaks));
                value["rule"] = json!(rule);
                value["fix"] = json!(check.fix);
            }
            value
        })
        .collect();
    let milliseconds = (report.elapsed().as_secs_f64() * 1e6).round() / 1e3;
    json!({
        "server": subject.name,
        "title": subject.title,
        "transport": subject.transport,
        "revisions": subject.revisions,
        "errors": report.count(Severity::Error),
        "warnings": report.count(Severity::Warning),
        "ms": milliseconds,
        "findings": findings,
    })
}
