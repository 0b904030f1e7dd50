//! A client that answers questions of servers in the middle of a call: forms, sampling and roots.
//!
//! It declares exactly the capabilities that it has a handler for. The same handlers serve every revision.
//!
//! ```text
//! cargo run -p examples --example answering -- TOOL COMMAND…
//! cargo run -p examples --example answering -- trigger-elicitation-request npx -y @modelcontextprotocol/server-everything
//! ```

use turnbuckle::{
    client::{Client, Refusal},
    protocol::{CreateMessageResult, ElicitResult, Root, SamplingContent},
    transport::Command,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(tool), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("usage: answering TOOL COMMAND…".into());
    };

    let client = Client::new("answering", "1.0.0")
        .on_form(|form| async move {
            println!("{} asks: {}", form.server.name(), form.message);
            // A real host shows the form. This one only knows a name.
            if !form.requested_schema.properties.contains_key("name") {
                return Ok(ElicitResult::decline());
            }
            Ok(ElicitResult::accept([("name", "Ada")]))
        })
        .on_sample(|request| async move {
            let last = request
                .messages
                .last()
                .and_then(|message| message.content.first());
            match last.and_then(SamplingContent::as_text) {
                // A real host asks the user first, then its model.
                Some(text) => Ok(CreateMessageResult::new("parrot", text.to_uppercase())),
                None => Err(Refusal::Declined),
            }
        })
        .roots(vec![Root::new("file:///home/ada").with_name("home")]);

    // The name to show to people. It does not come from the server, which may use any name.
    let name = program.clone();
    let server = client
        .connect(Command::new(program).args(arguments))
        .named(name)
        .await?;
    println!("{}", server.call(tool, ()).await?.ok()?.text());
    server.close().await;
    Ok(())
}
