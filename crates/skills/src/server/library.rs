//! All skills of a server, in the form in which its methods use them.

use std::collections::BTreeMap;

use turnbuckle_protocol::Resource;
use turnbuckle_server::Reject;

use crate::{
    GetSkillParams, GetSkillResult, ListSkillsParams, ListSkillsResult, ReadDirectoryParams,
    ReadDirectoryResult, SkillEntry,
};

/// Skills on one page. An entry has some hundred bytes for each of its files, of which there are
/// at most 512, so a page has a few megabytes at most.
const PAGE_SKILLS: usize = 50;

/// Children of a directory on one page. This is enough for all files of the largest skill.
const PAGE_CHILDREN: usize = 1000;

/// The media type of a directory.
pub(super) const DIRECTORY: &str = "inode/directory";

#[derive(Default)]
pub(super) struct Library {
    pub(super) entries: Vec<SkillEntry>,
    /// The contents of each directory, one level deep.
    pub(super) directories: BTreeMap<String, BTreeMap<String, Resource>>,
}

impl Library {
    pub(super) fn list(&self, params: &ListSkillsParams) -> Result<ListSkillsResult, Reject> {
        let (skills, next_cursor) = page(&self.entries, params.cursor.as_deref(), PAGE_SKILLS)?;
        Ok(ListSkillsResult {
            skills,
            next_cursor,
        })
    }

    pub(super) fn get(&self, params: &GetSkillParams) -> Result<GetSkillResult, Reject> {
        let skill = self.entries.iter().find(|entry| entry.uri == params.uri);
        skill
            .map(|skill| GetSkillResult {
                skill: skill.clone(),
            })
            .ok_or_else(|| {
                let uri = &params.uri;
                // skills: a URI that is not a skill of the server MUST be answered with this error.
                Reject::invalid_params(format!("there is no skill at `{uri}`"))
            })
    }

    pub(super) fn read(&self, params: &ReadDirectoryParams) -> Result<ReadDirectoryResult, Reject> {
        let uri = &params.uri;
        let children = self
            .directories
            .get(uri)
            .ok_or_else(|| Reject::invalid_params(format!("there is no directory at `{uri}`")))?;
        let children: Vec<_> = children.values().cloned().collect();
        let (resources, next_cursor) = page(&children, params.cursor.as_deref(), PAGE_CHILDREN)?;
        Ok(ReadDirectoryResult {
            resources,
            next_cursor,
        })
    }
}

/// One page of a list that never changes. A cursor is the number of earlier items.
fn page<T: Clone>(
    all: &[T],
    cursor: Option<&str>,
    size: usize,
) -> Result<(Vec<T>, Option<String>), Reject> {
    let bad = || Reject::invalid_params("`params.cursor` is not valid; start without a cursor");
    let start = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| bad())?,
    };
    let rest = all
        .get(start..)
        .filter(|rest| start == 0 || !rest.is_empty())
        .ok_or_else(bad)?;
    let taken = &rest[..rest.len().min(size)];
    let end = start + taken.len();
    let next = (end < all.len()).then(|| end.to_string());
    Ok((taken.to_vec(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_end_and_foreign_cursors_are_refused() {
        let all: Vec<u8> = (0..7).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let (taken, next) = page(&all, cursor.as_deref(), 3).unwrap();
            seen.extend(taken);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, all);
        for cursor in ["7", "8", "x", "", "-1", "99999999999999999999"] {
            assert!(page(&all, Some(cursor), 3).is_err(), "{cursor}");
        }
        assert_eq!(page::<u8>(&[], None, 3).unwrap(), (Vec::new(), None));
    }
}
