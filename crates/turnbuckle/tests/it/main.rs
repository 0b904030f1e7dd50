//! The facade as its users see it: the attributes, on the wire and in the compiler's messages.

mod arguments;
mod asks;
mod forms;
mod functions;
mod methods;
mod tasks;
mod ui;
mod wire;
