//! The config files that a running gateway uses. They must stay usable for a new plan.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use turnbuckle_command_line::failure::{Failed, Outcome};

/// The files of a plan that was made from the usual places.
#[derive(Clone, Debug, Default)]
pub(super) struct UsedFiles {
    /// The files with servers.
    pub(super) files: HashSet<PathBuf>,
    /// The file with the settings of the gateway, which is one of them.
    pub(super) own: Option<PathBuf>,
}

impl UsedFiles {
    /// Rejects an empty file that is in use. Many programs empty a file before they write it, and may take long in
    /// between. A file that should have no servers can be removed, or have an empty list of them.
    pub(super) fn check_contents(&self) -> Outcome {
        let is_empty = |file: &&PathBuf| {
            fs::metadata(file).is_ok_and(|about| about.is_file() && about.len() == 0)
        };
        match self.files.iter().find(is_empty) {
            Some(file) => Err(Failed::usage(format!("`{}` is empty", file.display()))),
            None => Ok(()),
        }
    }

    /// Reports a file that cannot be used: as an error if the running gateway uses it, otherwise as a problem.
    pub(super) fn leave_out(
        &self,
        path: &Path,
        problems: &mut Vec<String>,
        why: String,
    ) -> Outcome {
        if self.files.contains(path) {
            return Err(Failed::usage(why));
        }
        // A file at a usual place may also be imported.
        if !problems.contains(&why) {
            problems.push(why);
        }
        Ok(())
    }
}
