//! The client credentials grant: a client that acts for itself.

use super::asking::{Asking, Given};
use crate::{reply::Problem, state::Grant};

pub(in super::super) fn client_credentials(asking: Asking<'_>) -> Result<Given, Problem> {
    let client = asking
        .client
        .ok_or_else(|| Problem::new("invalid_client", "`client_id` is missing"))?
        .proved()?;
    Ok(Given::Access(Grant {
        subject: client.id.clone(),
        client: client.id,
        scopes: asking.form.scopes(),
        resource: asking.form.resource()?,
        key: asking.key,
        ..Grant::default()
    }))
}
