//! Statistics over rounds.

/// The median of some figures, and their range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
}

impl Spread {
    /// `None` if there are no figures.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<_> = figures.into_iter().filter(|it| it.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (lowest, highest) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            f64::midpoint(sorted[middle - 1], sorted[middle])
        };
        Some(Self {
            median,
            lowest,
            highest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_number_lies_between_two() {
        let spread = Spread::of([4.0, 1.0, f64::NAN, 2.0, 3.0]).expect("there are figures");
        assert_eq!(
            (spread.median, spread.lowest, spread.highest),
            (2.5, 1.0, 4.0)
        );
        assert_eq!(Spread::of([f64::NAN]), None);
    }
}
