//! Joins the modules, styles and HTML of the page to one document.
//!
//! Each module becomes a function that returns its exports, so that its own names stay private. The functions
//! run in the order in which a browser would run the modules. Doc comments are removed. Only the syntax that
//! the page's modules use is supported: imports and exports by name, on lines of their own. Anything else makes
//! the build fail.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt::Write as _,
    fs,
    path::Path,
};

/// The page, and the parts of it whose hashes a policy names.
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) script: String,
    pub(crate) style: String,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

const STYLE: (&str, &str) = ("<link rel=\"stylesheet\" href=\"/assets/", "\" />");
const SCRIPT: (&str, &str) = ("<script type=\"module\" src=\"/assets/", "\"></script>");

/// Joins `index.html` with the styles and the module that it refers to.
pub(crate) fn page(root: &Path) -> Outcome<Page> {
    let assets = root.join("assets");
    let index = fs::read_to_string(root.join("index.html"))?;
    let mut left = names(&assets)?;
    let mut style = String::new();
    let mut script = String::new();
    let mut html = String::new();
    let mut is_headed = false;
    for line in index.lines() {
        let is_tag = |tag: &str| line.to_ascii_lowercase().contains(tag);
        if let Some(name) = between(line, STYLE).filter(|_| !is_headed) {
            style += &read(&assets, name)?;
            left.remove(name);
        } else if let Some(name) = between(line, SCRIPT).filter(|_| script.is_empty()) {
            script = modules(&assets, name, &mut left)?;
            writeln!(html, "<script type=\"module\">{script}</script>")?;
        } else if is_tag("<script") || is_tag("<style") || (is_headed && is_tag("<link")) {
            // Its hash would not be in the policy, or its style not in the page.
            return Err(odd("index.html", line));
        } else {
            if line.trim() == "</head>" {
                is_headed = true;
                writeln!(html, "<style>{style}</style>")?;
            }
            html += line;
            html += "\n";
        }
    }
    if !left.is_empty() {
        return Err(format!("nothing of the page uses {left:?}").into());
    }
    whole("script", &script)?;
    whole("style", &style)?;
    Ok(Page {
        html,
        script,
        style,
    })
}

/// Checks that a part exists, and does not contain its own end tag, which may also be in capitals.
fn whole(part: &str, text: &str) -> Outcome<()> {
    let lower = text.to_ascii_lowercase();
    let mut ends = [format!("</{part}"), "<!--".to_owned()].into_iter();
    if text.is_empty() || ends.any(|end| lower.contains(&end)) {
        return Err(format!("the page's {part} is missing, or ends where it should not").into());
    }
    Ok(())
}

/// Reads a file, with line ends converted as browsers do, because the hashes are computed after that.
fn read(assets: &Path, name: &str) -> Outcome<String> {
    let text = fs::read_to_string(assets.join(name)).map_err(|error| format!("{name}: {error}"))?;
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn names(folder: &Path) -> Outcome<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // Editors leave such files while somebody edits.
        if !name.starts_with('.') {
            names.insert(name);
        }
    }
    Ok(names)
}

fn between<'a>(line: &'a str, (before, after): (&str, &str)) -> Option<&'a str> {
    line.trim().strip_prefix(before)?.strip_suffix(after)
}

/// A module and all modules that it imports.
fn modules(assets: &Path, name: &str, left: &mut BTreeSet<String>) -> Outcome<String> {
    let mut all = Modules {
        assets,
        left,
        joined: BTreeSet::new(),
        exports: BTreeMap::new(),
        script: String::new(),
    };
    let mut wanted = Vec::new();
    all.add(name, &mut wanted)?;
    // Checked after all modules were read, because modules may import each other.
    for (from, name, by) in wanted {
        if all.exports.get(&name) != Some(&from) {
            return Err(format!("{by} imports {name}, which {from} does not export").into());
        }
    }
    Ok(all.script)
}

struct Modules<'a> {
    assets: &'a Path,
    /// The modules that have not been read yet.
    left: &'a mut BTreeSet<String>,
    /// The modules that have been joined, or are being joined.
    joined: BTreeSet<String>,
    /// Every exported name, with its module.
    exports: BTreeMap<String, String>,
    script: String,
}

/// An import: the module, the name, and the importing module.
type Wanted = (String, String, String);

impl Modules<'_> {
    fn add(&mut self, name: &str, wanted: &mut Vec<Wanted>) -> Outcome<()> {
        if !self.joined.insert(name.to_owned()) {
            return Ok(());
        }
        if !self.left.remove(name) {
            return Err(format!("{name} is imported, and is not there").into());
        }
        let source = read(self.assets, name)?;
        let mut body = String::new();
        let mut own = Vec::new();
        for line in code(&source) {
            if line.starts_with("import ") {
                let (from, names) = import(line).ok_or_else(|| odd(name, line))?;
                self.add(from, wanted)?;
                let names = names.into_iter().map(str::to_owned);
                wanted.extend(names.map(|one| (from.to_owned(), one, name.to_owned())));
                continue;
            }
            if line.contains("import(") || line.contains("import.meta") {
                return Err(odd(name, line));
            }
            let exported = line.strip_prefix("export ");
            if let Some(exported) = exported {
                own.push(
                    declared(exported)
                        .ok_or_else(|| odd(name, line))?
                        .to_owned(),
                );
            }
            body += exported.unwrap_or(line);
            body += "\n";
        }
        for one in &own {
            if let Some(other) = self.exports.insert(one.clone(), name.to_owned()) {
                return Err(format!("{other} and {name} both export {one}").into());
            }
        }
        let exports = own.join(", ");
        let wrapped = wrapped(name, &exports, &body);
        self.script += &wrapped.ok_or_else(|| format!("{name} waits, and exports {exports}"))?;
        Ok(())
    }
}

/// The lines of a module without doc comments: these are for readers of the source and for the type checker,
/// and would be a seventh of the page. A doc comment begins at the start of a line with `/**`
/// and ends at the end of a line with `*/`; a type before an expression is part of its line, and stays.
fn code(source: &str) -> impl Iterator<Item = &str> {
    let mut is_comment = false;
    source.lines().filter(move |line| {
        let (line, was_comment) = (line.trim(), is_comment);
        let begins = line.starts_with("/**") && (line.ends_with("*/") || !line.contains("*/"));
        is_comment = (begins || was_comment) && !line.ends_with("*/");
        !begins && !was_comment
    })
}

/// A module as a function. `None` if it waits at its top level and has exports, for which other modules would
/// have to wait.
fn wrapped(name: &str, exports: &str, body: &str) -> Option<String> {
    let (start, takes) = match (body.lines().any(waits), exports) {
        (true, "") => ("await (async () => {", String::new()),
        (true, _) => return None,
        (false, "") => ("(() => {", String::new()),
        (false, names) => ("(() => {", format!("const {{ {names} }} = ")),
    };
    let gives = match exports {
        "" => String::new(),
        names => format!("return {{ {names} }};\n"),
    };
    Some(format!("// {name}\n{takes}{start}\n{body}{gives}}})();\n"))
}

/// Whether a line contains an `await` outside any function.
fn waits(line: &str) -> bool {
    let is_outside = !line.starts_with([' ', '\t', '}']) && !line.contains("async ");
    is_outside && (line.starts_with("await ") || line.contains("= await "))
}

/// The module and the names that a line imports.
fn import(line: &str) -> Option<(&str, Vec<&str>)> {
    let rest = line.strip_prefix("import ")?.strip_suffix("\";")?;
    let (names, from) = rest.rsplit_once("\"./")?;
    if names.is_empty() {
        return Some((from, Vec::new()));
    }
    let names = names.strip_prefix("{ ")?.strip_suffix(" } from ")?;
    let names: Vec<&str> = names.split(", ").collect();
    names
        .iter()
        .all(|name| is_word(name))
        .then_some((from, names))
}

/// The name that a line declares.
fn declared(text: &str) -> Option<&str> {
    let kinds = ["async function ", "function ", "const ", "class "];
    let rest = kinds.iter().find_map(|kind| text.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !is_part_of_word(letter))?;
    Some(&rest[..end]).filter(|name| is_word(name))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part_of_word)
}

fn is_part_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_' || letter == '$'
}

fn odd(name: &str, line: &str) -> Box<dyn Error> {
    format!("{name}: this is not understood when modules are joined: {line}").into()
}
