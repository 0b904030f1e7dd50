//! Builds a string that a pattern matches, for an example. The string is a good guess that the caller checks.

use super::parse::parse;
use super::tree::{Alternatives, Class, Member, Sense, Term};
use crate::limits::MAX_EXAMPLE_CHARS;

/// Characters that are tried, in this order, for a class that only excludes characters.
const COMMON: &str = "aA0 _-.,:/@é漢";

/// Terms visited for one sample: nested repetitions of empty parts would otherwise never end.
const MAX_TERMS: usize = 20_000;

/// A string that the pattern probably matches. Repetitions without an upper bound are repeated `extra` times
/// more than they must be.
pub(crate) fn sample(pattern: &str, extra: usize) -> Option<String> {
    let tree = parse(pattern).ok()?;
    let mut sampler = Sampler {
        extra,
        terms: 0,
        text: String::new(),
    };
    sampler.alternatives(&tree)?;
    Some(sampler.text)
}

struct Sampler {
    extra: usize,
    terms: usize,
    text: String,
}

impl Sampler {
    /// Writes the first alternative that can be written.
    fn alternatives(&mut self, tree: &Alternatives) -> Option<()> {
        let start = self.text.len();
        tree.iter().find_map(|terms| {
            self.text.truncate(start);
            terms.iter().try_for_each(|next| self.term(next))
        })
    }

    fn term(&mut self, next: &Term) -> Option<()> {
        self.terms += 1;
        if self.text.len() > MAX_EXAMPLE_CHARS || self.terms > MAX_TERMS {
            return None;
        }
        match next {
            Term::Char(one) => self.text.push(*one),
            Term::Dot => self.text.push('a'),
            Term::Class(class) => self.text.push(chosen(class)?),
            Term::Group(_, body) => self.alternatives(body)?,
            // Assertions add nothing; the caller checks whether they hold.
            Term::Start | Term::End | Term::WordBoundary(_) | Term::Look(..) | Term::Flag(_) => {}
            Term::Back(_) => return None,
            Term::Repeat(repeated, repeat) => {
                let least = usize::try_from(repeat.least).ok()?;
                let most = repeat.most.map_or(usize::MAX, |most| most as usize);
                for _ in 0..least.saturating_add(self.extra).min(most) {
                    self.term(repeated)?;
                }
            }
        }
        Some(())
    }
}

fn chosen(class: &Class) -> Option<char> {
    if class.sense == Sense::IsNot {
        return COMMON
            .chars()
            .find(|one| !class.members.iter().any(|set| contains(set, *one)));
    }
    class.members.iter().find_map(|member| match member {
        Member::Range(first, _) => Some(*first),
        _ => COMMON.chars().find(|one| contains(member, *one)),
    })
}

fn contains(member: &Member, one: char) -> bool {
    let (sense, is_in) = match member {
        Member::Range(first, last) => return (*first..=*last).contains(&one),
        Member::Digit(sense) => (*sense, one.is_ascii_digit()),
        Member::Word(sense) => (*sense, one.is_ascii_alphanumeric() || one == '_'),
        Member::Space(sense) => (*sense, one.is_whitespace()),
        Member::Property(sense, name) => (*sense, has_property(one, name)),
    };
    is_in == (sense == Sense::Is)
}

fn has_property(one: char, name: &str) -> bool {
    match name {
        "L" | "Letter" | "Alphabetic" => one.is_alphabetic(),
        "Ll" | "Lowercase_Letter" | "Lowercase" => one.is_lowercase(),
        "Lu" | "Uppercase_Letter" | "Uppercase" => one.is_uppercase(),
        "N" | "Nd" | "Number" | "Decimal_Number" => one.is_numeric(),
        "Z" | "Zs" | "White_Space" => one.is_whitespace(),
        "P" | "Punctuation" => one.is_ascii_punctuation(),
        "Script=Han" | "sc=Han" | "Han" => one == '漢',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::compile;
    use super::sample;

    #[test]
    fn samples_match_the_patterns_they_are_made_for() {
        for pattern in [
            r"^\d{4}-\d{2}-\d{2}$",
            "^[A-Z]{2,3}$",
            r"^https?://[^\s/]+\.example(/\S*)?$",
            "^(red|green)$",
            r"^[^a-z0-9]+$",
            r"^\p{Lu}\p{L}*$",
            r"^(?!x)\w+$",
            r"^#(?:[0-9a-fA-F]{3}){1,2}$",
        ] {
            let text = sample(pattern, 0).expect(pattern);
            let compiled = compile(pattern).expect(pattern);
            assert_eq!(
                compiled.is_match(&text).ok(),
                Some(true),
                "{pattern} on {text}"
            );
        }
    }

    #[test]
    fn more_is_made_where_more_is_allowed() {
        assert_eq!(sample("^a+$", 3).as_deref(), Some("aaaa"));
        assert_eq!(sample("^a{2}$", 3).as_deref(), Some("aa"));
        assert_eq!(sample("a{4000}", 0), None);
        assert_eq!(sample("(", 0), None);
        assert_eq!(sample("(?:(?:(?:){9999}){9999}){9999}", 0), None);
    }
}
