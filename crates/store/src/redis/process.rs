//! One Redis process among several. Its connection is opened when it is needed, and opened again
//! after it broke.

use std::{fmt, sync::Arc, time::Duration};

use ::redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, Pipeline, RedisError, ServerErrorKind, Value,
    aio::MultiplexedConnection,
};
use tokio::sync::OnceCell;
use turnbuckle_base::lock::Mutex;

use super::news::late;

/// How long connecting may take. If one process is unreachable, others take over.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// The connection to a process.
pub(super) struct Process {
    client: Client,
    config: AsyncConnectionConfig,
    /// Opened once for all concurrent senders. A new cell replaces it when the connection broke.
    connection: Mutex<Arc<OnceCell<MultiplexedConnection>>>,
}

impl Process {
    /// Makes the connection to a process that has this long for each answer.
    pub(super) fn new(client: Client, answer_within: Duration) -> Self {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_WITHIN))
            .set_response_timeout(Some(answer_within));
        Self {
            client,
            config,
            connection: Mutex::default(),
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a command once.
    pub(super) async fn send(&self, command: &Cmd) -> Result<Value, RedisError> {
        let (opened, mut connection) = self.open().await?;
        let answered = connection.send_packed_command(command).await;
        self.judge(&opened, answered)?.extract_error()
    }

    /// Sends commands together, without commands of others between them.
    pub(super) async fn send_all(
        &self,
        commands: &Pipeline,
        offset: usize,
        count: usize,
    ) -> Result<Vec<Value>, RedisError> {
        let (opened, mut connection) = self.open().await?;
        let answered = connection
            .send_packed_commands(commands, offset, count)
            .await;
        self.judge(&opened, answered)
    }

    async fn open(
        &self,
    ) -> Result<(Arc<OnceCell<MultiplexedConnection>>, MultiplexedConnection), RedisError> {
        let opened = Arc::clone(&self.connection.lock());
        let opening = opened.get_or_try_init(|| {
            self.client
                .get_multiplexed_async_connection_with_config(&self.config)
        });
        // One caller connects at a time, and the next one tries if that fails. Each caller waits at
        // most `CONNECT_WITHIN`, including its time in the queue.
        let connection = tokio::time::timeout(CONNECT_WITHIN, opening).await;
        let connection = connection.map_err(late)??.clone();
        Ok((opened, connection))
    }

    /// Drops the connection if the outcome is anything but an answer.
    fn judge<T>(
        &self,
        used: &Arc<OnceCell<MultiplexedConnection>>,
        answered: Result<T, RedisError>,
    ) -> Result<T, RedisError> {
        if let Err(error) = &answered
            && !matches!(error.kind(), ErrorKind::Server(_))
        {
            let mut connection = self.connection.lock();
            if Arc::ptr_eq(&connection, used) {
                *connection = Arc::default();
            }
        }
        answered
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The client contains the password.
        f.debug_struct("Process").finish_non_exhaustive()
    }
}

/// Whether a command was certainly not carried out, because no process accepted it, or because the
/// process is not responsible at the moment. It can be sent again, to another process or later.
pub(super) fn was_refused(error: &RedisError) -> bool {
    match error.kind() {
        // The target of `Moved` and `Ask` may be unreadable. Then the slot map is requested again.
        ErrorKind::Server(
            ServerErrorKind::Ask
            | ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::Moved
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::TryAgain,
        ) => true,
        // Redis 6 wraps the error of a script into another message.
        ErrorKind::Server(_) => error
            .detail()
            .is_some_and(|said| said.contains("-READONLY")),
        _ => error.is_connection_refusal(),
    }
}
