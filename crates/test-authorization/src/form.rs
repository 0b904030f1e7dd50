//! Forms and queries without repeated fields.

use super::reply::Problem;

/// The fields of a form or a query.
#[derive(Debug, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) fn parse(text: &[u8]) -> Result<Self, Problem> {
        let mut fields: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(text) {
            // RFC 6749, 3.1 and 3.2: parameters MUST NOT be included more than once.
            if fields.iter().any(|(known, _)| *known == name) {
                let message = format!("the parameter `{name}` appears more than once");
                return Err(Problem::new("invalid_request", message));
            }
            fields.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(fields))
    }

    /// The value of a field that is not empty. RFC 6749 treats empty fields as missing.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn need(&self, name: &str) -> Result<&str, Problem> {
        let missing = || Problem::new("invalid_request", format!("`{name}` is missing"));
        self.get(name).ok_or_else(missing)
    }

    /// The requested scopes.
    pub(super) fn scopes(&self) -> Vec<String> {
        let scopes = self.get("scope").unwrap_or_default().split(' ');
        let scopes = scopes.filter(|scope| !scope.is_empty());
        scopes.map(str::to_owned).collect()
    }

    /// The requested resource, unchanged (RFC 8707).
    pub(super) fn resource(&self) -> Result<Option<String>, Problem> {
        let Some(resource) = self.get("resource") else {
            return Ok(None);
        };
        if resource.contains('#') || !resource.contains("://") {
            let message = "`resource` must be an absolute URL without a fragment";
            return Err(Problem::new("invalid_target", message));
        }
        Ok(Some(resource.to_owned()))
    }
}
