//! Caches tools in the form in which they were last written: a conversation has the same tools in
//! every round.

use std::sync::Arc;

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::Tool;

use crate::format::{Format, ToolList};

pub(super) struct WrittenTools {
    format: Format,
    last: Mutex<Option<(Vec<Tool>, Arc<ToolList>)>>,
}

impl WrittenTools {
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            last: Mutex::new(None),
        }
    }

    pub(super) fn of(&self, tools: &[Tool]) -> Arc<ToolList> {
        let mut last = self.last.lock();
        if let Some((before, list)) = &*last
            && before == tools
        {
            return Arc::clone(list);
        }
        let list = Arc::new(self.format.tools(tools));
        *last = Some((tools.to_vec(), Arc::clone(&list)));
        list
    }
}
