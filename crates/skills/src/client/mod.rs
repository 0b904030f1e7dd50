//! Skills in a host: finding, loading and verifying them.

mod error;
mod loaded;
mod skills;
mod verify;

pub use error::SkillError;
pub use loaded::LoadedSkill;
pub use skills::SkillClient;
