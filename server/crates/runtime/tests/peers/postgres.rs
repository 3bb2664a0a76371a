//! The most important stories, on PostgreSQL.

use crate::{ground::Ground, messages, relation, requests, usage};

#[tokio::test]
async fn a_link_is_the_same_on_postgresql() {
    relation::relation_story(Ground::on_postgres().await).await;
}

#[tokio::test]
async fn a_message_is_the_same_on_postgresql() {
    messages::receipts_story(Ground::on_postgres().await).await;
}

#[tokio::test]
async fn a_request_is_the_same_on_postgresql() {
    requests::requests_story(Ground::on_postgres().await).await;
}

#[tokio::test]
async fn what_a_pair_used_is_the_same_on_postgresql() {
    usage::pair_story(Ground::on_postgres().await).await;
}
