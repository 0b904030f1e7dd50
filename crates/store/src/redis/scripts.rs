//! Scripts for the nodes of a cluster that do not have them yet. A replica that becomes master, or
//! a node that joins, has none.

use std::collections::HashMap;

use ::redis::{Arg, Cmd, ErrorKind, RedisError, Script, Value};
use turnbuckle_base::lock::Mutex;

/// The code of each script that was used, by its hash. The number of scripts in the program limits
/// its size.
#[derive(Debug, Default)]
pub(super) struct Scripts(Mutex<HashMap<Vec<u8>, Vec<u8>>>);

impl Scripts {
    /// Handles `SCRIPT LOAD`, the only command without a key: a node gets the script with the first
    /// command that uses it there.
    pub(super) fn take(&self, load: &Cmd) -> Result<Value, RedisError> {
        let mut parts = arguments(load);
        let (Some(b"SCRIPT"), Some(b"LOAD"), Some(code)) =
            (parts.next(), parts.next(), parts.next())
        else {
            return Err((ErrorKind::Client, "a command for a cluster needs a key").into());
        };
        let hash = Script::new(&String::from_utf8_lossy(code))
            .get_hash()
            .as_bytes()
            .to_vec();
        self.0.lock().insert(hash.clone(), code.to_vec());
        Ok(Value::BulkString(hash))
    }

    /// The command with the code of its script instead of the hash, if the code is known.
    pub(super) fn whole(&self, by_hash: &Cmd) -> Option<Cmd> {
        let mut parts = arguments(by_hash);
        let (Some(b"EVALSHA"), Some(hash)) = (parts.next(), parts.next()) else {
            return None;
        };
        let scripts = self.0.lock();
        let mut whole = ::redis::cmd("EVAL");
        whole.arg(scripts.get(hash)?);
        for part in parts {
            whole.arg(part);
        }
        Some(whole)
    }
}

/// The arguments of a command, including its name.
pub(super) fn arguments(command: &Cmd) -> impl Iterator<Item = &[u8]> {
    command.args_iter().map(|argument| match argument {
        Arg::Simple(bytes) => bytes,
        _ => &[],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_travels_whole_where_it_is_not_known() {
        let scripts = Scripts::default();
        let script = Script::new("return 1");
        let mut used = ::redis::cmd("EVALSHA");
        used.arg(script.get_hash()).arg(1).arg("key").arg("value");
        assert!(scripts.whole(&used).is_none());
        let mut load = ::redis::cmd("SCRIPT");
        load.arg("LOAD").arg("return 1");
        let hash = scripts.take(&load).unwrap();
        assert_eq!(hash, Value::BulkString(script.get_hash().into()));
        let whole = scripts.whole(&used).unwrap();
        let whole: Vec<_> = arguments(&whole).collect();
        assert_eq!(whole, [&b"EVAL"[..], b"return 1", b"1", b"key", b"value"]);
        assert!(scripts.take(&::redis::cmd("PING")).is_err());
    }
}
