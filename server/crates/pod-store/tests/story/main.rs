//! One suite of stories, run on both engines: a real SQLite file and a real PostgreSQL. And on the file that stands for a
//! shared database in the simulation, which has to be what PostgreSQL is there.

#![allow(clippy::unwrap_used)]

mod blobs;
mod commands;
mod crash;
mod damage;
mod durability;
mod far;
mod handshake;
mod hosts;
mod journal;
mod lease_model;
mod lease_tables;
mod ledger;
mod lost;
mod mail;
mod messages;
mod outages;
mod peers;
mod pods;
mod relations;
mod search;
mod upgrade;
mod usage;
mod world;

macro_rules! on_both_engines {
    ($($file:ident :: $story:ident,)*) => {
        /// The SQLite file that stands for a shared database in the simulation.
        mod on_shared_file {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                crate::$file::$story(crate::world::World::shared()).await;
            })*
        }
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                crate::$file::$story(crate::world::World::sqlite()).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                crate::$file::$story(crate::world::World::postgres().await).await;
            })*
        }
    };
}

/// Stories of several hosts, which a SQLite file of one host does not have.
macro_rules! on_shared_engines {
    ($($file:ident :: $story:ident,)*) => {
        mod hosts_on_shared_file {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $story() {
                crate::$file::$story(crate::world::World::shared()).await;
            })*
        }
        mod hosts_on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $story() {
                crate::$file::$story(crate::world::World::postgres().await).await;
            })*
        }
    };
}

on_shared_engines! {
    hosts::a_pod_has_one_owner_and_others_cannot_write_to_it,
    hosts::a_host_that_goes_gives_its_pods_back_at_once,
    hosts::the_pods_of_a_silent_host_go_to_whoever_is_first_and_it_writes_nothing_any_more,
    hosts::a_host_that_starts_again_has_its_pods_at_once_and_the_one_before_is_over,
    hosts::two_pods_of_two_hosts_change_in_one_transaction_while_the_other_one_is_held,
    hosts::hosts_that_write_to_the_same_rows_in_any_order_both_get_through,
    lease_tables::the_tables_of_the_model_answer_as_the_database_does,
}

on_both_engines! {
    blobs::what_is_kept_is_there_once_and_whole,
    blobs::what_no_journal_names_is_swept_once_nobody_asks_for_it,
    journal::records_are_read_in_pages_of_bounded_count_and_size,
    journal::older_records_are_paged_backwards,
    journal::a_page_ends_where_its_bytes_do_and_a_large_record_comes_by_itself,
    journal::only_turn_records_are_given_to_a_model,
    journal::turn_records_are_paged_backwards_in_pages_of_bounded_count_and_size,
    journal::questions_are_listed_and_given_to_no_model,
    journal::a_fold_drops_the_chunks_of_its_block_and_nothing_else,
    journal::records_that_do_not_follow_on_the_head_are_refused,
    journal::a_pod_may_come_into_being_with_a_journal_that_leaves_out_seqs,
    journal::a_body_comes_back_byte_for_byte,
    journal::a_damaged_record_is_set_aside_and_harms_no_other,
    journal::many_batches_at_once_are_all_answered,
    pods::a_pod_is_found_by_id_and_by_name_and_in_pages,
    pods::pods_with_rules_and_pods_that_stand_still_are_found_among_all,
    pods::a_taken_name_harms_only_its_own_batch,
    pods::a_name_is_free_again_after_a_rename_or_a_deletion,
    pods::a_restart_looks_at_open_pods_and_at_those_with_waiting_input,
    pods::the_head_of_a_row_is_that_of_the_journal_also_while_chunks_stream_in,
    pods::updates_of_one_pod_in_many_batches_end_with_the_last,
    pods::a_deleted_pod_leaves_nothing_but_audit_and_commands,
    pods::a_change_of_a_pod_that_is_not_there_harms_only_its_own_batch,
    relations::a_spawned_pod_knows_its_parent_and_the_parent_counts_it,
    relations::a_loan_is_taken_back_and_lent_again,
    relations::a_pod_that_is_there_may_get_a_parent_or_another_loan,
    relations::children_of_a_deleted_pod_go_on_without_a_parent,
    relations::a_deleted_child_is_counted_no_more,
    relations::nobody_becomes_the_child_of_a_pod_that_is_gone,
    peers::a_link_is_the_same_from_both_sides,
    peers::many_links_from_both_sides_at_once_are_one,
    peers::a_pair_has_one_pace_and_forgets_it_with_the_link,
    peers::a_request_is_seen_from_both_sides_until_it_is_settled,
    peers::links_and_requests_in_every_order_come_to_what_each_step_says,
    peers::a_link_survives_a_rename_and_goes_with_either_pod,
    peers::a_wrong_link_harms_only_its_own_batch,
    messages::a_message_comes_back_as_it_was_put,
    messages::what_is_sent_again_is_there_once,
    messages::a_receipt_goes_on_and_forgets_nothing,
    messages::an_exchange_is_paged_from_the_newest_and_holds_no_other,
    messages::held_messages_are_listed_for_both_and_waking_ones_are_counted,
    messages::messages_go_with_either_pod_and_none_is_put_for_one_that_is_gone,
    handshake::a_failure_at_any_step_of_a_handshake_leaves_nothing_or_everything_on_both_sides,
    handshake::pairs_requests_and_messages_are_there_after_a_restart,
    handshake::a_refused_message_takes_records_and_links_of_its_batch_with_it,
    handshake::a_failure_at_any_step_of_a_deletion_leaves_links_and_messages,
    commands::a_key_that_was_sent_on_is_taken_until_it_is_answered_or_freed,
    far::items_are_numbered_in_order_and_forgotten_when_the_other_store_has_them,
    far::an_item_is_taken_once_and_only_in_its_turn,
    far::what_a_pod_is_to_a_far_one_comes_back_as_it_was_put_and_is_counted_once_linked,
    far::many_items_at_once_get_dense_numbers,
    far::a_far_message_comes_back_as_it_was_put_and_goes_with_its_pod,
    far::a_failure_at_any_step_leaves_the_line_and_the_pair_together,
    mail::mail_waits_in_order_until_it_is_taken,
    mail::a_key_is_put_in_once_for_ever,
    mail::what_was_taken_before_it_came_is_not_put_in,
    mail::mail_for_a_pod_that_is_gone_is_no_failure,
    mail::a_restart_looks_at_pods_with_mail_unless_they_are_stopped,
    commands::a_repeated_command_writes_nothing_and_gives_the_first_answer,
    commands::one_command_sent_many_times_at_once_happens_once,
    commands::a_command_whose_batch_failed_may_be_sent_again,
    ledger::an_inbox_is_read_in_order_and_emptied_by_id,
    ledger::the_audit_is_paged_from_the_newest,
    ledger::the_audit_is_read_by_action_result_and_target,
    ledger::sessions_are_listed_by_when_they_were_seen_and_ended_all_but_one,
    ledger::a_session_is_known_until_it_expires_or_is_deleted,
    search::all_words_must_match_and_the_newest_comes_first,
    search::no_query_is_an_error,
    search::the_beginning_of_the_last_word_is_enough,
    search::hits_come_in_pages_and_of_one_pod_alone,
    usage::tokens_are_summed_per_pod_day_and_model,
    usage::a_tree_is_summed_ever_and_for_a_day,
    usage::what_a_deleted_child_used_still_counts_for_those_above_it,
    usage::a_sum_with_an_estimate_in_it_says_so_also_when_the_pod_is_gone,
    usage::costs_of_several_currencies_make_no_sum,
    usage::tokens_of_a_deleted_pod_stay_in_the_total_and_leave_with_its_name,
    usage::runs_that_messages_began_are_summed_per_pair,
    usage::many_batches_at_once_are_all_counted,
    upgrade::a_database_of_the_first_version_is_brought_up_to_date_with_all_it_holds,
    upgrade::a_database_of_the_second_version_keeps_its_children_and_gets_peers,
    upgrade::what_was_used_before_it_was_counted_is_read_from_the_journals,
    upgrade::a_database_of_a_newer_yoi_is_left_alone,
    outages::what_fails_at_any_step_for_a_while_is_written_once,
    outages::text_that_streams_in_meanwhile_is_written_once_and_in_order,
    outages::whoever_cannot_wait_is_told_that_nothing_was_written,
    outages::an_outage_is_over_by_itself_when_nobody_writes_any_more,
    outages::a_store_that_is_closed_in_an_outage_lets_those_go_who_wait,
    damage::a_row_that_was_altered_moved_or_swapped_is_set_aside_on_every_way_of_reading,
    damage::a_row_of_another_pod_is_not_taken_for_one_of_this,
    damage::questions_and_what_streams_in_are_checked_like_everything_else,
    damage::what_was_written_before_there_were_checksums_is_read_as_it_stands,
    damage::a_look_from_the_side_lists_damaged_records_with_their_places,
    damage::a_page_that_cannot_be_read_is_told_with_its_file_and_a_way_out_and_harms_no_other,
    lost::where_a_database_was_none_is_begun,
    lost::a_log_without_its_database_is_kept,
    lost::other_things_that_are_left_say_so_too,
    lost::a_database_that_is_taken_away_is_missed_by_itself_and_takes_nothing_until_it_is_back,
    lost::what_was_written_to_a_file_that_nobody_finds_is_not_said_to_be_kept,
    lost::a_dropped_database_is_gone_and_not_only_away,
    outages::a_connection_that_is_lost_costs_nothing_but_time,
    durability::everything_is_there_after_a_restart,
    durability::whoever_opens_the_database_next_fences_the_one_before,
    durability::a_failure_at_any_step_leaves_nothing_or_after_the_commit_everything,
    durability::a_batch_with_nothing_for_a_step_does_not_come_to_it,
    durability::a_failure_at_any_step_of_a_deletion_leaves_the_pod_whole,
    durability::what_streams_in_is_fenced_like_any_other_batch,
    durability::a_failure_while_text_streams_in_leaves_nothing_or_after_the_commit_everything,
    durability::a_record_that_stands_already_harms_only_its_own_batch_while_text_streams_in,
    durability::a_closed_store_finishes_what_it_took_and_takes_no_more,
}
