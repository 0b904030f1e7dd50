//! Skills over real sockets.

use tokio::sync::oneshot;
use turnbuckle_client::Client;
use turnbuckle_protocol::Revision;
use turnbuckle_server::Http;
use turnbuckle_skills::SkillClient;

use crate::sample::{PDF, PDF_URI, server};

#[tokio::test]
async fn skills_come_over_http_in_both_eras() {
    let (tell, told) = oneshot::channel();
    let http = Http::bind("127.0.0.1:0").announce(|address| {
        let _ = tell.send(address);
    });
    let serving = tokio::spawn(server().serve(http));
    let address = told.await.unwrap().unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let url = format!("http://{address}/mcp");
        let client = Client::new("host", "1").only(revision);
        let server = client.connect(url.as_str()).await.unwrap();
        let skills = SkillClient::of(&server).unwrap();
        let entry = skills.get(PDF_URI).await.unwrap();
        assert_eq!(skills.load(&entry).await.unwrap().text(), PDF, "{revision}");
        server.close().await;
    }
    serving.abort();
}
