//! Effects: asking the model, running tools.

use std::sync::Arc;

use protocol::{Message, ToolBy};
use provider::{ModelRequest, ModelStream, ProviderError, Purpose, ToolSpec};

use super::{PodTask, portion::Answer};
use crate::place;

impl PodTask {
    /// Asks the model.
    pub(super) fn call_model(&mut self, messages: Vec<Message>) {
        let Some(provider) = self.inner.providers.get(&self.spec.provider) else {
            let name = &self.spec.provider;
            return self.fail(format!("the provider \"{name}\" is not configured any more; add it and resume"));
        };
        let tools = self.inner.toolbox.offered(self.spec.tools.as_deref()).map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        });
        let request =
            ModelRequest { purpose: Purpose::Answer, model: self.spec.model.clone(), messages, tools: tools.collect() };
        self.work.answer = Some(Answer::new(provider.stream(request)));
    }

    /// Starts every call that may begin now.
    pub(super) async fn start_calls(&mut self) {
        let inner = self.inner.clone();
        let only_reads = |name: &str| inner.toolbox.get(name).is_none_or(|tool| tool.only_reads());
        while let Some(call) = self.work.next_call(only_reads) {
            let place = self.place(call.by, &call.call_id).await;
            let known = inner.toolbox.get(&call.name).filter(|_| self.spec.offers(&call.name));
            let unknown = || inner.toolbox.unknown(&call.name, self.spec.tools.as_deref());
            let tool = match place {
                Ok(_) => known.ok_or_else(unknown),
                Err(ref refused) => Err(refused.clone()),
            };
            let place = place.unwrap_or_else(|_| place::nowhere(&self.worker_id, &call.call_id, self.work.lifeline()));
            self.work.run_tool(call, tool, place);
        }
    }

    async fn place(&mut self, by: ToolBy, call_id: &str) -> Result<tools::Place, pod::ToolOutcome> {
        let lifeline = self.work.lifeline();
        let seen = place::seen(&self.pod, by);
        let scope = place::scope(&self.inner, self.key, &self.spec).await;
        let scope = scope.map_err(|error| pod::ToolOutcome::failed("internal", error.detail))?;
        Ok(tools::Place {
            worker_id: self.worker_id.clone(),
            call_id: call_id.to_owned(),
            cwd: self.spec.cwd.clone().into(),
            scope,
            seen: Arc::new(seen),
            outputs: self.inner.outputs_of(&self.worker_id),
            lifeline,
        })
    }

    /// An answer that fails before it begins takes the same way as one that fails later.
    pub(super) fn fail(&mut self, detail: String) {
        let error = ProviderError { code: provider::ProviderErrorCode::Failed, detail, retry_after: None };
        let failed: ModelStream = Box::pin(futures_util::stream::iter([Err(error)]));
        self.work.answer = Some(Answer::new(failed));
    }
}
