//! The limit of the machine: a server that parses a JSON-RPC body and writes the bytes with which an MCP server
//! would answer. It has no sessions, checks no header and negotiates nothing.
//!
//! ```text
//! control http PORT    axum and hyper
//! control stdio        a blocking loop; answers to lines that arrived together are written together
//! ```

mod answer;
mod http;
mod stdio;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("stdio"), None) => Ok(stdio::serve()?),
        (Some("http"), Some(port)) => {
            // One thread, as in the servers that are compared with it.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            Ok(runtime.block_on(http::serve(port.parse()?))?)
        }
        _ => Err("usage: control stdio | control http PORT".into()),
    }
}
