//! "Did you mean": the known word closest to a misspelt one.

/// The closest of `known` to `word`, if it is close enough to be the intended word.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may be wrong; below six letters, two.
    let limit = (word.chars().count() / 3).max(2);
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_word() {
        let known = ["title", "destructive", "idempotent"];
        assert_eq!(nearest("destructve", known), Some("destructive"));
        assert_eq!(nearest("tilte", known), Some("title"));
        assert_eq!(nearest("idempotnet", known), Some("idempotent"));
    }

    #[test]
    fn an_unrelated_word_finds_nothing() {
        assert_eq!(nearest("colour", ["title", "destructive"]), None);
    }
}
