//! Opens models by the names that people type.

use std::path::Path;
use std::sync::Arc;

use crate::api::{Anthropic, ApiKey, ApiSettings, OpenAi};
use crate::error::ModelError;
use crate::model::Model;
use crate::scripted::Scripted;

/// The default URL of Ollama.
const OLLAMA: &str = "http://localhost:11434/v1";

/// Opens a model by its name, with the key from the environment.
///
/// | name | model | key |
/// |---|---|---|
/// | `anthropic:NAME`, `claude-…` | one of Anthropic | `ANTHROPIC_API_KEY` |
/// | `openai:NAME`, `gpt-…`, `o3` and the like | one of OpenAI | `OPENAI_API_KEY` |
/// | `ollama:NAME` | one of Ollama on this machine | `TURNBUCKLE_MODEL_KEY`, if it is set |
/// | `scripted:FILE` | a script, see [`Scripted`] | |
///
/// Use [`NamedModel`] for models at other URLs, and for keys from other sources.
///
/// ```
/// use turnbuckle_models::{Model as _, open};
///
/// let model = open("ollama:qwen3:4b")?;
/// assert_eq!(model.name(), "qwen3:4b");
/// # Ok::<(), turnbuckle_models::ModelError>(())
/// ```
///
/// # Errors
/// [`ModelError`] if the provider of the model is unknown, its key is missing, or the script cannot
/// be read.
pub fn open(name: &str) -> Result<Arc<dyn Model>, ModelError> {
    let named = NamedModel::parse(name, None)?;
    let key = named.key_variable().and_then(ApiKey::from_environment);
    named.open(key, ApiSettings::new())
}

/// A model that was named but not opened yet. Find its key with
/// [`key_variable`](Self::key_variable) or [`key_account`](Self::key_account), then
/// [`open`](Self::open) it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedModel {
    maker: Maker,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Maker {
    Anthropic,
    AnthropicAt(String),
    OpenAi,
    /// A server with the Chat Completions API of OpenAI.
    Compatible(String),
    Script,
}

impl NamedModel {
    /// Parses a name as described for [`open`]. If the URL of an API is given, any name is accepted
    /// for a model there. The API is Anthropic's for `anthropic:NAME`, and otherwise OpenAI's Chat
    /// Completions.
    ///
    /// # Errors
    /// [`ModelError`] if the provider of the model is unknown.
    pub fn parse(model: &str, api: Option<&str>) -> Result<Self, ModelError> {
        let (maker, name) = match (model.split_once(':'), api) {
            (Some(("scripted", file)), None) => (Maker::Script, file),
            (Some(("anthropic", name)), None) => (Maker::Anthropic, name),
            (Some(("anthropic", name)), Some(url)) => (Maker::AnthropicAt(url.to_owned()), name),
            (Some(("openai", name)), None) => (Maker::OpenAi, name),
            (Some(("openai", name)), Some(url)) => (Maker::Compatible(url.to_owned()), name),
            (Some(("ollama", name)), api) => {
                (Maker::Compatible(api.unwrap_or(OLLAMA).to_owned()), name)
            }
            // The name of a model may contain a colon: `qwen3:4b`.
            (_, Some(url)) => (Maker::Compatible(url.to_owned()), model),
            (_, None) if model.starts_with("claude-") => (Maker::Anthropic, model),
            (_, None) if is_of_openai(model) => (Maker::OpenAi, model),
            (_, None) => {
                let model = model.to_owned();
                return Err(ModelError::UnknownPlace { model });
            }
        };
        if name.is_empty() {
            let model = model.to_owned();
            return Err(ModelError::NoName { model });
        }
        let name = name.to_owned();
        Ok(Self { maker, name })
    }

    /// The name of the model at its API, or the file of a script.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The environment variable for its key; `None` for a script. The key of a provider is sent
    /// only to that provider: models at other URLs have a separate variable.
    pub fn key_variable(&self) -> Option<&'static str> {
        Some(match self.maker {
            Maker::Anthropic => "ANTHROPIC_API_KEY",
            Maker::OpenAi => "OPENAI_API_KEY",
            Maker::AnthropicAt(_) | Maker::Compatible(_) => "TURNBUCKLE_MODEL_KEY",
            Maker::Script => return None,
        })
    }

    /// The account under which its key is stored: the provider or the URL. `None` for a script.
    pub fn key_account(&self) -> Option<&str> {
        Some(match &self.maker {
            Maker::Anthropic => "anthropic",
            Maker::OpenAi => "openai",
            Maker::AnthropicAt(url) | Maker::Compatible(url) => url.trim_end_matches('/'),
            Maker::Script => return None,
        })
    }

    /// Opens the model, with its key if it requires one.
    ///
    /// # Errors
    /// [`ModelError`] if the key is missing, the URL or the settings are invalid, or the script
    /// cannot be read.
    pub fn open(
        &self,
        key: Option<ApiKey>,
        settings: ApiSettings,
    ) -> Result<Arc<dyn Model>, ModelError> {
        let name = &*self.name;
        let missing = || ModelError::MissingKey {
            model: name.to_owned(),
            variable: self.key_variable().unwrap_or_default(),
        };
        Ok(match &self.maker {
            Maker::Anthropic => Arc::new(Anthropic::new(name, key.ok_or_else(missing)?, settings)?),
            Maker::OpenAi => Arc::new(OpenAi::new(name, key.ok_or_else(missing)?, settings)?),
            Maker::AnthropicAt(url) => Arc::new(Anthropic::compatible(url, name, key, settings)?),
            Maker::Compatible(url) => Arc::new(OpenAi::compatible(url, name, key, settings)?),
            Maker::Script => Arc::new(Scripted::open(Path::new(name))?),
        })
    }
}

fn is_of_openai(model: &str) -> bool {
    let is_o = model
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_o || model.starts_with("gpt-") || model.starts_with("chatgpt-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_where_a_model_is_and_which_key_it_gets() {
        let here = Some("http://localhost:1/v1/");
        let elsewhere = "TURNBUCKLE_MODEL_KEY";
        for (model, api, variable, account, name) in [
            (
                "claude-x",
                None,
                "ANTHROPIC_API_KEY",
                "anthropic",
                "claude-x",
            ),
            ("gpt-5", None, "OPENAI_API_KEY", "openai", "gpt-5"),
            ("o3", None, "OPENAI_API_KEY", "openai", "o3"),
            ("ollama:qwen3:4b", None, elsewhere, OLLAMA, "qwen3:4b"),
            // The key of a provider is used only at that provider.
            (
                "openai:gpt-5",
                here,
                elsewhere,
                "http://localhost:1/v1",
                "gpt-5",
            ),
            (
                "claude-x",
                here,
                elsewhere,
                "http://localhost:1/v1",
                "claude-x",
            ),
            (
                "qwen3:4b",
                here,
                elsewhere,
                "http://localhost:1/v1",
                "qwen3:4b",
            ),
        ] {
            let named = NamedModel::parse(model, api).unwrap();
            assert_eq!(named.key_variable(), Some(variable), "{model}");
            assert_eq!(named.key_account(), Some(account), "{model}");
            assert_eq!(named.name(), name);
        }
        for model in ["", "llama", "oops"] {
            let error = NamedModel::parse(model, None).unwrap_err();
            assert!(matches!(error, ModelError::UnknownPlace { .. }), "{error}");
        }
        for model in ["openai:", "anthropic:", "ollama:", "scripted:"] {
            let error = NamedModel::parse(model, None).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{model}` lacks the name of a model")
            );
        }
        let script = NamedModel::parse("scripted:x", None).unwrap();
        assert_eq!((script.key_variable(), script.key_account()), (None, None));
    }

    #[test]
    fn a_maker_needs_a_key_and_others_may_not() {
        let opened = |model| NamedModel::parse(model, None)?.open(None, ApiSettings::new());
        for (model, wanted) in [
            ("gpt-5", "OPENAI_API_KEY"),
            ("claude-x", "ANTHROPIC_API_KEY"),
        ] {
            match opened(model) {
                Err(ModelError::MissingKey { variable, .. }) => assert_eq!(variable, wanted),
                Err(other) => panic!("{other}"),
                Ok(_) => panic!("{model} was opened without a key"),
            }
        }
        assert_eq!(opened("ollama:tiny").unwrap().name(), "tiny");
    }
}
