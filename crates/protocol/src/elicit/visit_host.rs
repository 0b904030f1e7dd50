//! The host in the URL of a visit, and warnings for the user.

use std::net::IpAddr;

use super::ElicitRequestUrlParams;

impl ElicitRequestUrlParams {
    /// Returns the host in the URL: the text between the scheme (and a user name) and the path, with
    /// the port.
    pub fn host(&self) -> &str {
        let authority = self.authority();
        let host = authority.rsplit_once('@').map(|(_, host)| host);
        host.unwrap_or(authority)
    }

    /// Returns a warning to show to the user before the visit: letters that look like others, a user
    /// name that could be taken for the host, or a connection that others can read. `None` for an
    /// ordinary URL.
    ///
    /// ```
    /// use turnbuckle_protocol::ElicitRequestUrlParams;
    ///
    /// let visit = ElicitRequestUrlParams::new("Sign in", "https://xn--pypal-4ve.example/");
    /// assert!(visit.warning().unwrap().contains("xn--pypal-4ve.example"));
    /// ```
    // elicitation: clients SHOULD warn of ambiguous URIs, such as those with Punycode.
    pub fn warning(&self) -> Option<String> {
        let host = self.host();
        let labels = || host.split('.').map(str::to_ascii_lowercase);
        if labels().any(|label| label.starts_with("xn--")) {
            return Some(format!(
                "`{host}` is written with letters that may look like others (Punycode)"
            ));
        }
        if !host.is_ascii() {
            return Some(format!("`{host}` has letters that may look like others"));
        }
        if self.authority() != host {
            return Some(format!("the text before `@` is not the host: `{host}` is"));
        }
        let is_here = is_this_machine(host);
        let is_open = self.url.to_ascii_lowercase().starts_with("http://") && !is_here;
        is_open.then(|| "others can read what is sent there: it is not HTTPS".to_owned())
    }

    fn authority(&self) -> &str {
        let url = self.url.as_str();
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        &rest[..end]
    }
}

/// Whether a host, with or without a port, is the user's own machine.
fn is_this_machine(host: &str) -> bool {
    let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
    let is_port = port.bytes().all(|digit| digit.is_ascii_digit());
    let name = if is_port { name } else { host };
    let in_brackets = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let address = in_brackets.unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(url: &str) -> ElicitRequestUrlParams {
        ElicitRequestUrlParams::new("Go", url)
    }

    // rule: E5
    #[test]
    fn the_host_is_who_is_really_asked() {
        for (url, host) in [
            ("https://example.com/a", "example.com"),
            ("https://bank.example@evil.example:8/x", "evil.example:8"),
            ("https://evil.example?@bank.example", "evil.example"),
            ("https://evil.example\\@bank.example/", "evil.example"),
        ] {
            assert_eq!(visit(url).host(), host);
        }
    }

    // rule: E13
    #[test]
    fn people_are_warned_of_urls_that_are_not_what_they_seem() {
        for (url, warning) in [
            ("https://example.com/pay?to=xn--a", None),
            ("http://localhost:8080/", None),
            ("http://127.0.0.1/", None),
            ("http://LocalHost/", None),
            ("http://[::1]:8080/", None),
            ("http://127.0.0.1.evil.example/", Some("not HTTPS")),
            ("http://[2001:db8::1]/", Some("not HTTPS")),
            ("https://XN--80ak6aa92e.example/", Some("Punycode")),
            (
                "https://login.xn--pypal-4ve.example:8443/",
                Some("Punycode"),
            ),
            ("https://раypal.example/", Some("look like others")),
            (
                "https://bank.example@evil.example/",
                Some("`evil.example` is"),
            ),
            ("HTTP://example.com/", Some("not HTTPS")),
            ("http://localhost.evil.example/", Some("not HTTPS")),
        ] {
            let said = visit(url).warning();
            assert_eq!(said.is_some(), warning.is_some(), "{url}: {said:?}");
            if let (Some(said), Some(warning)) = (said, warning) {
                assert!(said.contains(warning), "{said}");
            }
        }
    }
}
