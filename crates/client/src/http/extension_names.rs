//! The params that name the subject of extension methods in headers.

use turnbuckle_base::lock::RwLock;

/// Which member of the params names the subject of an extension's method over HTTP. There are as many
/// entries as such methods in the program, because their names are literals.
#[derive(Debug, Default)]
pub(crate) struct ExtensionNames(RwLock<Vec<(&'static str, &'static str)>>);

impl ExtensionNames {
    pub(crate) fn learn(&self, method: &'static str, member: &'static str) {
        if self.member(method).is_none() {
            self.0.write().push((method, member));
        }
    }

    pub(super) fn member(&self, method: &str) -> Option<&'static str> {
        let names = self.0.read();
        let known = names.iter().find(|(known, _)| *known == method)?;
        Some(known.1)
    }
}
