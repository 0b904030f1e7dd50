//! Checks a number.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use serde_json::Number;

use super::run::{Flow, Place, Report};
use crate::node::{Bound, NumberRules};
use crate::number::{Decimal, Num};
use crate::violation::{Keyword, Violation};

impl NumberRules {
    pub(crate) fn check<R: Report>(
        &self,
        number: &Number,
        place: &Place<'_>,
        report: &mut R,
    ) -> Flow {
        let value = Num::of(number);
        for bound in &self.bounds {
            if !bound.admits(value) {
                report.note(|| violation(bound.keyword, bound.expected(), number, place))?;
            }
        }
        if let Some((divisor, written)) = &self.multiple_of {
            let is_multiple =
                Decimal::of(value).is_some_and(|value| value.is_multiple_of(*divisor));
            if !is_multiple {
                let expected = || format!("a multiple of {written}");
                report.note(|| violation(Keyword::MultipleOf, expected(), number, place))?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Bound {
    fn admits(&self, value: Num) -> bool {
        let order = value.order(self.limit);
        match self.keyword {
            Keyword::Minimum => order != Some(Ordering::Less),
            Keyword::ExclusiveMinimum => order == Some(Ordering::Greater),
            Keyword::Maximum => order != Some(Ordering::Greater),
            _ => order == Some(Ordering::Less),
        }
    }

    fn expected(&self) -> String {
        let relation = match self.keyword {
            Keyword::Minimum => "of at least",
            Keyword::ExclusiveMinimum => "above",
            Keyword::Maximum => "of at most",
            _ => "below",
        };
        format!("a number {relation} {}", self.written)
    }
}

fn violation(keyword: Keyword, expected: String, number: &Number, place: &Place<'_>) -> Violation {
    Violation::new(place.pointer(), keyword, expected, number.to_string())
}
