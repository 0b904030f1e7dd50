//! Mistakes in arguments and options are reported before anything is called.

use crate::program::{HttpDemo, Place, stderr, stdout};

#[test]
fn mistakes_are_named_and_nothing_is_called() {
    let place = Place::with_lab();
    for (words, wanted) in [
        (
            &["call", "lab", "weather", "place=Oslo", "place=Rome"][..],
            "error: `place` is given twice; a list takes several values, each with place+=…\nhint: the signature is weather(place: string, ",
        ),
        (
            &["call", "lab", "weather", "place=Oslo", "unti=celsius"],
            "error: tool `weather` has no argument `unti`\nhint: did you mean `unit`? `--send-anyway` sends it as it is\n",
        ),
        (
            &["call", "lab", "order", "delivery=pickup"],
            "error: `delivery` must be an object, got `pickup`\nhint: the signature is order(items: object[], delivery: object (pickup|post), note?: string); for example: 'items:=[{\"article\":\"text\",\"count\":1}]' 'delivery:={\"by\":\"pickup\",\"shop\":\"text\"}'\n",
        ),
        (
            &[
                "read",
                "lab",
                "demo://stations/{city}/{number}",
                "city=Oslo",
            ],
            "error: `demo://stations/{city}/{number}`: variable `number` is missing\nhint: add number=…\n",
        ),
        (
            &["get", "lab", "summarise", "tex=x"],
            "error: prompt `summarise` needs `text`\nhint: it has no argument `tex`: did you mean `text`?\n",
        ),
        (
            &["get", "lab", "zzzzzzzz"],
            "error: server `lab` has no prompt `zzzzzzzz`\nhint: `turnbuckle list lab prompts` lists the prompts\n",
        ),
        (
            &["tasks", "lab", "get"],
            "error: `get` needs the id of a task\nhint: `turnbuckle tasks lab list` lists the tasks, if the server speaks 2025-11-25\n",
        ),
        (
            &["load", "lab", "add", "a=1", "b=2", "-n", "0"],
            "error: invalid value '0' for '--calls <N>': it must be a number of calls, 1 or more\n",
        ),
        (
            &["load", "lab", "add", "a=1"],
            "error: the arguments do not fit: `b` is missing\nhint: the signature is add(a: ",
        ),
        (
            &[
                "call",
                "lab",
                "echo",
                "text=hi",
                "-H",
                "Authorization Bearer hush",
            ],
            "error: the value of `--header` is not a header: it has no colon\nhint: write `--header 'Name: value'`\n",
        ),
        (
            &["call", "lab", "echo", "text=hi", "-H", "X Key: hush"],
            "error: `X Key: …` is not a header\nhint: write `--header 'Name: value'`\n",
        ),
        (
            &["call", "lab", "echo", "text=hi", "-H", "X-Tenant: a"],
            "error: `--header` is for servers at a URL, and this is a program\nhint: ",
        ),
    ] {
        let output = place.run(&[words, &["--record", &place.file("wire")]].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let said = stderr(&output);
        assert!(said.starts_with(wanted), "{words:?}: {said}");
        assert_eq!(stdout(&output), "", "{words:?}");
        let wire = std::fs::read_to_string(place.path().join("wire")).unwrap_or_default();
        for method in ["tools/call", "prompts/get"] {
            assert!(!wire.contains(method), "{words:?}: {wire}");
        }
    }
}

/// A variable of the query may be left out.
#[test]
fn a_template_can_be_read_without_its_query() {
    let place = Place::with_lab();
    let output = place.run(&[
        "read",
        "lab",
        "demo://timetables/{line}{?day}",
        "line=north",
    ]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn files_and_options_that_are_wrong_are_explained() {
    let place = Place::with_lab();
    place.write("calls.yaml", "calls: 1\n");
    for (words, wanted) in [
        (
            &["replay", "calls.yaml"][..],
            "\nhint: make one with `turnbuckle record FILE SERVER`\n",
        ),
        (&["logout"], "error: no server was named\nhint: "),
    ] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let said = stderr(&output);
        assert!(said.contains(wanted), "{words:?}: {said}");
    }
    let output = place.run(&["test", "calls.yaml", "lab"]);
    let said = stderr(&output);
    // One line for the mistake, and one for the hint.
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(said.matches("error:").count(), 1, "{said}");
}

/// A name that is not similar to any other is sent to the server, because the schema allows it.
#[test]
fn what_is_like_nothing_is_sent_with_a_warning() {
    let place = Place::with_lab();
    let output = place.run(&["call", "lab", "echo", "text=hi", "colour=red"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stdout(&output), "hi\n");
    let wanted = "warning: tool `echo` has no argument `colour`; sending it anyway\n";
    assert_eq!(stderr(&output), wanted);
    let words = [
        "call",
        "lab",
        "weather",
        "place=Oslo",
        "unti=x",
        "--send-anyway",
    ];
    assert_eq!(place.run(&words).status.code(), Some(0));
}

/// Unless the schema forbids it, a misspelled argument is sent with a warning.
#[test]
fn a_misspelt_argument_without_a_schema_is_a_warning_only() {
    let place = Place::with_lab();
    for (words, wanted) in [
        (
            &["load", "-n", "1", "lab", "weather", "place=Oslo", "unti=x"][..],
            "warning: tool `weather` has no argument `unti` (did you mean `unit`?); sending it anyway\n",
        ),
        (
            &[
                "get",
                "lab",
                "review",
                "code=x",
                "language=rust",
                "framewrk=axum",
            ],
            "warning: prompt `review` has no argument `framewrk` (did you mean `framework`?); sending it anyway\n",
        ),
    ] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(stderr(&output), wanted, "{words:?}");
    }
}

/// The words change the object from stdin, wherever `-` is written.
#[test]
fn stdin_is_read_before_the_words() {
    let place = Place::with_lab();
    for line in [
        r#"echo '{"text":"stdin"}' | turnbuckle call lab echo - text=word"#,
        r#"echo '{"text":"stdin"}' | turnbuckle call lab echo text=word -"#,
    ] {
        assert_eq!(stdout(&place.shell(line)), "word\n", "{line}");
    }
}

#[test]
fn an_invalid_port_is_not_cut_to_another_port() {
    let (place, demo) = (Place::new(), HttpDemo::start());
    let port = demo.url.split([':', '/']).nth(4).expect("it has a port");
    let url = demo.url.replace(port, "99999");
    let output = place.run(&["list", &url]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("99999"), "{said}");
}
