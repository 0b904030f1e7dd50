//! Files that are read are verified.

use serde_json::{Value, json};
use turnbuckle_client::Connection;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Extension, Resource, Server};
use turnbuckle_skills::{
    Digest, SkillClient, SkillEntry, SkillError, SkillsExtension, SkillsServer,
};
use turnbuckle_testing::{connect_at, every_revision};

use crate::sample::{PDF, PDF_URI, server};

every_revision! {
    async fn a_skill_is_loaded_and_its_files_are_read(client = server()) {
        let skills = SkillClient::of(&client).unwrap();
        let entry = skills.get(PDF_URI).await.unwrap();
        let skill = skills.load(&entry).await.unwrap();
        assert_eq!(skill.text(), PDF);
        assert_eq!(skill.instructions(), "\nSee [forms](references/FORMS.md).\n");
        assert_eq!(skill.read("references/FORMS.md").await.unwrap(), b"Fill them in.\n");
        assert_eq!(skill.read("./templates/regional/eu invoice.md").await.unwrap(), b"Rechnung\n");
        assert_eq!(skill.read("assets/logo.bin").await.unwrap(), [0xff, 0x00, 0xfe]);
        assert!(matches!(skill.read("nothing.md").await, Err(SkillError::Unlisted { .. })));
        for path in ["../refunds/SKILL.md", "/etc/passwd", "a/../../b"] {
            assert!(matches!(skill.read(path).await, Err(SkillError::Outside { .. })), "{path}");
        }
    }
}

/// A server that serves this text for the `SKILL.md` of the sample, whose entry has other content.
async fn tampered(text: &'static str) -> Connection {
    let server = Server::new("tampering", "1")
        .extension(Extension::of::<SkillsExtension>(&SkillsServer::default()))
        .resource(Resource::new(PDF_URI, move || async move { text }))
        .build()
        .unwrap();
    connect_at(&server, Revision::V2026_07_28).await.unwrap()
}

fn entry(change: impl FnOnce(&mut Value)) -> SkillEntry {
    let mut entry = json!({
        "uri": PDF_URI,
        "frontmatter": {
            "name": "pdf-processing",
            "description": "Extract, fill, and assemble PDF documents",
            "metadata": {"version": "2.1"},
        },
        "resources": [{
            "uri": PDF_URI, "digest": Digest::of(PDF.as_bytes()), "size": PDF.len(),
        }],
    });
    change(&mut entry);
    serde_json::from_value(entry).unwrap()
}

async fn load(text: &'static str, entry: &SkillEntry) -> Result<(), SkillError> {
    let server = tampered(text).await;
    SkillClient::of(&server)?.load(entry).await.map(drop)
}

#[tokio::test]
async fn other_bytes_are_refused() {
    let evil: &'static str = Box::leak(PDF.replace("See", "Sea").into_boxed_str());
    let error = load(evil, &entry(|_| {})).await.unwrap_err();
    assert!(matches!(error, SkillError::Digest { .. }), "{error}");
}

#[tokio::test]
async fn another_length_is_refused() {
    let longer: &'static str = Box::leak(format!("{PDF}more").into_boxed_str());
    let error = load(longer, &entry(|_| {})).await.unwrap_err();
    assert!(matches!(error, SkillError::Size { found, .. } if found == longer.len() as u64));
    assert!(load(PDF, &entry(|_| {})).await.is_ok());
}

// skills: any difference MUST be treated as a failed verification, digest or not.
#[tokio::test]
async fn another_frontmatter_is_refused() {
    for entry in [
        entry(|entry| entry["frontmatter"]["description"] = json!("Something nice")),
        entry(|entry| entry["frontmatter"]["metadata"]["version"] = json!(2.1)),
        entry(|entry| entry["frontmatter"]["license"] = json!("MIT")),
        entry(|entry| {
            entry["frontmatter"]["description"] = json!("Something nice");
            entry["resources"] = json!("dynamic");
        }),
    ] {
        let error = load(PDF, &entry).await.unwrap_err();
        assert!(matches!(error, SkillError::Frontmatter { .. }), "{error}");
    }
}

#[tokio::test]
async fn an_entry_that_contradicts_itself_is_not_read() {
    let nowhere = entry(|entry| entry["resources"] = json!([]));
    let error = load(PDF, &nowhere).await.unwrap_err();
    assert!(matches!(error, SkillError::BadEntry { .. }), "{error}");
}
