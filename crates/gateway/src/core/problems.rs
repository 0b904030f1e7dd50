//! Entries that were left out of the lists of servers, with the reasons.

use turnbuckle_host::{ServerId, shared::Upstream};

use super::Core;

/// How many problems with the lists of a server are logged each time they change.
const LOGGED_PROBLEMS: usize = 5;

impl Core {
    /// The entries that were left out and the lists that could not be read, by server.
    pub(crate) fn list_problems(&self) -> Vec<(ServerId, Vec<String>)> {
        // Nothing is left out of lists that are passed on unchanged.
        if self.will_pass_lists() {
            return Vec::new();
        }
        let members = self.members();
        let problems = members.iter().map(|member| {
            let problems = problems_of(&member.upstream);
            (member.id.clone(), problems)
        });
        problems
            .filter(|(_, problems)| !problems.is_empty())
            .collect()
    }

    /// Logs the entries that were left out of the lists of a server.
    pub(super) fn log_problems(&self, server: &Upstream) {
        if self.will_pass_lists() {
            return;
        }
        let problems = problems_of(server);
        let id = server.id().as_str();
        for problem in problems.iter().take(LOGGED_PROBLEMS) {
            tracing::warn!(server = id, "{problem}");
        }
        let more = problems.len().saturating_sub(LOGGED_PROBLEMS);
        if more > 0 {
            tracing::warn!(server = id, "{more} more problems with its lists");
        }
    }
}

fn problems_of(server: &Upstream) -> Vec<String> {
    let lists = server.lists();
    let all = [
        &lists.tools.problems,
        &lists.prompts.problems,
        &lists.resources.problems,
        &lists.templates.problems,
        &lists.failures,
    ];
    all.into_iter().flatten().cloned().collect()
}
