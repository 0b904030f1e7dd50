//! The report in SARIF 2.1.0, which code scanning reads.

use serde_json::{Value, json};

use super::{check::Severity, report::Report, table};

/// A SARIF log with one run.
pub(crate) fn log(report: &Report) -> Value {
    let rules: Vec<Value> = table::all()
        .map(|check| {
            let mut rule = json!({
                "id": check.id,
                "shortDescription": { "text": check.claim },
                "help": { "text": check.fix },
                "defaultConfiguration": { "level": level(check.severity) },
                "properties": { "tags": [check.area.name()] },
            });
            if let Some(page) = check.rule {
                rule["helpUri"] = json!(page.url());
            }
            rule
        })
        .collect();
    let subject = report.subject();
    let results: Vec<Value> = report
        .findings()
        .iter()
        .filter(|finding| finding.severity > Severity::Ok)
        .map(|finding| {
            let index = table::all().position(|check| std::ptr::eq(check, finding.check));
            let mut text = finding.message.clone();
            for piece in &finding.evidence {
                text = format!("{text}\n{piece}");
            }
            let whole = [subject.name.clone()];
            let places = if finding.places.is_empty() {
                &whole[..]
            } else {
                &finding.places
            };
            let places = places
                .iter()
                .map(|place| json!({ "fullyQualifiedName": place }));
            json!({
                "ruleId": finding.check.id,
                "ruleIndex": index,
                "level": level(finding.severity),
                "message": { "text": text },
                "locations": [{ "logicalLocations": places.collect::<Vec<_>>() }],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "turnbuckle doctor",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Ok => "none",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
