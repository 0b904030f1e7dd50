//! The model that `--model` and `--api` name.

use std::{path::Path, sync::Arc};

use turnbuckle::models::{Anthropic, ApiSettings, Model, ModelError, OpenAi, Scripted};
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

use super::key::{self, KeyPlace};

/// Where Ollama listens.
const OLLAMA: &str = "http://localhost:11434/v1";

/// How to get a model.
const HOW: &str = "pass `--model anthropic:NAME` with a key in ANTHROPIC_API_KEY, `--model openai:NAME` with one in \
     OPENAI_API_KEY, `--model ollama:NAME` if Ollama runs here, `--model NAME --api URL` for another \
     server that speaks OpenAI's chat completions, or `--model scripted:FILE` to play a script";

/// A model that was named, and not yet opened.
pub(super) struct NamedModel<'n> {
    maker: Maker<'n>,
    name: &'n str,
}

#[derive(Clone, Copy)]
enum Maker<'n> {
    Anthropic,
    AnthropicAt(&'n str),
    OpenAi,
    /// A server that speaks the chat completions of OpenAI.
    Compatible(&'n str),
    Script,
}

/// Reads what was named.
pub(super) fn parse<'n>(model: Option<&'n str>, api: Option<&'n str>) -> Outcome<NamedModel<'n>> {
    let Some(model) = model.filter(|model| !model.is_empty()) else {
        return Err(Failed::usage("no model was named").hint(HOW));
    };
    let (maker, name) = match (model.split_once(':'), api) {
        (Some(("scripted", file)), None) => (Maker::Script, file),
        (Some(("anthropic", name)), None) => (Maker::Anthropic, name),
        (Some(("anthropic", name)), Some(url)) => (Maker::AnthropicAt(url), name),
        (Some(("openai", name)), None) => (Maker::OpenAi, name),
        (Some(("openai", name)), Some(url)) => (Maker::Compatible(url), name),
        (Some(("ollama", name)), api) => (Maker::Compatible(api.unwrap_or(OLLAMA)), name),
        // The name of a model may have a colon: `qwen3:4b`.
        (_, Some(url)) => (Maker::Compatible(url), model),
        (_, None) if model.starts_with("claude-") => (Maker::Anthropic, model),
        (_, None) if is_of_openai(model) => (Maker::OpenAi, model),
        (_, None) => {
            let said = format!("it is not known where model `{model}` is");
            return Err(Failed::usage(said).hint(HOW));
        }
    };
    if name.is_empty() {
        return Err(Failed::usage(format!("`{model}` names no model")).hint(HOW));
    }
    Ok(NamedModel { maker, name })
}

fn is_of_openai(model: &str) -> bool {
    let is_o = model
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_o || model.starts_with("gpt-") || model.starts_with("chatgpt-")
}

impl NamedModel<'_> {
    /// Where its key is looked for; nowhere for a script.
    pub(super) fn key_place(&self) -> Option<KeyPlace> {
        Some(match self.maker {
            Maker::Anthropic => KeyPlace::new("ANTHROPIC_API_KEY", "anthropic"),
            Maker::OpenAi => KeyPlace::new("OPENAI_API_KEY", "openai"),
            // The key of a maker is for the maker: it is not sent to others.
            Maker::AnthropicAt(url) | Maker::Compatible(url) => {
                KeyPlace::new("TURNBUCKLE_MODEL_KEY", url.trim_end_matches('/'))
            }
            Maker::Script => return None,
        })
    }

    /// Opens it.
    pub(super) fn open(&self) -> Outcome<Arc<dyn Model>> {
        let settings = ApiSettings::new();
        let place = self.key_place();
        let key = place.as_ref().and_then(key::find);
        let needed = || {
            let place = place.as_ref();
            key.clone().ok_or_else(|| {
                let variable = place.map_or("", |place| place.variable);
                let said = format!("there is no key for model `{}`", self.name);
                Failed::new(Code::Authorization, said).hint(format!(
                    "set {variable}, or keep the key in the keyring with --save-key"
                ))
            })
        };
        let model: Result<Arc<dyn Model>, ModelError> = match self.maker {
            Maker::Anthropic => {
                Anthropic::new(self.name, needed()?, settings).map(|model| Arc::new(model) as _)
            }
            Maker::OpenAi => {
                OpenAi::new(self.name, needed()?, settings).map(|model| Arc::new(model) as _)
            }
            Maker::AnthropicAt(url) => Anthropic::compatible(url, self.name, key, settings)
                .map(|model| Arc::new(model) as _),
            Maker::Compatible(url) => {
                OpenAi::compatible(url, self.name, key, settings).map(|model| Arc::new(model) as _)
            }
            Maker::Script => Scripted::open(Path::new(self.name)).map(|model| Arc::new(model) as _),
        };
        model.map_err(failed)
    }
}

/// How a command ends whose model gave no answer.
pub(super) fn failed(error: ModelError) -> Failed {
    let code = match &error {
        ModelError::Unauthorized { .. } | ModelError::NoKey { .. } => Code::Authorization,
        ModelError::Http { .. } => Code::Connect,
        ModelError::Silent { .. } => Code::Timeout,
        ModelError::Script { .. } | ModelError::PlainHttp { .. } => Code::Usage,
        _ => Code::Protocol,
    };
    let hint = error.hint();
    let failed = Failed::new(code, error);
    match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_where_a_model_is_and_which_key_it_gets() {
        for (model, api, variable, name) in [
            (
                "claude-sonnet-4-5",
                None,
                "ANTHROPIC_API_KEY",
                "claude-sonnet-4-5",
            ),
            ("gpt-5", None, "OPENAI_API_KEY", "gpt-5"),
            ("o3", None, "OPENAI_API_KEY", "o3"),
            ("ollama:qwen3:4b", None, "TURNBUCKLE_MODEL_KEY", "qwen3:4b"),
            // The keys of the makers stay with the makers.
            (
                "openai:gpt-5",
                Some("http://localhost:1/v1"),
                "TURNBUCKLE_MODEL_KEY",
                "gpt-5",
            ),
            (
                "claude-x",
                Some("http://localhost:1/v1"),
                "TURNBUCKLE_MODEL_KEY",
                "claude-x",
            ),
            (
                "qwen3:4b",
                Some("http://localhost:1/v1"),
                "TURNBUCKLE_MODEL_KEY",
                "qwen3:4b",
            ),
        ] {
            let named = parse(Some(model), api).unwrap();
            assert_eq!(named.key_place().unwrap().variable, variable, "{model}");
            assert_eq!(named.name, name);
        }
        for model in ["llama", "openai:", "oops"] {
            assert!(parse(Some(model), None).is_err(), "{model}");
        }
        assert!(
            parse(Some("scripted:x"), None)
                .unwrap()
                .key_place()
                .is_none()
        );
    }
}
