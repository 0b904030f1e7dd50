//! Checks the authorization of a server, as a client without a token sees it: the challenge, and the metadata.

use serde_json::Value;
use tokio::time::timeout;
use turnbuckle::transport::http::client::{Address, AgentSettings, HeaderMap, HeaderValue, Method};
use turnbuckle_base::error_chain;

use super::{
    connection::Exchange,
    finding::{Finding, cut},
    limits::Limits,
    network::is_loopback,
    report::Report,
    table::auth,
};

/// The largest document, 1 MiB: such documents have a few kilobytes.
const MAX_DOCUMENT: usize = 1024 * 1024;

/// How many authorization servers of one resource are examined.
const MAX_SERVERS: usize = 3;

/// How much of a document is shown, in characters.
const MAX_SHOWN: usize = 200;

struct Visitor<'r> {
    report: &'r Report,
    /// Without the headers for the server: they may be secret and are not sent elsewhere.
    settings: &'r AgentSettings,
    limits: Limits,
}

/// Reports that the server requires a token, and none was given.
pub(crate) fn needed(report: &Report, first: &Exchange) {
    let said = "the server requires authorization (HTTP 401)";
    report.add(first.finding(&auth::NEEDED, said));
}

/// Reports that the server refuses access, whether or not it knows the caller.
pub(crate) fn refused(report: &Report, first: &Exchange) {
    let said = "the server refuses (HTTP 403)";
    report.add(first.finding(&auth::REFUSED, said));
}

/// Follows a challenge to the metadata that it names.
pub(crate) async fn look(
    report: &Report,
    settings: &AgentSettings,
    address: &Address,
    first: &Exchange,
    limits: Limits,
) {
    report.step("looking at the metadata for authorization");
    let visitor = Visitor {
        report,
        settings,
        limits,
    };
    let challenge = first
        .head
        .as_ref()
        .and_then(|head| head.header("www-authenticate"));
    let named = challenge.and_then(|text| parameter(text, "resource_metadata"));
    if named.is_some() {
        report.ok(&auth::CHALLENGE, "the challenge leads to metadata");
    } else {
        let said = match challenge {
            None => "a 401 comes without `WWW-Authenticate`",
            Some(_) => "`WWW-Authenticate` has no `resource_metadata`",
        };
        report.add(first.finding(&auth::CHALLENGE, said));
    }
    let Some((place, document)) = visitor.resource(address, named.as_deref()).await else {
        return;
    };
    report.ok(&auth::RESOURCE_METADATA, place.clone());
    judge_resource(report, address, &place, &document);
    let servers = document["authorization_servers"].as_array();
    let servers: Vec<&str> = servers
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if servers.is_empty() {
        let said = "the metadata names no authorization server";
        let finding = Finding::of(&auth::SERVERS, said).at(place);
        report.add(finding.seen(cut(&document.to_string(), MAX_SHOWN)));
    }
    for issuer in servers.into_iter().take(MAX_SERVERS) {
        visitor.server(issuer).await;
    }
}

fn judge_resource(report: &Report, address: &Address, place: &str, document: &Value) {
    let resource = document["resource"].as_str().unwrap_or_default();
    let is_it = Address::parse(resource).is_ok_and(|resource| covers(&resource, address));
    if is_it {
        report.ok(&auth::RESOURCE, "it describes this server");
    } else {
        let said = format!("`resource` is `{resource}`, and the server is {address}");
        report.add(Finding::of(&auth::RESOURCE, said).at(place));
    }
    let scopes = document["scopes_supported"].as_array();
    let mut scopes = scopes.into_iter().flatten();
    if scopes.any(|scope| scope == "offline_access") {
        let said = "`offline_access` is among the scopes of the resource";
        report.add(Finding::of(&auth::OFFLINE, said).at(place));
    }
}

/// Whether a resource is the server, or contains it.
fn covers(resource: &Address, address: &Address) -> bool {
    let own = resource.uri().path().trim_end_matches('/');
    let path = address.uri().path().trim_end_matches('/');
    let is_inside = path
        .strip_prefix(own)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    resource.is_same_origin(address) && is_inside
}

impl Visitor<'_> {
    /// The metadata of the resource, from the first URL that has it.
    async fn resource(&self, address: &Address, named: Option<&str>) -> Option<(String, Value)> {
        const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
        let path = address.uri().path().trim_end_matches('/');
        let mut places = Vec::new();
        places.extend(named.map(str::to_owned));
        places.push(format!("{WELL_KNOWN}{path}"));
        places.push(WELL_KNOWN.to_owned());
        places.dedup();
        let mut missed = Vec::new();
        for place in places {
            let Ok(place) = address.join(&place) else {
                missed.push(format!("{place}: no URL"));
                continue;
            };
            match self.fetch(&place).await {
                Ok(document) => return Some((place.to_string(), document)),
                Err(said) => missed.push(format!("{place}: {said}")),
            }
        }
        let said = "no document describes the protected resource";
        let finding = Finding::of(&auth::RESOURCE_METADATA, said);
        self.report.add(finding.seen_all(missed));
        None
    }

    /// Examines an authorization server.
    async fn server(&self, issuer: &str) {
        let Ok(address) = Address::parse(issuer) else {
            let said = format!("`{issuer}` is not the URL of an authorization server");
            self.report.add(Finding::of(&auth::SERVERS, said));
            return;
        };
        let mut missed = Vec::new();
        for place in places(&address) {
            match self.fetch(&place).await {
                Ok(document) => {
                    self.report.ok(&auth::SERVER_METADATA, place.to_string());
                    self.judge(issuer, &document);
                    return;
                }
                Err(said) => missed.push(format!("{place}: {said}")),
            }
        }
        let said = format!("the authorization server `{issuer}` publishes no metadata");
        let finding = Finding::of(&auth::SERVER_METADATA, said);
        self.report.add(finding.seen_all(missed));
    }

    fn judge(&self, issuer: &str, document: &Value) {
        let found = |check, said: String| {
            let finding = Finding::of(check, said).at(issuer);
            let shown = cut(&document.to_string(), MAX_SHOWN);
            self.report.add(finding.seen(shown));
        };
        if document["issuer"] != issuer {
            let said = format!("the issuer of the document is {}", document["issuer"]);
            found(&auth::ISSUER, said);
        }
        for name in ["authorization_endpoint", "token_endpoint"] {
            match document[name].as_str().map(Address::parse) {
                Some(Ok(endpoint)) if endpoint.is_https() || is_loopback(&endpoint) => {}
                Some(Ok(_)) => found(&auth::HTTPS, format!("`{name}` is not `https`")),
                _ => found(&auth::ENDPOINTS, format!("there is no `{name}`")),
            }
        }
        let has_s256 = document["code_challenge_methods_supported"]
            .as_array()
            .is_some_and(|methods| methods.iter().any(|method| method == "S256"));
        if has_s256 {
            self.report.ok(&auth::PKCE, "PKCE with S256");
        } else {
            found(&auth::PKCE, "PKCE with S256 is not offered".to_owned());
        }
        let is_open = document["registration_endpoint"].is_string()
            || document["client_id_metadata_document_supported"] == true;
        if is_open {
            self.report
                .ok(&auth::REGISTRATION, "clients can introduce themselves");
        } else {
            let said = "clients have to be registered by hand";
            found(&auth::REGISTRATION, said.to_owned());
        }
    }

    async fn fetch(&self, place: &Address) -> Result<Value, String> {
        let agent = self
            .settings
            .agent(place)
            .map_err(|error| error_chain::in_one_line(&error))?;
        let mut headers = HeaderMap::new();
        headers.insert("accept", HeaderValue::from_static("application/json"));
        let get = async {
            let reply = agent
                .send(Method::GET, place, headers, bytes::Bytes::new())
                .await
                .map_err(|error| error_chain::in_one_line(&error))?;
            let status = reply.status();
            let body = reply.bytes(MAX_DOCUMENT).await;
            let body = body.map_err(|error| error_chain::in_one_line(&error))?;
            if !status.is_success() {
                return Err(format!("HTTP {}", status.as_u16()));
            }
            match serde_json::from_slice::<Value>(&body) {
                Ok(document) if document.is_object() => Ok(document),
                _ => Err("no JSON object".to_owned()),
            }
        };
        let late = || "no answer in time".to_owned();
        timeout(self.limits.probe, get)
            .await
            .unwrap_or_else(|_| Err(late()))
    }
}

/// The URLs at which an issuer's metadata may be, in the order of the specification.
fn places(issuer: &Address) -> Vec<Address> {
    let path = issuer.uri().path().trim_end_matches('/');
    let mut places = vec![
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{path}/.well-known/openid-configuration"));
    }
    let places = places.iter().filter_map(|place| issuer.join(place).ok());
    places.collect()
}

/// A parameter of a challenge: `name="value"` or `name=value`.
fn parameter(challenge: &str, name: &str) -> Option<String> {
    let lower = challenge.to_ascii_lowercase();
    let mut from = 0;
    loop {
        let at = from + lower.get(from..)?.find(name)?;
        let is_start = !lower[..at].ends_with(|letter: char| {
            letter.is_ascii_alphanumeric() || letter == '_' || letter == '-'
        });
        let rest = challenge[at + name.len()..].trim_start();
        if let (true, Some(value)) = (is_start, rest.strip_prefix('=')) {
            let value = value.trim_start();
            let quoted = value.strip_prefix('"');
            let end = value.find([',', ' ']).unwrap_or(value.len());
            let plain = quoted.map_or(&value[..end], |quoted| {
                quoted.split('"').next().unwrap_or_default()
            });
            return Some(plain.to_owned());
        }
        from = at + name.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_challenges() {
        let url = "https://h/.well-known/x";
        for challenge in [
            format!("Bearer resource_metadata=\"{url}\""),
            format!("Bearer error=\"x\", Resource_Metadata={url}, scope=\"a b\""),
            format!("Bearer my_resource_metadata=\"no\", resource_metadata = \"{url}\""),
        ] {
            let found = parameter(&challenge, "resource_metadata");
            assert_eq!(found.as_deref(), Some(url), "{challenge}");
        }
        assert_eq!(parameter("Bearer realm=\"x\"", "resource_metadata"), None);
    }

    #[test]
    fn a_resource_is_the_server_or_around_it() {
        let address = |text: &str| Address::parse(text).unwrap();
        let server = address("https://h/team/mcp");
        for (resource, wanted) in [
            ("https://h/team/mcp", true),
            ("https://h/team/mcp/", true),
            ("https://h", true),
            ("https://h/tea", false),
            ("https://other/team/mcp", false),
            ("http://h/team/mcp", false),
        ] {
            assert_eq!(covers(&address(resource), &server), wanted, "{resource}");
        }
    }
}
