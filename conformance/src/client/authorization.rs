//! The scenarios that need authorization. The suite's authorization servers do not ask the user:
//! they send a browser straight back, so that the browser is one request here.

use std::error::Error;
use std::future::{Future, ready};
use std::pin::Pin;

use serde_json::{Value, json};
use turnbuckle::Connection;
use turnbuckle::auth::Secret;
use turnbuckle::auth::client::{
    AuthorizationRequest, Browser, BrowserVisit, Enterprise, OAuth, Registered,
};
use turnbuckle::auth::jose::SigningKey;
use turnbuckle::transport::http::client::{Address, AgentSettings, BoxError, HeaderMap, Method};

use crate::Order;
use crate::scenario::Ended;

/// The document about this client, which the suite knows.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How tokens are got in a scenario.
pub(crate) fn oauth(order: &Order) -> Result<OAuth, Box<dyn Error>> {
    let text = |name: &str| text(&order.context, name);
    let oauth = OAuth::new("turnbuckle-conformance")
        .client_document(DOCUMENT)
        .browser(Straight);
    Ok(match order.scenario.as_str() {
        "auth/pre-registration" => {
            oauth.client(Registered::new(text("client_id")?).with_secret(text("client_secret")?))
        }
        "auth/client-credentials-basic" => oauth.client_credentials(
            Registered::new(text("client_id")?).with_secret(text("client_secret")?),
        ),
        "auth/client-credentials-jwt" => {
            let key = SigningKey::parse_pem(&text("private_key_pem")?)?;
            oauth.client_credentials(Registered::new(text("client_id")?).with_key(key))
        }
        "auth/enterprise-managed-authorization" => {
            let provider = Enterprise::new(
                text("idp_issuer")?,
                Registered::new(text("idp_client_id")?),
                Secret::new(text("idp_id_token")?),
            );
            oauth
                .client(Registered::new(text("client_id")?).with_secret(text("client_secret")?))
                .enterprise(provider)
        }
        "auth/wif-jwt-bearer" => oauth.workload(Secret::new(text("valid_jwt")?)),
        _ => oauth,
    })
}

/// Uses what is protected.
pub(crate) async fn run(server: &Connection) -> Ended {
    server.tools().await?;
    server.call("test-tool", json!({})).await?;
    Ok(())
}

fn text(context: &Value, name: &str) -> Result<String, Box<dyn Error>> {
    let text = context[name].as_str();
    let text = text.ok_or_else(|| format!("the suite gave no `{name}`"))?;
    Ok(text.to_owned())
}

/// A browser that goes to the page and is sent straight back.
struct Straight;

impl Browser for Straight {
    fn prepare<'a>(
        &'a self,
        _known: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
        let visit: Box<dyn BrowserVisit> = Box::new(Straight);
        Box::pin(ready(Ok(visit)))
    }
}

impl BrowserVisit for Straight {
    fn redirect_uri(&self) -> &'static str {
        "http://localhost:3000/callback"
    }

    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(async move {
            let page = Address::parse(request.url())?;
            let agent = AgentSettings::new().without_redirects().agent(&page)?;
            let reply = agent
                .send(Method::GET, &page, HeaderMap::new(), bytes::Bytes::new())
                .await?;
            let location = reply.headers().get("location");
            let location = location.ok_or("the page does not send anybody back")?;
            Ok(Secret::new(location.to_str()?))
        })
    }
}
