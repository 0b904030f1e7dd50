//! The rows of the table.

use super::Kind;

/// The facts of the schemas, one per row.
pub(crate) struct Table {
    /// The dates of the revisions, oldest first.
    pub(crate) revisions: Vec<&'static str>,
    pub(crate) facts: Vec<Fact>,
}

/// A fact about a type or one of its fields, in some revisions.
pub(crate) struct Fact {
    /// A type, or the path of an object that is defined inside of one.
    pub(crate) owner: &'static str,
    /// The field; empty for the type itself.
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    /// The text of the kind in the table.
    pub(crate) text: &'static str,
    marks: &'static str,
}

impl Fact {
    fn mark(&self, revision: usize) -> u8 {
        self.marks.as_bytes()[revision]
    }

    /// Returns whether a revision has it, by the revision's index in [`Table::revisions`].
    pub(crate) fn holds(&self, revision: usize) -> bool {
        self.mark(revision) != b'-'
    }

    /// Returns whether a revision requires it.
    pub(crate) fn is_required(&self, revision: usize) -> bool {
        self.mark(revision) == b'!'
    }
}

impl Table {
    /// Reads the table.
    pub(crate) fn read() -> Self {
        let mut lines = include_str!("facts.tsv").lines();
        let heads = lines.next().expect("the table has a line of heads");
        Self {
            revisions: heads.split('\t').skip(3).collect(),
            facts: lines.map(fact).collect(),
        }
    }

    /// Returns the index of a revision. The draft for tests counts as the newest.
    pub(crate) fn place(&self, date: &str) -> usize {
        if date == "DRAFT" {
            return self.revisions.len() - 1;
        }
        let mut dates = self.revisions.iter();
        dates
            .position(|known| *known == date)
            .unwrap_or_else(|| panic!("facts.tsv has no column for {date}: run scripts/facts"))
    }

    /// Returns the fields of a type in a revision.
    pub(crate) fn fields(&self, owner: &str, revision: usize) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(move |fact| {
            fact.owner == owner && !fact.field.is_empty() && fact.holds(revision)
        })
    }
}

fn fact(line: &'static str) -> Fact {
    let [owner, field, kind, marks] = line
        .split('\t')
        .collect::<Vec<_>>()
        .try_into()
        .unwrap_or_else(|_| panic!("a row of facts.tsv has four columns: {line}"));
    Fact {
        owner,
        field,
        kind: Kind::parse(kind),
        text: kind,
        marks,
    }
}
