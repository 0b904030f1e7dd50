//! Every form that the attributes support, without a warning.
#![deny(warnings, missing_docs, unused_qualifications, unreachable_pub, single_use_lifetimes)]

/// The attributes by another path.
pub mod mcp {
    pub use turnbuckle::*;
}

/// Functions of a public module keep their visibility.
pub mod shop {
    use turnbuckle::{State, tool};

    /// A long description.
    #[tool(name = "shop.sell-it")]
    #[must_use]
    pub async fn sell(State(_stock): State<u32>, mut item: String) -> String {
        item.push('!');
        item
    }

    /// Within the crate.
    #[tool]
    pub(crate) async fn count(_: State<u32>, #[allow(unused_variables)] unused: Option<u8>) {}
}

/// From a file.
#[turnbuckle::tool(crate = crate::mcp, title = TITLE, output = Vec<u8>)]
#[doc = include_str!("every_form.rs")]
pub async fn documented() -> turnbuckle::CallToolResult {
    turnbuckle::CallToolResult::default()
}

const TITLE: &str = "Documented";

/// Old.
#[turnbuckle::tool(crate = "crate::mcp")]
#[deprecated]
pub async fn old(r#type: u8, #[arg(default)] r#in: Vec<String>) -> String {
    format!("{type} {in:?}", r#type = r#type, r#in = r#in)
}

#[cfg(any())]
#[turnbuckle::tool]
async fn absent() -> NoSuchType {}

/// A type of ours with the name of an extractor.
#[derive(
    turnbuckle::__private::serde::Deserialize, turnbuckle::__private::schemars::JsonSchema,
)]
#[serde(crate = "turnbuckle::__private::serde")]
#[schemars(crate = "turnbuckle::__private::schemars")]
pub struct Progress {
    /// A field.
    pub of: u8,
}

/// Takes it.
#[turnbuckle::tool]
pub async fn own(#[arg] progress: Progress) -> u8 {
    progress.of
}

/// Returns what can be returned.
#[turnbuckle::tool]
pub async fn opaque(row: u32) -> impl turnbuckle::IntoOutcome<turnbuckle::CallToolResult> {
    row.to_string()
}

/// Waits for nothing.
#[turnbuckle::tool]
pub fn add(left: u32, right: u32) -> Result<u32, String> {
    left.checked_add(right).ok_or_else(|| "too much".to_owned())
}

/// Fails as many programs do.
#[turnbuckle::tool]
pub async fn boxed(row: String) -> Result<u32, Box<dyn std::error::Error>> {
    Ok(row.parse::<u32>()?)
}

async fn rows() -> Vec<turnbuckle::protocol::Resource> {
    Vec::new()
}

/// One of several that are listed.
#[turnbuckle::resource("row://{row}", list = rows)]
pub async fn row(row: String) -> String {
    row
}

/// Any variable.
#[turnbuckle::resource("file:///{+path}{?page}", allow_any_path)]
pub async fn file(path: String, page: Option<u32>) -> Result<String, turnbuckle::Failure> {
    Ok(format!("{path}{page:?}"))
}

/// A state.
pub struct App;

#[turnbuckle::handlers(crate = mcp)]
impl App {
    /// Public method.
    #[tool(idempotent)]
    pub async fn one(&self, /** A row. */ row: u32) -> String {
        row.to_string()
    }

    /// Listed by a method.
    #[resource("seat://{row}", list = Self::seats)]
    pub async fn seat(&self, #[complete(Self::rows)] row: String) -> String {
        row
    }

    async fn seats(
        &self,
        turnbuckle::State(_row): turnbuckle::State<u32>,
        page: turnbuckle::Paging,
    ) -> Result<turnbuckle::ResourcePage, Box<dyn std::error::Error>> {
        let _: u32 = page.cursor.unwrap_or_default().parse()?;
        Ok(turnbuckle::ResourcePage::default())
    }

    fn rows(&self, typed: String, turnbuckle::State(row): turnbuckle::State<u32>) -> Vec<String> {
        vec![typed, row.to_string()]
    }
}

fn main() {
    #[turnbuckle::tool]
    async fn local(row: u32) -> u32 {
        row
    }

    #[expect(deprecated)]
    let server = turnbuckle::Server::new("forms", "1.0.0")
        .state(1_u32)
        .tool(shop::sell)
        .tool(shop::count)
        .tool(documented)
        .tool(old)
        .tool(own)
        .tool(opaque)
        .tool(local)
        .tool(add)
        .tool(boxed)
        .resource(row)
        .resource(file)
        .handlers(App);
    server.build().unwrap();
}
