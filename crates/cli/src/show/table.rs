//! Columns that line up.

use turnbuckle_command_line::style::Style;

/// Rows of cells; each column is as wide as its widest cell, up to a bound.
#[derive(Default)]
pub(crate) struct Table(Vec<Vec<(String, Option<Style>)>>);

/// Cells wider than this do not widen their column, in characters.
const MAX_WIDTH: usize = 60;

impl Table {
    pub(crate) fn row(&mut self, cells: Vec<(String, Option<Style>)>) {
        self.0.push(cells);
    }

    /// The lines, indented, without blanks at their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.0.iter().filter_map(|row| row.get(column));
            cells
                .map(|(text, _)| text.chars().count())
                .filter(|width| *width <= MAX_WIDTH)
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let rows = self.0.iter().map(|row| {
            let mut line = String::from("  ");
            let last = row.iter().rposition(|(text, _)| !text.is_empty());
            for (column, (text, style)) in row.iter().enumerate() {
                if last.is_none_or(|last| column > last) {
                    break;
                }
                let styled = style.map_or_else(|| text.clone(), |style| style.out(text));
                line.push_str(&styled);
                if last != Some(column) {
                    let missing = widths[column].saturating_sub(text.chars().count());
                    line.extend(std::iter::repeat_n(' ', missing + 2));
                }
            }
            line
        });
        rows.collect()
    }
}
