//! Clients that are described by a document at their URL.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use turnbuckle_transport::http::client::{Address, AgentSettings, HttpError};

use super::{client::Client, reply::Problem, state::Site};

/// The size limit of a client's document in bytes. The draft recommends five kilobytes.
const MAX_DOCUMENT_BYTES: usize = 5 * 1024;

/// The time limit for fetching a client's document.
const DOCUMENT_DEADLINE: Duration = Duration::from_secs(5);

impl Site {
    /// The client with this id: a registered one, or the one described by the document at this URL.
    pub(super) async fn client(&self, id: &str) -> Result<Client, Problem> {
        if let Some(client) = self.state().clients.get(id) {
            return Ok(client.clone());
        }
        let unknown = || Problem::new("invalid_client", format!("unknown client `{id}`"));
        // client-registration: an id that is a URL with a path is the URL of a document.
        let address = Address::parse(id).map_err(|_| unknown())?;
        if address.uri().path() == "/" {
            return Err(unknown());
        }
        let document = fetch(&address).await?;
        if document["client_id"].as_str() != Some(id) {
            let message = "`client_id` in the document differs from its URL";
            return Err(Problem::new("invalid_client", message));
        }
        if document["client_name"].as_str().is_none() || !document["redirect_uris"].is_array() {
            let message = "the document lacks `client_name` or `redirect_uris`";
            return Err(Problem::new("invalid_client", message));
        }
        Client::read(id.to_owned(), &document)
    }
}

async fn fetch(address: &Address) -> Result<Value, Problem> {
    let failed = |why: &str| {
        let message = format!("the client's document at {address} cannot be read: {why}");
        Problem::new("invalid_client", message)
    };
    let agent = AgentSettings::new().without_redirects().agent(address);
    let agent = agent.map_err(|error| failed(&error.to_string()))?;
    let read = async {
        let reply = agent
            .send(Method::GET, address, HeaderMap::new(), Bytes::new())
            .await?;
        let status = reply.status();
        Ok::<_, HttpError>((status, reply.bytes(MAX_DOCUMENT_BYTES).await?))
    };
    match tokio::time::timeout(DOCUMENT_DEADLINE, read).await {
        Err(_) => Err(failed("no answer in time")),
        Ok(Err(error)) => Err(failed(&error.to_string())),
        Ok(Ok((StatusCode::OK, body))) => {
            serde_json::from_slice(&body).map_err(|error| failed(&error.to_string()))
        }
        Ok(Ok((status, _))) => Err(failed(&format!("status {status}"))),
    }
}
