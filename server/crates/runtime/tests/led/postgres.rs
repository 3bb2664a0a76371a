//! The most important stories, on PostgreSQL.

use crate::{events, ground::Ground, restores, spawns, stops};

#[tokio::test]
async fn spawning_is_the_same_on_postgresql() {
    spawns::spawn_story(Ground::on_postgres().await).await;
}

#[tokio::test]
async fn stopping_is_the_same_on_postgresql() {
    stops::stop_story(Ground::on_postgres().await).await;
}

#[tokio::test]
async fn restoring_is_the_same_on_postgresql() {
    restores::restore_story(Ground::on_postgres().await).await;
}

#[tokio::test]
async fn news_is_the_same_on_postgresql() {
    events::events_story(Ground::on_postgres().await).await;
}
