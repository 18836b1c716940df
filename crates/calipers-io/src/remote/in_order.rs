//! Several requests at a time, their answers in the order in which they were asked for.

use std::collections::VecDeque;
use std::future::Future;

use calipers_core::{Error, Result};
use tokio::task::JoinHandle;

use super::Client;

/// Work that a client does ahead, a limited number of pieces at a time.
pub struct InOrder<'c, J, T> {
    client: &'c Client,
    /// What was not begun yet.
    jobs: J,
    begun: VecDeque<JoinHandle<Result<T>>>,
    most: usize,
}

impl<'c, J, T> InOrder<'c, J, T> {
    /// The results of these pieces, `most` of which are under way at a time.
    pub fn new(client: &'c Client, jobs: J, most: usize) -> Self {
        Self { client, jobs, begun: VecDeque::new(), most }
    }
}

impl<J, F, T> Iterator for InOrder<'_, J, T>
where
    J: Iterator<Item = F>,
    F: Future<Output = Result<T>> + Send + 'static,
    T: Send + 'static,
{
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        while self.begun.len() < self.most {
            let Some(job) = self.jobs.next() else { break };
            self.begun.push_back(self.client.runtime().spawn(job));
        }
        let first = self.begun.pop_front()?;
        Some(self.client.wait(async move {
            first.await.unwrap_or_else(|_| Err(Error::io("a request ended before its answer")))
        }))
    }
}

impl<J, T> Drop for InOrder<'_, J, T> {
    fn drop(&mut self) {
        for job in &self.begun {
            job.abort();
        }
    }
}
