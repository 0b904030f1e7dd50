//! Capabilities of clients and servers. Unknown capabilities are kept.

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
