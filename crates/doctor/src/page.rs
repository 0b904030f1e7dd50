//! The page of all checks, made from their tables.

use std::fmt::Write as _;

use super::{
    check::{Area, Check, Severity},
    table,
};

/// The text before the tables.
const INTRODUCTION: &str = include_str!("page.md");

/// The page.
fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let count = table::all().count();
    let _ = write!(page, "\n## The {count} checks\n");
    for area in Area::ALL {
        let _ = write!(page, "\n### {}\n\n{}\n\n", area.name(), about(area));
        page.push_str(
            "| id | | claim | affected clients | rule | what to do |\n|---|---|---|---|---|---|\n",
        );
        for check in table::all().filter(|check| check.area == area) {
            page.push_str(&row(check));
        }
    }
    page
}

/// The introduction of an area.
fn about(area: Area) -> &'static str {
    match area {
        Area::Connect => "The way to a server at a URL: its name, its port, proxies.",
        Area::Tls => "Whether the connection is secure, and stays so.",
        Area::Start => "A server that is started as a program.",
        Area::Stdout => "The standard output of a program, which must consist of messages only.",
        Area::Http => "How HTTP carries the messages.",
        Area::Auth => {
            "The answers to a client without a token. These checks run when a server answers 401."
        }
        Area::Discover => "Whether the server speaks 2026-07-28, and how it describes itself.",
        Area::Handshake => "Whether the server opens sessions (2024-11-05 to 2025-11-25).",
        Area::Headers => "The headers by which 2026-07-28 repeats what a message says.",
        Area::Session => "Sessions over HTTP: their ids, and their end.",
        Area::Origin => {
            "Whether a web page can reach a server on your own machine (DNS rebinding). These run for loopback addresses."
        }
        Area::Methods => {
            "The envelope of messages, and the answers to requests for things that do not exist."
        }
        Area::Lists => "Tools, prompts, resources and templates, and how they are listed.",
        Area::Cache => "The hints by which clients keep results (2026-07-28).",
        Area::Schema => "Schemas, names and descriptions that clients or model providers refuse.",
        Area::Cancel => "Cancelling, and streams that are left.",
        Area::Call => {
            "Calls of tools that declare to be read-only and need no argument. These run only with `--call`."
        }
        Area::Time => "How long things take.",
    }
}

fn row(check: &Check) -> String {
    let severity = match check.severity {
        Severity::Ok => "",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let rule = check.rule.map_or_else(String::new, |rule| {
        let numbers = match rule.numbers {
            "" => String::new(),
            numbers => format!(" {}", numbers.replace(' ', ", ")),
        };
        let name = rule
            .page
            .split_once('/')
            .map_or(rule.page, |(_, page)| page);
        format!("[{name}]({}){numbers}", rule.url())
    });
    let cell = |text: &str| text.replace('|', "\\|");
    format!(
        "| `{}` | {severity} | {} | {} | {rule} | {} |\n",
        check.id,
        cell(check.claim),
        cell(check.breaks),
        cell(check.fix)
    )
}

/// `DOCTOR_PAGE=write cargo test -p turnbuckle-doctor the_page_of_checks` updates the page.
#[test]
fn the_page_of_checks_is_what_the_tables_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor.md");
    let page = page();
    if std::env::var("DOCTOR_PAGE").is_ok_and(|wish| wish == "write") {
        std::fs::write(path, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/doctor.md is stale: run `DOCTOR_PAGE=write cargo test -p turnbuckle-doctor the_page_of_checks`"
    );
}
