//! Reads the profiles of callgrind: the cost of each function itself, without the functions that it calls.

use std::collections::HashMap;

/// Instructions by function.
pub(crate) type Costs = HashMap<Function, u64>;

/// A function after inlining: functions that were inlined into it are counted with it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Function {
    /// The crate, or `libc`.
    pub(crate) place: String,
    pub(crate) name: String,
}

/// Parses a profile.
pub(crate) fn costs(profile: &str) -> Costs {
    let mut costs = Costs::new();
    let (mut files, mut functions, mut objects) =
        (Names::default(), Names::default(), Names::default());
    let (mut object, mut file, mut function) = (String::new(), String::new(), None);
    let mut is_call = false;
    for line in profile.lines() {
        if let Some((key, name)) = line.split_once('=').filter(|(key, _)| key.len() <= 5) {
            match key {
                "ob" => object = objects.resolve(name),
                "fl" => file = files.resolve(name),
                "fn" => {
                    let name = functions.resolve(name);
                    function = Some(Function::new(&object, &file, &name));
                }
                // Code that was inlined from another file belongs to the function that contains it.
                "fi" | "fe" | "cfi" | "cfl" => drop(files.resolve(name)),
                "cfn" => drop(functions.resolve(name)),
                "cob" => drop(objects.resolve(name)),
                // The next line is the cost of the callee.
                "calls" => is_call = true,
                _ => {}
            }
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok());
            if let (false, Some(cost), Some(function)) = (is_call, cost, &function) {
                *costs.entry(function.clone()).or_default() += cost;
            }
            is_call = false;
        }
    }
    costs
}

/// Names are written in full once, as `(7) name`, and as `(7)` from then on.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    fn resolve(&mut self, text: &str) -> String {
        match text.split_once(' ') {
            Some((id, name)) => {
                self.0.insert(id.to_owned(), name.to_owned());
                name.to_owned()
            }
            None => self.0.get(text).cloned().unwrap_or_else(|| text.to_owned()),
        }
    }
}

impl Function {
    fn new(object: &str, file: &str, name: &str) -> Self {
        let is_library = object.contains("libc.so") || object.contains("ld-linux");
        let place = if is_library {
            "libc".to_owned()
        } else {
            place(file, name)
        };
        // Recursion is written as `'2`, and the version of a symbol as `@@GLIBC_2.2.5`.
        let name = name.split(['\'', '@']).next().unwrap_or(name);
        Self {
            place,
            name: name.to_owned(),
        }
    }
}

/// The crate that a file belongs to.
fn place(file: &str, function: &str) -> String {
    if let Some((_, rest)) = file.split_once("/registry/src/") {
        let folder = rest.split('/').nth(1).unwrap_or(rest);
        let name = folder.rsplit_once('-').map_or(folder, |(name, _)| name);
        return name.to_owned();
    }
    if let Some((_, rest)) = file.split_once("/library/") {
        return rest.split('/').next().unwrap_or(rest).to_owned();
    }
    if let Some((_, rest)) = file.rsplit_once("/crates/") {
        return format!("our {}", rest.split('/').next().unwrap_or(rest));
    }
    if file.contains("/bench/") {
        return "the server's own".to_owned();
    }
    let name = function.trim_start_matches(['<', '&']);
    name.split("::").next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_charged_for_what_it_absorbed_and_not_for_what_it_calls() {
        let profile = "\
            ob=(1) /bin/server\n\
            fl=(1) /home/me/.cargo/registry/src/index/hyper-1.2.3/src/role.rs\n\
            fn=(1) hyper::parse\n\
            12 5\n\
            fi=(2) /rustc/abc/library/core/src/slice.rs\n\
            +3 7\n\
            fe=(1)\n\
            cfi=(3) /home/me/turnbuckle/crates/server/src/door.rs\n\
            cfn=(2) turnbuckle_server::open\n\
            calls=1 40\n\
            * 900\n\
            fl=(3)\n\
            fn=(2)\n\
            40 30\n\
            ob=(2) /lib/libc.so.6\n\
            fl=(4) ???\n\
            fn=(3) malloc@@GLIBC_2.2.5\n\
            0 11\n";
        let mut costs: Vec<_> = costs(profile).into_iter().collect();
        costs.sort();
        let function = |place: &str, name: &str| Function {
            place: place.to_owned(),
            name: name.to_owned(),
        };
        let expected = [
            (function("hyper", "hyper::parse"), 12),
            (function("libc", "malloc"), 11),
            (function("our server", "turnbuckle_server::open"), 30),
        ];
        assert_eq!(costs, expected);
    }
}
