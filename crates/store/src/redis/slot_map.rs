//! The slot map: which node of a cluster has which slot.

use ::redis::{ErrorKind, RedisError, Value};

use super::{address::Address, slot::SLOTS};

/// The nodes of a cluster and their slots.
#[derive(Debug)]
pub(super) struct SlotMap {
    /// All nodes: those that have slots, and their replicas.
    nodes: Vec<Address>,
    /// For each slot, the index of its node in `nodes`.
    owners: Vec<Option<u16>>,
}

impl SlotMap {
    /// Makes a map of nodes whose slots are unknown.
    pub(super) fn unknown(nodes: Vec<Address>) -> Self {
        Self {
            nodes,
            owners: vec![None; SLOTS],
        }
    }

    /// Reads the answer to `CLUSTER SLOTS` of the node at this address.
    pub(super) fn read(answer: Value, asked: &Address) -> Result<Self, RedisError> {
        let mut map = Self::unknown(Vec::new());
        for range in ::redis::from_redis_value::<Vec<Vec<Value>>>(answer)? {
            let mut range = range.into_iter();
            let (Some(first), Some(last)) = (range.next(), range.next()) else {
                return Err(unreadable());
            };
            let first: usize = ::redis::from_redis_value(first)?;
            let last: usize = ::redis::from_redis_value(last)?;
            // The first node has the slots; the others are its replicas.
            let mut owner = None;
            for node in range {
                let place = map.place(node_address(node, asked)?);
                owner.get_or_insert(place);
            }
            let slots = map.owners.get_mut(first..=last).ok_or_else(unreadable)?;
            slots.fill(owner);
        }
        Ok(map)
    }

    pub(super) fn owner(&self, slot: u16) -> Option<&Address> {
        let place = self.owners.get(usize::from(slot)).copied().flatten()?;
        self.nodes.get(usize::from(place))
    }

    /// Sets a new owner of a slot.
    pub(super) fn set_owner(&mut self, slot: u16, owner: Address) {
        let place = self.place(owner);
        if let Some(slot) = self.owners.get_mut(usize::from(slot)) {
            *slot = Some(place);
        }
    }

    /// All nodes.
    pub(super) fn nodes(&self) -> &[Address] {
        &self.nodes
    }

    /// The nodes that have slots.
    pub(super) fn owners(&self) -> Vec<Address> {
        let mut places: Vec<_> = self.owners.iter().copied().flatten().collect();
        places.sort_unstable();
        places.dedup();
        let owners = places
            .into_iter()
            .filter_map(|place| self.nodes.get(usize::from(place)));
        owners.cloned().collect()
    }

    fn place(&mut self, node: Address) -> u16 {
        let place = self.nodes.iter().position(|known| *known == node);
        let place = place.unwrap_or_else(|| {
            self.nodes.push(node);
            self.nodes.len() - 1
        });
        // A cluster has at most a thousand nodes.
        u16::try_from(place).unwrap_or(u16::MAX)
    }
}

/// The address of a node. A node that does not know its own name is at the address that was asked.
fn node_address(node: Value, asked: &Address) -> Result<Address, RedisError> {
    let mut parts = ::redis::from_redis_value::<Vec<Value>>(node)?.into_iter();
    let (Some(host), Some(port)) = (parts.next(), parts.next()) else {
        return Err(unreadable());
    };
    let host: Option<String> = ::redis::from_redis_value(host)?;
    let port = ::redis::from_redis_value::<i64>(port)?;
    let port = u16::try_from(port).map_err(|_| unreadable())?;
    Ok(match host.as_deref() {
        None | Some("" | "?") => Address::new(asked.host(), port),
        Some(host) => Address::new(host, port),
    })
}

fn unreadable() -> RedisError {
    RedisError::from((
        ErrorKind::Client,
        "the answer is not that of a node of a Redis Cluster",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: &str, port: i64) -> Value {
        let host = match host {
            "" => Value::Nil,
            _ => Value::BulkString(host.into()),
        };
        Value::Array(vec![host, Value::Int(port), Value::BulkString("id".into())])
    }

    #[test]
    fn slots_have_the_owners_that_the_cluster_names() {
        let asked = Address::new("here", 1);
        let answer = Value::Array(vec![
            Value::Array(vec![
                Value::Int(0),
                Value::Int(99),
                node("a", 1),
                node("b", 2),
            ]),
            Value::Array(vec![Value::Int(101), Value::Int(16383), node("", 3)]),
        ]);
        let mut map = SlotMap::read(answer, &asked).unwrap();
        assert_eq!(map.owner(0), Some(&Address::new("a", 1)));
        assert_eq!(map.owner(99), Some(&Address::new("a", 1)));
        assert_eq!(map.owner(100), None);
        assert_eq!(map.owner(16383), Some(&Address::new("here", 3)));
        assert_eq!(map.nodes().len(), 3);
        assert_eq!(map.owners().len(), 2, "replicas have no slots");
        map.set_owner(100, Address::new("b", 2));
        assert_eq!(map.owner(100), Some(&Address::new("b", 2)));
        assert_eq!(map.owners().len(), 3);
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_an_error() {
        let asked = Address::new("here", 1);
        for answer in [
            Value::Okay,
            Value::Array(vec![Value::Array(vec![])]),
            Value::Array(vec![Value::Array(vec![
                Value::Int(9),
                Value::Int(16384),
                node("a", 1),
            ])]),
            Value::Array(vec![Value::Array(vec![
                Value::Int(9),
                Value::Int(8),
                node("a", 99999),
            ])]),
        ] {
            assert!(SlotMap::read(answer.clone(), &asked).is_err(), "{answer:?}");
        }
    }
}
