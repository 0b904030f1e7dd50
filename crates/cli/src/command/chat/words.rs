//! Splits a line that begins with a slash into words.

/// Splits a line at blanks. A word, or the value after its `=`, may be quoted to contain blanks.
/// A quotation mark elsewhere is an ordinary character, so `name=don't` is one word.
pub(super) fn split(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = first(rest);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// The first word of a line, and the rest of the line.
fn first(line: &str) -> (String, &str) {
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let plain = (line[..end].to_owned(), &line[end..]);
    let name = match line[..end].find('=') {
        Some(sign) => sign + 1,
        None => 0,
    };
    for start in [0, name] {
        let (before, quoted) = line.split_at(start);
        if let Some((value, after)) = in_quotes(quoted) {
            return (format!("{before}{value}"), after);
        }
    }
    plain
}

/// The quoted text at the start of `text`, and the rest. The closing quotation mark must end
/// a word.
fn in_quotes(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|it| matches!(*it, '"' | '\''))?;
    let inner = &text[1..];
    let (end, _) = inner.match_indices(quote).find(|(end, _)| {
        let after = inner[end + 1..].chars().next();
        after.is_none_or(char::is_whitespace)
    })?;
    Some((&inner[..end], &inner[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_at_blanks_outside_of_quotes() {
        for (line, words) in [
            ("/prompt  p  city=Bonn ", &["/prompt", "p", "city=Bonn"][..]),
            (
                "/prompt p city=\"New York\" b=1",
                &["/prompt", "p", "city=New York", "b=1"],
            ),
            ("/prompt 'a b' c='d e'", &["/prompt", "a b", "c=d e"]),
            ("a=don't b='it's so'", &["a=don't", "b=it's so"]),
            ("a=\"open", &["a=\"open"]),
            ("a=\"\" b=''", &["a=", "b="]),
            ("@x://ü?a=1", &["@x://ü?a=1"]),
            ("", &[]),
        ] {
            assert_eq!(split(line), words, "{line}");
        }
    }
}
