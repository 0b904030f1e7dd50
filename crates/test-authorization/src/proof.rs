//! DPoP proofs at the token endpoint (RFC 9449, 5).

use http::HeaderMap;
use serde_json::Value;
use turnbuckle_auth::jose::{Algorithm, Jwk, Jws};

use super::{
    fault::Fault,
    reply::Problem,
    state::{Site, now},
};

/// How far the time of a proof may differ, in seconds.
const WINDOW: u64 = 300;

impl Site {
    /// The thumbprint of the key in the DPoP proof of a request, if the request has a proof.
    pub(super) fn proved_key(&self, headers: &HeaderMap) -> Result<Option<String>, Problem> {
        let mut all = headers.get_all("dpop").iter();
        let Some(proof) = all.next() else {
            return Ok(None);
        };
        let bad = |message: &str| Problem::new("invalid_dpop_proof", message);
        if all.next().is_some() {
            return Err(bad("duplicate `DPoP` header"));
        }
        let proof = proof.to_str().map_err(|_| bad("the proof is not text"))?;
        let proof = Jws::parse(proof).map_err(|error| bad(&error.to_string()))?;
        if proof.header().typ.as_deref() != Some("dpop+jwt") {
            return Err(bad("`typ` is not `dpop+jwt`"));
        }
        let key = proof.header().jwk.as_ref();
        let key = Jwk::parse(key.ok_or_else(|| bad("the proof has no `jwk`"))?);
        let key = key.map_err(|error| bad(&error.to_string()))?;
        let claims = proof.verify_with(&key, &Algorithm::ALL);
        let claims = claims.map_err(|error| bad(&error.to_string()))?;
        let text = |name| claims.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("htm") != "POST" || text("htu") != self.url("/token") {
            return Err(bad("`htm` or `htu` does not match the request"));
        }
        let issued = claims.get("iat").and_then(Value::as_u64);
        if issued.is_none_or(|issued| now().abs_diff(issued) > WINDOW) {
            return Err(bad("`iat` is missing, or too long ago"));
        }
        let mut state = self.state();
        if state.orders.has(&Fault::DemandNonce) {
            let given = text("nonce");
            if !state.nonces.iter().any(|nonce| nonce == given) {
                let mut problem = Problem::new("use_dpop_nonce", "the proof needs a nonce");
                problem.nonce = Some(state.new_nonce());
                return Err(problem);
            }
        }
        let thumbprint = key.thumbprint();
        if text("jti").is_empty() || !state.is_first_use(format!("{thumbprint} {}", text("jti"))) {
            return Err(bad("`jti` is missing, or was used before"));
        }
        Ok(Some(thumbprint))
    }
}
