//! The servers in config files, which are read when the inspector starts and again when the page asks.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::Arc,
};

use turnbuckle_command_line::{
    control::tell,
    failure::{Failed, Outcome},
    target,
    trust::{self, Consent},
};
use turnbuckle_host::config::{self, Place, PlaceOwner};

use super::{
    configured::{Blocked, Configured, FileView, Resolved},
    inspector::Inspector,
    origin::Origin,
    server::Stage,
    servers::MAX_SERVERS,
};

/// The id of a server, the values of its inputs, and the name that the page gave it.
type KnownEntry = (String, BTreeMap<String, String>, Option<String>);

impl Inspector {
    /// Adds the servers in the config files, or updates those that were added before. Does not
    /// connect to any.
    ///
    /// # Errors
    /// If the file that the command line names cannot be read.
    pub fn read_config(self: &Arc<Self>) -> Outcome {
        let config = self.options.config.as_ref();
        let (config_files, strange) = target::config_files(config)?;
        for place in &strange {
            tell(&target::somebody_elses(&place.path));
        }
        let files = config_files.files.iter().map(|(place, file)| FileView {
            file: short(&place.path),
            host: place.host,
            problem: file.as_ref().err().map(ToString::to_string),
        });
        *self.files.lock() = files.collect();
        let mut taken = BTreeMap::new();
        let mut seen = Vec::new();
        // Usable entries come first, because one of several servers with the same name gets the name.
        let mut entries: Vec<_> = config_files.entries().collect();
        entries.sort_by_cached_key(|(_, entry)| {
            let resolved = self.configured(entry).resolve();
            !resolved.is_ok_and(|resolved| resolved.is_usable())
        });
        let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
        for (place, entry) in entries {
            seen.push((entry.file.clone(), entry.name.clone()));
            if !self.has_room() && self.known_entry(&entry.file, &entry.name).is_none() {
                *left_out.entry(short(&entry.file)).or_default() += 1;
                continue;
            }
            self.take_entry(place, entry, &mut taken)?;
        }
        for (file, count) in left_out {
            let problem =
                format!("{count} of its servers are left out: the limit is {MAX_SERVERS} servers");
            tell(&format!("note: `{file}`: {problem}"));
            let mut files = self.files.lock();
            let mut views = files.iter_mut();
            if let Some(view) = views.find(|view| view.file == file) {
                view.problem = Some(problem);
            }
        }
        self.forget_entries(&seen);
        self.events.publish("files", &*self.files.lock());
        Ok(())
    }

    /// Adds the server of a config file that a word names, to be connected to; `None` if no file has
    /// it.
    ///
    /// # Errors
    /// If the user does not trust the file.
    pub fn add_named(&self, word: &str) -> Outcome<Option<String>> {
        let config = self.options.config.as_ref();
        let (config_files, _) = target::config_files(config)?;
        let mut known = Vec::new();
        for (place, entry) in config_files
            .entries()
            .filter(|(_, entry)| entry.name == word)
        {
            let configured = self.configured(entry);
            let resolved = configured.resolve()?;
            known.push((place, configured, resolved));
        }
        // The nearest usable entry, as for commands; or else one that only lacks an input; or else one
        // whose program does not exist, so that the page reports that.
        let choices: [fn(&Resolved) -> bool; 3] = [
            Resolved::is_usable,
            |resolved| matches!(resolved.blocked, Some(Blocked::Inputs)),
            |resolved| resolved.blocked.is_none(),
        ];
        let mut places = choices.iter().map(|fits| {
            let mut all = known.iter();
            all.position(|(_, _, resolved)| fits(resolved))
        });
        let Some(index) = places.find_map(|place| place) else {
            return Ok(None);
        };
        let broken: Vec<PathBuf> = known[..index]
            .iter()
            .map(|(_, configured, _)| configured.entry.file.clone())
            .collect();
        let (place, configured, resolved) = known.swap_remove(index);
        for file in broken {
            tell(&format!(
                "note: server `{word}` of `{}` cannot be used; the one of `{}` is used",
                file.display(),
                configured.entry.file.display()
            ));
        }
        if place.owner == PlaceOwner::Project {
            trust::check(&place.path, self.options.lookup().consent)?;
        }
        let origin = Origin::configured(short(&configured.entry.file), word);
        self.add_entry(resolved, origin, Some(configured)).map(Some)
    }

    /// Adds a server from the page's form, which has the same settings as a config file.
    pub(super) fn add_form(
        &self,
        name: &str,
        document: &str,
        inputs: BTreeMap<String, String>,
    ) -> Outcome<String> {
        let (configured, mut resolved) = read_form(document, inputs)?;
        name.clone_into(&mut resolved.server.name);
        self.add_entry(
            resolved,
            Origin::given("Added on this page"),
            Some(configured),
        )
    }

    /// Sets values for the inputs of a server. `None` if there is no such server.
    pub(super) fn give_inputs(
        &self,
        id: &str,
        inputs: BTreeMap<String, String>,
    ) -> Option<Outcome> {
        let mut state = self.lock();
        let entry = state.server(id)?;
        let Some(configured) = &mut entry.configured else {
            return Some(Err(Failed::usage("the server has no inputs")));
        };
        configured.inputs.extend(inputs);
        match configured.resolve() {
            Ok(resolved) => entry.resolve(resolved),
            Err(failed) => return Some(Err(failed)),
        }
        drop(state);
        self.tell_of(id);
        Some(Ok(()))
    }

    /// Gives a server of a config file another name, so that it can be used beside another server with the same
    /// name. The file does not change. `None` if there is no such server.
    pub(super) fn rename(self: &Arc<Self>, id: &str, name: &str) -> Option<Outcome> {
        let name = name.trim();
        let mut state = self.lock();
        state.server(id)?;
        if name.is_empty() {
            return Some(Err(Failed::usage("a server needs a name")));
        }
        if state
            .servers
            .iter()
            .any(|other| other.name == name && other.id != id)
        {
            return Some(Err(Failed::usage(format!(
                "server `{name}` already exists; choose another name"
            ))));
        }
        let entry = state.server(id)?;
        let Some(configured) = &mut entry.configured else {
            return Some(Err(Failed::usage(
                "only servers of config files can be renamed",
            )));
        };
        configured.alias = Some(name.to_owned());
        let word = format!(
            "{}:{}",
            configured.entry.file.display(),
            configured.entry.name
        );
        entry.origin.word = Some(word);
        name.clone_into(&mut entry.name);
        drop(state);
        Some(self.read_config())
    }

    /// Trusts the project file that has a server, and reads the files again.
    pub(super) fn trust_file(self: &Arc<Self>, id: &str) -> Option<Outcome> {
        let file = match &self.lock().server(id)?.blocked {
            Some(Blocked::Untrusted { file }) => file.clone(),
            _ => return Some(Err(Failed::usage("its file is already trusted"))),
        };
        let agreed = trust::check(&file, Consent::Given);
        Some(agreed.and_then(|()| self.read_config()))
    }

    fn configured(&self, entry: &config::Entry) -> Configured {
        Configured {
            entry: entry.clone(),
            config: self.options.config.clone(),
            inputs: BTreeMap::new(),
            alias: None,
        }
    }

    /// Adds the server of an entry, or updates it.
    fn take_entry(
        &self,
        place: &Place,
        entry: &config::Entry,
        taken: &mut BTreeMap<String, String>,
    ) -> Outcome {
        let mut configured = self.configured(entry);
        let known = self.known_entry(&entry.file, &entry.name);
        if let Some((_, inputs, alias)) = &known {
            configured.inputs.clone_from(inputs);
            configured.alias.clone_from(alias);
        }
        let mut resolved = configured.resolve()?;
        let consent = if self.options.trust {
            Consent::Given
        } else {
            Consent::Never
        };
        let is_trusted =
            place.owner != PlaceOwner::Project || trust::check(&place.path, consent).is_ok();
        if !is_trusted {
            resolved.blocked = Some(Blocked::Untrusted {
                file: place.path.clone(),
            });
        } else if configured.alias.is_some() {
            // It is used under another name.
        } else if let Some(by) = taken.get(&entry.name)
            && resolved.server.can_be_found()
        {
            resolved.blocked = Some(Blocked::Shadowed { by: by.clone() });
        } else if resolved.is_usable() {
            taken.insert(entry.name.clone(), short(&entry.file));
        }
        if let Some((id, ..)) = known {
            let mut state = self.lock();
            if let Some(old) = state.server(&id) {
                old.configured = Some(configured);
                old.resolve(resolved);
            }
            drop(state);
            self.tell_of(&id);
        } else {
            let origin = Origin::configured(short(&entry.file), &entry.name);
            self.add_entry(resolved, origin, Some(configured))?;
        }
        Ok(())
    }

    /// The server that was added for an entry, with the values of its inputs and its other name.
    pub(super) fn known_entry(&self, file: &Path, name: &str) -> Option<KnownEntry> {
        let state = self.lock();
        let mut entries = state.servers.iter();
        let known = entries.find_map(|server| {
            let configured = server.configured.as_ref()?;
            let is_it = configured.entry.file == file && configured.entry.name == name;
            is_it.then(|| {
                let alias = configured.alias.clone();
                (server.id.clone(), configured.inputs.clone(), alias)
            })
        });
        drop(state);
        known
    }

    /// Removes servers that are no longer in any file, unless they are in use.
    fn forget_entries(self: &Arc<Self>, seen: &[(PathBuf, String)]) {
        let state = self.lock();
        let gone = state.servers.iter().filter(|server| {
            let is_gone = server.origin.word.is_some()
                && server.configured.as_ref().is_some_and(|configured| {
                    let entry = &configured.entry;
                    seen.iter()
                        .all(|(file, name)| (file, name) != (&entry.file, &entry.name))
                });
            is_gone && server.stage == Stage::Closed
        });
        let gone: Vec<String> = gone.map(|server| server.id.clone()).collect();
        drop(state);
        for id in gone {
            self.remove(&id);
        }
    }
}

/// Parses the document of the page's form, as far as it can be used.
pub(super) fn read_form(
    document: &str,
    inputs: BTreeMap<String, String>,
) -> Outcome<(Configured, Resolved)> {
    let file = config::File::parse(Path::new("page.json"), document).map_err(Failed::usage)?;
    let entry = file.entries.into_iter().next();
    let entry = entry.ok_or_else(|| Failed::usage("no server was described"))?;
    let configured = Configured {
        entry,
        config: None,
        inputs,
        alias: None,
    };
    let resolved = configured.resolve()?;
    match resolved.blocked {
        Some(Blocked::Unusable { message }) => Err(Failed::usage(message)),
        _ => Ok((configured, resolved)),
    }
}

/// A path as people write it, relative to the home folder.
fn short(path: &Path) -> String {
    let home = env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    match home.and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
