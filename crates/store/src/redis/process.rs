//! One process of Redis among several: its connection is opened when it is needed, and again after
//! it broke.

use std::{fmt, sync::Arc, time::Duration};

use ::redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, Pipeline, RedisError, ServerErrorKind, Value,
    aio::MultiplexedConnection,
};
use tokio::sync::OnceCell;
use turnbuckle_base::lock::Mutex;

use super::news::late;

/// How long a connection may take to be made. Where one process is away, others take its place.
pub(super) const CONNECT_WITHIN: Duration = Duration::from_secs(2);

/// A way to a process.
pub(super) struct Process {
    client: Client,
    config: AsyncConnectionConfig,
    /// Opened once for all who send at the same time; a new one replaces it when it broke.
    connection: Mutex<Arc<OnceCell<MultiplexedConnection>>>,
}

impl Process {
    /// A process that has this long for each answer.
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

    /// Sends commands in one go, with none of others between them.
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
        // One connects at a time, and the next one tries when that fails: each caller waits at most
        // `CONNECT_WITHIN`, including its time in the queue.
        let connection = tokio::time::timeout(CONNECT_WITHIN, opening).await;
        let connection = connection.map_err(late)??.clone();
        Ok((opened, connection))
    }

    /// A connection that gave anything but an answer is not used again.
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
        // The client has the password.
        f.debug_struct("Process").finish_non_exhaustive()
    }
}

/// Whether a command was certainly not carried out, because no process took it or because the one
/// that took it is not the one to do so now. It can be sent again, to another process or later.
pub(super) fn was_refused(error: &RedisError) -> bool {
    match error.kind() {
        // `Moved` and `Ask` may not say to where in a way that can be read. The map is looked at again.
        ErrorKind::Server(
            ServerErrorKind::Ask
            | ServerErrorKind::BusyLoading
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::Moved
            | ServerErrorKind::ReadOnly
            | ServerErrorKind::TryAgain,
        ) => true,
        // Redis 6 puts what went wrong in a script behind words of its own.
        ErrorKind::Server(_) => error
            .detail()
            .is_some_and(|said| said.contains("-READONLY")),
        _ => error.is_connection_refusal(),
    }
}
