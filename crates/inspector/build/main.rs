//! Puts the inspector's page into the binary as one response, plain and compressed.
//!
//! A browser could run the files of `page/` as they are. They are joined because requesting forty modules, level by
//! level, takes a browser longer than everything else about opening the page.

mod join;

use std::{env, error::Error, fs, io::Write as _, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

/// The window of the compression, 22 bits, as browsers expect it.
const WINDOW: u32 = 22;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("page");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // The best quality takes half a minute, because build scripts are not optimized. It is only used for releases:
    // with the profile `dist`, which is the one that optimizes for size.
    let quality = if env::var("OPT_LEVEL")? == "z" { 11 } else { 5 };
    println!("cargo::rerun-if-changed=page");
    println!("cargo::rerun-if-changed=build");
    let page = join::page(&root)?;
    let html = page.html.as_bytes();
    fs::write(out.join("page.html"), html)?;
    fs::write(out.join("page.html.br"), brotli(html, quality)?)?;
    fs::write(out.join("page.html.gz"), gzip(html)?)?;
    // Content security policy: the browser runs the script if it has this hash.
    fs::write(out.join("page.tag"), hash(&page.html))?;
    fs::write(out.join("page.script"), hash(&page.script))?;
    fs::write(out.join("page.style"), hash(&page.style))?;
    Ok(())
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

fn brotli(content: &[u8], quality: u32) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut writer = brotli::CompressorWriter::new(Vec::new(), 4096, quality, WINDOW);
    writer.write_all(content)?;
    Ok(writer.into_inner())
}

fn gzip(content: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(content)?;
    Ok(writer.finish()?)
}
