//! A program that hangs on `server/discover` only costs time once.

use crate::program::{Place, needs, stderr, stdout};

#[test]
fn a_program_that_hung_on_the_probe_is_not_probed_again() {
    needs("python3");
    let place = Place::new();
    place.write(
        "script.json",
        r#"{
            "server/discover": "none",
            "tools/list": {"result": {"tools": []}},
            "prompts/list": {"result": {"prompts": []}},
            "resources/list": {"result": {"resources": []}},
            "resources/templates/list": {"result": {"resourceTemplates": []}}
        }"#,
    );
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/scripted.py");
    let list = || {
        let words = ["list", "--json", "--", "python3", script, "script.json"];
        let listed = place.run(&words);
        assert!(listed.status.success(), "{}", stderr(&listed));
        assert!(
            stdout(&listed).contains("2025-11-25"),
            "{}",
            stdout(&listed)
        );
    };
    list();
    let first = place.read("script.json.asked");
    assert!(first.starts_with("server/discover\n"), "{first}");
    list();
    let both = place.read("script.json.asked");
    let second = both
        .strip_prefix(&first)
        .expect("the second run comes after");
    assert!(second.starts_with("initialize\n"), "{second}");
    assert!(!second.contains("server/discover"), "{second}");
}
