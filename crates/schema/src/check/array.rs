//! Checks an array.

use std::ops::ControlFlow;

use serde_json::Value;

use super::apply::check;
use super::describe;
use super::run::{Flow, Place, Report, Run};
use crate::equal;
use crate::node::{ArrayRules, Contains};
use crate::violation::{Keyword, Violation};

impl ArrayRules {
    pub(crate) fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        items: &[Value],
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        run.spend_list(items.len())?;
        self.check_length(items, place, report)?;
        for (position, item) in items.iter().enumerate() {
            let Some(node) = self.item(position) else {
                break;
            };
            check(run, node, item, &place.position(position), report)?;
        }
        if let Some(contains) = &self.contains {
            contains.check(run, items, place, report)?;
        }
        if self.is_unique {
            run.spend_list(items.len())?;
            if let Some((earlier, later)) = equal::duplicate(items) {
                report.note(|| {
                    let expected = "items that all differ".to_owned();
                    let found = format!("the items {earlier} and {later} equal");
                    Violation::new(place.pointer(), Keyword::UniqueItems, expected, found)
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn check_length<R: Report>(&self, items: &[Value], place: &Place<'_>, report: &mut R) -> Flow {
        let length = items.len() as u64;
        let most = self.most.unwrap_or(u64::MAX);
        let (keyword, relation, bound) = if length < self.least {
            (Keyword::MinItems, "at least", self.least)
        } else if length > most {
            (Keyword::MaxItems, "at most", most)
        } else {
            return ControlFlow::Continue(());
        };
        report.note(|| {
            let expected = format!("an array of {relation} {}", items_of(bound));
            Violation::new(place.pointer(), keyword, expected, items_of(length))
        })
    }
}

/// The number of items as text.
fn items_of(count: u64) -> String {
    match count {
        1 => "1 item".to_owned(),
        count => format!("{count} items"),
    }
}

impl Contains {
    fn check<R: Report>(
        &self,
        run: &mut Run<'_>,
        items: &[Value],
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        let mut matching = 0;
        for (position, item) in items.iter().enumerate() {
            if self.most.is_none() && matching >= self.least {
                break;
            }
            matching += u64::from(run.holds(self.node, item, &place.position(position)));
        }
        let most = self.most.unwrap_or(u64::MAX);
        let (keyword, relation, bound) = if matching < self.least {
            (Keyword::Contains, "at least", self.least)
        } else if matching > most {
            (Keyword::MaxContains, "at most", most)
        } else {
            return ControlFlow::Continue(());
        };
        report.note(|| {
            let wanted = describe::node(run, self.node);
            let expected = format!("{relation} {bound} of the items to be {wanted}");
            Violation::new(
                place.pointer(),
                keyword,
                expected,
                format!("{matching} such items"),
            )
        })
    }
}
