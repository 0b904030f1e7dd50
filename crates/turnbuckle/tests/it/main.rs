//! The facade crate as its users see it: the attributes, their effect on the wire, and the compiler's messages.

mod arguments;
mod asks;
mod asks_again;
mod asks_everywhere;
mod asks_otherwise;
mod asks_states;
mod changes;
mod compiler;
mod extensions;
mod forms;
mod functions;
mod host_questions;
mod host_reports;
mod methods;
mod one_handler;
mod patterns;
mod secrets;
mod spans;
mod tasks;
mod tasks_http;
mod traces;
mod ui;
mod utilities;
mod visits;
mod wire;
