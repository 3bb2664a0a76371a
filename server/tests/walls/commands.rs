//! Attacks by commands, through the API of the built binary: as root and as an ordinary account, in sandboxes that
//! bubblewrap builds and in our own. Each attack is a line of bash that prints something only if it gets through.

mod files;
mod kernel;
mod life;
mod processes;
mod sockets;
mod stage;

use stage::{Account, Builder, Stage};

use crate::Tally;

/// Its name, and its command.
type Attack = (&'static str, &'static str);

#[tokio::test]
async fn commands_of_an_ordinary_account_stay_in_their_room() {
    attack(Account::Ordinary, Builder::Own).await;
}

#[tokio::test]
async fn commands_of_an_ordinary_account_stay_in_a_room_of_bubblewrap() {
    attack(Account::Ordinary, Builder::Bubblewrap).await;
}

#[tokio::test]
async fn commands_of_root_stay_in_their_room() {
    attack(Account::Root, Builder::Own).await;
}

#[tokio::test]
async fn commands_of_root_stay_in_a_room_of_bubblewrap() {
    attack(Account::Root, Builder::Bubblewrap).await;
}

async fn attack(account: Account, builder: Builder) {
    let Some(stage) = Stage::set(account, builder).await else { return };
    let mut tally = Tally::of(stage.wall());
    let in_work = [processes::ATTACKS, sockets::ATTACKS, files::ATTACKS, files::OTHERS, kernel::ATTACKS];
    let batches = in_work.map(|attacks| ("work", attacks)).into_iter().chain([(".", files::DENIED)]);
    for (folder, attacks) in batches {
        let found = stage.try_all(folder, attacks).await;
        for (name, through) in found {
            tally.note(name, through);
        }
    }
    life::attack(&stage, &mut tally).await;
    stage.check_what_is_outside().await;
    tally.finish(120);
}
