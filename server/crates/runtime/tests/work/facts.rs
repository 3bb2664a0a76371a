//! Every tool that a Pod can be offered is in the table of tool facts, and every tool in the table exists.

use std::{collections::BTreeSet, sync::Arc};

use pod_store::{Store, StoreOptions};
use protocol::tool::{self, NETWORK};
use provider::Providers;
use runtime::{Host, HostOptions};
use tools::{
    Tasks, Tool, Toolbox,
    bash::{self, Background, BashOptions},
    files,
    guides::{Guides, SkillTool},
    web::{WebFetch, WebOptions},
};

#[tokio::test]
async fn the_table_of_tools_has_each_one_that_is_registered_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(StoreOptions::sqlite(folder.path().join("yoi.db"))).await.unwrap();
    let others: [Arc<dyn Tool>; 3] =
        [Arc::new(SkillTool::new(Guides::default())), Arc::new(Tasks), Arc::new(WebFetch::new(WebOptions::default()))];
    let commands = bash::tools(BashOptions::of_this_process(), &Background::default());
    let toolbox = Toolbox::new(files::tools()).with(commands).with(others);
    let options = HostOptions::of(store, Providers::new(Vec::new()).unwrap(), "/", "/nowhere");
    let host = Host::start(HostOptions { toolbox, ..options }).await.unwrap();

    let registered = host.settings().tool_defaults();
    let names: BTreeSet<&str> = registered.iter().map(|tool| tool.tool.as_str()).collect();
    let known: BTreeSet<&str> = tool::TOOLS.iter().map(|tool| tool.name).filter(|name| *name != NETWORK).collect();
    assert_eq!(names, known);
    for tool in registered {
        assert_eq!(tool.decision, tool::facts(&tool.tool).default, "{}", tool.tool);
    }
}
