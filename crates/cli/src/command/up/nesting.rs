//! Gateways that start gateways: a config file may contain `turnbuckle up` as a server, and that gateway may
//! read the same file.
//!
//! Each gateway sets a variable for the programs that it starts, with the gateways that started them. A gateway
//! that finds itself in this variable does not start, so that processes do not start each other without end.

use std::{
    env,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use turnbuckle_command_line::failure::{Failed, Outcome};

use super::plan::PlanWords;

/// The variable with the gateways by which a program was started.
pub(super) const VARIABLE: &str = "TURNBUCKLE_GATEWAYS";

/// How many gateways may start each other in a row.
const MAX_GATEWAYS: usize = 8;

/// The value of the variable for programs of this gateway: the earlier gateways, and this one.
///
/// # Errors
/// If this gateway was started by itself, or by too many others.
pub(super) fn chain(words: &PlanWords<'_>) -> Outcome<String> {
    let before = env::var(VARIABLE).unwrap_or_default();
    let folder = env::current_dir().unwrap_or_default();
    let mut digest = DefaultHasher::new();
    (words.what, words.command, words.only, folder).hash(&mut digest);
    extended(&before, &format!("{:016x}", digest.finish()))
}

/// A chain with one more gateway.
fn extended(before: &str, own: &str) -> Outcome<String> {
    let ids: Vec<&str> = before.split(',').filter(|id| !id.is_empty()).collect();
    if ids.contains(&own) {
        let said = "this gateway was started by a gateway that serves the same servers";
        let hint = "a config file has `turnbuckle up` among its servers: remove it there, or give it \
                    a file of its own";
        return Err(Failed::usage(said).hint(hint));
    }
    if ids.len() >= MAX_GATEWAYS {
        let said = format!("more than {MAX_GATEWAYS} gateways have started each other");
        return Err(Failed::usage(said));
    }
    Ok([ids.as_slice(), &[own]].concat().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_not_started_by_itself() {
        let chain = extended("", "a").expect("it is the first");
        let chain = extended(&chain, "b").expect("it is another");
        assert_eq!(chain, "a,b");
        assert!(extended(&chain, "a").is_err() && extended(&chain, "b").is_err());
        let long: Vec<String> = (0..MAX_GATEWAYS).map(|id| id.to_string()).collect();
        assert!(extended(&long.join(","), "a").is_err());
    }
}
