//! The client examples, with servers.

use crate::program::{example, printed};

const ASKING: &str = env!("CARGO_BIN_EXE_asking-server");

fn path(name: &str) -> String {
    example(name).to_string_lossy().into_owned()
}

#[tokio::test]
async fn list_and_call_prints_the_list_and_the_result() {
    let arguments = [
        "count_words",
        r#"{"text":"one three two"}"#,
        &path("structured"),
    ];
    let text = printed("list_and_call", &arguments).await;
    assert!(text.starts_with("examples speaks 2026-07-28\n"), "{text}");
    assert!(
        text.contains("- count_words: Counts the words of a text.\n"),
        "{text}"
    );
    assert!(text.contains(r#""longest": "three""#), "{text}");
}

#[tokio::test]
async fn call_options_shows_progress_a_deadline_and_a_cancellation() {
    let text = printed("call_options", &[&path("progress")]).await;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        &lines[..4],
        ["1 of 3", "2 of 3", "3 of 3", "3 eggs are done"]
    );
    assert!(lines[4].contains("`tools/call`"), "{text}");
    assert_eq!(&lines[5..], ["never mind the eggs"]);
}

#[tokio::test]
async fn answering_fills_in_a_form_it_knows() {
    let text = printed("answering", &["form", ASKING]).await;
    // The name that the client gave the server, not the one that the server reports.
    let asked = format!("{ASKING} asks: Who are you?\n");
    assert!(text.starts_with(&asked), "{text}");
    assert!(
        text.contains(r#""action":"accept""#) && text.contains(r#""name":"Ada""#),
        "{text}"
    );
}

#[tokio::test]
async fn answering_declines_a_form_it_does_not_know() {
    let text = printed("answering", &["strange_form", ASKING]).await;
    assert!(text.contains(r#""action":"decline""#), "{text}");
}

#[tokio::test]
async fn answering_samples_and_lists_roots() {
    let sampled = printed("answering", &["sample", ASKING]).await;
    assert!(sampled.contains(r#""text":"HELLO""#), "{sampled}");
    let roots = printed("answering", &["roots", ASKING]).await;
    assert!(roots.contains("file:///home/ada"), "{roots}");
}

#[tokio::test]
async fn answer_later_goes_on_in_another_process() {
    let file = std::env::temp_dir().join(format!("answer-later-{}.json", std::process::id()));
    let file = file.to_string_lossy();
    let asked = printed("answer_later", &["ask", &file]).await;
    assert!(asked.starts_with("greet asks"), "{asked}");
    let answered = printed("answer_later", &["answer", &file, "Ada"]).await;
    assert_eq!(answered, "Hello, Ada!\n");
    std::fs::remove_file(&*file).expect("it was written");
}
