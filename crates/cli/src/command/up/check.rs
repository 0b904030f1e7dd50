//! `turnbuckle up --check`: reports what would be served, and problems in the config.

use std::{
    fs::OpenOptions,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::Path,
};

use turnbuckle_command_line::failure::{Failed, Outcome};

use super::{
    front_guard::{self, LiveFront},
    keys::CallerKeys,
    operation::unreachable_rules,
    plan::Plan,
};
use crate::{control::tell, show::print};

/// Stands for any free port (port 0), which is not known before a gateway listens: the first of those that systems
/// choose from.
const FREE_PORT: u16 = 49152;

/// Reports what would be served, and rules that never apply. Fails if there is a problem.
pub(super) fn servers(plan: &Plan) -> Outcome {
    for server in &plan.servers {
        print(&format!("{}\t{}", server.id, server.shown));
    }
    plan.tell_problems();
    for warning in unreachable_rules(&plan.gateway) {
        tell(&format!("warning: {warning}"));
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

/// Rejects texts that are not addresses.
pub(super) fn addresses(listen: Option<&str>, admin: Option<&str>) -> Outcome {
    for (key, address) in [("listen", listen), ("admin", admin)] {
        if let Some(address) = address
            && !is_address(address)
        {
            let said = format!("`{address}` is not an address to listen at (`{key}`)");
            return Err(Failed::usage(said).hint("write `127.0.0.1:7250`: a host and a port"));
        }
    }
    Ok(())
}

/// The address that a gateway would have. Host names are not looked up, and any of them may be a name of loopback, so
/// a loopback address stands for them: a start must not be refused here for its address if it could succeed.
pub(super) fn local_address(listen: &str) -> Option<SocketAddr> {
    let mut address = if let Ok(address) = listen.parse::<SocketAddr>() {
        address
    } else {
        let (_, port) = listen.rsplit_once(':')?;
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?)
    };
    if address.port() == 0 {
        address.set_port(FREE_PORT);
    }
    Some(address)
}

/// Rejects settings that a gateway at this address could not serve, or not serve safely.
pub(super) fn front(
    plan: &Plan,
    live: &LiveFront,
    keys: Option<&CallerKeys>,
    local: Option<SocketAddr>,
) -> Outcome {
    live.check(plan)?;
    front_guard::open(plan, keys, &front_guard::resource(plan, local), None).map(drop)
}

/// Rejects an access log that cannot be written. A file that does not exist is not created.
pub(super) fn access_log(log: Option<&str>) -> Outcome {
    let Some(path) = log.filter(|log| *log != "-") else {
        return Ok(());
    };
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let is_folder = folder.as_os_str().is_empty() || folder.is_dir();
    match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && is_folder => Ok(()),
        Err(error) => Err(Failed::usage(format!("cannot write `{path}`: {error}"))),
        Ok(_) => Ok(()),
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
