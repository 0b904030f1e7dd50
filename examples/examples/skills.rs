//! A server with skills, and a host that finds a skill, loads it and verifies its files.
//!
//! ```text
//! cargo run -p examples --example skills
//! ```

use turnbuckle::{
    prelude::*,
    skills::{Skill, SkillClient, Skills},
};

const REVIEW: &str = "---
name: code-review
description: How this team reviews code. Use it before you comment on a change.
---

Read [the checklist](references/CHECKLIST.md) first.
";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let review =
        Skill::embedded(REVIEW).file("references/CHECKLIST.md", "1. Does it have a test?\n");
    // `Skills::new().open("./skills")?` serves every directory with a SKILL.md.
    let server = turnbuckle::server!()
        .extension(Skills::new().skill(review))
        .build()?;

    let host = Client::new("host", "1.0.0")
        .connect(server.connect())
        .await?;
    let skills = SkillClient::of(&host)?;
    for entry in skills.list().await? {
        println!("{}: {}", entry.name(), entry.description());
        // Files are only read after the user has agreed.
        let skill = skills.load(&entry).await?;
        println!("{}", skill.instructions().trim());
        let checklist = skill.read("references/CHECKLIST.md").await?;
        println!("{}", String::from_utf8(checklist)?.trim());
    }
    Ok(())
}
