//! The descriptions of functions with attributes.
//!
//! `#[tool]` keeps the function callable and changes only its return type: the future is a
//! [`Described`], whose first type parameter leads `server.tool(book)` to the description.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{Prompt, Resource, Tool};

pin_project_lite::pin_project! {
    /// The future of a function with `#[tool]`, `#[prompt]` or `#[resource]`.
    ///
    /// Awaiting it returns the value that the function returns. `M` is a type that the attribute
/// generates; it implements the trait with the function's description.
    pub struct Described<M, F> {
        #[pin]
        running: F,
        marker: std::marker::PhantomData<fn() -> M>,
    }
}

impl<M, F: Future> Described<M, F> {
    /// Wraps the future of the function's body.
    pub fn new(running: F) -> Self {
        Self {
            running,
            marker: std::marker::PhantomData,
        }
    }
}

impl<M, F: Future> Future for Described<M, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().running.poll(context)
    }
}

/// The description of a function with `#[tool]`, which the attribute implements. You do not
/// implement it yourself.
pub trait DescribeTool {
    /// Makes the tool.
    fn tool() -> Tool;
}

/// The description of a function with `#[prompt]`, which the attribute implements. You do not
/// implement it yourself.
pub trait DescribePrompt {
    /// Makes the prompt.
    fn prompt() -> Prompt;
}

/// The description of a function with `#[resource]`, which the attribute implements. You do not
/// implement it yourself.
pub trait DescribeResource {
    /// Makes the resource.
    fn resource() -> Resource;
}

/// The types that `server.tool(…)` accepts: a function with `#[tool]`, or a [`Tool`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool with a handler",
    label = "neither a function with `#[tool]` nor a `Tool` of the server",
    note = "write `#[tool]` above the function, or wrap it: `Tool::new(\"name\", function)`",
    note = "`protocol::Tool` is an entry of a list, which has no handler"
)]
pub trait IntoTool<X> {
    /// Converts the value into a tool.
    fn into_tool(self) -> Tool;
}

/// The types that `server.prompt(…)` accepts: a function with `#[prompt]`, or a [`Prompt`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prompt with a handler",
    label = "neither a function with `#[prompt]` nor a `Prompt` of the server",
    note = "write `#[prompt]` above the function, or wrap it: `Prompt::new(\"name\", function)`",
    note = "`protocol::Prompt` is an entry of a list, which has no handler"
)]
pub trait IntoPrompt<X> {
    /// Converts the value into a prompt.
    fn into_prompt(self) -> Prompt;
}

/// The types that `server.resource(…)` accepts: a function with `#[resource]`, or a [`Resource`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource with a handler",
    label = "neither a function with `#[resource]` nor a `Resource` of the server",
    note = "write `#[resource(\"scheme://{{id}}\")]` above the function, or wrap it: \
            `Resource::new(\"scheme://{{id}}\", function)`",
    note = "`protocol::Resource` is an entry of a list, which has no handler"
)]
pub trait IntoResource<X> {
    /// Converts the value into a resource.
    fn into_resource(self) -> Resource;
}

impl Tool {
    /// Returns the tool that `#[tool]` made of this function, so that you can change settings for
    /// which the attribute has no option:
    ///
    /// ```
    /// # use turnbuckle_server::{IntoTool, Tool};
    /// # fn example<X>(book: impl IntoTool<X>) -> Tool {
    /// Tool::from_function(book).visible(|caller| caller.has_scope("bookings"))
    /// # }
    /// ```
    pub fn from_function<X>(function: impl IntoTool<X>) -> Self {
        function.into_tool()
    }
}

impl Prompt {
    /// Returns the prompt that `#[prompt]` made of this function, so that you can change settings
    /// for which the attribute has no option.
    pub fn from_function<X>(function: impl IntoPrompt<X>) -> Self {
        function.into_prompt()
    }
}

impl Resource {
    /// Returns the resource that `#[resource]` made of this function, so that you can change
    /// settings for which the attribute has no option.
    pub fn from_function<X>(function: impl IntoResource<X>) -> Self {
        function.into_resource()
    }
}

impl IntoTool<()> for Tool {
    fn into_tool(self) -> Tool {
        self
    }
}

impl IntoPrompt<()> for Prompt {
    fn into_prompt(self) -> Prompt {
        self
    }
}

impl IntoResource<()> for Resource {
    fn into_resource(self) -> Resource {
        self
    }
}

macro_rules! functions {
    ($($parameter:ident)*) => {
        impl<F, M, Fut, $($parameter,)*> IntoTool<(M, Fut, $($parameter,)*)> for F
        where
            F: Fn($($parameter,)*) -> Described<M, Fut>,
            M: DescribeTool,
        {
            fn into_tool(self) -> Tool {
                M::tool()
            }
        }

        impl<F, M, Fut, $($parameter,)*> IntoPrompt<(M, Fut, $($parameter,)*)> for F
        where
            F: Fn($($parameter,)*) -> Described<M, Fut>,
            M: DescribePrompt,
        {
            fn into_prompt(self) -> Prompt {
                M::prompt()
            }
        }

        impl<F, M, Fut, $($parameter,)*> IntoResource<(M, Fut, $($parameter,)*)> for F
        where
            F: Fn($($parameter,)*) -> Described<M, Fut>,
            M: DescribeResource,
        {
            fn into_resource(self) -> Resource {
                M::resource()
            }
        }
    };
}

functions!();
functions!(P1);
functions!(P1 P2);
functions!(P1 P2 P3);
functions!(P1 P2 P3 P4);
functions!(P1 P2 P3 P4 P5);
functions!(P1 P2 P3 P4 P5 P6);
functions!(P1 P2 P3 P4 P5 P6 P7);
functions!(P1 P2 P3 P4 P5 P6 P7 P8);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9 P10);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P14);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P14 P15);
functions!(P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P14 P15 P16);

/// A state type whose methods are tools, prompts and resources. Implemented by `#[handlers]`.
pub trait Handlers: Send + Sync + 'static {
    /// Adds each tool, prompt and resource to the set. Their handlers share `self`.
    fn register(self: std::sync::Arc<Self>, set: &mut HandlerSet);
}

/// The handlers of a state type, collected for the server. `#[handlers]` fills it; fill it by hand
/// to implement [`Handlers`].
#[derive(Default)]
pub struct HandlerSet {
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
}

impl HandlerSet {
    /// Adds a tool.
    pub fn tool(&mut self, tool: Tool) {
        self.tools.push(tool);
    }

    /// Adds a prompt.
    pub fn prompt(&mut self, prompt: Prompt) {
        self.prompts.push(prompt);
    }

    /// Adds a resource.
    pub fn resource(&mut self, resource: Resource) {
        self.resources.push(resource);
    }
}
