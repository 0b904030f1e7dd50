//! The entries of the catalog: tools, prompts, resources and templates, ready to be called.

use std::sync::Arc;

use serde::Serialize;
use turnbuckle_protocol::{
    self as protocol, CacheHint, CallToolResult, GetPromptResult, Lower, ReadResourceResult,
    TaskSupport, http::ParamHeaders,
};
use turnbuckle_uri_template::Template;

use super::{completion::Completers, listing::Lister, offer::Offer, tool::Visible};
use crate::{
    Caller, Layer, Reply,
    handler::{Arguments, Erased, OutputCheck},
};

/// An entry of a list, which is found by its key.
pub(crate) trait Entry: Send + Sync {
    /// The first letter of the cursors of this list.
    const CURSOR: &'static str;
    /// The entry in the form in which it is sent in lists.
    type Wire: Serialize + Lower + Clone;

    fn key(&self) -> &str;
    fn wire(&self) -> &Self::Wire;
    fn visible(&self) -> Option<&Visible>;

    /// The parts of the server that exist because of this entry.
    fn offer(&self) -> Offer;

    /// Whether its handler takes the catalog, and so can add entries to the lists.
    fn changes_catalog(&self) -> bool;

    /// The id of the extension that a client must declare to get this entry in a list; `None` if
    /// every client gets it.
    fn listed_with(&self) -> Option<&'static str> {
        None
    }

    fn is_restricted(&self) -> bool {
        self.visible().is_some() || self.listed_with().is_some()
    }

    fn is_visible(&self, caller: &Caller) -> bool {
        self.visible().is_none_or(|visible| visible(caller))
    }
}

/// An entry that can be called.
pub(crate) trait Callable: Send + Sync + 'static {
    type Output: Send + 'static;

    fn handler(&self) -> &Erased<Self::Output>;
    fn layers(&self) -> &[Arc<dyn Layer>];
    fn wrap(output: Self::Output) -> Reply;
    fn unwrap(reply: Reply) -> Option<Self::Output>;

    /// Whether the output reports a failure.
    fn is_failed(_output: &Self::Output) -> bool {
        false
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of a tool, whatever the others say"
)]
pub(crate) struct ToolEntry {
    pub(crate) wire: protocol::Tool,
    /// Whether the tool is disabled when it is added.
    pub(crate) is_disabled: bool,
    pub(crate) handler: Erased<CallToolResult>,
    pub(crate) logs: bool,
    /// Whether the handler takes the catalog.
    pub(crate) changes_catalog: bool,
    pub(crate) arguments: Arc<Arguments>,
    pub(crate) output: Option<OutputCheck>,
    /// Arguments that HTTP clients repeat in headers, if there are any.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "only HTTP has headers")
    )]
    pub(crate) headers: Option<ParamHeaders>,
    pub(crate) visible: Option<Visible>,
    pub(crate) listed_with: Option<&'static str>,
    /// Whether the tool may or must run as a task; `None` if it may not.
    pub(crate) task: Option<TaskSupport>,
    /// Whether the handler itself decides when its call becomes a task.
    pub(crate) begins_task: bool,
    /// Whether another replica may continue its task.
    pub(crate) is_restartable: bool,
    /// The scopes that a caller needs.
    pub(crate) scopes: Vec<String>,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
}

pub(crate) struct PromptEntry {
    pub(crate) wire: protocol::Prompt,
    pub(crate) handler: Erased<GetPromptResult>,
    pub(crate) logs: bool,
    /// Whether the handler takes the catalog.
    pub(crate) changes_catalog: bool,
    pub(crate) arguments: Option<Arc<Arguments>>,
    pub(crate) completers: Completers,
    pub(crate) visible: Option<Visible>,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
}

pub(crate) struct ResourceEntry {
    pub(crate) wire: protocol::Resource,
    pub(crate) read: Reading,
}

pub(crate) struct TemplateEntry {
    pub(crate) wire: protocol::ResourceTemplate,
    pub(crate) template: Template,
    pub(crate) completers: Completers,
    /// The author's callback that lists the resources of the template, if there is one.
    pub(crate) lister: Option<Lister>,
    pub(crate) read: Reading,
}

/// How a resource, or each resource of a template, is read.
pub(crate) struct Reading {
    pub(crate) handler: Erased<ReadResourceResult>,
    pub(crate) logs: bool,
    /// Whether the handler takes the catalog.
    pub(crate) changes_catalog: bool,
    pub(crate) arguments: Option<Arc<Arguments>>,
    pub(crate) mime_type: Option<String>,
    pub(crate) visible: Option<Visible>,
    pub(crate) cache: Option<CacheHint>,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
}

impl Entry for ToolEntry {
    const CURSOR: &'static str = "t";
    type Wire = protocol::Tool;

    fn key(&self) -> &str {
        &self.wire.name
    }

    fn wire(&self) -> &protocol::Tool {
        &self.wire
    }

    fn changes_catalog(&self) -> bool {
        self.changes_catalog
    }

    fn visible(&self) -> Option<&Visible> {
        self.visible.as_ref()
    }

    fn offer(&self) -> Offer {
        Offer {
            tools: true,
            tasks: self.task.is_some(),
            logs: self.logs,
            ..Offer::default()
        }
    }

    fn listed_with(&self) -> Option<&'static str> {
        self.listed_with
    }
}

impl Entry for PromptEntry {
    const CURSOR: &'static str = "p";
    type Wire = protocol::Prompt;

    fn key(&self) -> &str {
        &self.wire.name
    }

    fn wire(&self) -> &protocol::Prompt {
        &self.wire
    }

    fn changes_catalog(&self) -> bool {
        self.changes_catalog
    }

    fn visible(&self) -> Option<&Visible> {
        self.visible.as_ref()
    }

    fn offer(&self) -> Offer {
        Offer {
            prompts: true,
            completions: !self.completers.is_empty(),
            logs: self.logs,
            ..Offer::default()
        }
    }
}

impl Entry for ResourceEntry {
    const CURSOR: &'static str = "r";
    type Wire = protocol::Resource;

    fn key(&self) -> &str {
        &self.wire.uri
    }

    fn wire(&self) -> &protocol::Resource {
        &self.wire
    }

    fn changes_catalog(&self) -> bool {
        self.read.changes_catalog
    }

    fn visible(&self) -> Option<&Visible> {
        self.read.visible.as_ref()
    }

    fn offer(&self) -> Offer {
        Offer {
            resources: true,
            logs: self.read.logs,
            ..Offer::default()
        }
    }
}

impl Entry for TemplateEntry {
    const CURSOR: &'static str = "u";
    type Wire = protocol::ResourceTemplate;

    fn key(&self) -> &str {
        &self.wire.uri_template
    }

    fn wire(&self) -> &protocol::ResourceTemplate {
        &self.wire
    }

    fn changes_catalog(&self) -> bool {
        self.read.changes_catalog
    }

    fn visible(&self) -> Option<&Visible> {
        self.read.visible.as_ref()
    }

    fn offer(&self) -> Offer {
        Offer {
            resources: true,
            completions: !self.completers.is_empty(),
            logs: self.read.logs,
            ..Offer::default()
        }
    }
}

impl Callable for ToolEntry {
    type Output = CallToolResult;

    fn handler(&self) -> &Erased<CallToolResult> {
        &self.handler
    }

    fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.layers
    }

    fn wrap(output: CallToolResult) -> Reply {
        Reply::Tool(output)
    }

    fn unwrap(reply: Reply) -> Option<CallToolResult> {
        match reply {
            Reply::Tool(result) => Some(result),
            _ => None,
        }
    }

    fn is_failed(output: &CallToolResult) -> bool {
        output.is_error == Some(true)
    }
}

impl Callable for PromptEntry {
    type Output = GetPromptResult;

    fn handler(&self) -> &Erased<GetPromptResult> {
        &self.handler
    }

    fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.layers
    }

    fn wrap(output: GetPromptResult) -> Reply {
        Reply::Prompt(output)
    }

    fn unwrap(reply: Reply) -> Option<GetPromptResult> {
        match reply {
            Reply::Prompt(result) => Some(result),
            _ => None,
        }
    }
}
