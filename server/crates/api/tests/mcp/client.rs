//! A small MCP client that says exactly what a test tells it to: JSON-RPC over HTTP, with or without a session.

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::common::{Server, TOKEN};

pub const OLDER: &str = "2025-11-25";
pub const NEWER: &str = "2026-07-28";

/// A request to `/mcp` as every client sends it, with this token.
pub fn request(server: &Server, method: Method, token: &str) -> RequestBuilder {
    server.bare(method, "/mcp").bearer_auth(token).header("accept", "application/json, text/event-stream")
}

/// A client with a session.
pub struct Session<'a> {
    pub server: &'a Server,
    pub token: String,
    pub id: String,
    next: i64,
}

impl<'a> Session<'a> {
    /// Begins a session with this token; returns what the server said about itself.
    pub async fn begin(server: &'a Server, token: &str) -> (Self, Value) {
        let said = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": OLDER, "capabilities": {}, "clientInfo": { "name": "tester", "version": "1.0" },
        } });
        let answer = request(server, Method::POST, token).json(&said).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let about = messages(answer).await.pop().unwrap()["result"].clone();
        let session = Self { server, token: token.to_owned(), id, next: 1 };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&ready).send().await.unwrap().status(), 202);
        (session, about)
    }

    /// A person's session.
    pub async fn of_person(server: &'a Server) -> Self {
        Self::begin(server, TOKEN).await.0
    }

    pub fn post(&self, message: &Value) -> RequestBuilder {
        request(self.server, Method::POST, &self.token)
            .header("mcp-session-id", &self.id)
            .header("mcp-protocol-version", OLDER)
            .json(message)
    }

    /// All messages in answer to a request: the notifications meanwhile, and finally the answer.
    pub async fn ask_all(&mut self, method: &str, params: Value) -> Vec<Value> {
        let id = self.next;
        self.next += 1;
        let said = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = self.post(&said).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{method}");
        let messages = messages(answer).await;
        assert_eq!(messages.last().unwrap()["id"], id, "{messages:?}");
        messages
    }

    /// The answer to a request: its result, or its error.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask_all(method, params).await.pop().unwrap();
        match answer.get("result") {
            Some(result) => result.clone(),
            None => answer["error"].clone(),
        }
    }

    /// The result of a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// What a successful tool returns.
    pub async fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The error code of a failing tool.
    pub async fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let code = result["structuredContent"]["code"].as_str().unwrap().to_owned();
        assert!(!result["content"][0]["text"].as_str().unwrap().is_empty());
        code
    }
}

/// What a client of the newer protocol sends, which has no sessions.
pub fn bare(server: &Server, token: &str, method: &str, mut params: Value) -> RequestBuilder {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientInfo": { "name": "newer", "version": "2" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let name = params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned);
    let said = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut request = request(server, Method::POST, token)
        .header("mcp-protocol-version", NEWER)
        .header("mcp-method", method)
        .json(&said);
    if let Some(name) = name {
        request = request.header("mcp-name", name);
    }
    request
}

/// The messages of an answer, which is JSON or an event stream.
pub async fn messages(answer: Response) -> Vec<Value> {
    let is_stream = answer.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream");
    let text = answer.text().await.unwrap();
    match is_stream {
        false => vec![serde_json::from_str(&text).unwrap()],
        true => text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .filter_map(|data| serde_json::from_str(data.trim()).ok())
            .collect(),
    }
}

/// Status, and the code of a JSON-RPC error or of a problem.
pub async fn refusal(request: RequestBuilder) -> (u16, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default();
    let code = body.get("code").or_else(|| body["error"].get("code"));
    (status, code.cloned().unwrap_or_default())
}
