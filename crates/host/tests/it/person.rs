//! A user for tests who gives fixed answers and remembers the questions.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use turnbuckle_host::{
    ConsentAnswer, ConsentQuestion, FormAnswer, Requester, Review, UserInterface, VisitAnswer,
    VisitRequest,
    protocol::{
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams, ElicitValue,
    },
};

type Future<'a, T> = std::pin::Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// A question that the user was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) who: Requester,
    pub(crate) what: String,
    pub(crate) question: Option<ConsentQuestion>,
}

/// A user who gives these answers.
pub(crate) struct Person {
    pub(crate) consent: Mutex<ConsentAnswer>,
    pub(crate) form: FormAnswer,
    pub(crate) visit: VisitAnswer,
    pub(crate) prompt: Review<CreateMessageRequestParams>,
    pub(crate) answer: Review<CreateMessageResult>,
    asked: Mutex<Vec<Asked>>,
    open: AtomicUsize,
    most_open: AtomicUsize,
}

impl Person {
    /// Makes a user who gives this answer to consent questions, and fills in `city`.
    pub(crate) fn who(consent: ConsentAnswer) -> Self {
        let city = [("city".to_owned(), ElicitValue::from("Vienna"))];
        Self {
            consent: Mutex::new(consent),
            form: FormAnswer::Accept(city.into()),
            visit: VisitAnswer::Accept,
            prompt: Review::Decline,
            answer: Review::Decline,
            asked: Mutex::new(Vec::new()),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The kinds and subjects of the questions so far.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.what).collect()
    }

    /// The largest number of questions that were open at the same time.
    pub(crate) fn most_open(&self) -> usize {
        self.most_open.load(Ordering::SeqCst)
    }

    async fn hear(&self, who: &Requester, what: String, question: Option<&ConsentQuestion>) {
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_open.fetch_max(open, Ordering::SeqCst);
        self.asked.lock().unwrap().push(Asked {
            who: who.clone(),
            what,
            question: question.cloned(),
        });
        // Let other tasks ask meanwhile.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl UserInterface for Person {
    fn consent<'a>(
        &'a self,
        who: &'a Requester,
        question: &'a ConsentQuestion,
    ) -> Future<'a, ConsentAnswer> {
        Box::pin(async move {
            let what = format!("{} {}", question.kind, question.subject);
            self.hear(who, what, Some(question)).await;
            self.consent.lock().unwrap().clone()
        })
    }

    fn form<'a>(
        &'a self,
        who: &'a Requester,
        form: &'a ElicitRequestFormParams,
    ) -> Future<'a, FormAnswer> {
        Box::pin(async move {
            self.hear(who, format!("form {}", form.message), None).await;
            self.form.clone()
        })
    }

    fn visit<'a>(&'a self, who: &'a Requester, visit: VisitRequest<'a>) -> Future<'a, VisitAnswer> {
        Box::pin(async move {
            self.hear(who, format!("visit {}", visit.host), None).await;
            self.visit
        })
    }

    fn review_prompt<'a>(
        &'a self,
        who: &'a Requester,
        request: &'a CreateMessageRequestParams,
    ) -> Future<'a, Review<CreateMessageRequestParams>> {
        Box::pin(async move {
            let count = request.messages.len();
            self.hear(who, format!("prompt of {count}"), None).await;
            self.prompt.clone()
        })
    }

    fn review_answer<'a>(
        &'a self,
        who: &'a Requester,
        answer: &'a CreateMessageResult,
    ) -> Future<'a, Review<CreateMessageResult>> {
        Box::pin(async move {
            self.hear(who, format!("answer {}", answer.text()), None)
                .await;
            self.answer.clone()
        })
    }
}

/// Wraps the user so that the host and the test can share it.
pub(crate) fn shared(person: Person) -> Arc<Person> {
    Arc::new(person)
}
