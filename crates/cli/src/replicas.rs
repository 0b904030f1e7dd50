//! `--redis` and `--secret-file`: running as one of several replicas.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use clap::Args;
use turnbuckle::{
    Server,
    store::{
        ReplicaStores,
        redis::{Redis, RedisTls},
    },
};
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

/// The variables with the URL of Redis and the secret, if they are not on the command line, which other users
/// of the machine may see.
const REDIS: &str = "TURNBUCKLE_REDIS";
const SECRET: &str = "TURNBUCKLE_SECRET";

/// Options of commands that serve at an address.
#[derive(Args)]
pub(crate) struct Replicas {
    /// Run as one of several replicas behind a load balancer, which share this Redis or Valkey:
    /// `redis://user:password@host:port/database`;
    /// `redis+sentinel://host:port,host:port/service/database` for the master that these sentinels
    /// name, with `?sentinel_password=…` if they need one; `redis+cluster://host:port,host:port`
    /// for a cluster. `rediss` instead of `redis` uses TLS. The environment variable
    /// `TURNBUCKLE_REDIS` sets it, too.
    #[arg(long, value_name = "URL", conflicts_with = "stdio")]
    redis: Option<String>,

    /// Trust certificates of Redis that are signed by those in this file, in PEM, instead of the
    /// system's (for URLs that begin with `rediss`).
    #[arg(long, value_name = "FILE")]
    redis_ca: Option<PathBuf>,

    /// The secret that all replicas share: a file with at least 32 random bytes. The environment
    /// variable `TURNBUCKLE_SECRET` can have the secret itself.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,

    /// Keep the events of calls in Redis, so that a client of a revision up to 2025-11-25 can
    /// resume the stream of a call after its replica has ended.
    #[arg(long, conflicts_with = "stdio")]
    durable_streams: bool,
}

/// The stores and the secret that a replica shares with the others.
pub(crate) struct Shared {
    pub(crate) stores: ReplicaStores,
    pub(crate) secret: Vec<u8>,
    has_durable_streams: bool,
}

impl Shared {
    /// The server as one of several replicas.
    pub(crate) fn of(self, server: Server) -> Server {
        let server = server.replicas(self.stores).secret(&self.secret);
        if self.has_durable_streams {
            server.durable_streams()
        } else {
            server
        }
    }
}

impl Replicas {
    /// Whether the options ask for several replicas.
    pub(crate) fn are_wanted(&self) -> bool {
        self.url().is_some()
    }

    fn url(&self) -> Option<String> {
        self.redis.clone().or_else(|| env::var(REDIS).ok())
    }

    /// Rejects options that cannot be used. The secret is not read: it may only be on the machine that the gateway
    /// will run on.
    pub(crate) fn check(&self) -> Outcome {
        if self.are_wanted() {
            return Ok(());
        }
        if self.secret_file.is_some() || self.redis_ca.is_some() || self.durable_streams {
            let said = "`--secret-file`, `--redis-ca` and `--durable-streams` need `--redis`";
            return Err(Failed::usage(said));
        }
        Ok(())
    }

    /// Connects to Redis, if the options say so. Must be called inside a runtime.
    pub(crate) async fn open(&self) -> Outcome<Option<Shared>> {
        self.check()?;
        let Some(url) = self.url() else {
            return Ok(None);
        };
        let secret = self.secret()?;
        let redis = match &self.redis_ca {
            Some(file) => {
                let tls = RedisTls::new().root(read(file)?);
                Redis::open_with_tls(&url, tls).await
            }
            None => Redis::open(&url).await,
        };
        let redis = redis.map_err(|error| Failed::new(Code::Connect, error))?;
        Ok(Some(Shared {
            stores: redis.into(),
            secret,
            has_durable_streams: self.durable_streams,
        }))
    }

    fn secret(&self) -> Outcome<Vec<u8>> {
        let Some(file) = &self.secret_file else {
            let secret = env::var(SECRET).map_err(|_| {
                Failed::usage(format!(
                    "replicas share a secret: give all of them the same with `--secret-file` or `{SECRET}`"
                ))
            })?;
            return Ok(secret.into_bytes());
        };
        let secret = read(file)?;
        // Editors end a file with a newline, and `head -c 32 /dev/urandom` does not.
        Ok(secret.strip_suffix(b"\n").unwrap_or(&secret).to_vec())
    }
}

fn read(file: &Path) -> Outcome<Vec<u8>> {
    fs::read(file)
        .map_err(|error| Failed::usage(format!("cannot read `{}`: {error}", file.display())))
}
