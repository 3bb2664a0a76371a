//! Bash on the real kernel. This binary is its own helper, and once also the yoi that is killed.

#![allow(clippy::unwrap_used)]

mod background;
mod closed;
mod groups;
mod life;
mod output;
mod scope;
mod stage;
mod way_in;

use std::{
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use tools::bash::{Builder, Confinement, confinement};

/// The binary as a separate yoi, in one of two roles (`life::be_a_parent`).
pub(crate) const PARENT: &str = "BASH_TEST_PARENT";

fn main() -> ExitCode {
    if let Some(code) = tools::bash::helper_main(env::args_os().skip(1)) {
        return code;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if let Ok(role) = env::var(PARENT) {
        runtime.block_on(life::be_a_parent(&role));
        return ExitCode::SUCCESS;
    }
    let wanted = wanted(env::args().skip(1));
    let (mut passed, mut failed) = (0, 0);
    for builder in builders() {
        stage::build_by(builder);
        for (name, test) in TESTS {
            if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted.as_str())) {
                continue;
            }
            let is_ok = catch_unwind(AssertUnwindSafe(|| test(&runtime))).is_ok();
            println!("test {name} ({builder:?}) ... {}", if is_ok { "ok" } else { "FAILED" });
            passed += u32::from(is_ok);
            failed += u32::from(!is_ok);
        }
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out");
    ExitCode::from(u8::from(failed > 0))
}

/// Everything that can build a sandbox here: ourselves, and bubblewrap where it is installed.
fn builders() -> Vec<Builder> {
    let has_bubblewrap = matches!(confinement(Builder::Bubblewrap), Confinement::Room { bubblewrap: Some(_), .. });
    if !has_bubblewrap {
        println!("bubblewrap is not here, or does not work: its half is not tried");
    }
    [Builder::Own].into_iter().chain(has_bubblewrap.then_some(Builder::Bubblewrap)).collect()
}

/// The requested test name, as other test binaries take it: not the value of an option.
fn wanted(mut words: impl Iterator<Item = String>) -> Option<String> {
    while let Some(word) = words.next() {
        match word.as_str() {
            "--skip" | "--test-threads" => drop(words.next()),
            word if word.starts_with('-') => (),
            _ => return Some(word),
        }
    }
    None
}

type Test = fn(&tokio::runtime::Runtime);

macro_rules! tests {
    ($($file:ident::$name:ident)*) => {
        const TESTS: &[(&str, Test)] = &[$((stringify!($name), |runtime| runtime.block_on($file::$name()))),*];
    };
}

tests! {
    closed::this_kernel_confines
    output::a_command_says_its_output_and_exit_code
    scope::a_command_reads_and_writes_in_its_scope
    scope::nothing_outside_of_the_scope_is_read_or_written
    scope::a_link_in_the_scope_leads_nowhere_else
    scope::a_granted_path_that_became_a_link_grants_nothing
    scope::a_reading_grant_is_not_written
    scope::a_denied_part_is_neither_read_nor_written
    scope::a_denial_of_the_system_is_kept
    scope::what_is_lent_is_read_and_not_written_moved_or_removed
    scope::a_rule_that_is_not_recursive_grants_the_files_of_its_folder
    closed::secrets_are_not_in_the_environment
    closed::the_environment_of_the_server_and_of_the_keeper_is_closed
    closed::the_server_and_the_keeper_cannot_be_signalled
    scope::git_works_in_a_scope
    scope::the_tool_chain_of_the_user_works_in_a_scope
    life::a_background_process_ends_with_the_call
    life::the_time_limit_ends_a_whole_tree
    life::a_dropped_call_ends_its_command
    life::a_command_that_is_given_up_is_told_to_end_and_has_time_for_it
    life::a_command_that_does_not_end_when_it_is_told_to_is_killed
    background::a_background_command_is_read_piece_by_piece_and_stopped
    background::the_commands_of_a_pod_end_with_it
    background::a_command_that_ends_says_how_and_nobody_runs_too_many
    background::the_model_reads_and_stops_only_its_own_commands
    background::the_commands_of_all_pods_end_with_their_host
    background::what_leads_git_elsewhere_goes_while_a_command_runs
    background::a_command_that_keeps_leading_git_elsewhere_is_ended
    background::a_second_settings_file_that_git_reads_is_protected_before_it_exists
    life::the_death_of_the_server_ends_the_command
    life::the_helper_of_the_next_command_waits_is_replaced_and_ends_with_the_tool
    output::output_comes_live_and_in_few_pieces
    output::what_was_printed_comes_at_once_when_it_is_asked_for
    output::long_output_is_cut_and_kept_in_a_file
    output::output_without_end_is_stopped
    output::bytes_that_are_no_text_are_replaced
    life::endings_are_told_apart
    closed::arguments_and_folders_are_checked
    closed::without_the_kernel_nothing_runs_unless_it_is_allowed
    closed::the_temporary_folder_is_private_and_removed
    life::a_slow_viewer_does_not_stop_the_time_limit
    groups::a_command_has_a_group_from_its_beginning_to_its_end
    groups::a_group_ends_with_a_call_that_is_given_up
    groups::what_outlives_its_keeper_is_ended_with_its_group
    groups::what_a_killed_server_left_behind_is_ended_at_the_next_start
    groups::a_command_takes_no_more_than_its_group_may
    groups::what_is_no_group_is_not_taken_for_one
    way_in::what_a_command_serves_is_reached_from_outside_and_nothing_beside_it
}
