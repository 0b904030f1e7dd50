//! Apps in a server.

mod app;
mod apps;
mod tool;

pub use app::App;
pub use apps::Apps;
pub use tool::UiTool;
