//! Skills as a host finds, loads and verifies them.

mod error;
mod loaded;
mod skills;
mod verify;

pub use error::SkillError;
pub use loaded::LoadedSkill;
pub use skills::SkillClient;
