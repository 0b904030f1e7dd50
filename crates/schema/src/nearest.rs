//! Finds the name or value that was probably meant: by edit distance, without regard to case and separators.

use serde_json::Value;

/// Longer names are not compared: the work grows with the product of the lengths.
const MAX_NAME_CHARS: usize = 64;

/// Returns the candidate nearest to `wanted` if it is near enough to be a typing mistake, for "did you mean".
///
/// ```
/// # use turnbuckle_schema::nearest_name;
/// assert_eq!(nearest_name("ech", ["echo", "add"].into_iter()), Some("echo"));
/// assert_eq!(nearest_name("weather", ["echo", "add"].into_iter()), None);
/// ```
pub fn name<'n>(wanted: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let (folded, length) = fold(wanted)?;
    candidates
        .filter_map(|candidate| {
            let (other, other_length) = fold(candidate)?;
            let distance = strsim::osa_distance(&folded, &other);
            is_near(distance, length.max(other_length)).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The string of an `enum` that is nearest to a string, as JSON.
pub(crate) fn choice(value: &Value, choices: &[Value]) -> Option<String> {
    let nearest = name(value.as_str()?, choices.iter().filter_map(Value::as_str))?;
    Some(Value::from(nearest).to_string())
}

fn is_near(distance: usize, length: usize) -> bool {
    // One mistake for every three characters, as compilers allow.
    distance <= (length / 3).max(1) && distance < length
}

/// The name without case and separators, and its length in characters.
fn fold(name: &str) -> Option<(String, usize)> {
    let folded: String = name
        .chars()
        .filter(|one| !matches!(one, '_' | '-' | ' ' | '.'))
        .flat_map(char::to_lowercase)
        .take(MAX_NAME_CHARS + 1)
        .collect();
    let length = folded.chars().count();
    (1..=MAX_NAME_CHARS)
        .contains(&length)
        .then_some((folded, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_what_was_meant() {
        let names = ["file_path", "limit", "recursive"];
        for (slip, meant) in [
            ("filePath", "file_path"),
            ("filepath", "file_path"),
            ("limti", "limit"),
            ("recursiv", "recursive"),
        ] {
            assert_eq!(name(slip, names.into_iter()), Some(meant), "{slip}");
        }
    }

    #[test]
    fn other_words_find_nothing() {
        assert_eq!(name("query", ["limit", "path"].into_iter()), None);
        assert_eq!(name("a", ["b"].into_iter()), None);
        assert_eq!(name("", ["b"].into_iter()), None);
        assert_eq!(name(&"x".repeat(500), ["x"].into_iter()), None);
    }

    #[test]
    fn a_value_finds_its_neighbour_in_a_list() {
        let choices = [
            Value::from("celsius"),
            Value::from("fahrenheit"),
            Value::from(1),
        ];
        assert_eq!(
            choice(&Value::from("Celcius"), &choices).as_deref(),
            Some("\"celsius\"")
        );
        assert_eq!(choice(&Value::from(3), &choices), None);
    }
}
