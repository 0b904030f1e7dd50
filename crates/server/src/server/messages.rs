//! Connections that exchange whole messages, for transports that are not byte streams: WebSocket
//! frames, a message queue, channels of another runtime.

use std::{collections::VecDeque, future::poll_fn, task::Poll};

use turnbuckle_transport::{LineFault, Outbox, Receive as _};

use crate::{
    Caller, LiveServer,
    edge::{connection::Connection, running::Owner},
};

/// The receiving half of a custom transport: it takes the messages of a client. Created by
/// [`LiveServer::messages`].
///
/// Messages are served in the order in which they arrive; handlers run concurrently.
pub struct MessageInlet {
    connection: Connection,
    outbox: Outbox,
    max_bytes: usize,
}

/// The sending half of a custom transport: it returns the messages for a client. Created by
/// [`LiveServer::messages`].
///
/// Dropping it ends every call that runs on the connection.
pub struct MessageOutlet {
    outbox: Outbox,
    lines: Vec<u8>,
    ready: VecDeque<String>,
    _owner: Owner,
}

impl LiveServer {
    /// Opens a connection for this caller that receives and returns whole messages, each a JSON
    /// text. With it a custom [`Transport`](crate::Transport) needs no byte stream. Must be called
    /// inside a runtime.
    ///
    /// ```
    /// use tokio::sync::mpsc;
    /// use turnbuckle_server::{Caller, LiveServer, ServeError, Transport};
    ///
    /// /// Messages over channels.
    /// struct Channels {
    ///     from_client: mpsc::Receiver<String>,
    ///     to_client: mpsc::Sender<String>,
    /// }
    ///
    /// impl Transport for Channels {
    ///     async fn serve(mut self, server: LiveServer) -> Result<(), ServeError> {
    ///         let (mut inlet, mut outlet) = server.messages(Caller::local());
    ///         let receiving = async move {
    ///             while let Some(message) = self.from_client.recv().await {
    ///                 inlet.receive(message).await;
    ///             }
    ///             inlet.close();
    ///         };
    ///         let sending = async move {
    ///             while let Some(message) = outlet.next().await {
    ///                 if self.to_client.send(message).await.is_err() {
    ///                     break;
    ///                 }
    ///             }
    ///         };
    ///         tokio::join!(receiving, sending);
    ///         Ok(())
    ///     }
    /// }
    /// ```
    pub fn messages(&self, caller: Caller) -> (MessageInlet, MessageOutlet) {
        let (connection, outbox) = self.accept(caller);
        let outlet = MessageOutlet {
            outbox: outbox.clone(),
            lines: Vec::new(),
            ready: VecDeque::new(),
            _owner: connection.owner(),
        };
        let inlet = MessageInlet {
            connection,
            outbox,
            max_bytes: self.limits().max_message_bytes,
        };
        (inlet, outlet)
    }
}

impl MessageInlet {
    /// Takes one message of the client. A message that is not JSON is answered with an error. Waits
    /// while too many messages for the client are queued.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready drops the message.
    pub async fn receive(&mut self, message: impl AsRef<[u8]>) {
        // If the outlet was dropped, the wait fails. The message is served all the same, and its
        // call ends because the outlet is gone.
        let _ = self.outbox.ready().await;
        let message = message.as_ref().trim_ascii();
        if message.is_empty() {
            return;
        }
        if message.len() > self.max_bytes {
            let fault = LineFault::TooLong {
                head: &message[..self.max_bytes],
                limit: self.max_bytes,
            };
            return self.connection.receive_fault(fault);
        }
        self.connection.receive(message);
    }

    /// Ends the input: the client will send nothing more. The outlet ends after it has returned all
    /// answers.
    pub fn close(mut self) {
        self.connection.closed();
    }
}

impl MessageOutlet {
    /// Returns the next message for the client, a JSON text in one line. `None` means that there
    /// will be no more messages.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let (outbox, lines) = (&self.outbox, &mut self.lines);
            poll_fn(|context| match outbox.poll_lines(context, lines) {
                Poll::Ready(more) => Poll::Ready(more),
                Poll::Pending => Poll::Pending,
            })
            .await?;
            let text = String::from_utf8_lossy(lines);
            let messages = text.lines().filter(|line| !line.is_empty());
            self.ready.extend(messages.map(str::to_owned));
            lines.clear();
        }
    }
}
