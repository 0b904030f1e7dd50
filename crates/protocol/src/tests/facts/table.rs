//! The rows of the table.

use super::Kind;

/// What the schemas say, row by row.
pub(crate) struct Table {
    /// The dates of the revisions, oldest first.
    pub(crate) revisions: Vec<&'static str>,
    pub(crate) facts: Vec<Fact>,
}

/// What some revisions say of a type or of one of its fields.
pub(crate) struct Fact {
    /// A type, or the path of an object that is written out inside of one.
    pub(crate) owner: &'static str,
    /// The field; empty for what the type itself is.
    pub(crate) field: &'static str,
    pub(crate) kind: Kind,
    /// The kind as the table has it.
    pub(crate) text: &'static str,
    marks: &'static str,
}

impl Fact {
    fn mark(&self, revision: usize) -> u8 {
        self.marks.as_bytes()[revision]
    }

    /// Whether a revision has it, by the revision's place in [`Table::revisions`].
    pub(crate) fn holds(&self, revision: usize) -> bool {
        self.mark(revision) != b'-'
    }

    /// Whether a revision requires it.
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

    /// The place of a revision among the marks. The draft for tests is like the newest.
    pub(crate) fn place(&self, date: &str) -> usize {
        if date == "DRAFT" {
            return self.revisions.len() - 1;
        }
        let mut dates = self.revisions.iter();
        dates
            .position(|known| *known == date)
            .unwrap_or_else(|| panic!("facts.tsv has no column for {date}: run scripts/facts"))
    }

    /// The fields that a revision gives to a type.
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
