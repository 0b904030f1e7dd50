//! Finds servers by name in all config files.

use std::path::{Path, PathBuf};

use super::{ConfigError, Entry, File, Place, PlaceOwner, Places};

/// The config files that were found in a set of places, and the servers in them.
/// [`load`](Self::load) reads the usual places, [`only`](Self::only) a single file. Neither starts
/// a server.
#[derive(Debug)]
pub struct ConfigFiles {
    /// Each existing file, nearest first, or the reason why it cannot be used. Files without
    /// servers are left out.
    pub files: Vec<(Place, Result<File, ConfigError>)>,
    /// The places where no file was found.
    pub absent: Vec<Place>,
    folder: PathBuf,
}

/// An entry that has the requested name, from [`ConfigFiles::find`].
#[derive(Clone, Debug)]
pub struct FoundEntry {
    /// The entry.
    pub entry: Entry,
    /// Where its file is.
    pub place: Place,
    /// Farther entries of the same name, nearest first. Tell the user about them, in case they
    /// expect one of these.
    pub shadowed: Vec<(Place, Entry)>,
}

/// Why no server was found under a name. Returned by [`ConfigFiles::find`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No file has a server of that name.
    #[error("no config file has a server `{name}`{}", near(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The most similar known name.
        nearest: Option<String>,
        /// The names of all known servers.
        known: Vec<String>,
        /// The files that were read.
        searched: Vec<PathBuf>,
    },
    /// The file that was named cannot be used.
    #[error(transparent)]
    File(#[from] ConfigError),
}

fn near(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; there is `{nearest}`"))
}

impl ConfigFiles {
    /// Reads every config file at the usual places. Files that cannot be read are kept with their
    /// error, in [`files`](Self::files), so that one broken file does not hide the others. Files
    /// without a section of servers, such as settings of an editor, are left out.
    pub fn load(places: &Places) -> Self {
        let (present, absent): (Vec<_>, Vec<_>) = places
            .all()
            .into_iter()
            .partition(|place| place.path.is_file());
        let files = present.into_iter().filter_map(|place| {
            match File::open(&place.path) {
                // Ignore settings of an editor that has no servers.
                Err(ConfigError::NoServers { .. }) => None,
                read => Some((place, read)),
            }
        });
        Self {
            files: files.collect(),
            absent,
            folder: places.folder.clone(),
        }
    }

    /// Reads only this file. Entries for a project other than that of the current folder are ignored.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be used.
    pub fn only(path: &Path) -> Result<Self, ConfigError> {
        let place = Place {
            host: "--config",
            path: path.to_owned(),
            owner: PlaceOwner::Caller,
        };
        Ok(Self {
            files: vec![(place, Ok(File::open(path)?))],
            absent: Vec::new(),
            folder: std::env::current_dir().unwrap_or_default(),
        })
    }

    /// All entries that are valid in this folder, nearest file first, including entries that are
    /// shadowed by a nearer one of the same name.
    pub fn entries(&self) -> impl Iterator<Item = (&Place, &Entry)> {
        self.files
            .iter()
            .filter_map(|(place, file)| Some((place, file.as_ref().ok()?)))
            .flat_map(|(place, file)| file.entries.iter().map(move |entry| (place, entry)))
            .filter(|(_, entry)| self.counts(entry))
    }

    /// Finds a server by its name, or by `file:name`. If several entries have the name, the nearest
    /// one is returned, with the others in [`shadowed`](FoundEntry::shadowed).
    ///
    /// ```no_run
    /// use turnbuckle_host::config::{ConfigFiles, Environment, Places};
    ///
    /// # fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let files = ConfigFiles::load(&Places::of_process());
    /// let found = files.find("git")?;
    /// println!("{:?}", found.entry.launch(&Environment)?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`LookupError`] if there is no such server, with the most similar name, or if the file that
    /// was named cannot be used.
    pub fn find(&self, name: &str) -> Result<FoundEntry, LookupError> {
        if let Some((file, inside)) = name.rsplit_once(':') {
            let path = Path::new(file);
            if path.is_file() {
                return Self::only(path)?.find(inside);
            }
        }
        let named = self.entries().filter(|(_, entry)| entry.name == name);
        let mut named: Vec<_> = named
            .map(|(place, entry)| (place.clone(), entry.clone()))
            .collect();
        // If one file has two entries of the name, the entry for this project alone is nearer.
        let is_nearer = |(_, entry): &(Place, Entry)| {
            entry.scope.is_some() && named[0].1.scope.is_none() && entry.file == named[0].1.file
        };
        if let Some(index) = named.iter().position(is_nearer) {
            named[..=index].rotate_right(1);
        }
        let mut named = named.into_iter();
        let (place, entry) = named.next().ok_or_else(|| self.unknown(name))?;
        Ok(FoundEntry {
            entry,
            place,
            shadowed: named.collect(),
        })
    }

    fn counts(&self, entry: &Entry) -> bool {
        entry
            .scope
            .as_ref()
            .is_none_or(|scope| self.folder.starts_with(scope))
    }

    fn unknown(&self, name: &str) -> LookupError {
        let mut known: Vec<String> = self
            .entries()
            .map(|(_, entry)| entry.name.clone())
            .collect();
        known.sort_unstable();
        known.dedup();
        LookupError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, &known),
            searched: self
                .files
                .iter()
                .map(|(place, _)| place.path.clone())
                .collect(),
            known,
        }
    }
}

/// The known name that is most similar to `name`, if one is similar enough.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    turnbuckle_schema::nearest_name(name, known.iter().map(String::as_str)).map(str::to_owned)
}
