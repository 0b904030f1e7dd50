//! The variables of the gateway's environment that its servers do not inherit: keys of callers, and secrets of
//! other servers.

use std::collections::BTreeSet;

use turnbuckle::host::InheritedVariables;
use turnbuckle_host::config::Entry;

use super::file::GatewayFile;

/// Variables that entries often name and that are no secrets. Most programs need some of them.
const ORDINARY: [&str; 42] = [
    "APPDATA",
    "CARGO_HOME",
    "CLASSPATH",
    "COMSPEC",
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "GOPATH",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "HOSTNAME",
    "JAVA_HOME",
    "LANG",
    "LD_LIBRARY_PATH",
    "LOCALAPPDATA",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PATH",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PWD",
    "PYTHONPATH",
    "SHELL",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "VIRTUAL_ENV",
    "WAYLAND_DISPLAY",
    "WINDIR",
];

/// The names of variables that servers do not inherit. A server whose own `env` sets one of them gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Withheld(BTreeSet<String>);

impl Withheld {
    /// Adds the variables with the keys of callers and the credentials of servers.
    pub(super) fn add_file(&mut self, file: &GatewayFile) {
        self.0.extend(file.secret_variables().map(str::to_owned));
    }

    /// Adds the variables that an entry names, which are often secrets of its server.
    pub(super) fn add_entry(&mut self, entry: &Entry) {
        let names = entry.variables().into_iter();
        self.0.extend(names.filter(|name| !is_ordinary(name)));
        let credentials = entry.settings.get("credentials");
        for key in ["env", "client-secret-env"] {
            let name = credentials.and_then(|credentials| credentials.get(key)?.as_str());
            self.0.extend(name.map(str::to_owned));
        }
    }

    /// Adds the variables of a newer plan. Those of the older one may still be in use.
    pub(super) fn add(&mut self, newer: &Self) {
        self.0.extend(newer.0.iter().cloned());
    }

    /// The variables that servers inherit: all others, except the keys of models and our own secrets.
    pub(super) fn inherited(&self) -> InheritedVariables {
        InheritedVariables::default().except(&self.0)
    }
}

fn is_ordinary(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_kind = name.starts_with("LC_") || name.starts_with("XDG_") || name.ends_with("_PROXY");
    is_kind || ORDINARY.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_variables_stay() {
        for name in ["PATH", "Path", "LC_ALL", "XDG_STATE_HOME", "https_proxy"] {
            assert!(is_ordinary(name), "{name}");
        }
        for name in ["GITHUB_TOKEN", "PATH_TO_KEY", "DATABASE_URL", "XDG"] {
            assert!(!is_ordinary(name), "{name}");
        }
    }
}
