//! The output of figures: tables, a chart, and the page that contains both.

pub(crate) mod aims;
pub(crate) mod chart;
pub(crate) mod name;
pub(crate) mod page;
pub(crate) mod table;
