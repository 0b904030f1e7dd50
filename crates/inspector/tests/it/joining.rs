//! Joins the page as the build does: problems that would break it in a browser make the build fail.

#[path = "../../build/join.rs"]
mod join;

use join::Page;

const STYLE: &str = r#"<link rel="stylesheet" href="/assets/a.css" />"#;
const SCRIPT: &str = r#"<script type="module" src="/assets/main.js"></script>"#;

/// Joins a page of these files, in place of the files that every page here has.
fn joined(files: &[(&str, &str)]) -> Result<Page, String> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let index = format!("<head>\n{STYLE}\n</head>\n{SCRIPT}\n");
    let usual = [
        ("index.html", &*index),
        ("assets/a.css", "a { color: red }\n"),
        ("assets/main.js", "await open();\n"),
    ];
    std::fs::create_dir(folder.path().join("assets")).expect("there is room for a folder");
    for (name, text) in usual.iter().chain(files) {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    join::page(folder.path()).map_err(|error| error.to_string())
}

#[test]
fn modules_are_joined_in_order_and_lines_end_as_browsers_have_them() {
    let page = joined(&[
        ("assets/a.css", "a {}\r\nb {}\r\n"),
        (
            "assets/main.js",
            "import { one } from \"./one.js\";\r\nawait open(one);\r\n",
        ),
        ("assets/one.js", "export const one = 1;\n"),
    ])
    .expect("nothing is wrong with it");
    assert_eq!(page.style, "a {}\nb {}\n");
    let wanted = "// one.js\nconst { one } = (() => {\nconst one = 1;\nreturn { one };\n})();\n\
        // main.js\nawait (async () => {\nawait open(one);\n})();\n";
    assert_eq!(page.script, wanted);
    let html = format!(
        "<head>\n<style>{}</style>\n</head>\n<script type=\"module\">{wanted}</script>\n",
        page.style
    );
    assert_eq!(page.html, html);
}

#[test]
fn comments_that_document_are_left_out() {
    let main = "// Why.\n/** One. */\n/**\n * @param {import(\"./x.js\").X} a\n */\nf(a);\n  \
        /** @type {X} */ (b).c();\nd(/** @type {Y} */ (e));\nawait open();\n";
    let page = joined(&[("assets/main.js", main)]).expect("nothing is wrong with it");
    let wanted = "// main.js\nawait (async () => {\n// Why.\nf(a);\n  /** @type {X} */ (b).c();\n\
        d(/** @type {Y} */ (e));\nawait open();\n})();\n";
    assert_eq!(page.script, wanted);
}

#[test]
fn what_would_break_the_page_stops_the_build() {
    let twice = format!("<head>\n{STYLE}\n</head>\n{SCRIPT}\n{SCRIPT}\n");
    let inline = format!("<head>\n{STYLE}\n</head>\n{SCRIPT}\n<SCRIPT>open()</SCRIPT>\n");
    let late = format!("<head>\n</head>\n{STYLE}\n{SCRIPT}\n");
    for (name, text, wanted) in [
        ("assets/main.js", "say('</SCRIPT>');\n", "script is missing"),
        ("assets/main.js", "say('<!--');\n", "script is missing"),
        (
            "assets/a.css",
            "a { content: '</Style>' }",
            "style is missing",
        ),
        (
            "assets/main.js",
            "import \"./gone.js\";\n",
            "gone.js is imported",
        ),
        (
            "assets/main.js",
            "export const one = 1;\nawait open();\n",
            "main.js waits, and exports one",
        ),
        (
            "assets/main.js",
            "export const one = await open();\n",
            "main.js waits, and exports one",
        ),
        ("index.html", &twice, "not understood"),
        ("index.html", &inline, "not understood"),
        ("index.html", &late, "not understood"),
    ] {
        let error = joined(&[(name, text)]).err();
        let error = error.unwrap_or_else(|| panic!("{name} passed: {text}"));
        assert!(error.contains(wanted), "{error}");
    }
}
