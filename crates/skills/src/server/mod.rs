//! Skills in a server.

mod fault;
mod library;
mod media;
mod open;
mod skill;
mod skills;

pub use fault::SkillFault;
pub use skill::Skill;
pub use skills::Skills;
