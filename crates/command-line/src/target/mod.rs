//! The server a command is for: a URL, a name from a config file, or a command after `--`.

mod arguments;
mod find;
mod options;
mod program_name;
mod server;
mod variables;

pub use arguments::ServerArguments;
pub use find::{
    Lookup, config_files, configured, configured_with, find, somebody_elses, split,
    taken_of_several,
};
pub use options::{EraName, Options, limits, seconds};
pub use server::{Server, command, is_program, without_query};
pub use variables::{Masked, Process, WithInputs, variable as input_variable};
