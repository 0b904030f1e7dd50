//! Gateways behind gateways: prevents entries and requests from going round in circles.
//!
//! Each gateway has an id, which it declares to its clients as an experimental capability. Entries
//! from another gateway are listed with the ids of the gateways that they came through, and
//! requests to another gateway carry such ids too. A gateway leaves out entries that came through
//! itself, and refuses such requests. So two gateways that are servers of each other offer each
//! other only the entries of their other servers.

use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use turnbuckle_base::lock::RwLock;
use turnbuckle_protocol::{
    JsonObject, ServerCapabilities,
    envelope::{Edit, NotAnObject, Raw, RawText},
};
use turnbuckle_server::Reject;

use crate::seal::random;

/// The experimental capability that contains the id of a gateway.
const CAPABILITY: &str = "turnbuckle/gateway";

/// The member of `_meta` with the ids of the gateways on the path.
const PATH: &str = "turnbuckle/gateways";

/// How many gateways may be between a client and a server.
const MAX_GATEWAYS: usize = 8;

/// The longest id that is accepted, in bytes. Our own ids have 32.
const MAX_ID: usize = 64;

/// The id of a gateway. Clones are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatewayId(Arc<str>);

impl GatewayId {
    /// Makes a random id, or the id that all replicas with this secret share.
    pub(crate) fn new(secret: Option<&[u8]>) -> Self {
        let bytes = match secret {
            Some(secret) => {
                let mut digest = Sha256::new();
                digest.update(b"turnbuckle gateway id");
                digest.update(secret);
                let mut bytes = [0; 16];
                bytes.copy_from_slice(&digest.finalize()[..16]);
                bytes
            }
            None => random::<16>(),
        };
        let mut id = String::new();
        for byte in bytes {
            let _ = write!(id, "{byte:02x}");
        }
        Self(id.into())
    }

    /// The id in a server's capabilities, if the server is a gateway.
    pub(crate) fn of(capabilities: &ServerCapabilities) -> Option<Self> {
        let id = capabilities.extension(CAPABILITY)?.get("id")?.as_str()?;
        (id.len() <= MAX_ID).then(|| Self(id.into()))
    }

    /// Declares this gateway's id to clients, replacing the id of a gateway behind it.
    pub(crate) fn declare(&self, capabilities: &mut ServerCapabilities) {
        let id: Value = json!({ "id": &*self.0 });
        let experimental = capabilities.experimental.get_or_insert_default();
        experimental.insert(CAPABILITY.to_owned(), id);
    }
}

/// Removes the declaration of another gateway.
pub(crate) fn without_declaration(experimental: &mut Option<JsonObject>) {
    if let Some(all) = experimental {
        all.remove(CAPABILITY);
    }
    experimental.take_if(|all| all.is_empty());
}

/// Whether a server is a gateway, and its id. Both may change with each start.
#[derive(Default)]
pub(crate) struct PeerGateway {
    is_gateway: AtomicBool,
    id: RwLock<Option<GatewayId>>,
}

impl PeerGateway {
    pub(crate) fn set(&self, id: Option<GatewayId>) {
        self.is_gateway.store(id.is_some(), Ordering::Release);
        *self.id.write() = id;
    }

    /// Whether the server is a gateway.
    pub(crate) fn is_gateway(&self) -> bool {
        self.is_gateway.load(Ordering::Acquire)
    }

    pub(crate) fn id(&self) -> Option<GatewayId> {
        self.id.read().clone()
    }
}

/// The ids of the gateways that an entry or a request came through.
fn path(meta: Raw<'_>) -> Vec<String> {
    // Search the text first: this runs for every request, and most have no path.
    if !meta.get().contains(PATH) {
        return Vec::new();
    }
    let listed = meta.member(PATH).map(Raw::elements).unwrap_or_default();
    let ids = listed
        .into_iter()
        .map(|raw| raw.parse().unwrap_or_default());
    // One id beyond the limit is enough to detect that there are too many.
    ids.take(MAX_GATEWAYS + 1).collect()
}

/// An entry of a gateway's list, with that gateway added to its path. `None` if it came through
/// `own`, or through too many gateways.
pub(crate) fn through(entry: &RawText, gateway: &GatewayId, own: &GatewayId) -> Option<RawText> {
    let raw = entry.raw();
    let mut ids = raw.member("_meta").map(path).unwrap_or_default();
    if gateway == own || ids.iter().any(|id| **id == *own.0) || ids.len() >= MAX_GATEWAYS {
        return None;
    }
    ids.insert(0, gateway.0.to_string());
    let edit = Edit::new(raw).set(&["_meta", PATH], json!(ids).to_string());
    edit.finish().ok()
}

/// Refuses a request that has come through this gateway before, or through too many gateways.
pub(crate) fn check(meta: Option<Raw<'_>>, own: &GatewayId) -> Result<(), Reject> {
    let ids = meta.map(path).unwrap_or_default();
    if ids.iter().any(|id| **id == *own.0) {
        return Err(Reject::invalid_params(
            "the request has already passed through this gateway: the gateways pass it \
             on in a circle",
        ));
    }
    if ids.len() >= MAX_GATEWAYS {
        return Err(Reject::invalid_params(format!(
            "the request has passed through more than {MAX_GATEWAYS} gateways"
        )));
    }
    Ok(())
}

/// The params of a request to another gateway, with this gateway added to the path.
pub(crate) fn sent_by(own: &GatewayId, params: Option<&RawText>) -> Result<RawText, Reject> {
    let params = params.map_or(Raw::EMPTY_OBJECT, RawText::raw);
    let mut ids = params.member("_meta").map(path).unwrap_or_default();
    ids.push(own.0.to_string());
    let edit = Edit::new(params).set(&["_meta", PATH], json!(ids).to_string());
    edit.finish().map_err(|NotAnObject { member, .. }| {
        Reject::invalid_params(format!("`params.{member}` must be an object"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn raw(text: &str) -> RawText {
        let raw: &RawValue = serde_json::from_str(text).expect("JSON");
        RawText::from(Raw::from(raw))
    }

    fn id(name: &str) -> GatewayId {
        GatewayId(name.into())
    }

    #[test]
    fn an_entry_is_listed_with_its_way_and_never_comes_back() {
        let (a, b, c) = (id("a"), id("b"), id("c"));
        let entry = raw(r#"{"name":"t", "_meta":{"x":1.50}}"#);
        let at_a = through(&entry, &b, &a).expect("it is new to a");
        assert_eq!(
            at_a.raw().get(),
            r#"{"name":"t", "_meta":{"x":1.50,"turnbuckle/gateways":["b"]}}"#
        );
        let at_c = through(&at_a, &a, &c).expect("it is new to c");
        assert!(at_c.raw().get().contains(r#"["a","b"]"#));
        assert!(through(&at_c, &c, &b).is_none(), "it is b's own");
        assert!(through(&at_c, &c, &a).is_none(), "a has it from b");
        assert!(through(&entry, &a, &a).is_none(), "a is a itself");
    }

    #[test]
    fn a_way_has_an_end() {
        let own = id("own");
        let mut params = None;
        for number in 0..MAX_GATEWAYS {
            let meta = |params: &Option<RawText>| {
                let raw = params.as_ref()?.raw().member("_meta")?;
                Some(RawText::from(raw))
            };
            let meta = meta(&params);
            check(meta.as_ref().map(RawText::raw), &own).expect("it may go on");
            let sender = id(&format!("g{number}"));
            params = Some(sent_by(&sender, params.as_ref()).expect("an object"));
        }
        let params = params.expect("it was sent");
        let said = check(params.raw().member("_meta"), &own).expect_err("too many");
        assert!(said.to_string().contains("more than 8 gateways"), "{said}");
        let said = check(params.raw().member("_meta"), &id("g3")).expect_err("a circle");
        assert!(
            said.to_string().contains("already passed through"),
            "{said}"
        );
        let mut entry = raw(r#"{"name":"t"}"#);
        for number in 0..MAX_GATEWAYS {
            entry = through(&entry, &id(&format!("g{number}")), &own).expect("not too long");
        }
        assert!(through(&entry, &id("last"), &own).is_none());
    }

    #[test]
    fn replicas_with_one_secret_are_one_gateway() {
        let secret: &[u8] = b"0123456789abcdef";
        assert_eq!(GatewayId::new(Some(secret)), GatewayId::new(Some(secret)));
        assert_ne!(GatewayId::new(None), GatewayId::new(None));
        let mut capabilities = ServerCapabilities::default();
        assert_eq!(GatewayId::of(&capabilities), None);
        let id = GatewayId::new(None);
        id.declare(&mut capabilities);
        assert_eq!(GatewayId::of(&capabilities), Some(id));
        without_declaration(&mut capabilities.experimental);
        assert_eq!(capabilities.experimental, None);
    }
}
