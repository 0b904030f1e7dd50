//! Tasks, as clients of 2025-11-25 and of the extension see them.

mod asks;
mod extension;
mod lab;
mod session;
