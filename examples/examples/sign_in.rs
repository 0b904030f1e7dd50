//! A client that signs its user in, in the browser, when a server requires tokens.
//!
//! ```text
//! cargo run -p examples --example sign_in -- https://example.com/mcp          # signs in, if need be
//! cargo run -p examples --example sign_in -- https://example.com/mcp goodbye  # forgets the tokens
//! ```
//!
//! On a machine without a browser, use `.browser(Paste)`: the user opens the URL elsewhere and pastes the
//! address that they are redirected to. `https` needs the feature `tls`.

use turnbuckle::{
    auth::client::OAuth,
    client::{Client, HttpTarget},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: sign_in URL [goodbye]")?;

    // Without `persist_tokens`, the tokens are lost when the program ends.
    let oauth = OAuth::new("sign-in-example").persist_tokens()?;
    if arguments.next().as_deref() == Some("goodbye") {
        oauth.sign_out(&url).await?;
        println!("signed out");
        return Ok(());
    }

    let target = HttpTarget::new(&url).authorize(oauth);
    let server = Client::new("sign-in-example", "1.0.0")
        .connect(target)
        .await?;
    for tool in server.tools().await? {
        println!("{}", tool.name);
    }
    server.close().await;
    Ok(())
}
