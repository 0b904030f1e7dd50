//! The extensions of a running server.

use std::{collections::HashMap, sync::Arc};

use turnbuckle_protocol::{
    JsonObject, ServerCapabilities,
    envelope::Members,
    extension::check_id,
    method::{self, Method as _, ToolsCall},
};

use super::{Extension, ExtensionMethod, MethodEntry, Notice};
use crate::{Caller, HandlerSet, SetupError, catalog::setup, handler::StateTypes};

/// The declarations, methods and notifications of all extensions.
#[derive(Default)]
pub(crate) struct Registry {
    declared: JsonObject,
    methods: HashMap<&'static str, Arc<MethodEntry>>,
    notices: HashMap<&'static str, Notice>,
}

impl Registry {
    /// Checks and registers extensions. Their tools, prompts and resources are added to `handlers`.
    pub(crate) fn of(
        extensions: Vec<Extension>,
        handlers: &mut HandlerSet,
        states: &StateTypes,
    ) -> Result<Self, SetupError> {
        let mut registry = Self::default();
        for extension in extensions {
            registry.insert(extension, handlers, states)?;
        }
        Ok(registry)
    }

    fn insert(
        &mut self,
        extension: Extension,
        handlers: &mut HandlerSet,
        states: &StateTypes,
    ) -> Result<(), SetupError> {
        let Extension {
            id,
            settings,
            methods,
            notices,
            handlers: brought,
            problems,
        } = extension;
        check_id(&id).map_err(|bad| invalid(&id, bad.to_string()))?;
        if let Some(problem) = problems.into_iter().next() {
            return Err(invalid(&id, problem));
        }
        if self.declared.contains_key(&id) {
            return Err(SetupError::Duplicate {
                kind: "extension",
                key: id,
            });
        }
        for method in methods {
            self.insert_method(&id, method, states)?;
        }
        for notice in notices {
            self.insert_notice(&id, notice)?;
        }
        handlers.tools.extend(brought.tools);
        handlers.prompts.extend(brought.prompts);
        handlers.resources.extend(brought.resources);
        self.declared.insert(id, settings.into());
        Ok(())
    }

    fn insert_method(
        &mut self,
        id: &str,
        method: ExtensionMethod,
        states: &StateTypes,
    ) -> Result<(), SetupError> {
        let name = method.name;
        check_name(id, name)?;
        setup::extension_method(name, &method.description, states)?;
        let entry = Arc::new(MethodEntry {
            extension: id.to_owned(),
            name,
            named_by: method.named_by,
            access: method.access,
            handler: method.handler,
            layers: method.layers,
        });
        match self.methods.insert(name, entry) {
            None => Ok(()),
            Some(_) => Err(SetupError::Duplicate {
                kind: "method",
                key: name.to_owned(),
            }),
        }
    }

    fn insert_notice(&mut self, id: &str, notice: Notice) -> Result<(), SetupError> {
        let name = notice.name;
        check_name(id, name)?;
        match self.notices.insert(name, notice) {
            None => Ok(()),
            Some(_) => Err(SetupError::Duplicate {
                kind: "notification",
                key: name.to_owned(),
            }),
        }
    }

    /// Adds the extensions to the capabilities of the server.
    pub(crate) fn declare(&self, capabilities: &mut ServerCapabilities) {
        if !self.declared.is_empty() {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.extend(self.declared.clone());
        }
    }

    pub(crate) fn method(&self, name: &str) -> Option<&Arc<MethodEntry>> {
        self.methods.get(name)
    }

    /// Passes on a notification. Returns `false` if no extension handles it.
    pub(crate) fn notify(&self, name: &str, params: &Members<'_>, caller: &Caller) -> bool {
        let notice = self.notices.get(name);
        if let Some(notice) = notice {
            notice.tell(params, caller);
        }
        notice.is_some()
    }
}

/// extensions: an extension cannot redefine the methods of the core.
fn check_name(id: &str, name: &str) -> Result<(), SetupError> {
    if method::find(name).is_some() {
        let example = ToolsCall::NAME;
        return Err(invalid(
            id,
            format!(
                "`{name}` is a method of the core protocol, like `{example}`: choose another name"
            ),
        ));
    }
    if name.is_empty() {
        return Err(invalid(id, "a method needs a name".to_owned()));
    }
    Ok(())
}

fn invalid(id: &str, problem: String) -> SetupError {
    SetupError::Invalid {
        kind: "extension",
        key: id.to_owned(),
        problem,
    }
}
