//! Joins words to a line for a shell, and splits such a line.

/// Joins words into a line that a shell reads as these words.
pub fn line<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.into_iter().map(quote).collect();
    words.join(" ")
}

/// A word, in quotation marks if a shell would not take it unchanged.
pub fn quote(word: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./:=@%+,".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Splits a line that a user typed into words, with quotation marks and backslashes as in shells.
/// `None` if a quotation mark is not closed. Nothing is expanded.
pub fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut mark = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match (mark, character) {
            (Some(open), _) if open == character => mark = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            (_, '\\') => word.get_or_insert_default().push(characters.next()?),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                mark = Some(character);
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    mark.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_line_come_apart_and_together() {
        for words in [
            vec!["npx", "-y", "a b", "it's", "", "$HOME", "x\"y"],
            vec!["python3", "-c", "print('hi')\nprint(\"x\")"],
        ] {
            let line = line(words.iter().copied());
            assert_eq!(split(&line).unwrap(), words, "{line}");
        }
        assert_eq!(split("a 'b"), None);
        assert_eq!(split("a\\ b \"c\\\"d\"").unwrap(), ["a b", "c\"d"]);
    }
}
