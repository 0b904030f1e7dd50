//! Agent skills over MCP (`io.modelcontextprotocol/skills`, SEP-2640).
//!
//! A skill is a directory with a `SKILL.md` that teaches an agent how to do something, and with the
//! files that it refers to. A server offers each file as a resource under `skill://`. The methods
//! `skills/list` and `skills/get` return the skills, with the digest and size of every file.
//! A host reads no file before a skill is used, and verifies every file that it reads.
//!
//! ```no_run
//! # #[cfg(feature = "server")] fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! use turnbuckle_server::Server;
//! use turnbuckle_skills::{Skill, Skills};
//!
//! # const REFUNDS: &str = "---\nname: refunds\ndescription: Give money back\n---\n";
//! let skills = Skills::new()
//!     .open("./skills")?                                       // each directory with a SKILL.md
//!     .skill(Skill::embedded(REFUNDS).under("acme/billing"))
//!     .directories();                                          // and `resources/directory/read`
//! let server = Server::new("acme", "1.0.0").extension(skills);
//! # Ok(()) }
//! ```
//!
//! ```no_run
//! # #[cfg(feature = "client")]
//! # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_skills::SkillError> {
//! use turnbuckle_skills::SkillClient;
//!
//! let skills = SkillClient::of(&server)?;
//! for entry in skills.list().await? {
//!     println!("{}: {}", entry.name(), entry.description());
//! }
//! let entry = skills.get("skill://git-workflow/SKILL.md").await?;
//! let skill = skills.load(&entry).await?;                      // verified, or an error
//! let forms = skill.read("references/FORMS.md").await?;        // the same
//! # Ok(()) }
//! ```
//!
//! If a digest matches, the content agrees with the list. That does not make either of them trustworthy:
//! both come from the same server. A skill is a set of instructions from a third party, so ask the user.

#[cfg(feature = "client")]
mod client;
mod digest;
mod entry;
mod frontmatter;
mod limits;
mod method;
#[cfg(feature = "server")]
mod server;
mod uri;

#[cfg(feature = "client")]
pub use client::{LoadedSkill, SkillClient, SkillError};
pub use digest::Digest;
pub use entry::{SkillEntry, SkillFile, SkillResources};
pub use frontmatter::{BadFrontmatter, Frontmatter};
pub use limits::{MAX_FILES, MAX_FRONTMATTER_BYTES, MAX_SKILL_BYTES};
pub use method::{
    GetSkillParams, GetSkillResult, ListSkillsParams, ListSkillsResult, ReadDirectoryParams,
    ReadDirectoryResult, ResourcesDirectoryRead, SkillsExtension, SkillsGet, SkillsHost,
    SkillsList, SkillsServer,
};
#[cfg(feature = "server")]
pub use server::{Skill, SkillFault, Skills};
