//! Chooses the model for a server's sampling request.

use std::sync::Arc;

use turnbuckle_protocol::ModelPreferences;

use crate::model::Model;

/// How a model compares to the others, each value from 0 to 1. Only the order of the values matters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ratings {
    /// How cheap it is.
    pub cheapness: f64,
    /// How fast it is.
    pub speed: f64,
    /// How capable it is.
    pub intelligence: f64,
}

/// The models of a host, from which [`choose`](Self::choose) takes one by a server's preferences.
/// Give it to [`Sampler::new`](crate::sampling::Sampler::new).
#[derive(Clone)]
pub struct ModelList {
    first: (Arc<dyn Model>, Ratings),
    others: Vec<(Arc<dyn Model>, Ratings)>,
}

impl ModelList {
    /// Makes a list with one model, which is also the default if neither hints nor priorities
    /// choose another one.
    pub fn new(model: Arc<dyn Model>, ratings: Ratings) -> Self {
        Self {
            first: (model, ratings),
            others: Vec::new(),
        }
    }

    /// Adds a model. If the preferences do not distinguish models, those that were added earlier
    /// are preferred.
    pub fn with_model(mut self, model: Arc<dyn Model>, ratings: Ratings) -> Self {
        self.others.push((model, ratings));
        self
    }

    /// Chooses a model. The first hint that is contained in the name of a model, ignoring case,
    /// decides. If it is contained in several names, or no hint matches, the priorities decide. If
    /// these are equal, the first model in the list is chosen.
    pub fn choose(&self, preferences: Option<&ModelPreferences>) -> &Arc<dyn Model> {
        let hints = preferences.and_then(|preferences| preferences.hints.as_ref());
        let names = hints
            .into_iter()
            .flatten()
            .filter_map(|hint| hint.name.as_ref());
        // sampling: hints are evaluated in order, and the first match is used.
        for name in names {
            let name = name.to_lowercase();
            let fits = |model: &dyn Model| model.name().to_lowercase().contains(&name);
            if let Some(model) = self.best(preferences, &fits) {
                return model;
            }
        }
        self.best(preferences, &|_| true).unwrap_or(&self.first.0)
    }

    fn best(
        &self,
        preferences: Option<&ModelPreferences>,
        fits: &dyn Fn(&dyn Model) -> bool,
    ) -> Option<&Arc<dyn Model>> {
        let mut best: Option<(f64, &Arc<dyn Model>)> = None;
        for (model, ratings) in std::iter::once(&self.first).chain(&self.others) {
            if !fits(model.as_ref()) {
                continue;
            }
            let score = score(preferences, ratings);
            if best.is_none_or(|(before, _)| score > before) {
                best = Some((score, model));
            }
        }
        best.map(|(_, model)| model)
    }
}

fn score(preferences: Option<&ModelPreferences>, ratings: &Ratings) -> f64 {
    let Some(preferences) = preferences else {
        return 0.0;
    };
    let weigh = |priority: Option<f64>, rating: f64| {
        // A server may send any number, and comparisons with NaN are always false.
        let in_range = |number: f64| {
            if number.is_nan() {
                0.0
            } else {
                number.clamp(0.0, 1.0)
            }
        };
        in_range(priority.unwrap_or(0.0)) * in_range(rating)
    };
    weigh(preferences.cost_priority, ratings.cheapness)
        + weigh(preferences.speed_priority, ratings.speed)
        + weigh(preferences.intelligence_priority, ratings.intelligence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApiSettings, OpenAi};
    use turnbuckle_protocol::ModelHint;

    fn model(name: &str) -> Arc<dyn Model> {
        let url = "http://localhost:1/v1";
        Arc::new(OpenAi::compatible(url, name, None, ApiSettings::new()).unwrap())
    }

    fn models() -> ModelList {
        let ratings = |cheapness, speed, intelligence| Ratings {
            cheapness,
            speed,
            intelligence,
        };
        ModelList::new(model("claude-sonnet-4"), ratings(0.5, 0.5, 0.8))
            .with_model(model("gpt-4o-mini"), ratings(1.0, 0.9, 0.3))
            .with_model(model("claude-opus-4"), ratings(0.1, 0.2, 1.0))
    }

    fn preferences(hints: &[&str], priorities: [f64; 3]) -> ModelPreferences {
        let [cost, speed, intelligence] = priorities;
        ModelPreferences::new()
            .with_hints(hints.iter().map(|hint| ModelHint::new(*hint)).collect())
            .with_cost_priority(cost)
            .with_speed_priority(speed)
            .with_intelligence_priority(intelligence)
    }

    // rule: Q4
    #[test]
    fn hints_decide_in_order_and_priorities_after_them() {
        for (hints, priorities, wanted) in [
            (
                &["claude-3-sonnet", "gpt", "claude"][..],
                [0.0; 3],
                "gpt-4o-mini",
            ),
            (&["OPUS"], [1.0, 1.0, 0.0], "claude-opus-4"),
            (&["claude"], [0.0, 0.0, 1.0], "claude-opus-4"),
            (&["claude"], [1.0, 0.0, 0.0], "claude-sonnet-4"),
            (&["gemini"], [1.0, 0.0, 0.2], "gpt-4o-mini"),
            (&[], [0.0, 0.0, 1.0], "claude-opus-4"),
            (&[], [f64::NAN, f64::NAN, f64::NAN], "claude-sonnet-4"),
            (&[], [0.0; 3], "claude-sonnet-4"),
        ] {
            let preferences = preferences(hints, priorities);
            let models = models();
            assert_eq!(
                models.choose(Some(&preferences)).name(),
                wanted,
                "{preferences:?}"
            );
        }
        assert_eq!(models().choose(None).name(), "claude-sonnet-4");
    }
}
