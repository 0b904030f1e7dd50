//! The attributes of turnbuckle: tool, prompt, resource, handlers.
