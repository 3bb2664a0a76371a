//! Older servers that answer `server/discover`, which they do not know, with a result instead of an error. The library
//! takes that for a broken server; here it becomes the error that it means, and the library begins the older handshake.

use std::future::Future;

use rmcp::{
    RoleClient,
    model::{ClientRequest, ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId, ServerResult},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

/// A transport that reads the answer to `server/discover` with this in mind.
pub(crate) struct Older<T> {
    inner: T,
    /// The request that is not answered yet.
    asked: Option<RequestId>,
}

impl<T> Older<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self { inner, asked: None }
    }

    fn read(&mut self, message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
        let JsonRpcMessage::Response(response) = &message else { return message };
        let Some(id) = self.asked.take_if(|asked| *asked == response.id) else { return message };
        match response.result {
            ServerResult::DiscoverResult(_) => message,
            _ => {
                let unknown = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "it does not know server/discover", None);
                JsonRpcMessage::Error(JsonRpcError::new(Some(id), unknown))
            }
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Older<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && matches!(request.request, ClientRequest::DiscoverRequest(_))
        {
            self.asked = Some(request.id.clone());
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.inner.receive().await?;
        Some(self.read(message))
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
