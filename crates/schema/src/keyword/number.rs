//! Keywords for numbers: `minimum`, `maximum`, their exclusive sisters, and `multipleOf`.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use serde_json::{Map, Number, Value};

use crate::number::{Decimal, Num};
use crate::run::{Flow, Place, Report};
use crate::violation::{Keyword, Violation};

/// Every bound in the schema, each with the number as written.
#[derive(Debug)]
pub(crate) struct NumberRules {
    bounds: Box<[Bound]>,
    multiple_of: Option<(Decimal, Number)>,
}

#[derive(Debug)]
pub(crate) struct Bound {
    keyword: Keyword,
    limit: Num,
    written: Number,
}

impl NumberRules {
    pub(crate) fn read(schema: &Map<String, Value>) -> Option<Box<Self>> {
        let bound = |keyword: Keyword| {
            let written = schema.get(keyword.as_str())?.as_number()?.clone();
            Some(Bound {
                keyword,
                limit: Num::of(&written),
                written,
            })
        };
        let bounds: Box<[Bound]> = [
            Keyword::Minimum,
            Keyword::ExclusiveMinimum,
            Keyword::Maximum,
            Keyword::ExclusiveMaximum,
        ]
        .into_iter()
        .filter_map(bound)
        .collect();
        let multiple_of = schema
            .get("multipleOf")
            .and_then(Value::as_number)
            .and_then(|written| Some((Decimal::of(Num::of(written))?, written.clone())));
        let is_empty = bounds.is_empty() && multiple_of.is_none();
        (!is_empty).then(|| {
            Box::new(Self {
                bounds,
                multiple_of,
            })
        })
    }

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

    pub(crate) fn bounds(&self) -> &[Bound] {
        &self.bounds
    }

    pub(crate) fn multiple_of(&self) -> Option<&Number> {
        self.multiple_of.as_ref().map(|(_, written)| written)
    }
}

impl Bound {
    pub(crate) fn keyword(&self) -> Keyword {
        self.keyword
    }

    pub(crate) fn written(&self) -> &Number {
        &self.written
    }

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
