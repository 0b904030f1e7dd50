//! The revocation endpoint (RFC 7009).

use http::{HeaderMap, StatusCode};

use super::{
    form::Form,
    reply::{self, Problem, Reply},
    state::Site,
};

pub(super) async fn serve(site: &Site, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Problem> {
    let form = Form::parse(body)?;
    let client = site.known_client(headers, &form).await?;
    let client = client.ok_or_else(|| Problem::new("invalid_client", "`client_id` is missing"))?;
    let token = form.need("token")?;
    let mut state = site.state();
    let refresh = state.refresh.get(token);
    let refresh = refresh.filter(|known| known.grant.client == client.client.id);
    if let Some(family) = refresh.map(|known| known.family.clone()) {
        state.refresh.retain(|other| other.family != family);
    }
    state.revoke(token);
    // RFC 7009, 2.2: an unknown token is treated as revoked.
    Ok(reply::text(StatusCode::OK, ""))
}
