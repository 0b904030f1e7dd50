//! The target of a Redis URL: one process, a service of Sentinel, or a cluster.

use ::redis::{Client, RedisError};

#[cfg(feature = "tls")]
use super::RedisTls;
use super::address::Address;
use crate::StoreError;

const REDIS_PORT: u16 = 6379;
const SENTINEL_PORT: u16 = 26379;

/// The target of a URL.
#[derive(Debug)]
pub(super) enum Target {
    /// A single process, by a URL that the Redis client supports.
    One,
    Sentinel(SentinelTarget),
    Cluster(ClusterTarget),
}

/// A service that sentinels watch.
#[derive(Debug)]
pub(super) struct SentinelTarget {
    pub(super) sentinels: Vec<Address>,
    pub(super) service: String,
    /// How to connect to the sentinels.
    pub(super) to_sentinels: Access,
    /// How to connect to the master.
    pub(super) to_master: Access,
}

/// Some nodes of a cluster, through which the others are found.
#[derive(Debug)]
pub(super) struct ClusterTarget {
    pub(super) nodes: Vec<Address>,
    pub(super) access: Access,
}

/// How to connect to a process at any address.
#[derive(Clone)]
pub(super) struct Access {
    scheme: &'static str,
    /// `user:password@` as in a URL, or nothing.
    credentials: String,
    database: String,
    fragment: String,
    #[cfg(feature = "tls")]
    tls: Option<RedisTls>,
}

impl Access {
    pub(super) fn client(&self, address: &Address) -> Result<Client, RedisError> {
        self.open(address, "")
    }

    /// A client that supports messages within shards.
    pub(super) fn listener(&self, address: &Address) -> Result<Client, RedisError> {
        self.open(address, "?protocol=resp3")
    }

    fn open(&self, address: &Address, query: &str) -> Result<Client, RedisError> {
        let Self {
            scheme,
            credentials,
            database,
            fragment,
            ..
        } = self;
        let url = format!("{scheme}://{credentials}{address}/{database}{query}{fragment}");
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return tls.clone().client(&url);
        }
        Client::open(url)
    }
}

#[cfg(feature = "tls")]
impl SentinelTarget {
    /// Uses these certificates, for the sentinels too.
    pub(super) fn with_tls(mut self, tls: &RedisTls) -> Self {
        self.to_sentinels.tls = Some(tls.clone());
        self.to_master.tls = Some(tls.clone());
        self
    }
}

#[cfg(feature = "tls")]
impl ClusterTarget {
    /// Uses these certificates.
    pub(super) fn with_tls(mut self, tls: RedisTls) -> Self {
        self.access.tls = Some(tls);
        self
    }
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The credentials are secret.
        f.debug_struct("Access")
            .field("scheme", &self.scheme)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

/// The parts of a URL with several hosts.
struct Parts<'a> {
    scheme: &'static str,
    credentials: &'a str,
    hosts: &'a str,
    path: &'a str,
    query: &'a str,
    fragment: String,
}

impl Target {
    /// Parses a URL. Unknown forms are left to the Redis client.
    pub(super) fn parse(url: &str) -> Result<Self, StoreError> {
        let Some((scheme, rest)) = url.split_once("://") else {
            return Ok(Self::One);
        };
        match &*scheme.to_ascii_lowercase() {
            "redis+sentinel" | "redis-sentinel" => sentinel(&Parts::of("redis", rest)?),
            "rediss+sentinel" | "rediss-sentinel" => sentinel(&Parts::of("rediss", rest)?),
            "redis+cluster" | "redis-cluster" => cluster(&Parts::of("redis", rest)?),
            "rediss+cluster" | "rediss-cluster" => cluster(&Parts::of("rediss", rest)?),
            _ => Ok(Self::One),
        }
    }
}

impl<'a> Parts<'a> {
    fn of(scheme: &'static str, rest: &'a str) -> Result<Self, StoreError> {
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let fragment = match fragment {
            "" => String::new(),
            "insecure" if scheme == "rediss" => "#insecure".to_owned(),
            _ => {
                return Err(invalid("only `#insecure` may follow `#`, with `rediss`"));
            }
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, hosts) = match authority.rfind('@') {
            Some(at) => authority.split_at(at + 1),
            None => ("", authority),
        };
        Ok(Self {
            scheme,
            credentials,
            hosts,
            path: path.trim_end_matches('/'),
            query,
            fragment,
        })
    }

    fn addresses(&self, default_port: u16) -> Result<Vec<Address>, StoreError> {
        let read = |host: &str| {
            let address = Address::parse(host, default_port);
            address.ok_or_else(|| {
                invalid(&format!(
                    "`{host}` must be a host, or a host and a port as in `cache-1:{default_port}`"
                ))
            })
        };
        self.hosts.split(',').map(read).collect()
    }

    fn access(&self, credentials: &str, database: &str) -> Access {
        Access {
            scheme: self.scheme,
            credentials: credentials.to_owned(),
            database: database.to_owned(),
            fragment: self.fragment.clone(),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }
}

fn sentinel(parts: &Parts<'_>) -> Result<Target, StoreError> {
    let (service, database) = parts.path.split_once('/').unwrap_or((parts.path, "0"));
    if service.is_empty() {
        return Err(invalid(
            "the name of the service is missing: write it after the hosts, as in \
             `redis+sentinel://sentinel-1,sentinel-2/mymaster`",
        ));
    }
    if database.parse::<u32>().is_err() {
        return Err(invalid(&format!(
            "`{database}` must be the number of a database, after the name of the service"
        )));
    }
    let (mut user, mut password) = ("", "");
    for (name, value) in options(parts.query) {
        match name {
            "sentinel_username" => user = value,
            "sentinel_password" => password = value,
            _ => {
                return Err(invalid(&format!(
                    "unknown option `{name}`; the known options are `sentinel_username` and \
                     `sentinel_password`"
                )));
            }
        }
    }
    let to_sentinels = match (user, password) {
        ("", "") => String::new(),
        _ => format!("{}:{}@", for_credentials(user), for_credentials(password)),
    };
    Ok(Target::Sentinel(SentinelTarget {
        sentinels: parts.addresses(SENTINEL_PORT)?,
        service: service.to_owned(),
        to_sentinels: parts.access(&to_sentinels, ""),
        to_master: parts.access(parts.credentials, database),
    }))
}

fn cluster(parts: &Parts<'_>) -> Result<Target, StoreError> {
    if !matches!(parts.path, "" | "0") {
        return Err(invalid(&format!(
            "a cluster has only database 0: remove `/{}`",
            parts.path
        )));
    }
    if let Some((name, _)) = options(parts.query).next() {
        return Err(invalid(&format!(
            "unknown option `{name}`; the URL of a cluster takes no options"
        )));
    }
    Ok(Target::Cluster(ClusterTarget {
        nodes: parts.addresses(REDIS_PORT)?,
        access: parts.access(parts.credentials, ""),
    }))
}

fn options(query: &str) -> impl Iterator<Item = (&str, &str)> {
    let options = query.split('&').filter(|option| !option.is_empty());
    options.map(|option| option.split_once('=').unwrap_or((option, "")))
}

/// Encodes a value of the query for use in front of the host.
fn for_credentials(value: &str) -> String {
    let value = value.replace('@', "%40").replace('/', "%2F");
    value.replace(':', "%3A").replace('+', "%20")
}

/// The error for an invalid URL. The message does not contain the URL, which may contain a password.
fn invalid(why: &str) -> StoreError {
    StoreError::new("redis", format!("the URL of Redis is invalid: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentinel(url: &str) -> SentinelTarget {
        match Target::parse(url) {
            Ok(Target::Sentinel(target)) => target,
            other => panic!("{url}: {other:?}"),
        }
    }

    fn url(access: &Access) -> String {
        let info = access.client(&Address::new("h", 1)).unwrap();
        let info = info.get_connection_info();
        let redis = info.redis_settings();
        format!(
            "{}/{} {}:{}",
            info.addr(),
            redis.db(),
            redis.username().unwrap_or_default(),
            redis.password().unwrap_or_default()
        )
    }

    #[test]
    fn a_url_of_sentinels_names_them_and_the_service() {
        let target = sentinel(
            "redis+sentinel://ada:a%40b@s1,s2:7000,[::1]/mymaster/3?sentinel_password=x@y",
        );
        let addresses: Vec<_> = target.sentinels.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["s1:26379", "s2:7000", "[::1]:26379"]);
        assert_eq!(target.service, "mymaster");
        assert_eq!(url(&target.to_master), "h:1/3 ada:a@b");
        assert_eq!(url(&target.to_sentinels), "h:1/0 :x@y");
        let target = sentinel("REDIS-SENTINEL://s1/main/");
        assert_eq!(target.service, "main");
        assert_eq!(url(&target.to_master), "h:1/0 :");
        assert_eq!(url(&target.to_sentinels), "h:1/0 :");
    }

    #[test]
    fn a_url_of_a_cluster_names_some_of_its_nodes() {
        let Ok(Target::Cluster(target)) = Target::parse("redis+cluster://:pw@n1,n2:7001/0") else {
            panic!("it is a cluster")
        };
        let addresses: Vec<_> = target.nodes.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, ["n1:6379", "n2:7001"]);
        assert_eq!(url(&target.access), "h:1/0 :pw");
        for one in ["redis://a/", "rediss://a/", "unix:///a", "nothing"] {
            assert!(matches!(Target::parse(one), Ok(Target::One)), "{one}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_passwords_are_not() {
        for (url, wrong) in [
            (
                "redis+sentinel://:secret@s1",
                "name of the service is missing",
            ),
            (
                "redis+sentinel://:secret@s1/",
                "name of the service is missing",
            ),
            ("redis+sentinel://:secret@s1/main/x", "`x`"),
            ("redis+sentinel://:secret@s1:x/main", "`s1:x`"),
            ("redis+sentinel://:secret@s1,/main", "``"),
            ("redis+sentinel://:secret@s1/main?sentinl=1", "`sentinl`"),
            ("redis+sentinel://:secret@s1/main#x", "`#insecure`"),
            ("redis+cluster://:secret@s1/1", "database 0"),
            ("redis+cluster://:secret@s1?a=b", "`a`"),
            ("redis+cluster://:secret@", "``"),
        ] {
            let said = Target::parse(url).unwrap_err().to_string();
            assert!(said.contains(wrong), "{url}: {said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }
}
