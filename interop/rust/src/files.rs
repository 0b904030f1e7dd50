//! What our client should find at `@modelcontextprotocol/server-filesystem`. The server is told
//! nothing when it starts: the folders that it may touch are the roots of the client.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};
use turnbuckle::{
    client::{CallError, Connection, Roots},
    protocol::Root,
};

use crate::{
    claim::holds,
    report::{Checked, Report, chain},
};

pub(crate) async fn check(report: &mut Report, server: &Connection, roots: &Roots) {
    let folder = match Folder::new() {
        Ok(folder) => folder,
        Err(error) => return report.check("a folder", async { Err(error) }).await,
    };
    report.check("tools/list", tools_list(server)).await;
    report.check("roots", given(server, roots, &folder)).await;
    report
        .check("tools/call write_file", write(server, &folder))
        .await;
    report
        .check("tools/call read_text_file", read(server, &folder))
        .await;
    report
        .check("tools/call outside", outside(server, &folder))
        .await;
    report
        .check("tools/call with wrong arguments", wrong(server))
        .await;
}

/// A folder of our own, gone with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("interop-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("inside")).map_err(|error| error.to_string())?;
        let real = std::fs::canonicalize(folder).map_err(|error| error.to_string())?;
        Ok(Self(real))
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: CallError) -> String {
    chain(&error)
}

async fn tools_list(server: &Connection) -> Checked {
    let tools = server.tools().await.map_err(text)?;
    let tool = tools.iter().find(|tool| tool.name == "read_text_file");
    holds(
        tool.is_some_and(|tool| tool.output_schema.is_some()),
        "there is no `read_text_file` with an output schema",
    )
}

/// The server asks for the roots when it is told that they changed.
async fn given(server: &Connection, roots: &Roots, folder: &Folder) -> Checked {
    let inside = folder.path("inside");
    roots.replace(vec![Root::new(format!("file://{inside}"))]);
    loop {
        let call = server.call("list_allowed_directories", json!({}));
        if call.await.map_err(text)?.text().contains(&inside) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn write(server: &Connection, folder: &Folder) -> Checked {
    let path = folder.path("inside/note.txt");
    let arguments = json!({ "path": path, "content": "Grüße\n" });
    let output = server.call("write_file", arguments).await.map_err(text)?;
    holds(!output.is_error(), &output.text())?;
    let written = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    holds(written == "Grüße\n", &written)
}

async fn read(server: &Connection, folder: &Folder) -> Checked {
    let arguments = json!({ "path": folder.path("inside/note.txt") });
    let call = server.call("read_text_file", arguments);
    let value: Value = call.await.map_err(text)?.parse().map_err(text)?;
    holds(value["content"] == "Grüße\n", &value.to_string())
}

async fn outside(server: &Connection, folder: &Folder) -> Checked {
    let arguments = json!({ "path": folder.path("secret.txt") });
    let output = server
        .call("read_text_file", arguments)
        .await
        .map_err(text)?;
    holds(output.is_error(), "a file outside of the roots was read")
}

async fn wrong(server: &Connection) -> Checked {
    match server.call("read_text_file", json!({ "path": 5 })).await {
        Err(CallError::Rejected { .. }) => Ok(()),
        Ok(output) => holds(output.is_error(), &output.text()),
        Err(other) => Err(text(other)),
    }
}
