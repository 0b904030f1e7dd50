//! Tools that only some callers see. For other callers they do not exist.
//!
//! The code that accepts the connection sets the caller. It never comes from the client's messages.
//!
//! ```text
//! cargo run -p examples --example visibility
//! ```

use turnbuckle::{Caller, Streams, client::Client, prelude::*, transport::duplex};

/// What the program that accepts connections knows about a caller.
struct Role(&'static str);

async fn open(caller: Caller) -> String {
    format!("opened for {}", caller.id().unwrap_or("an unknown caller"))
}

async fn demolish() -> &'static str {
    "gone"
}

fn is_admin(caller: &Caller) -> bool {
    caller.get::<Role>().is_some_and(|role| role.0 == "admin")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::new("house", "1.0.0")
        .tool(Tool::new("open", open))
        .tool(
            Tool::new("demolish", demolish)
                .destructive()
                .visible(is_admin),
        )
        .build()?;

    for (name, role) in [("grace", "admin"), ("ada", "guest")] {
        let (near, far) = duplex();
        let streams =
            Streams::new(far.reader, far.writer).caller(Caller::new(name).with(Role(role)));
        let server = server.clone();
        tokio::spawn(async move { server.serve(streams).await });

        let house = Client::new("visitor", "1.0.0").connect(near).await?;
        let names: Vec<_> = house
            .tools()
            .await?
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        println!("{name} sees {}", names.join(", "));
        println!("{name}: {}", house.call("open", ()).await?.ok()?.text());
        match house.call("demolish", ()).await {
            Ok(output) => println!("{name}: {}", output.ok()?.text()),
            Err(error) => println!("{name}: {error}"),
        }
    }
    Ok(())
}
