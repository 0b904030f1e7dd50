//! Sorts suggestions by how well they match the text that the user typed.

/// How many characters of a candidate and of the typed text are compared one by one. Longer typed
/// texts are only searched for in the candidates.
const MAX_COMPARED_CHARS: usize = 64;

/// Returns the candidates that match the typed text, the best matches first.
///
/// The order is: equal texts, texts that begin with it, texts with a word that begins with it,
/// texts that contain it, texts with its letters in this order, and texts that differ by a typing
/// mistake. Case is ignored, and equally good matches keep their order.
///
/// Fixed lists are completed this way automatically; use it in completers for other lists.
///
/// ```
/// use turnbuckle_server::suggest;
///
/// let cities = ["Berlin", "New Bern", "Bern", "Paris"];
/// assert_eq!(suggest(cities, "ber"), ["Berlin", "Bern", "New Bern"]);
/// assert_eq!(suggest(cities, "Prais"), ["Paris"]);
/// ```
pub fn suggest<S: AsRef<str>>(candidates: impl IntoIterator<Item = S>, typed: &str) -> Vec<String> {
    let typed = typed.trim().to_lowercase();
    let mut ranked: Vec<(u32, String)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let candidate = candidate.as_ref();
            rank(&candidate.to_lowercase(), &typed).map(|rank| (rank, candidate.to_owned()))
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

/// How well a candidate matches. 0 is the best; `None` means that it does not match.
fn rank(candidate: &str, typed: &str) -> Option<u32> {
    if candidate == typed {
        return Some(0);
    }
    if candidate.starts_with(typed) {
        return Some(1);
    }
    let mut words = candidate.split(|character: char| !character.is_alphanumeric());
    if words.any(|word| word.starts_with(typed)) {
        return Some(2);
    }
    // A single letter occurs in nearly every candidate.
    typed.chars().nth(1)?;
    if candidate.contains(typed) {
        return Some(3);
    }
    let candidate: Vec<char> = candidate.chars().take(MAX_COMPARED_CHARS).collect();
    let typed: Vec<char> = typed.chars().take(MAX_COMPARED_CHARS + 1).collect();
    if typed.len() > MAX_COMPARED_CHARS {
        return None;
    }
    if let Some(gaps) = gaps(&candidate, &typed) {
        return Some(4 + gaps);
    }
    let mistakes = mistakes(&candidate, &typed)?;
    // The number is higher than that of any candidate with gaps, which has fewer gaps than letters.
    Some(4 + u32::try_from(MAX_COMPARED_CHARS).unwrap_or(u32::MAX) + mistakes)
}

/// How many letters of the candidate are skipped between the typed letters. `None` unless the
/// candidate contains all typed letters in this order and the first one begins a word.
fn gaps(candidate: &[char], typed: &[char]) -> Option<u32> {
    let first = *typed.first()?;
    let begins_word = |index: usize| index == 0 || !candidate[index - 1].is_alphanumeric();
    let start =
        (0..candidate.len()).find(|index| candidate[*index] == first && begins_word(*index))?;
    let mut rest = typed[1..].iter();
    let mut wanted = rest.next();
    let mut skipped = 0;
    for character in &candidate[start + 1..] {
        match wanted {
            None => break,
            Some(next) if next == character => wanted = rest.next(),
            Some(_) => skipped += 1,
        }
    }
    wanted.is_none().then_some(skipped)
}

/// The number of typing mistakes in the typed text. `None` if there are too many for its length.
fn mistakes(candidate: &[char], typed: &[char]) -> Option<u32> {
    let allowed = match typed.len() {
        0..=2 => return None,
        3..=5 => 1,
        _ => 2,
    };
    // The user may have typed only the beginning, and may have omitted or doubled a letter.
    let shortest = typed.len().saturating_sub(allowed);
    let longest = (typed.len() + allowed).min(candidate.len());
    let typed: String = typed.iter().collect();
    (shortest..=longest)
        .map(|length| {
            let head: String = candidate[..length].iter().collect();
            strsim::osa_distance(&head, &typed)
        })
        .min()
        .filter(|distance| *distance <= allowed)
        .and_then(|distance| u32::try_from(distance).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CITIES: [&str; 7] = [
        "Amsterdam",
        "New York",
        "London",
        "Londonderry",
        "York",
        "San Francisco",
        "Zürich",
    ];

    // rule: RS11
    #[test]
    fn what_fits_best_comes_first() {
        for (typed, expected) in [
            ("london", &["London", "Londonderry"][..]),
            ("york", &["York", "New York"]),
            ("lon", &["London", "Londonderry"]),
            ("dam", &["Amsterdam"]),
            ("nyrk", &["New York"]),
            ("sf", &["San Francisco"]),
            ("lodnon", &["London", "Londonderry"]),
            ("zurich", &["Zürich"]),
            ("x", &[]),
            ("quito", &[]),
        ] {
            assert_eq!(suggest(CITIES, typed), expected, "{typed}");
        }
    }

    #[test]
    fn nothing_typed_fits_everything_in_its_order() {
        assert_eq!(suggest(CITIES, ""), CITIES);
    }

    #[test]
    fn long_texts_are_found_by_what_they_contain() {
        let long = format!("{}needle", "x".repeat(10_000));
        assert_eq!(suggest([&long], "needle").len(), 1);
        assert!(suggest([&long], &"y".repeat(10_000)).is_empty());
    }
}
