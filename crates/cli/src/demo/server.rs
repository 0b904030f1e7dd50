//! The demo server, put together.

use turnbuckle::{Prompt, Server};

use super::{asks, live, prompts, resources, tools};

/// The demo server, ready to be served.
pub(crate) fn server() -> Server {
    Server::new("turnbuckle-demo", env!("CARGO_PKG_VERSION"))
        .title("Turnbuckle demo")
        .about("One example of everything that a client may meet.")
        .instructions(
            "Every tool here shows one feature of the protocol. `echo` and `add` are the simplest; \
             `count` reports progress and can be cancelled; `grow` changes the list of tools; `greet`, `deploy`, \
             `visit`, `write` and `roots` ask the client; `tick` changes a resource that can be \
             subscribed to; `log` writes to the client's log; `bake` can run as a task.",
        )
        .state(live::Ticks::default())
        .tool(tools::echo)
        .tool(tools::add)
        .tool(tools::weather)
        .tool(tools::picture)
        .tool(tools::sound)
        .tool(tools::link)
        .tool(tools::attach)
        .tool(tools::everything)
        .tool(tools::count)
        .tool(tools::fail)
        .tool(tools::crash)
        .tool(tools::print)
        .tool(tools::whoami)
        .tool(tools::order)
        .tool(tools::grow)
        .tool(tools::shrink)
        .tool(asks::greet)
        .tool(asks::deploy)
        .tool(asks::visit)
        .tool(asks::write)
        .tool(asks::roots)
        .tool(live::tick)
        .tool(live::log)
        .tool(live::bake)
        .resource(resources::readme)
        .resource(resources::logo)
        .resource(live::ticks)
        .resource(resources::station)
        .resource(resources::table)
        .resource(resources::document)
        .prompt(prompts::summarise)
        .prompt(prompts::review)
        .prompt(prompts::look)
        .prompt(
            Prompt::new("discuss", prompts::discuss)
                .about("A conversation that has already begun, with a resource in it."),
        )
}
