//! The public types of the crate, as declared in its source.

use std::{fmt, fs, path::Path};

use syn::{
    Attribute, Fields, GenericArgument, ImplItem, Item, PathArguments, ReturnType, Type, Visibility,
};

/// Folders without wire types: the envelope, HTTP, the rules of revisions, markers for methods, and
/// tests.
const WITHOUT: [&str; 5] = ["envelope", "http", "method", "revision", "tests"];

/// A public type.
pub(super) struct Ours {
    pub(super) name: String,
    pub(super) is_non_exhaustive: bool,
    /// Whether there is a constructor, a default or a conversion.
    pub(super) can_be_made: bool,
    /// Whether there are public fields or variants.
    pub(super) has_public_parts: bool,
    pub(super) form: Form,
}

/// The form of a type in JSON.
pub(super) enum Form {
    /// An object with these members.
    Object(Vec<Member>),
    /// One of some words.
    Words(Vec<String>),
    /// One of several types.
    Either(Vec<Rust>),
    /// An alias of another type, or a type with hand-written (de)serialisation.
    Other,
}

/// A field of a struct.
#[derive(Clone)]
pub(super) struct Member {
    /// The name in JSON.
    pub(super) name: String,
    pub(super) rust: Rust,
    pub(super) is_optional: bool,
    /// Whether its members are written in its place (`#[serde(flatten)]`).
    pub(super) is_flat: bool,
}

/// A Rust type: its last name and its arguments.
#[derive(Clone, Debug)]
pub(super) struct Rust {
    pub(super) name: String,
    pub(super) arguments: Vec<Rust>,
}

impl Rust {
    fn of(ty: &Type) -> Self {
        let Type::Path(path) = ty else {
            panic!("a wire type is made of named types");
        };
        let last = path.path.segments.last().expect("a path has a segment");
        let arguments = match &last.arguments {
            PathArguments::AngleBracketed(listed) => listed.args.iter().filter_map(argument),
            _ => return Self::named(last),
        };
        Self {
            arguments: arguments.collect(),
            ..Self::named(last)
        }
    }

    fn named(segment: &syn::PathSegment) -> Self {
        Self {
            name: segment.ident.to_string(),
            arguments: Vec::new(),
        }
    }

    /// Returns the type inside of `Option` and `Box`.
    pub(super) fn bare(&self) -> &Self {
        match (self.name.as_str(), self.arguments.first()) {
            ("Option" | "Box", Some(inner)) => inner.bare(),
            _ => self,
        }
    }
}

impl fmt::Display for Rust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.arguments.as_slice() {
            [] => Ok(()),
            [one] => write!(f, "<{one}>"),
            [first, second, ..] => write!(f, "<{first}, {second}>"),
        }
    }
}

fn argument(argument: &GenericArgument) -> Option<Rust> {
    match argument {
        GenericArgument::Type(ty) => Some(Rust::of(ty)),
        _ => None,
    }
}

/// Returns every public type of the crate's wire modules.
pub(super) fn types() -> Vec<Ours> {
    let mut items = Vec::new();
    read_folder(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut items,
    );
    let found = declared(&items);
    assert!(found.len() > 100, "only {} types were found", found.len());
    found
}

/// Returns every public type of the envelope.
pub(super) fn envelope_types() -> Vec<Ours> {
    let mut items = Vec::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    read_folder(&source.join("envelope"), &mut items);
    declared(&items)
}

fn read_folder(folder: &Path, items: &mut Vec<Item>) {
    for entry in fs::read_dir(folder).expect("the source is at hand") {
        let path = entry.expect("the source is at hand").path();
        let name = path.file_name().expect("an entry has a name");
        if path.is_dir() {
            if !WITHOUT.iter().any(|without| name == *without) {
                read_folder(&path, items);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("source is text");
            items.extend(syn::parse_file(&text).expect("source is Rust").items);
        }
    }
}

/// Returns the public types among some items.
pub(super) fn declared(items: &[Item]) -> Vec<Ours> {
    let mut types: Vec<_> = items.iter().filter_map(read_item).collect();
    for made in items.iter().filter_map(made_by) {
        for ours in types.iter_mut().filter(|ours| ours.name == made) {
            ours.can_be_made = true;
        }
    }
    let names: Vec<_> = types.iter().map(|ours| ours.name.clone()).collect();
    for (index, name) in names.iter().enumerate() {
        if let Some(members) = unfolded(name, &types, &mut Vec::new()) {
            types[index].form = Form::Object(members);
        }
    }
    types
}

/// Returns the members of a type, with flattened fields replaced by their members. A flattened map of
/// JSON is kept: it contains unknown members.
fn unfolded(name: &str, types: &[Ours], seen: &mut Vec<String>) -> Option<Vec<Member>> {
    let ours = types.iter().find(|ours| ours.name == name)?;
    let Form::Object(members) = &ours.form else {
        return None;
    };
    assert!(!seen.contains(&ours.name), "`{name}` is inside of itself");
    seen.push(ours.name.clone());
    let mut all = Vec::new();
    for member in members {
        let inner = if member.is_flat {
            unfolded(&member.rust.name, types, seen)
        } else {
            None
        };
        match inner {
            Some(inner) => all.extend(inner),
            None => all.push(member.clone()),
        }
    }
    seen.pop();
    Some(all)
}

/// Returns the type for which an `impl` has a constructor or a conversion.
fn made_by(item: &Item) -> Option<String> {
    let Item::Impl(block) = item else { return None };
    let is_conversion = block.trait_.as_ref().is_some_and(|(path, _)| {
        let last = path.segments.last();
        last.is_some_and(|segment| segment.ident == "From")
    });
    let makes = |item: &ImplItem| match item {
        ImplItem::Fn(function) => {
            is_public(&function.vis) && function.sig.receiver().is_none() && returns_self(function)
        }
        _ => false,
    };
    (is_conversion || block.items.iter().any(makes)).then(|| Rust::of(&block.self_ty).name)
}

fn returns_self(function: &syn::ImplItemFn) -> bool {
    match &function.sig.output {
        ReturnType::Type(_, ty) => matches!(&**ty, Type::Path(path) if path.path.is_ident("Self")),
        ReturnType::Default => false,
    }
}

fn read_item(item: &Item) -> Option<Ours> {
    match item {
        Item::Struct(item) if is_public(&item.vis) => Some(Ours {
            name: item.ident.to_string(),
            is_non_exhaustive: is_non_exhaustive(&item.attrs),
            can_be_made: derives(&item.attrs, "Default"),
            has_public_parts: item.fields.iter().any(|field| is_public(&field.vis)),
            form: match &item.fields {
                Fields::Named(_) if derives(&item.attrs, "Deserialize") => {
                    Form::Object(members(&item.attrs, &item.fields))
                }
                _ => Form::Other,
            },
        }),
        Item::Enum(item) if is_public(&item.vis) => Some(Ours {
            name: item.ident.to_string(),
            is_non_exhaustive: is_non_exhaustive(&item.attrs),
            can_be_made: true,
            has_public_parts: true,
            form: enum_form(item),
        }),
        Item::Macro(item) if item.mac.path.is_ident("open_words") => {
            let declared: OpenWords = item.mac.parse_body().expect("`open_words!` is parsed here");
            Some(Ours {
                name: declared.name,
                is_non_exhaustive: true,
                can_be_made: true,
                has_public_parts: true,
                form: Form::Words(declared.words),
            })
        }
        _ => None,
    }
}

fn enum_form(item: &syn::ItemEnum) -> Form {
    let serde = Serde::of(&item.attrs);
    if item
        .variants
        .iter()
        .all(|variant| variant.fields.is_empty())
    {
        let words = item.variants.iter();
        return Form::Words(words.map(|variant| serde.word(&variant.ident)).collect());
    }
    if !derives(&item.attrs, "Serialize") {
        return Form::Other;
    }
    let payloads = item.variants.iter().flat_map(|variant| &variant.fields);
    Form::Either(
        payloads
            .map(|payload| Rust::of(&payload.ty).bare().clone())
            .collect(),
    )
}

fn members(attributes: &[Attribute], fields: &Fields) -> Vec<Member> {
    let all = Serde::of(attributes);
    let fields = fields.iter().map(|field| {
        let own = Serde::of(&field.attrs);
        let name = field.ident.as_ref().expect("the fields are named");
        let rust = Rust::of(&field.ty);
        Member {
            name: own.rename.clone().unwrap_or_else(|| all.member(name)),
            is_optional: rust.name == "Option",
            is_flat: own.is_flat,
            rust: rust.bare().clone(),
        }
    });
    fields.collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_non_exhaustive(attributes: &[Attribute]) -> bool {
    let mut attributes = attributes.iter();
    attributes.any(|attribute| attribute.path().is_ident("non_exhaustive"))
}

fn derives(attributes: &[Attribute], name: &str) -> bool {
    let mut is_derived = false;
    for attribute in attributes {
        if attribute.path().is_ident("derive") {
            let read = attribute.parse_nested_meta(|derived| {
                is_derived |= derived.path.is_ident(name);
                Ok(())
            });
            read.expect("a derive lists paths");
        }
    }
    is_derived
}

/// The serde attributes about names.
#[derive(Default)]
struct Serde {
    rename: Option<String>,
    rename_all: Option<String>,
    is_flat: bool,
}

impl Serde {
    fn of(attributes: &[Attribute]) -> Self {
        let mut told = Self::default();
        for attribute in attributes {
            if attribute.path().is_ident("serde") {
                let read = attribute.parse_nested_meta(|meta| {
                    let text = meta
                        .value()
                        .and_then(syn::parse::ParseBuffer::parse::<syn::LitStr>);
                    let text = text.ok().map(|text| text.value());
                    if meta.path.is_ident("rename") {
                        told.rename = text;
                    } else if meta.path.is_ident("rename_all") {
                        told.rename_all = text;
                    } else if meta.path.is_ident("flatten") {
                        told.is_flat = true;
                    }
                    Ok(())
                });
                read.expect("serde understands its attributes, and they are words and texts here");
            }
        }
        told
    }

    /// Returns the JSON name of a field.
    fn member(&self, field: &syn::Ident) -> String {
        let name = field.to_string();
        match self.rename_all.as_deref() {
            None => name,
            Some("camelCase") => camel(&name),
            Some(other) => panic!("`{other}` is not used for fields"),
        }
    }

    /// Returns the JSON text of a variant.
    fn word(&self, variant: &syn::Ident) -> String {
        let name = variant.to_string();
        match self.rename_all.as_deref() {
            None => name,
            Some("lowercase") => name.to_lowercase(),
            Some("camelCase") => name[..1].to_lowercase() + &name[1..],
            Some("snake_case") => snake(&name),
            Some(other) => panic!("`{other}` is not used for words"),
        }
    }
}

fn camel(snake: &str) -> String {
    let mut parts = snake.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        name + &part[..1].to_uppercase() + &part[1..]
    })
}

fn snake(pascal: &str) -> String {
    let mut name = String::new();
    for letter in pascal.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// The content of `open_words!`.
struct OpenWords {
    name: String,
    words: Vec<String>,
}

impl syn::parse::Parse for OpenWords {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        Attribute::parse_outer(input)?;
        let name = input.parse::<syn::Ident>()?.to_string();
        let inside;
        syn::braced!(inside in input);
        let mut words = Vec::new();
        while !inside.is_empty() {
            Attribute::parse_outer(&inside)?;
            inside.parse::<syn::Ident>()?;
            inside.parse::<syn::Token![=]>()?;
            words.push(inside.parse::<syn::LitStr>()?.value());
            inside.parse::<Option<syn::Token![,]>>()?;
        }
        Ok(Self { name, words })
    }
}
