//! Handlers that ask, run round by round. Between two rounds the journal is sealed, as it is when it
//! travels through a client.

use serde_json::{Value, json};
use turnbuckle_protocol::{ClientCapabilities, InputRequest, InputResponse, Revision};
use turnbuckle_session::round::{
    AskError, AskOutcome, BadAnswer, Binding, Journal, JournalError, Key, KeyRing, MAX_OPEN_ASKS,
    RequestDigest, Round,
};

/// A key and the question under it.
type Question = (&'static str, fn() -> Value);

/// The steps of a handler. It waits at the first step with an open question.
enum Step {
    /// Asks one question, or several concurrently.
    Ask(&'static [Question]),
    /// Stores a value.
    Memo(&'static str, u32),
}

fn form(message: &str, field: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"x": field}, "required": ["x"]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    json!({"method": "elicitation/create", "params": params})
}

fn name() -> Value {
    form("Name?", &json!({"type": "string"}))
}

fn age() -> Value {
    form("Age?", &json!({"type": "integer", "minimum": 0}))
}

fn nickname() -> Value {
    form("Nickname?", &json!({"type": "string"}))
}

fn capital() -> Value {
    json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}})
}

fn roots() -> Value {
    json!({"method": "roots/list"})
}

fn question(write: fn() -> Value) -> InputRequest {
    serde_json::from_value(write()).unwrap()
}

fn accept(value: impl Into<Value>) -> Value {
    json!({"action": "accept", "content": {"x": value.into()}})
}

fn said() -> Value {
    json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Paris"}})
}

fn able() -> ClientCapabilities {
    let client = ClientCapabilities::new().with_form_elicitation();
    client.with_roots().with_sampling()
}

fn begin() -> Round {
    Round::new(Revision::LATEST, able())
}

/// Runs the handler. Returns its answers if it reached its end.
fn run(handler: &[Step], round: &mut Round) -> Result<Option<Vec<InputResponse>>, AskError> {
    let mut answers = Vec::new();
    for step in handler {
        match step {
            Step::Memo(key, value) => {
                round.journal_mut().record_memo(key, value)?;
            }
            Step::Ask(joined) => {
                for (key, write) in *joined {
                    match round.ask(key, &question(*write))? {
                        AskOutcome::Answered(answer) => answers.push(answer),
                        AskOutcome::Open => {}
                        AskOutcome::Impossible(reason) => panic!("{key}: {reason}"),
                    }
                }
            }
        }
        if !round.open().is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(answers))
}

/// Drives a handler: in each round the client sends these answers and gets questions with these keys.
fn drive(handler: &[Step], rounds: &[(Value, &[&str])]) -> Journal {
    let keys = KeyRing::new(Key::new([1; 32]));
    let binding = Binding::new(RequestDigest::named("tools/call", "book"));
    let mut state: Option<String> = None;
    for (number, (responses, expected)) in (0_u8..).zip(rounds) {
        let mut round = match &state {
            None => begin(),
            Some(state) => {
                let journal = keys.open(state, &binding, 0).unwrap().journal;
                Round::resume(Revision::LATEST, able(), journal)
            }
        };
        round.merge(responses.as_object().unwrap().clone()).unwrap();
        let answers = run(handler, &mut round).unwrap();
        let Some(pause) = round.pause() else {
            assert!(
                answers.is_some() && expected.is_empty(),
                "ended in round {number}"
            );
            return round.into_journal();
        };
        let asked: Vec<_> = pause.requests.keys().collect();
        assert_eq!(asked, *expected, "round {number}");
        let result = pause.seal(&keys, &binding, 60, [number; 24]);
        assert_eq!(result.input_requests.len(), expected.len());
        state = Some(result.request_state);
    }
    panic!("the handler still asks");
}

const SEQUENTIAL: &[Step] = &[
    Step::Memo("quote", 7),
    Step::Ask(&[("name", name)]),
    Step::Ask(&[("age", age)]),
    Step::Ask(&[("capital", capital)]),
];

const JOINED: &[Step] = &[
    Step::Ask(&[("name", name), ("capital", capital), ("dirs", roots)]),
    Step::Ask(&[("age", age)]),
];

#[test]
fn sequential_asks_keep_earlier_answers_and_memos() {
    let journal = drive(
        SEQUENTIAL,
        &[
            (json!({}), &["name"]),
            (json!({"name": accept("Ada")}), &["age"]),
            (json!({"age": {"action": "decline"}}), &["capital"]),
            (json!({"capital": said()}), &[]),
        ],
    );
    assert_eq!(journal.memo("quote").unwrap().get(), "7");
    assert_eq!(
        journal.answer("name").unwrap().get(),
        accept("Ada").to_string()
    );
}

// rule: I2
#[test]
fn joined_asks_come_as_one_in_the_order_they_were_asked() {
    drive(
        JOINED,
        &[
            (json!({}), &["name", "capital", "dirs"]),
            (
                json!({"dirs": {"roots": []}, "name": accept("Ada"), "capital": said()}),
                &["age"],
            ),
            (json!({"age": accept(36)}), &[]),
        ],
    );
}

// rule: I5
#[test]
fn missing_answers_are_asked_for_again() {
    // mrtr: the server SHOULD request the missing information again.
    drive(
        JOINED,
        &[
            (json!({}), &["name", "capital", "dirs"]),
            (json!({"capital": said()}), &["name", "dirs"]),
            (json!({}), &["name", "dirs"]),
            (
                json!({"name": accept("Ada"), "dirs": {"roots": []}}),
                &["age"],
            ),
            (json!({"age": accept(36)}), &[]),
        ],
    );
}

// rule: I5
#[test]
fn what_was_not_asked_is_ignored() {
    // mrtr: the server SHOULD ignore answers that it does not recognise or need.
    drive(
        SEQUENTIAL,
        &[
            (json!({"wrong": accept("key")}), &["name"]),
            (
                json!({"name": accept("Ada"), "junk": 7, "age": accept(1)}),
                &["age"],
            ),
            (json!({"name": 12345, "age": accept(36)}), &["capital"]),
            (json!({"capital": said()}), &[]),
        ],
    );
}

#[test]
fn answers_that_come_without_a_state_count_for_what_is_then_asked() {
    let all = json!({"name": accept("Ada"), "age": accept(36), "capital": said(), "more": 1});
    let journal = drive(SEQUENTIAL, &[(all, &[])]);
    assert!(journal.question("more").is_none());
    drive(
        SEQUENTIAL,
        &[
            (
                json!({"age": accept(36), "name": accept("Ada"), "x": {}}),
                &["capital"],
            ),
            (json!({"capital": said()}), &[]),
        ],
    );
}

#[test]
fn a_changed_question_is_named() {
    let mut round = begin();
    round.ask("name", &question(name)).unwrap();
    let refused = round.ask("name", &question(nickname)).unwrap_err();
    assert!(matches!(&refused, AskError::Journal(JournalError::Changed { key }) if key == "name"));

    let mut again = Round::resume(Revision::LATEST, able(), round.into_journal());
    again.merge([("name", accept("Ada"))]).unwrap();
    let refused = again.ask("name", &question(roots)).unwrap_err();
    assert!(refused.to_string().contains("`name`"), "{refused}");
    assert!(matches!(
        again.ask("name", &question(name)),
        Ok(AskOutcome::Answered(_))
    ));
}

// rule: I2
#[test]
fn the_same_question_twice_is_one() {
    let mut round = begin();
    for _ in 0..3 {
        assert_eq!(
            round.ask("name", &question(name)).unwrap(),
            AskOutcome::Open
        );
    }
    assert_eq!(round.pause().unwrap().requests.len(), 1);
    assert!(round.pause().is_none());
}

#[test]
fn an_answer_that_does_not_fit_names_its_key_and_changes_nothing() {
    // mrtr: the server SHOULD validate the answers; invalid ones SHOULD be a JSON-RPC error.
    let asked = || {
        let mut round = begin();
        run(JOINED, &mut round).unwrap();
        round
    };
    for bad in [
        json!(12345),
        json!(null),
        accept(7),
        json!({"action": "shrug"}),
        said(),
        json!({}),
    ] {
        let responses = || [("capital", said()), ("name", bad.clone())];
        let is_named =
            |refused: BadAnswer| refused.key == "name" && refused.to_error().code == -32602;

        // Checked while the question is open, and when only its kind is known.
        let mut open = asked();
        assert!(is_named(open.merge(responses()).unwrap_err()), "{bad}");
        assert_eq!(open.open().len(), 3);
        let mut later = Round::resume(Revision::LATEST, able(), asked().into_journal());
        let refused = match later.merge(responses()) {
            Err(refused) => refused,
            Ok(()) => match later.ask("name", &question(name)) {
                Err(AskError::BadAnswer(refused)) => refused,
                other => panic!("{bad}: {other:?}"),
            },
        };
        assert!(is_named(refused), "{bad}");
    }
}

#[test]
fn an_answer_of_the_wrong_kind_is_refused_before_the_handler_runs() {
    for (write, wrong) in [
        (name as fn() -> Value, said()),
        (name, json!({"action": "accept", "content": 7})),
        (capital, accept("Paris")),
        (roots, json!({"action": "decline"})),
    ] {
        let mut round = begin();
        round.ask("key", &question(write)).unwrap();
        let mut later = Round::resume(Revision::LATEST, able(), round.into_journal());
        assert_eq!(
            later.merge([("key", &wrong)]).unwrap_err().key,
            "key",
            "{wrong}"
        );
        assert_eq!(
            later.ask("key", &question(write)).unwrap(),
            AskOutcome::Open
        );
    }
}

#[test]
fn answers_in_a_session_or_a_task_resolve_in_place() {
    let mut round = Round::new(Revision::V2025_11_25, able());
    run(JOINED, &mut round).unwrap();
    round.merge([("name", accept("Ada"))]).unwrap();
    assert!(!round.open().contains_key("name"));
    assert!(matches!(
        round.ask("name", &question(name)),
        Ok(AskOutcome::Answered(_))
    ));
    assert!(round.withdraw("capital").is_some());
    assert_eq!(round.open().keys().collect::<Vec<_>>(), ["dirs"]);
    assert_eq!(
        round.ask("capital", &question(capital)).unwrap(),
        AskOutcome::Open
    );
}

// rule: I1
#[test]
fn what_the_client_cannot_answer_is_never_sent() {
    // mrtr: servers MUST NOT send requests that the client has not declared support for.
    let sampling_only = ClientCapabilities::new().with_sampling();
    for (revision, capabilities, possible) in [
        (
            Revision::LATEST,
            ClientCapabilities::new(),
            [false, false, false],
        ),
        (Revision::LATEST, sampling_only, [false, true, false]),
        (Revision::LATEST, able(), [true, true, true]),
        (Revision::V2025_06_18, able(), [true, true, true]),
        (Revision::V2024_11_05, able(), [false, true, true]),
    ] {
        let mut round = Round::new(revision, capabilities);
        let asks: [Question; 3] = [("a", name), ("b", capital), ("c", roots)];
        for ((key, write), is_possible) in asks.into_iter().zip(possible) {
            let asked = round.ask(key, &question(write)).unwrap();
            assert_eq!(asked == AskOutcome::Open, is_possible, "{revision} {key}");
            assert_eq!(round.open().contains_key(key), is_possible);
            assert_eq!(round.journal().question(key).is_some(), is_possible);
        }
    }
}

#[test]
fn questions_go_out_in_the_words_of_the_revision() {
    let mut round = Round::new(Revision::V2025_06_18, able());
    round.ask("name", &question(name)).unwrap();
    let sent = serde_json::to_value(round.open().get("name").unwrap()).unwrap();
    assert_eq!(sent["params"].get("mode"), None);
}

#[test]
fn only_so_many_questions_are_open_at_once() {
    let mut round = begin();
    for number in 0..MAX_OPEN_ASKS {
        round.ask(&number.to_string(), &question(roots)).unwrap();
    }
    assert_eq!(round.ask("0", &question(roots)).unwrap(), AskOutcome::Open);
    let refused = round.ask("more", &question(roots)).unwrap_err();
    assert!(matches!(refused, AskError::TooManyOpen { key } if key == "more"));
}

#[test]
fn an_answer_too_large_to_keep_is_refused_by_name() {
    let mut round = begin();
    round.ask("name", &question(name)).unwrap();
    let refused = round
        .merge([("name", accept("x".repeat(2 << 20)))])
        .unwrap_err();
    assert_eq!(refused.key, "name");
    assert!(refused.to_string().len() < 300, "{refused}");
}
