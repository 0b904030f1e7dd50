//! Capabilities: what each side can do. The sets are open: what is not known here survives.

mod client;
mod server;
mod settings;

pub use client::{
    ClientCapabilities, ClientTaskRequests, ClientTasksCapability, ElicitationCapability,
    ElicitationTasks, RootsCapability, SamplingCapability, SamplingTasks,
};
pub use server::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ServerTaskRequests,
    ServerTasksCapability, ToolsCapability, ToolsTasks,
};
