//! `turnbuckle chat` with a script in place of a model, against the demo server: prompts in, events out.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::Output;

use serde_json::{Value, json};

use crate::program::{LAB, Place, stderr, stdout};

const SUM: &str = r#"
# Calls a tool, and says what came of it.
{"expect": "1+2", "text": "Let me add.", "calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}
{"text": "It is {{result}}."}
"#;

fn chat(place: &Place, script: &str, words: &[&str]) -> Output {
    place.write("script", script);
    let chat = ["chat", "lab", "--model", "scripted:script"];
    place.run(&[&chat[..], words].concat())
}

pub(crate) fn events(output: &Output) -> Vec<Value> {
    let lines = stdout(output);
    let read = |line: &str| serde_json::from_str(line).expect("each line is an event");
    lines.lines().map(read).collect()
}

pub(crate) fn of_kind<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events
        .iter()
        .filter(|event| event["event"] == kind)
        .collect()
}

#[test]
fn a_prompt_goes_in_and_the_answer_comes_out() {
    let place = Place::with_lab();
    let output = chat(&place, SUM, &["--prompt", "1+2?", "--allow", "lab/add"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stdout(&output), "Let me add.\nIt is {\"sum\":3}.\n");
    let said = stderr(&output);
    assert!(said.contains("▸ add {\"a\":1,\"b\":2}\n"), "{said}");
    assert!(said.contains("✓ add {\"sum\":3} ("), "{said}");
}

#[test]
fn events_are_lines_of_json() {
    let place = Place::with_lab();
    let output = chat(
        &place,
        SUM,
        &["--json", "--prompt", "1+2?", "--allow", "lab/add"],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let events = events(&output);
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "asked", "text", "text", "text", "answer", "call", "result", "asked", "text", "text",
            "text", "answer", "end"
        ]
    );
    let call = of_kind(&events, "call")[0];
    assert_eq!(call["arguments"], json!({"a": 1, "b": 2}));
    let result = of_kind(&events, "result")[0];
    assert_eq!(result["id"], call["id"]);
    assert_eq!(result["isError"], false);
    assert_eq!(result["result"]["structuredContent"], json!({"sum": 3}));
    let end = of_kind(&events, "end")[0];
    assert_eq!(
        end,
        &json!({"event": "end", "reason": "done", "stopReason": "endTurn"})
    );
    assert_eq!(stderr(&output), "");
}

#[test]
fn without_a_terminal_a_tool_is_not_called() {
    let place = Place::with_lab();
    for allowed in [&[][..], &["--allow", "lab/echo"], &["--allow", "other/add"]] {
        let words = [&["--json", "--prompt", "1+2?"][..], allowed].concat();
        let output = chat(&place, SUM, &words);
        let result = of_kind(&events(&output), "result")[0].clone();
        assert_eq!(result["isError"], true, "{allowed:?}: {result}");
        let said = result["result"]["content"][0]["text"].as_str().unwrap();
        assert!(said.contains("no user interface to ask"), "{said}");
        // The model is told about it, and continues.
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

/// A server's sampling request is refused if no user can see it, and answered if it is
/// allowed.
#[test]
fn sampling_needs_consent_too() {
    let place = Place::with_lab();
    let script = "{\"calls\": [{\"name\": \"write\", \"arguments\": {\"about\": \"rain\"}}]}\n\
                  {\"text\": \"a line\"}\n{\"text\": \"{{result}}\"}\n";
    let words = ["--json", "--prompt", "x", "--allow", "lab/write"];
    let output = chat(&place, script, &words);
    let result = of_kind(&events(&output), "result")[0].clone();
    assert_eq!(result["isError"], true, "{result}");
    let asks = ["--allow", "sample:lab", "--allow", "sample-answer:lab"];
    let output = chat(&place, script, &[&words[..], &asks].concat());
    let result = of_kind(&events(&output), "result")[0].clone();
    assert_eq!(
        result["result"]["content"][0]["text"], "a line (scripted)",
        "{output:?}"
    );
}

#[test]
fn a_prompt_that_is_too_long_is_refused_and_not_cut() {
    let place = Place::with_lab();
    place.write("script", "{\"text\": \"done\"}");
    let line =
        "head -c 1048577 /dev/zero | tr '\\0' a | turnbuckle chat lab --model scripted:script";
    let output = place.shell(line);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.contains("the prompt on stdin has more than 1048576 bytes"),
        "{said}"
    );
    let output = place.shell("printf '\\377' | turnbuckle chat lab --model scripted:script");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.contains("the prompt on stdin is not valid UTF-8"),
        "{said}"
    );
}

/// A named server gets all settings in its file, not only those for starting it.
#[test]
fn a_named_server_has_everything_that_its_file_says() {
    let place = Place::with_lab();
    let mut file: Value = serde_json::from_str(&place.read(LAB)).unwrap();
    file["mcpServers"]["lab"]["disabledTools"] = json!(["add"]);
    place.write(LAB, &file.to_string());
    let output = chat(&place, SUM, &["--json", "--prompt", "1+2?", "--allow", "*"]);
    let result = of_kind(&events(&output), "result")[0].clone();
    let said = &result["result"]["content"][0]["text"];
    assert_eq!(said, "there is no tool `add`", "{output:?}");
}

#[test]
fn several_servers_have_tools_under_their_names() {
    let place = Place::with_lab();
    let lab = place.read(LAB);
    let entry: Value = serde_json::from_str(&lab).unwrap();
    let entry = &entry["mcpServers"]["lab"];
    place.write(
        "two.json",
        &json!({"mcpServers": {"one": entry, "two": entry}}).to_string(),
    );
    place.write(
        "script",
        "{\"calls\": [{\"name\": \"one__add\", \"arguments\": {\"a\": 1, \"b\": 2}}, \
         {\"name\": \"two__add\", \"arguments\": {\"a\": 3, \"b\": 4}}]}\n{\"text\": \"ok\"}",
    );
    let words = [
        "chat",
        "--config",
        "two.json",
        "--model",
        "scripted:script",
        "--json",
    ];
    let output = place.run(&[&words[..], &["--prompt", "x", "--allow", "*"]].concat());
    let events = events(&output);
    let mut sums: Vec<_> = of_kind(&events, "result")
        .iter()
        .map(|result| {
            result["result"]["structuredContent"]["sum"]
                .as_i64()
                .unwrap()
        })
        .collect();
    sums.sort_unstable();
    assert_eq!(sums, [3, 7], "{output:?}");
}

#[test]
fn rounds_are_bounded_and_the_bound_is_named() {
    let place = Place::with_lab();
    let forever =
        "{\"calls\": [{\"name\": \"echo\", \"arguments\": {\"text\": \"x\"}}]}\n".repeat(9);
    let words = ["--prompt", "x", "--allow", "lab/echo", "--max-rounds", "2"];
    let output = chat(&place, &forever, &words);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.ends_with(
            "error: the model did not finish after 2 requests\nhint: raise --max-rounds\n"
        ),
        "{said}"
    );
}

#[test]
fn without_a_model_it_says_how_to_get_one() {
    let place = Place::with_lab();
    let output = place.run(&["chat", "lab"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.starts_with("error: no model was named\nhint: pass `--model anthropic:NAME`"),
        "{said}"
    );
    let mut keyless = place.command(crate::program::BINARY);
    keyless
        .env_remove("OPENAI_API_KEY")
        .args(["chat", "--model", "openai:gpt-5", "-p", "x"]);
    let output = keyless.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.contains("error: no API key for model `gpt-5`\nhint: set OPENAI_API_KEY"),
        "{said}"
    );
    let output = place.run(&["chat", "lab", "--model", "scripted:nowhere", "-p", "x"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// A fake API that accepts one request and sends one answer. It returns the request.
pub(crate) fn api(
    status: &'static str,
    kind: &'static str,
    body: String,
) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
    let served = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("somebody comes");
        let mut reader = BufReader::new(stream.try_clone().expect("a socket can be shared"));
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a line comes");
            if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = given.trim().parse().expect("it is a number");
            }
            head += &line;
            if line.trim().is_empty() {
                break;
            }
        }
        let mut sent = vec![0; length];
        reader.read_exact(&mut sent).expect("the body comes");
        let size = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {size}\r\n\r\n{body}"
        );
        let mut stream = stream;
        stream.write_all(answer.as_bytes()).expect("it is taken");
        head + &String::from_utf8_lossy(&sent)
    });
    (url, served)
}

#[test]
fn a_model_behind_an_api_is_streamed_and_gets_only_its_own_key() {
    let place = Place::with_lab();
    let chunk = |delta: Value, reason: Value| json!({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    let stream = format!(
        "data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
        chunk(json!({"content": "Hello"}), Value::Null),
        chunk(json!({"content": " there."}), json!("stop")),
    );
    let (url, served) = api("200 OK", "text/event-stream", stream);
    let mut command = place.command(crate::program::BINARY);
    command
        .env("OPENAI_API_KEY", "sk-of-openai")
        .env("TURNBUCKLE_MODEL_KEY", "sk-of-mine");
    let words = [
        "chat",
        "lab",
        "--model",
        "some-model",
        "--api",
        &url,
        "-p",
        "hi",
    ];
    let output = command.args(words).output().expect("the binary runs");
    assert_eq!(stdout(&output), "Hello there.\n", "{output:?}");
    let request = served.join().expect("it was asked");
    assert!(
        request.contains("authorization: Bearer sk-of-mine"),
        "{request}"
    );
    assert!(!request.contains("sk-of-openai"), "{request}");
    let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
    let body: Value = serde_json::from_str(body).expect("it is JSON");
    assert_eq!(body["messages"], json!([{"role": "user", "content": "hi"}]));
    let names: Vec<_> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert!(names.contains(&&json!("add")), "{names:?}");
}

/// A key from stdin is stored in the keyring, which is a real one here, and is only sent to the API that it is
/// for.
#[cfg(target_os = "linux")]
#[test]
fn a_keyring_keeps_the_key_of_a_model() {
    let place = Place::with_lab();
    let said = json!({"model": "m", "choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hello."}}]});
    let (url, served) = api("200 OK", "application/json", said.to_string());
    let (other, asked_too) = api("200 OK", "application/json", said.to_string());
    let line = format!(
        "printf 'sk-of-the-ring\\n' | turnbuckle chat --model m --api {url} --save-key &&
         turnbuckle chat lab --model m --api {url} -p hi &&
         turnbuckle chat lab --model m --api {other} -p hi"
    );
    let output = place.with_keyring(&line).output().expect("it runs");
    assert_eq!(stdout(&output), "Hello.\nHello.\n", "{output:?}");
    let said = stderr(&output);
    assert!(
        said.lines().any(|line| line == "the key is in the keyring"),
        "{said}"
    );
    let request = served.join().expect("it was asked");
    assert!(
        request.contains("authorization: Bearer sk-of-the-ring\r\n"),
        "{request}"
    );
    let request = asked_too.join().expect("it was asked");
    assert!(!request.contains("sk-of-the-ring"), "{request}");
}

#[test]
fn a_key_is_not_saved_without_a_keyring_or_from_an_empty_pipe() {
    let place = Place::with_lab();
    let line = "printf '' | turnbuckle chat --model openai:m --save-key";
    let output = place.shell(line);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("there is no key on stdin"));
    let line = "printf 'sk-secret' | turnbuckle chat --model openai:m --save-key";
    let output = place.shell(line);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.contains("hint: put it into the environment instead"),
        "{said}"
    );
    assert!(!said.contains("sk-secret"), "{said}");
}

#[test]
fn a_key_that_an_api_repeats_is_not_printed() {
    let place = Place::with_lab();
    let body = json!({"error": {"message": "Incorrect API key provided: sk-of-mine"}}).to_string();
    let (url, served) = api("401 Unauthorized", "application/json", body);
    let mut command = place.command(crate::program::BINARY);
    command
        .env("TURNBUCKLE_MODEL_KEY", "sk-of-mine")
        .env("RUST_LOG", "trace");
    let words = [
        "chat", "lab", "--model", "m", "--api", &url, "-p", "hi", "--json",
    ];
    let output = command.args(words).output().expect("the binary runs");
    served.join().expect("it was asked");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let all = stdout(&output) + &stderr(&output);
    assert!(
        all.contains("refused the API key (status 401): Incorrect API key provided: ***"),
        "{all}"
    );
    assert!(!all.contains("sk-of-mine"), "{all}");
}

#[test]
fn an_audit_log_has_calls_and_decisions() {
    let place = Place::with_lab();
    let words = ["--prompt", "1+2?", "--allow", "lab/add", "--audit", "audit"];
    let output = chat(&place, SUM, &words);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = place.read("audit");
    assert!(
        log.lines()
            .any(|line| line.contains("\"call\"") && line.contains("\"add\"")),
        "{log}"
    );
}
