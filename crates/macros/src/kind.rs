//! The three kinds of handler and the options that each of them takes.

use std::fmt;

/// What a function becomes for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

/// The form in which an option is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `read_only`
    Flag,
    /// `title = "…"`, or any expression that gives text
    Text,
    /// `size = 4096`
    Number,
    /// `timeout = "30s"`, or any expression that gives a `Duration`
    Time,
    /// `scopes = ["…"]`, or any expression that gives several texts
    List,
    /// `output = Type`
    Type,
    /// `name = "…"`: a literal, since it is checked here
    Name,
    /// `list = function`
    Function,
    /// `crate = path`
    Crate,
}

const TOOL: &[(&str, Form)] = &[
    ("name", Form::Name),
    ("title", Form::Text),
    ("about", Form::Text),
    ("icon", Form::Text),
    ("read_only", Form::Flag),
    ("destructive", Form::Flag),
    ("additive", Form::Flag),
    ("idempotent", Form::Flag),
    ("open_world", Form::Flag),
    ("closed_world", Form::Flag),
    ("strict", Form::Flag),
    ("scopes", Form::List),
    ("timeout", Form::Time),
    ("concurrency", Form::Number),
    ("disabled", Form::Flag),
    ("task", Form::Flag),
    ("task_only", Form::Flag),
    ("restartable", Form::Flag),
    ("output", Form::Type),
    ("crate", Form::Crate),
];

const PROMPT: &[(&str, Form)] = &[
    ("name", Form::Name),
    ("title", Form::Text),
    ("about", Form::Text),
    ("icon", Form::Text),
    ("crate", Form::Crate),
];

const RESOURCE: &[(&str, Form)] = &[
    ("name", Form::Name),
    ("title", Form::Text),
    ("about", Form::Text),
    ("icon", Form::Text),
    ("mime_type", Form::Text),
    ("size", Form::Number),
    ("allow_any_path", Form::Flag),
    ("list", Form::Function),
    ("crate", Form::Crate),
];

/// Pairs of tool options that contradict each other, and why.
pub(crate) const CONTRADICTIONS: &[(&str, &str, &str)] = &[
    (
        "read_only",
        "destructive",
        "a tool that only reads destroys nothing",
    ),
    (
        "read_only",
        "additive",
        "a tool that only reads adds nothing",
    ),
    (
        "destructive",
        "additive",
        "a tool that only adds destroys nothing",
    ),
    (
        "open_world",
        "closed_world",
        "a tool reaches the outside world or it does not",
    ),
    (
        "task",
        "task_only",
        "a tool may run without a task or it may not",
    ),
];

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tool, Self::Prompt, Self::Resource];

    /// The attribute's name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// The builder's type in the facade.
    pub(crate) fn builder(self) -> &'static str {
        match self {
            Self::Tool => "Tool",
            Self::Prompt => "Prompt",
            Self::Resource => "Resource",
        }
    }

    /// The trait by which the server finds the description.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Tool => "DescribeTool",
            Self::Prompt => "DescribePrompt",
            Self::Resource => "DescribeResource",
        }
    }

    /// The result that the handler's output becomes, in the facade.
    pub(crate) fn outcome(self) -> &'static str {
        match self {
            Self::Tool => "CallToolResult",
            Self::Prompt => "GetPromptResult",
            Self::Resource => "ReadResourceResult",
        }
    }

    /// The options of the attribute, in the order in which they are listed to the user.
    pub(crate) fn options(self) -> &'static [(&'static str, Form)] {
        match self {
            Self::Tool => TOOL,
            Self::Prompt => PROMPT,
            Self::Resource => RESOURCE,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}
