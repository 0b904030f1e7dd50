//! A Unix socket and its file.
//!
//! The socket file outlives a process that is killed, and would then block the next one. It is removed
//! if no process listens on it, and never if one does.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};

use tokio::net::{UnixListener, UnixStream};

use super::{BindError, Peer};
use crate::http::socket::Socket;

/// A listening Unix socket that removes its file when it is dropped.
pub(super) struct UnixSocketListener {
    listener: UnixListener,
    path: PathBuf,
    /// The identity of our file; another process may have replaced it with its own.
    file: Option<FileId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl UnixSocketListener {
    pub(super) async fn open(path: &Path) -> Result<Self, BindError> {
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                remove_stale(path).await?;
                UnixListener::bind(path)
            }
            outcome => outcome,
        };
        match listener {
            Ok(listener) => Ok(Self {
                listener,
                path: path.to_owned(),
                file: socket_at(path).ok().flatten(),
            }),
            Err(source) => Err(BindError::Path {
                path: path.to_owned(),
                source,
            }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(Socket, Peer)>> {
        self.listener.poll_accept(cx).map_ok(|(stream, _)| {
            let user = stream.peer_cred().ok().map(|credentials| credentials.uid());
            (Socket::Unix(stream), Peer::unix(user))
        })
    }
}

impl Drop for UnixSocketListener {
    fn drop(&mut self) {
        if self.file.is_some() && socket_at(&self.path).ok().flatten() == self.file {
            // The error is ignored; the next server removes a socket without a listening process.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

async fn remove_stale(path: &Path) -> Result<(), BindError> {
    let failed = |source| BindError::Path {
        path: path.to_owned(),
        source,
    };
    let Some(stale) = socket_at(path).map_err(failed)? else {
        return Err(BindError::NotASocket {
            path: path.to_owned(),
        });
    };
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(_) => {
            return Err(BindError::InUse {
                path: path.to_owned(),
            });
        }
    }
    // Another server may have replaced the file during the check.
    if socket_at(path).map_err(failed)? == Some(stale) {
        std::fs::remove_file(path).map_err(failed)?;
    }
    Ok(())
}

/// Returns the file at the path, if it is a socket.
fn socket_at(path: &Path) -> io::Result<Option<FileId>> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let id = FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    };
    Ok(metadata.file_type().is_socket().then_some(id))
}
