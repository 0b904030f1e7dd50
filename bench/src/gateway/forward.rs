//! Copies bytes between two sockets and knows nothing: no second process can add less.

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use crate::Result;

/// `bench forward PORT ADDRESS`: until it is told to end.
pub(crate) async fn command(port: &str, to: &str) -> Result<()> {
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (mut near, _) = listener.accept().await?;
        let to = to.to_owned();
        tokio::task::spawn_local(async move {
            if let Ok(mut far) = TcpStream::connect(to).await {
                // A connection that ends early is the caller's business.
                let _ = (near.set_nodelay(true), far.set_nodelay(true));
                let _ = copy_bidirectional(&mut near, &mut far).await;
            }
        });
    }
}
