//! Arguments that the schema allows but the Rust type does not.

use serde_json::json;
use turnbuckle::{Json, Revision, Server, tool};
use turnbuckle_testing::{connect, connect_at};

/// Doubles a number.
#[tool]
async fn double(numbers: Vec<i32>) -> String {
    format!(
        "{:?}",
        numbers
            .iter()
            .map(|number| i64::from(*number) * 2)
            .collect::<Vec<_>>()
    )
}

/// Divides by nothing.
#[tool]
async fn divide(by: f64) -> Json<f64> {
    Json(0.0 / by)
}

fn server() -> Server {
    Server::new("numbers", "1.0.0").tool(double).tool(divide)
}

#[tokio::test]
async fn a_number_out_of_range_is_named_with_its_place_and_an_example() {
    let server = server().build().unwrap();
    let client = connect_at(&server, Revision::V2025_11_25).await.unwrap();
    let output = client
        .call("double", json!({"numbers": [1, 5_000_000_000_i64]}))
        .await
        .unwrap();
    assert_eq!(output.is_error, Some(true));
    assert!(output.text().contains("`/numbers/1`"), "{}", output.text());
    assert!(
        output.text().contains("A valid example: {\"numbers\":"),
        "{}",
        output.text()
    );
}

// tools: structured results MUST conform to the output schema.
#[tokio::test]
async fn what_breaks_its_own_output_schema_is_not_sent() {
    let server = server().build().unwrap();
    let client = connect(&server).await.unwrap();
    let refused = client.call("divide", json!({"by": 0.0})).await.unwrap_err();
    let error = refused.rejection().expect("an internal error");
    assert_eq!(error.code, -32603);
}
