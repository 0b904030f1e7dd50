//! Finds servers by name in all config files.

use std::path::{Path, PathBuf};

use super::{ConfigError, Entry, File, Place, PlaceOwner, Places};

/// All config files that were found in a set of places, and the servers in them.
/// [`load`](Self::load) reads the usual places, [`only`](Self::only) a single file. Nothing is
/// started by it.
#[derive(Debug)]
pub struct ConfigFiles {
    /// Each file that is there, nearest first, or why it cannot be used. Files without servers are
    /// left out.
    pub files: Vec<(Place, Result<File, ConfigError>)>,
    /// The places where a file could have been, but was not.
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
    /// Other entries of the same name, which are farther away, nearest first. Tell the user if they
    /// may expect one of these.
    pub shadowed: Vec<(Place, Entry)>,
}

/// Why no server was found under a name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No file has a server of that name.
    #[error("no config file has a server `{name}`{}", near(.nearest.as_deref()))]
    Unknown {
        /// The name.
        name: String,
        /// The name that is most like it.
        nearest: Option<String>,
        /// The names there are.
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
                // Settings of an editor that has no servers are not worth a word.
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

    /// Reads this one file and no other. Entries for another project than that of the current
    /// folder do not count.
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

    /// All entries that are valid in this folder, nearest file first. Entries that are hidden by
    /// one of the same name are included.
    pub fn entries(&self) -> impl Iterator<Item = (&Place, &Entry)> {
        self.files
            .iter()
            .filter_map(|(place, file)| Some((place, file.as_ref().ok()?)))
            .flat_map(|(place, file)| file.entries.iter().map(move |entry| (place, entry)))
            .filter(|(_, entry)| self.counts(entry))
    }

    /// Finds a server by its name, or by `file:name`. Of several entries with the name, the nearest
    /// is returned, and the others as [`shadowed`](FoundEntry::shadowed).
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
    /// [`LookupError`] if there is no such server, with the most similar name; or if the file that
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
        // Of two in one file, one for this project alone is nearer than one for all.
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

/// The name that is most like another, if one is like it at all.
fn nearest(name: &str, known: &[String]) -> Option<String> {
    turnbuckle_schema::nearest_name(name, known.iter().map(String::as_str)).map(str::to_owned)
}
