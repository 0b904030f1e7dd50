//! Skills are found without reading their files.

use std::sync::atomic::Ordering;

use turnbuckle_client::CallError;
use turnbuckle_protocol::Resource;
use turnbuckle_server::Server;
use turnbuckle_skills::{Digest, SkillClient, SkillError, SkillResources};
use turnbuckle_testing::{connect, every_revision};

use crate::sample::{PDF, PDF_URI, counting, server};

every_revision! {
    async fn skills_are_listed_with_all_their_files(client = server()) {
        let skills = SkillClient::of(&client).unwrap();
        let listed = skills.list().await.unwrap();
        let uris: Vec<_> = listed.iter().map(|entry| entry.uri.as_str()).collect();
        assert_eq!(uris, [PDF_URI, "skill://acme/billing/refunds/SKILL.md"]);
        assert_eq!(listed[0].name(), "pdf-processing");
        assert_eq!(listed[0].frontmatter["metadata"]["version"], "2.1");
        let SkillResources::Listed(files) = &listed[0].resources else {
            panic!("its files are known");
        };
        assert_eq!(files.len(), 4);
        let own = files.iter().find(|file| file.uri == PDF_URI).unwrap();
        assert_eq!(own.size, Some(PDF.len() as u64));
        assert_eq!(own.digest, Digest::of(PDF.as_bytes()));
        assert_eq!(skills.get(PDF_URI).await.unwrap(), listed[0]);
    }

    // skills: a URI that is not a skill of the server MUST be rejected with -32602.
    async fn an_unknown_skill_is_refused(client = server()) {
        let skills = SkillClient::of(&client).unwrap();
        let error = skills.get("skill://nothing/SKILL.md").await.unwrap_err();
        let SkillError::Call(CallError::Rejected { error, .. }) = error else {
            panic!("the server refuses it: {error}");
        };
        assert_eq!(error.code, -32602);
    }

    async fn directories_are_listed_one_level_deep(client = server()) {
        let skills = SkillClient::of(&client).unwrap();
        let root = skills.directory("skill://pdf-processing").await.unwrap();
        let shown = |resources: &[Resource]| -> Vec<(String, Option<String>)> {
            resources.iter().map(|one| (one.name.clone(), one.mime_type.clone())).collect()
        };
        let folder = || Some("inode/directory".to_owned());
        assert_eq!(shown(&root), [
            ("pdf-processing".to_owned(), Some("text/markdown".to_owned())),
            ("assets".to_owned(), folder()),
            ("references".to_owned(), folder()),
            ("templates".to_owned(), folder()),
        ]);
        let regional = skills.directory("skill://pdf-processing/templates/regional").await.unwrap();
        assert_eq!(regional[0].uri, "skill://pdf-processing/templates/regional/eu%20invoice.md");
        // skills: a file is not a directory.
        assert!(skills.directory(PDF_URI).await.is_err());
    }

    async fn a_skill_is_an_ordinary_resource_too(client = server()) {
        let resources = client.resources().await.unwrap();
        let skill = resources.iter().find(|one| one.uri == PDF_URI).unwrap();
        assert_eq!(skill.name, "pdf-processing");
        assert_eq!(skill.description.as_deref(), Some("Extract, fill, and assemble PDF documents"));
        assert_eq!(skill.mime_type.as_deref(), Some("text/markdown"));
    }

    async fn a_server_without_skills_has_none(client = Server::new("plain", "1")) {
        let none = SkillClient::of(&client);
        assert!(matches!(none, Err(SkillError::Call(CallError::NotOffered { .. }))));
    }
}

// skills: hosts MUST NOT read a skill's files ahead of need.
#[tokio::test]
async fn nothing_is_read_before_it_is_needed() {
    let (server, reads) = counting();
    let server = server.build().unwrap();
    let client = connect(&server).await.unwrap();
    let skills = SkillClient::of(&client).unwrap();
    let entry = skills.get(PDF_URI).await.unwrap();
    skills.list().await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 0);
    let skill = skills.load(&entry).await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 1, "SKILL.md alone");
    skill.read("references/FORMS.md").await.unwrap();
    assert_eq!(reads.load(Ordering::SeqCst), 2);
}
