//! Modules, styles and HTML of the page in one document.
//!
//! Each module becomes a function that gives what it exports, in the order in which a browser would run
//! them, so that its own names stay its own. Comments that document are left out. Only what the page's
//! modules use is understood: imports and exports on lines of their own, by name. Anything else stops
//! the build.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt::Write as _,
    fs,
    path::Path,
};

/// The page, and the parts of it that a policy names by their hash.
pub(crate) struct Page {
    pub(crate) html: String,
    pub(crate) script: String,
    pub(crate) style: String,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

const STYLE: (&str, &str) = ("<link rel=\"stylesheet\" href=\"/assets/", "\" />");
const SCRIPT: (&str, &str) = ("<script type=\"module\" src=\"/assets/", "\"></script>");

/// Joins `index.html` with the styles and the module that it names.
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

/// Whether a part is there, and does not end before its end: tags are found in capitals, too.
fn whole(part: &str, text: &str) -> Outcome<()> {
    let lower = text.to_ascii_lowercase();
    let mut ends = [format!("</{part}"), "<!--".to_owned()].into_iter();
    if text.is_empty() || ends.any(|end| lower.contains(&end)) {
        return Err(format!("the page's {part} is missing, or ends where it should not").into());
    }
    Ok(())
}

/// A file, with the line ends that a browser makes of any others: hashes are taken of those.
fn read(assets: &Path, name: &str) -> Outcome<String> {
    let text = fs::read_to_string(assets.join(name)).map_err(|error| format!("{name}: {error}"))?;
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn names(folder: &Path) -> Outcome<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // What editors leave while somebody writes.
        if !name.starts_with('.') {
            names.insert(name);
        }
    }
    Ok(names)
}

fn between<'a>(line: &'a str, (before, after): (&str, &str)) -> Option<&'a str> {
    line.trim().strip_prefix(before)?.strip_suffix(after)
}

/// A module and everything that it imports.
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
    // After all of them: modules may import each other.
    for (from, name, by) in wanted {
        if all.exports.get(&name) != Some(&from) {
            return Err(format!("{by} imports {name}, which {from} does not export").into());
        }
    }
    Ok(all.script)
}

struct Modules<'a> {
    assets: &'a Path,
    /// What no module was read from yet.
    left: &'a mut BTreeSet<String>,
    /// What is there already, or on its way.
    joined: BTreeSet<String>,
    /// Every name that is exported, and by which module.
    exports: BTreeMap<String, String>,
    script: String,
}

/// The module that a name is imported from, the name, and who wants it.
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

/// The lines of a module without the comments that document it: they are for readers of the source
/// and for the type checker, and would be a seventh of the page. A comment begins a line with `/**`
/// and ends one with `*/`; a type before an expression is part of its line, and stays.
fn code(source: &str) -> impl Iterator<Item = &str> {
    let mut is_comment = false;
    source.lines().filter(move |line| {
        let (line, was_comment) = (line.trim(), is_comment);
        let begins = line.starts_with("/**") && (line.ends_with("*/") || !line.contains("*/"));
        is_comment = (begins || was_comment) && !line.ends_with("*/");
        !begins && !was_comment
    })
}

/// A module as a function of its own. `None` if others would have to wait for what it exports.
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

/// Whether a line waits outside of any function.
fn waits(line: &str) -> bool {
    let is_outside = !line.starts_with([' ', '\t', '}']) && !line.contains("async ");
    is_outside && (line.starts_with("await ") || line.contains("= await "))
}

/// Where a line imports from, and which names.
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

/// The name that is declared.
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
