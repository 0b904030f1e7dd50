//! The kinds of the table, as `scripts/facts` writes them.

use serde_json::Value;

/// The kind of a field's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Any,
    /// One of some JSON types, with a format or bounds.
    Plain {
        types: Vec<String>,
        format: Option<String>,
        bounds: Bounds,
    },
    Constant(Value),
    Words(Vec<Value>),
    /// Another type, by name.
    Type(String),
    Array(Box<Kind>, Bounds),
    /// An object; its members are separate rows.
    Object {
        is_named: bool,
        others: Option<Box<Kind>>,
    },
    Either(Vec<Kind>),
    All(Vec<Kind>),
}

/// The minimum and maximum of a number or a length.
pub(crate) type Bounds = (Option<u64>, Option<u64>);

impl Kind {
    /// Parses a kind. Panics if the table was not written by the script.
    pub(crate) fn parse(text: &str) -> Self {
        let mut reader = Reader { rest: text };
        let kind = reader.either();
        assert!(reader.rest.is_empty(), "`{text}` is not a kind");
        kind
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn either(&mut self) -> Kind {
        let mut kinds = self.separated('|', Self::all);
        match kinds.len() {
            1 => kinds.remove(0),
            _ => Kind::Either(kinds),
        }
    }

    fn all(&mut self) -> Kind {
        let mut kinds = self.separated('&', Self::one);
        match kinds.len() {
            1 => kinds.remove(0),
            _ => Kind::All(kinds),
        }
    }

    fn one(&mut self) -> Kind {
        match self.rest.chars().next() {
            Some('[') => {
                let items = self.inside('[', ']');
                Kind::Array(Box::new(items), self.bounds())
            }
            Some('{') => Kind::Object {
                is_named: false,
                others: Some(Box::new(self.inside('{', '}'))),
            },
            Some('"') => {
                let mut words = self.separated('/', Self::constant);
                match words.len() {
                    1 => Kind::Constant(words.remove(0)),
                    _ => Kind::Words(words),
                }
            }
            Some('-' | '0'..='9') => Kind::Constant(self.constant()),
            Some('A'..='Z') => Kind::Type(self.word().to_owned()),
            _ => self.json(),
        }
    }

    /// A JSON type, or several.
    fn json(&mut self) -> Kind {
        let types: Vec<_> = self.separated('/', |reader| reader.word().to_owned());
        match (types.as_slice(), self.rest.starts_with('{')) {
            ([object], has_others) if object == "object" => Kind::Object {
                is_named: true,
                others: has_others.then(|| Box::new(self.inside('{', '}'))),
            },
            ([any], false) if any == "any" => Kind::Any,
            _ => Kind::Plain {
                types,
                format: self.takes(':').then(|| self.word().to_owned()),
                bounds: self.bounds(),
            },
        }
    }

    fn bounds(&mut self) -> Bounds {
        if !self.takes('(') {
            return (None, None);
        }
        let (bounds, rest) = self.rest.split_once(')').expect("bounds end");
        self.rest = rest;
        let (least, greatest) = bounds.split_once("..").expect("bounds have two dots");
        (least.parse().ok(), greatest.parse().ok())
    }

    fn constant(&mut self) -> Value {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter();
        let value = values.next().expect("a constant").expect("JSON");
        self.rest = &self.rest[values.byte_offset()..];
        value
    }

    fn word(&mut self) -> &'a str {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        let end = self.rest.find(|letter| !is_part(letter));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn inside(&mut self, open: char, close: char) -> Kind {
        let kind = self.takes(open).then(|| self.either());
        assert!(self.takes(close), "`{close}` is missing at {}", self.rest);
        kind.expect("the caller saw it open")
    }

    fn separated<T>(&mut self, by: char, mut part: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut parts = vec![part(self)];
        while self.takes(by) {
            parts.push(part(self));
        }
        parts
    }

    fn takes(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}
