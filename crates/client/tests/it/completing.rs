//! Completion while the user types.

use serde_json::json;
use turnbuckle_client::protocol::{CompleteRequestParams, Reference, Revision};

use crate::script::{complete, meet, plain};

fn typed(text: &str) -> CompleteRequestParams {
    CompleteRequestParams::new(Reference::prompt("review"), "language", text)
}

// rule: RS7
#[tokio::test(start_paused = true)]
async fn the_server_is_asked_when_the_typing_pauses_and_once_for_the_same() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (connection, mut server) = meet(&plain(), revision).await;
        let field = connection.input_completion();
        let session = async {
            let asked = server
                .expect(json!({"method": "completion/complete"}))
                .await;
            assert_eq!(asked["params"]["argument"]["value"], "rus");
            let result = json!({"completion": {"values": ["rust"]}});
            server.answer(complete(result, revision)).await;
        };
        let typing =
            async { tokio::join!(field.complete(typed("r")), field.complete(typed("rus"))) };
        let ((first, last), ()) = tokio::join!(typing, session);
        assert_eq!(first.unwrap(), None);
        assert_eq!(last.unwrap().unwrap().values, ["rust"]);
        // A second request would get no answer.
        let again = field.complete(typed("rus")).await.unwrap().unwrap();
        assert_eq!(again.values, ["rust"]);
    }
}
