//! What our client should find at `@modelcontextprotocol/server-memory`.

use serde_json::{Value, json};
use turnbuckle::client::{CallError, Connection};

use crate::{
    claim::holds,
    report::{Checked, Report, chain, same},
};

pub(crate) async fn check(report: &mut Report, server: &Connection) {
    report.check("tools/list", tools_list(server)).await;
    report
        .check("tools/call create_entities", create(server))
        .await;
    report
        .check("tools/call create_relations", relate(server))
        .await;
    report
        .check("tools/call search_nodes", search(server))
        .await;
    report
        .check("tools/call delete_entities", delete(server))
        .await;
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: CallError) -> String {
    chain(&error)
}

async fn call(server: &Connection, tool: &str, arguments: Value) -> Result<Value, String> {
    let output = server.call(tool, arguments).await.map_err(text)?;
    output.parse().map_err(text)
}

async fn tools_list(server: &Connection) -> Checked {
    let tools = server.tools().await.map_err(text)?;
    holds(
        tools.iter().any(|tool| tool.name == "read_graph"),
        "there is no `read_graph`",
    )
}

async fn create(server: &Connection) -> Checked {
    let person = |name: &str| json!({ "name": name, "entityType": "person", "observations": [] });
    let entities = json!({ "entities": [person("Ada"), person("Charles")] });
    let created = call(server, "create_entities", entities).await?;
    same(&created["entities"].as_array().map(Vec::len), &Some(2))
}

async fn relate(server: &Connection) -> Checked {
    let relation = json!({ "from": "Ada", "to": "Charles", "relationType": "writes to" });
    let relations = json!({ "relations": [relation] });
    let related = call(server, "create_relations", relations).await?;
    same(&related["relations"].as_array().map(Vec::len), &Some(1))
}

async fn search(server: &Connection) -> Checked {
    let found = call(server, "search_nodes", json!({ "query": "Ada" })).await?;
    same(&found["entities"][0]["name"].as_str(), &Some("Ada"))
}

async fn delete(server: &Connection) -> Checked {
    let names = json!({ "entityNames": ["Ada", "Charles"] });
    call(server, "delete_entities", names).await?;
    let graph = call(server, "read_graph", json!({})).await?;
    same(&graph["entities"].as_array().map(Vec::len), &Some(0))
}
