//! Copies bytes between two sockets and does nothing else: no other process can add less.

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use crate::Result;

/// `bench forward PORT ADDRESS`: runs until it is ended.
pub(crate) async fn command(port: &str, to: &str) -> Result<()> {
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    loop {
        let (mut near, _) = listener.accept().await?;
        let to = to.to_owned();
        tokio::task::spawn_local(async move {
            if let Ok(mut far) = TcpStream::connect(to).await {
                // Errors of a connection that ends early are ignored; its client notices them.
                let _ = (near.set_nodelay(true), far.set_nodelay(true));
                let _ = copy_bidirectional(&mut near, &mut far).await;
            }
        });
    }
}
