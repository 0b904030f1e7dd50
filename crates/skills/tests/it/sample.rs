//! The server under test.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use turnbuckle_server::{Call, Next, Reply, Server};
use turnbuckle_skills::{Skill, Skills};

pub(crate) const PDF: &str = "---\nname: pdf-processing\ndescription: Extract, fill, and assemble PDF documents\nmetadata:\n  version: \"2.1\"\n---\n\nSee [forms](references/FORMS.md).\n";
pub(crate) const PDF_URI: &str = "skill://pdf-processing/SKILL.md";
pub(crate) const REFUNDS: &str =
    "---\nname: refunds\ndescription: Give money back\n---\nBe kind.\n";

pub(crate) fn skills() -> Skills {
    let pdf = Skill::embedded(PDF)
        .file("references/FORMS.md", "Fill them in.\n")
        .file("templates/regional/eu invoice.md", "Rechnung\n")
        .file("assets/logo.bin", [0xff, 0x00, 0xfe]);
    Skills::new()
        .skill(pdf)
        .skill(Skill::embedded(REFUNDS).under("acme/billing"))
        .directories()
}

pub(crate) fn server() -> Server {
    Server::new("library", "1.0.0").extension(skills())
}

/// A server that counts how often a resource is read.
pub(crate) fn counting() -> (Server, Arc<AtomicUsize>) {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let layer = move |call: Call<'static>, next: Next| {
        let counted = Arc::clone(&counted);
        async move {
            let reply = next.run(call).await;
            if let Ok(Reply::Resource(_)) = &reply {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            reply
        }
    };
    (server().layer(layer), reads)
}
