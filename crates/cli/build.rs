//! Puts the inspector's page into the binary: every file of `page/`, as it is and compressed.
//!
//! The page has no build step. What is written here is a table of its files.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    path::{Path, PathBuf},
};

/// 22 bits of window, as browsers expect it.
const WINDOW: u32 = 22;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("page");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // The best takes half a minute without optimization, and who debugs does not care.
    let quality = if env::var("PROFILE")? == "release" {
        11
    } else {
        5
    };
    println!("cargo::rerun-if-changed=page");
    println!("cargo::rerun-if-changed=build.rs");
    let mut names = Vec::new();
    collect(&root, &root, &mut names)?;
    names.sort();
    let mut table = String::from("&[\n");
    for (index, name) in names.iter().enumerate() {
        let content = fs::read(root.join(name))?;
        let compressed = out.join(format!("page-{index}"));
        fs::write(compressed.with_extension("br"), brotli(&content, quality)?)?;
        fs::write(compressed.with_extension("gz"), gzip(&content)?)?;
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        writeln!(
            table,
            "    File {{ name: {name:?}, tag: \"{:016x}\", plain: include_bytes!({:?}), \
             brotli: include_bytes!({:?}), gzip: include_bytes!({:?}) }},",
            hasher.finish(),
            root.join(name).to_string_lossy(),
            compressed.with_extension("br").to_string_lossy(),
            compressed.with_extension("gz").to_string_lossy(),
        )?;
    }
    table.push_str("]\n");
    fs::write(out.join("page.rs"), table)?;
    Ok(())
}

fn collect(folder: &Path, root: &Path, names: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() {
            collect(&path, root, names)?;
        } else if !is_hidden {
            let name = path.strip_prefix(root)?.to_string_lossy();
            names.push(name.replace('\\', "/"));
        }
    }
    Ok(())
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
