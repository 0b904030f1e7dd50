//! The report in SARIF 2.1.0, the format of code scanning.

use serde_json::{Value, json};

use super::{
    check::{Check, Severity},
    finding::Finding,
    report::Report,
    table,
};

/// A SARIF log with one run.
pub(crate) fn log(report: &Report) -> Value {
    let rules: Vec<Value> = table::all().map(rule).collect();
    let name = report.subject().name;
    let findings = report.findings();
    let wrong = findings.iter().filter(|it| it.severity > Severity::Ok);
    let results: Vec<Value> = wrong.map(|finding| result(finding, &name)).collect();
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

fn rule(check: &Check) -> Value {
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
}

fn result(finding: &Finding, name: &str) -> Value {
    let index = table::all().position(|check| std::ptr::eq(check, finding.check));
    let mut text = finding.message.clone();
    for piece in &finding.evidence {
        text = format!("{text}\n{piece}");
    }
    let whole = [name.to_owned()];
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
        "locations": [{
            "physicalLocation": { "artifactLocation": { "uri": file(name) } },
            "logicalLocations": places.collect::<Vec<_>>(),
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

/// Code scanning requires a file for each result. A server has no file, so its name is used.
fn file(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    let plain: String = name
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { '-' })
        .collect();
    format!("doctor/{plain}")
}
