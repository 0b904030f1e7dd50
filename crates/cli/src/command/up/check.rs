//! `turnbuckle up --check`: reports what would be served, and problems in the config.

use turnbuckle_command_line::failure::{Failed, Outcome};

use super::{operation::unreachable_rules, plan::Plan};
use crate::{control::tell, show::print};

/// Reports what would be served, and rules that never apply. Fails if there is a problem.
pub(super) fn check(plan: &Plan, listen: Option<&str>, admin: Option<&str>) -> Outcome {
    for server in &plan.servers {
        print(&format!("{}\t{}", server.id, server.shown));
    }
    plan.tell_problems();
    for warning in unreachable_rules(&plan.gateway) {
        tell(&format!("warning: {warning}"));
    }
    for (key, address) in [("listen", listen), ("admin", admin)] {
        if let Some(address) = address
            && !is_address(address)
        {
            let said = format!("`{address}` is not an address to listen at (`{key}`)");
            return Err(Failed::usage(said).hint("write `127.0.0.1:7250`: a host and a port"));
        }
    }
    if plan.servers.is_empty() && plan.problems.is_empty() {
        return Err(Failed::usage("the config has no servers"));
    }
    match plan.problems.len() {
        0 => Ok(()),
        1 => Err(Failed::usage("1 problem in the config")),
        count => Err(Failed::usage(format!("{count} problems in the config"))),
    }
}

/// Rejects an address for operators that is also the address of the gateway.
pub(super) fn two_addresses(listen: &str, admin: Option<&str>) -> Outcome {
    let port = listen
        .rsplit_once(':')
        .and_then(|(_, port)| port.parse::<u16>().ok());
    let takes_one_port = port.is_some_and(|port| port > 0);
    if admin == Some(listen) && takes_one_port {
        let said = format!(
            "`{listen}` is both the address of the gateway and that for operators (`admin`)"
        );
        return Err(Failed::usage(said).hint("choose another port for one of them"));
    }
    Ok(())
}

/// Whether a text is a host and a port. The host is not looked up.
fn is_address(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| {
        let is_host = !host.is_empty() && !host.contains(['/', ' ']);
        is_host && port.parse::<u16>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_and_its_operators_have_different_addresses() {
        let at = "127.0.0.1:7250";
        assert!(two_addresses(at, Some(at)).is_err());
        two_addresses(at, Some("127.0.0.1:7251")).expect("different ports");
        two_addresses("nonsense", Some("nonsense")).expect("this mistake is reported elsewhere");
        two_addresses("127.0.0.1:0", Some("127.0.0.1:0")).expect("any free ports");
        two_addresses(at, None).expect("no address for operators");
    }

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for text in ["127.0.0.1:7250", "[::1]:0", "localhost:80", "0.0.0.0:1"] {
            assert!(is_address(text), "{text}");
        }
        for text in [
            "nonsense",
            "xx",
            "",
            ":80",
            "a:b",
            "http://a:80/",
            "a:70000",
        ] {
            assert!(!is_address(text), "{text}");
        }
    }
}
