//! The command line that does the same as an exchange: it can be pasted into a shell and runs.

use serde_json::{Value, value::RawValue};
use turnbuckle_host::config::Launch;

use super::{Inspector, exchange::Wanted, message::object_of, server::Pin};
use crate::{
    argument::{self, Tree},
    target::EraName,
};

/// The line for an exchange; `None` where the command line has no word for it.
pub(super) fn of(inspector: &Inspector, server: &str, wanted: &Wanted) -> Option<String> {
    let (launch, name, pin, is_configured) = {
        let mut state = inspector.lock();
        let entry = state.server(server)?;
        let is_configured = entry.source != "command line" && entry.source != "the page";
        (
            entry.server.clone(),
            entry.name.clone(),
            entry.pin,
            is_configured,
        )
    };
    let offer = inspector.known_offer(server);
    let params = wanted.params.as_deref().map_or("{}", RawValue::get);
    let object = object_of(params);
    let mut input = None;
    let (verb, words) = match wanted.method.as_str() {
        "tools/call" => {
            let tool = object?;
            let schemas = offer.as_ref().and_then(|offer| offer.tool(&tool));
            let schema = schemas.and_then(|schemas| schemas.input_schema);
            let (arguments, stdin) = arguments(params, &schema.unwrap_or_default())?;
            input = stdin;
            ("call", std::iter::once(tool).chain(arguments).collect())
        }
        "prompts/get" => {
            let prompt = object?;
            let schema = offer.as_ref().and_then(|offer| offer.prompt(&prompt));
            let (arguments, stdin) = arguments(params, &schema.unwrap_or_default())?;
            input = stdin;
            ("get", std::iter::once(prompt).chain(arguments).collect())
        }
        "resources/read" => ("read", vec![object?]),
        "completion/complete" => ("complete", completion(params)?),
        "tools/list" => ("list", Vec::new()),
        _ => return None,
    };
    let mut all = vec!["turnbuckle".to_owned(), verb.to_owned()];
    all.extend(pins(pin));
    let command = place(&launch.launch, &name, is_configured, &mut all);
    all.extend(words);
    all.extend(command);
    let line = line(all.iter().map(String::as_str));
    Some(match input {
        Some(json) => format!("printf %s {} | {line}", quote(&json)),
        None => line,
    })
}

/// Puts the server where it belongs; a command comes last.
fn place(launch: &Launch, name: &str, is_configured: bool, words: &mut Vec<String>) -> Vec<String> {
    match launch {
        _ if is_configured => words.push(name.to_owned()),
        Launch::Remote(_) => words.push(super::server::shown(launch)),
        Launch::Command {
            program, arguments, ..
        } => {
            let command = ["--", program].map(str::to_owned).into_iter();
            return command.chain(arguments.iter().cloned()).collect();
        }
    }
    Vec::new()
}

fn pins(pin: Pin) -> Vec<String> {
    match (pin.revision, pin.era) {
        (Some(revision), _) => vec!["--revision".to_owned(), revision.to_string()],
        (None, Some(EraName::Legacy)) => vec!["--era".to_owned(), "legacy".to_owned()],
        (None, Some(EraName::Modern)) => vec!["--era".to_owned(), "modern".to_owned()],
        (None, None) => Vec::new(),
    }
}

/// Arguments as words that read back as the same JSON; where there are none, `-` and the JSON.
fn arguments(params: &str, schema: &Value) -> Option<(Vec<String>, Option<String>)> {
    let Tree::Object(members) = Tree::parse(params).ok()? else {
        return None;
    };
    let given = members.into_iter().find(|(name, _)| name == "arguments");
    let Some((_, given)) = given else {
        return Some((Vec::new(), None));
    };
    let json = given.to_json();
    let Tree::Object(members) = given else {
        return None;
    };
    let words: Option<Vec<String>> = members
        .iter()
        .map(|(key, value)| word(key, value, schema))
        .collect();
    Some(match words {
        Some(words) => (words, None),
        None => (vec!["-".to_owned()], Some(json)),
    })
}

/// The shortest word that means this.
fn word(key: &str, value: &Tree, schema: &Value) -> Option<String> {
    let json = value.to_json();
    let plain = match serde_json::from_str::<String>(&json) {
        Ok(text) => format!("{key}={text}"),
        Err(_) => format!("{key}={json}"),
    };
    let wanted = Tree::Object(vec![(key.to_owned(), value.clone())]).to_json();
    [plain, format!("{key}:={json}")].into_iter().find(|word| {
        // One that begins with `-` would be an option, one with `=@` a file.
        let is_safe = !word.starts_with('-') && !word.contains("=@");
        let read = || argument::read(std::slice::from_ref(word), schema);
        is_safe && read().is_ok_and(|tree| tree.to_json() == wanted)
    })
}

/// `complete` takes the prompt or template, what is settled, and what is being typed.
fn completion(params: &str) -> Option<Vec<String>> {
    let params: Value = serde_json::from_str(params).ok()?;
    let reference = params.get("ref")?;
    let of = reference.get("name").or_else(|| reference.get("uri"))?;
    let typed = params.get("argument")?;
    let pair = |name: &str, value: &str| format!("{name}={value}");
    let mut words = vec![of.as_str()?.to_owned()];
    let settled = params.pointer("/context/arguments");
    for (name, value) in settled.and_then(Value::as_object).into_iter().flatten() {
        words.push(pair(name, value.as_str()?));
    }
    let value = typed.get("value")?.as_str()?;
    words.push(pair(typed.get("name")?.as_str()?, value));
    Some(words)
}

/// Words as a line for a shell.
pub(super) fn line<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.map(quote).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Words of a line that a person typed, with quotation marks and backslashes as shells have them;
/// `None` if a mark is not closed. Nothing is expanded.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut mark = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (mark, character) {
            (Some(open), _) if open == character => mark = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            (_, '\\') => word.get_or_insert_default().push(characters.next()?),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                mark = Some(character);
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    mark.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_of_a_line_come_apart_and_together() {
        for words in [
            vec!["npx", "-y", "a b", "it's", "", "$HOME", "x\"y"],
            vec!["python3", "-c", "print('hi')\nprint(\"x\")"],
        ] {
            let line = line(words.iter().copied());
            assert_eq!(split(&line).unwrap(), words, "{line}");
        }
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("a\\ b \"c\\\"d\"").unwrap(), ["a b", "c\"d"]);
    }

    #[test]
    fn arguments_read_back_as_they_were() {
        let schema = json!({"properties": {
            "text": {"type": "string"}, "n": {"type": "integer"}, "list": {"type": "array"}}});
        for (given, wanted) in [
            (r#"{"text":"hi"}"#, &["text=hi"][..]),
            (
                r#"{"text":"7","n":12345678901234567890123}"#,
                &["text=7", "n=12345678901234567890123"],
            ),
            (r#"{"text":"@file"}"#, &[r#"text:="@file""#]),
            (r#"{"list":[1.50,"a"]}"#, &[r#"list=[1.50,"a"]"#]),
        ] {
            let params = format!("{{\"arguments\":{given}}}");
            let (words, input) = arguments(&params, &schema).unwrap();
            assert_eq!(input, None, "{given}");
            let read = argument::read(&words, &schema).unwrap().to_json();
            assert_eq!(read, given);
            assert_eq!(words, wanted, "{given}");
        }
    }

    #[test]
    fn what_has_no_word_goes_by_stdin() {
        let given = r#"{"a=b":1,"-x":2}"#;
        let params = format!("{{\"arguments\":{given}}}");
        let (words, input) = arguments(&params, &json!({})).unwrap();
        assert_eq!(
            (words, input.as_deref()),
            (vec!["-".to_owned()], Some(given))
        );
    }
}
