//! Which environment variables of the host the processes of servers inherit.

use std::ffi::OsString;

use super::matches;

/// Variables in which people keep the API keys of models. The host needs them to ask models;
/// servers do not.
const MODEL_KEYS: [&str; 19] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "CEREBRAS_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "COHERE_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_ADMIN_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
];

/// Variables with secrets that only programs of this project read: the key of a model, Redis and
/// the secret of replicas, and the answers to the inputs of config files.
const OWN_SECRETS: [&str; 4] = [
    "TURNBUCKLE_INPUT_*",
    "TURNBUCKLE_MODEL_KEY",
    "TURNBUCKLE_REDIS",
    "TURNBUCKLE_SECRET",
];

/// The names of the variables of this process with secrets that only programs of this project read.
pub fn own_secrets() -> Vec<OsString> {
    InheritedVariables::all().except(OWN_SECRETS).left_out()
}

/// The environment variables of this process that the processes of servers inherit. Set it with
/// [`HostBuilder::inherit`](crate::HostBuilder::inherit).
///
/// By default all variables are inherited except the API keys of models, such as `OPENAI_API_KEY`,
/// and the secrets of programs of this project, such as `TURNBUCKLE_SECRET`. Variables that the
/// entry of a server sets are always set, whatever is inherited.
///
/// ```
/// use turnbuckle_host::{Host, InheritedVariables};
///
/// let builder = Host::builder("my-app", "1.0.0")
///     .inherit(InheritedVariables::default().except(["MY_APP_*", "DATABASE_URL"]));
/// # drop(builder);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InheritedVariables {
    /// Patterns of the only names that are inherited; `None` for all.
    only: Option<Vec<String>>,
    /// Patterns of names that are not inherited.
    except: Vec<String>,
}

impl Default for InheritedVariables {
    fn default() -> Self {
        Self::all().except(MODEL_KEYS).except(OWN_SECRETS)
    }
}

impl InheritedVariables {
    /// Inherits all variables, including the API keys of models. Use it only for servers that you
    /// trust with the keys; otherwise set single variables in the entry of the server that needs
    /// them.
    pub fn all() -> Self {
        Self {
            only: None,
            except: Vec::new(),
        }
    }

    /// Inherits only these variables. `*` matches any text. Most programs need `PATH` and `HOME`,
    /// and on Windows `SYSTEMROOT`.
    pub fn only(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            only: Some(names.into_iter().map(Into::into).collect()),
            except: Vec::new(),
        }
    }

    /// Leaves out these variables in addition. `*` matches any text. It also applies to names given
    /// to [`only`](Self::only). On Windows the case of names does not matter.
    #[must_use]
    pub fn except(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.except.extend(names.into_iter().map(Into::into));
        self
    }

    /// The names of the variables of this process that are not inherited.
    pub(super) fn left_out(&self) -> Vec<OsString> {
        std::env::vars_os()
            .map(|(name, _)| name)
            .filter(|name| !self.admits(&name.to_string_lossy()))
            .collect()
    }

    fn admits(&self, name: &str) -> bool {
        let is_named = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, name));
        self.only.as_deref().is_none_or(is_named) && !is_named(&self.except)
    }
}

/// Whether a name matches a pattern. On Windows the case of names does not matter.
fn fits(pattern: &str, name: &str) -> bool {
    if cfg!(windows) {
        matches(&pattern.to_ascii_uppercase(), &name.to_ascii_uppercase())
    } else {
        matches(pattern, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_models_and_own_secrets_are_not_inherited_by_default() {
        let default = InheritedVariables::default();
        for (name, is_inherited) in [
            ("PATH", true),
            ("GITHUB_TOKEN", true),
            ("OPENAI_API_KEY_FILE", true),
            ("OPENAI_API_KEY", false),
            ("ANTHROPIC_API_KEY", false),
            ("TURNBUCKLE_MODEL_KEY", false),
            ("TURNBUCKLE_SECRET", false),
            ("TURNBUCKLE_REDIS", false),
            ("TURNBUCKLE_INPUT_API_KEY", false),
            ("TURNBUCKLE_GATEWAYS", true),
        ] {
            assert_eq!(default.admits(name), is_inherited, "{name}");
            assert!(InheritedVariables::all().admits(name), "{name}");
        }
    }

    #[test]
    fn variables_are_named_by_patterns() {
        let some = InheritedVariables::only(["PATH", "LC_*"]).except(["LC_ALL"]);
        for (name, is_inherited) in [
            ("PATH", true),
            ("LC_TIME", true),
            ("LC_ALL", false),
            ("HOME", false),
        ] {
            assert_eq!(some.admits(name), is_inherited, "{name}");
        }
    }
}
