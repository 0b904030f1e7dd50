//! How the build joins the page.

mod joining;
