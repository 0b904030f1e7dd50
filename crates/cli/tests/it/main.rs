//! The demo server as a real process.

mod agreed;
mod arguments;
mod at_a_url;
mod calls;
mod chat;
mod command_line;
mod demo;
mod differences;
mod doctor;
mod ending;
mod ending_early;
mod golden;
mod inspect;
mod manual;
mod opening;
mod program;
mod questions;
mod shells;
mod signing_in;
mod sketches;
mod stdout;
mod suggestions;
mod terminal;
mod wording;
