//! The model from `--model` and `--api`.

use std::sync::Arc;

use turnbuckle::models::{ApiSettings, Model, ModelError, NamedModel};
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

use super::key::{self, KeyPlace};

/// The hint on how to choose a model.
const HOW: &str = "pass `--model anthropic:NAME` with a key in ANTHROPIC_API_KEY, `--model openai:NAME` with one in \
     OPENAI_API_KEY, `--model ollama:NAME` if Ollama runs here, `--model NAME --api URL` for another \
     server that speaks OpenAI's chat completions, or `--model scripted:FILE` to play a script";

/// Parses the options.
pub(super) fn parse(model: Option<&str>, api: Option<&str>) -> Outcome<NamedModel> {
    let Some(model) = model.filter(|model| !model.is_empty()) else {
        return Err(Failed::usage("no model was named").hint(HOW));
    };
    NamedModel::parse(model, api).map_err(|error| Failed::usage(error).hint(HOW))
}

/// Opens a model with its key, from the environment or the keyring.
pub(super) fn open(named: &NamedModel) -> Outcome<Arc<dyn Model>> {
    let key = KeyPlace::of(named).as_ref().and_then(key::find);
    named.open(key, ApiSettings::new()).map_err(failed)
}

/// The failure of the command if the model gave no answer.
pub(super) fn failed(error: ModelError) -> Failed {
    let code = match &error {
        ModelError::Unauthorized { .. }
        | ModelError::NoKey { .. }
        | ModelError::MissingKey { .. } => Code::Authorization,
        ModelError::Http { .. } => Code::Connect,
        ModelError::Silent { .. } => Code::Timeout,
        ModelError::Script { .. }
        | ModelError::PlainHttp { .. }
        | ModelError::UnknownPlace { .. }
        | ModelError::NoName { .. } => Code::Usage,
        _ => Code::Protocol,
    };
    let hint = match &error {
        ModelError::MissingKey { variable, .. } => Some(format!(
            "set {variable}, or keep the key in the keyring with --save-key"
        )),
        error => error.hint(),
    };
    let failed = Failed::new(code, error);
    match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}
