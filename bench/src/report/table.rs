//! A Markdown table that is also easy to read as plain text.

use std::fmt;

use crate::statistics::Spread;

pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self {
            rows: vec![columns.into_iter().map(Into::into).collect()],
        }
    }

    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..self.rows[0].len()).map(width).collect();
        for (number, row) in self.rows.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                write!(f, "| {cell:width$} ")?;
            }
            writeln!(f, "|")?;
            if number == 0 {
                for (column, width) in widths.iter().enumerate() {
                    // All columns except the first contain figures.
                    let dashes = "-".repeat(width + 1);
                    write!(f, "|{dashes}{}", if column == 0 { '-' } else { ':' })?;
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}

/// A number with three significant digits, or with commas.
pub(crate) fn count(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value.abs() < 100.0 {
        let decimals = if value.abs() < 0.095 {
            4
        } else if value.abs() < 9.95 {
            2
        } else {
            1
        };
        return format!("{value:.decimals$}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A ratio.
pub(crate) fn times(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.2}")
    } else {
        count(ratio)
    }
}

/// The cell for a figure that was not measured.
pub(crate) fn dash() -> String {
    "–".to_owned()
}

/// The median, with the lowest and the highest in brackets.
pub(crate) fn spread(ratio: Spread) -> String {
    let Spread {
        median,
        lowest,
        highest,
    } = ratio;
    format!("{} ({}–{})", times(median), times(lowest), times(highest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_count() {
        let shown = [0.0012, 0.5, 1.234, 12.34, 123.4, 1_234_567.0, -392.0].map(count);
        assert_eq!(
            shown,
            ["0.0012", "0.50", "1.23", "12.3", "123", "1,234,567", "-392"]
        );
    }
}
