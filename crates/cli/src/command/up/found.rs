//! The servers of all config files at the usual places, for a gateway that was started without a file.
//!
//! There is no new plan for a running gateway while a file that it uses is broken, or is not trusted with its new
//! content. Otherwise its servers would be removed, and its policy and its lock dropped.

use std::{collections::HashSet, error::Error as _, fs, path::Path};

use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    target,
    trust::{self, Consent},
};
use turnbuckle_host::config::{ConfigError, ConfigFiles, File, Place, PlaceOwner, Places};

use super::{file::GatewayFile, plan::Plan, used_files::UsedFiles};

/// The file with a gateway's own settings.
const OWN_FILE: &str = "turnbuckle.toml";

impl Plan {
    /// Adds the servers of every file at a usual place. Of several with the same name, the nearest is used.
    pub(super) fn add_found(&mut self, consent: Consent, before: &UsedFiles) -> Outcome {
        before.check_contents()?;
        let (config_files, strange) = target::config_files(None)?;
        for place in &strange {
            let why = target::somebody_elses(&place.path);
            before.leave_out(&place.path, &mut self.problems, why)?;
        }
        if let Some(place) = settings_alone(&config_files, &strange) {
            self.add_own(&place, consent, before)?;
        }
        for (place, file) in &config_files.files {
            let is_own = self.used.own.is_none() && is_own_file(&place.path);
            match file {
                // Without its policy and its keys, the gateway would allow more than the file says.
                Err(error) if is_own => return Err(Failed::usage(with_cause(error))),
                _ if is_own => self.add_own(place, consent, before)?,
                Ok(file) => {
                    if self.agrees(place, consent, before)? {
                        self.add_file_of_host(&config_files, file);
                    }
                }
                Err(error) => {
                    // It may be mended.
                    self.files.push(place.path.clone());
                    before.leave_out(&place.path, &mut self.problems, with_cause(error))?;
                }
            }
        }
        // Agreeing to a file does not change the file.
        self.files.extend(trust::list());
        // A file may appear at any usual place, and one without servers may get some.
        let places = Places::of_process().all().into_iter();
        self.files.extend(places.map(|place| place.path));
        match &before.own {
            Some(own) if !own.is_file() => {
                Err(Failed::usage(format!("`{}` is missing", own.display())))
            }
            _ => Ok(()),
        }
    }

    /// Whether the user has agreed to use a file. If so, it is in use from now on. In any case it is watched.
    fn agrees(&mut self, place: &Place, consent: Consent, before: &UsedFiles) -> Outcome<bool> {
        let path = &place.path;
        self.files.push(path.clone());
        if place.owner == PlaceOwner::Project
            && let Err(failed) = trust::check(path, consent)
        {
            let why = if before.files.contains(path) {
                not_agreed_again(path)
            } else {
                format!("{}; `--trust` agrees to it as it is now", failed.said())
            };
            before.leave_out(path, &mut self.problems, why)?;
            return Ok(false);
        }
        self.used.files.insert(path.clone());
        Ok(true)
    }

    /// Adds the file with the settings of the gateway.
    fn add_own(&mut self, place: &Place, consent: Consent, before: &UsedFiles) -> Outcome {
        if !self.agrees(place, consent, before)? {
            return Ok(());
        }
        self.used.own = Some(place.path.clone());
        self.add_file(&place.path, |plan, import| {
            let place = Place {
                host: place.host,
                path: import.to_owned(),
                owner: import_owner(import),
            };
            plan.agrees(&place, consent, before)
        })
    }

    fn add_file_of_host(&mut self, config_files: &ConfigFiles, file: &File) {
        let in_scope: HashSet<&str> = config_files
            .entries()
            .map(|(_, entry)| entry.name.as_str())
            .collect();
        for entry in &file.entries {
            if in_scope.contains(entry.name.as_str()) {
                self.add_entry(entry, &GatewayFile::default());
            }
        }
    }
}

/// Who controls a file that a project's file imports. The user agreed to the file of the project, but not to other
/// files as they are now, unless these are the user's own.
fn import_owner(import: &Path) -> PlaceOwner {
    let Ok(real) = fs::canonicalize(import) else {
        return PlaceOwner::Project;
    };
    let places = Places::of_process().all();
    let is_users = places.iter().any(|place| {
        place.owner == PlaceOwner::User
            && fs::canonicalize(&place.path).is_ok_and(|path| path == real)
    });
    if is_users {
        PlaceOwner::User
    } else {
        PlaceOwner::Project
    }
}

fn is_own_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == OWN_FILE)
}

/// The nearest file with the settings of a gateway, if it has no section with servers. Such a file is not among the
/// config files of hosts.
fn settings_alone(config_files: &ConfigFiles, strange: &[Place]) -> Option<Place> {
    let places = Places::of_process().all();
    let is_there = |place: &Place| is_own_file(&place.path) && place.path.is_file();
    let nearest = places.into_iter().find(is_there)?;
    let mut listed = config_files.files.iter().map(|(place, _)| place);
    let is_listed = listed.any(|place| *place == nearest) || strange.contains(&nearest);
    (!is_listed && trust::is_own(&nearest.path)).then_some(nearest)
}

/// The message about a file that cannot be read, with the error of the operating system.
fn with_cause(error: &ConfigError) -> String {
    let cause = error.source().map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

/// The message about a file in use whose new content the user has not trusted.
fn not_agreed_again(path: &Path) -> String {
    format!(
        "`{}` has changed, and you have not agreed to use it as it is now; `turnbuckle up --check --trust` \
         agrees to it",
        path.display()
    )
}
