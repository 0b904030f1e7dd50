//! Extensions: capabilities, methods and notifications beyond the core, as packages.

mod builder;
mod method;
mod notice;
mod registry;

pub use builder::Extension;
pub use method::ExtensionMethod;
pub(crate) use method::MethodEntry;
pub(crate) use notice::Notice;
pub(crate) use registry::Registry;
