//! One day of one seed.

use std::{fs, path::Path, sync::Arc, time::Duration};

use turmoil::{Builder, Sim};

use crate::{
    Chance,
    disk::Disk,
    folk::{self, Folk},
    interposed, leases,
    line::{Bus, Line},
    log::Log,
    plan::{CALM, Cut, Death, Failing, Plan, REST_MAX, Split, Trouble},
    script,
    server::{self, Below, End, Shared},
    viewer::Viewer,
    world::World,
};

/// How far the simulated world moves in one step. Within it, each host's own timers are exact.
const TICK: Duration = Duration::from_millis(10);

/// What became of a day.
#[derive(Debug)]
pub struct Outcome {
    /// What does not hold, and the last lines of the log.
    pub broken: Option<String>,
    pub figures: Figures,
    /// The hash of the whole log.
    pub hash: String,
}

/// What happened on it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Steps of commits.
    pub steps: u64,
    /// Deaths of servers, and how many of them by loss of power.
    pub deaths: u64,
    pub power_losses: u64,
    /// Calls of disks and steps of commits that were to fail, each for a while.
    pub troubles: u64,
    /// Cuts of the network.
    pub cuts: u64,
    /// Records that viewers read.
    pub reads: u64,
    pub lines: u64,
}

/// Plays the day of a seed, in a folder of its own below `folder`. The whole log goes to `log`, if given.
///
/// A thread plays one day: clock and randomness of the calling thread are the seed's from here on.
///
/// # Errors
/// The folder or the log cannot be written.
pub fn play(seed: u64, folder: &Path, log: Option<&Path>) -> std::io::Result<Outcome> {
    let log = Log::into_file(log)?;
    script::make_places()?;
    interposed::begin(seed);
    pod_store::wait_on_the_spot();
    let mut chance = Chance::of(seed);
    let plan = Plan::of(seed, &mut chance);
    let mut day = Day::begin(plan, folder, log, &mut chance)?;
    while day.go_on() {}
    Ok(day.end())
}

struct Day {
    sim: Sim<'static>,
    world: World,
    servers: Vec<Server>,
    cuts: Vec<(Cut, bool)>,
    splits: Vec<(Split, bool)>,
    figures: Figures,
    chance: Chance,
}

/// A server, and where it is in its plan.
struct Server {
    below: Below,
    deaths: Vec<Death>,
    troubles: Vec<Trouble>,
    /// The next death, or the last one.
    near: Option<Death>,
    /// When it comes back.
    back: Option<Duration>,
}

impl Day {
    fn begin(plan: Plan, folder: &Path, log: Log, chance: &mut Chance) -> std::io::Result<Self> {
        let mut builder = Builder::new();
        builder
            .tick_duration(TICK)
            .simulation_duration(CALM + 2 * REST_MAX)
            .min_message_latency(Duration::from_millis(1))
            .max_message_latency(Duration::from_millis(chance.within(5, 80)))
            .tcp_capacity(1_024)
            .enable_random_order()
            .rng_seed(chance.number());
        let mut sim = builder.build();
        let world = World::new(log, plan.servers.len(), plan.shared.is_some(), plan.is_far);
        world.note("day", format!("{plan:?}"));
        let mut servers = Vec::new();
        let bus = Bus::default();
        for (number, server) in plan.servers.iter().enumerate() {
            let disk = Disk::register(["disk-0", "disk-1", "disk-2", "disk-3"][number % 4]);
            let shared = plan.shared.as_ref().map(|shared| Shared {
                folder: folder.join("database"),
                line: Arc::new(Line::new(&bus, chance.fork(), shared.loss)),
            });
            let below = Below {
                name: format!("server-{number}"),
                folder: folder.join(format!("server-{number}")),
                end: Arc::new(if shared.is_some() { End::default() } else { End::on(disk) }),
                disk,
                shared,
                others: world.added_by(number),
                kept: Arc::default(),
            };
            fs::create_dir_all(&below.folder)?;
            let living = below.clone();
            let of = world.clone();
            sim.host(below.name.as_str(), move || server::live(living.clone(), of.clone()));
            let folk = Folk::new(number, world.clone(), chance.fork());
            sim.client(format!("people-{number}"), folk::work(folk, server.work()));
            let mut deaths = server.deaths.clone();
            deaths.sort_by_key(|death| std::cmp::Reverse(death.at));
            let mut troubles = server.troubles.clone();
            troubles.sort_by_key(|trouble| std::cmp::Reverse(trouble.at));
            servers.push(Server { below, deaths, troubles, near: None, back: None });
        }
        for number in 0..plan.viewers {
            let name = format!("viewer-{number}");
            let viewer = Viewer::new(name.clone(), number % servers.len(), world.clone(), chance.fork());
            sim.client(name, async move {
                viewer.view().await;
                Ok(())
            });
        }
        let cuts = plan.cuts.into_iter().map(|cut| (cut, false)).collect();
        let splits = plan.shared.map_or_else(Vec::new, |shared| shared.splits);
        let splits = splits.into_iter().map(|split| (split, false)).collect();
        Ok(Self { sim, world, servers, cuts, splits, figures: Figures::default(), chance: chance.fork() })
    }

    /// One step of the world. False when the day is over.
    fn go_on(&mut self) -> bool {
        let now = self.sim.elapsed();
        interposed::set_time(now);
        self.world.set_now(now);
        let is_over = match self.sim.step() {
            Ok(is_over) => is_over,
            Err(error) => {
                self.world.model(|model| model.breaks(format!("a host ended: {error}")));
                true
            }
        };
        self.trouble(now);
        self.kill_and_raise(now);
        self.cut_and_mend(now);
        self.split_and_mend(now);
        !is_over && self.world.model(|model| model.broken().is_none())
    }

    fn trouble(&mut self, now: Duration) {
        for Server { below, troubles, .. } in &mut self.servers {
            while let Some(trouble) = troubles.pop_if(|trouble| trouble.at <= now) {
                self.world.note(&below.name, format!("{:?}", trouble.what));
                self.figures.troubles += 1;
                match trouble.what {
                    Failing::Disk(fault) => below.disk.fault(fault),
                    Failing::Steps { after, count } => below.end.fails(after, count),
                }
            }
            if now >= CALM {
                below.disk.heal();
                below.end.fails(0, 0);
                if let Some(shared) = &below.shared {
                    shared.line.calm();
                }
            }
        }
    }

    fn kill_and_raise(&mut self, now: Duration) {
        for server in &mut self.servers {
            let end = server.below.end.clone();
            let name = server.below.name.as_str();
            if server.near.is_none() && server.back.is_none() && server.deaths.last().is_some_and(|next| next.at <= now)
            {
                server.near = server.deaths.pop();
                end.nears(server.near.map_or(1, |death| death.step));
            }
            // At the end of the day, a server that has not yet died at its step dies anyway.
            if let Some(death) = server.near
                && (end.is_dead() || death.step == 0 || now >= CALM)
            {
                self.world.note(name, format!("dies, {death:?}, {:?}", server.below.disk.counts()));
                self.figures.deaths += 1;
                let Below { disk, folder, shared, .. } = &server.below;
                let folder = shared.as_ref().map_or(folder, |shared| &shared.folder);
                if shared.is_none() {
                    // First, because a database that is closed tidies up.
                    disk.cut_power();
                }
                self.sim.crash(name);
                disk.wait_closed(folder);
                if death.is_power {
                    self.figures.power_losses += 1;
                    if let Err(error) = disk.power_off(folder, &mut || self.chance.number()) {
                        self.world.model(|model| model.breaks(format!("the disk of {name} breaks: {error}")));
                    }
                } else {
                    disk.power_on();
                }
                server.back = Some(now + death.down);
                server.near = None;
            }
            if server.back.is_some_and(|back| back <= now) {
                self.world.note(name, "lives");
                server.back = None;
                end.is_over();
                self.sim.bounce(name);
            }
        }
    }

    fn cut_and_mend(&mut self, now: Duration) {
        for (cut, is_cut) in &mut self.cuts {
            let (client, server) = (cut.client.as_str(), format!("server-{}", cut.server));
            if !*is_cut && cut.from <= now && now < cut.to {
                *is_cut = true;
                self.figures.cuts += 1;
                self.world.note("network", format!("{cut:?}"));
                match cut.is_held {
                    true => self.sim.hold(client, server.as_str()),
                    false => self.sim.partition(client, server.as_str()),
                }
            } else if *is_cut && cut.to <= now {
                *is_cut = false;
                cut.from = Duration::MAX;
                self.world.note("network", format!("{client} and {server} are together again"));
                match cut.is_held {
                    true => self.sim.release(client, server.as_str()),
                    false => self.sim.repair(client, server.as_str()),
                }
            }
        }
    }

    /// Hosts lose and find their way to the database.
    fn split_and_mend(&mut self, now: Duration) {
        for (split, is_cut) in &mut self.splits {
            let Below { name, shared: Some(shared), .. } = &self.servers[split.host].below else { continue };
            if !*is_cut && split.from <= now && now < split.to {
                *is_cut = true;
                self.figures.cuts += 1;
                self.world.note("database", format!("{split:?}"));
                shared.line.cut(split.cut);
            } else if *is_cut && split.to <= now {
                *is_cut = false;
                split.from = Duration::MAX;
                self.world.note("database", format!("{name} reaches it again"));
                shared.line.mend();
            }
        }
    }

    /// Holds who wrote what to a shared database against what must hold.
    fn check_leases(&self) {
        let Some(shared) = self.servers.first().and_then(|server| server.below.shared.as_ref()) else { return };
        let read = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
            .and_then(|runtime| {
                runtime.block_on(pod_store::lease_log(&shared.path())).map_err(|error| error.to_string())
            });
        let checked = read.map(|lines| leases::checked(&lines));
        self.world.note(
            "database",
            match &checked {
                Ok(Ok(written)) => format!("{} Pods were written to, by {} hosts", written.pods.len(), written.hosts),
                Ok(Err(what)) | Err(what) => what.clone(),
            },
        );
        self.world.model(|model| match checked {
            Ok(Ok(written)) => model.was_written(&written.pods),
            Ok(Err(what)) => model.breaks_above_all(what),
            Err(why) => model.breaks(format!("the log of leases cannot be read: {why}")),
        });
    }

    fn end(mut self) -> Outcome {
        self.check_leases();
        self.world.model(|model| {
            if model.broken().is_none() {
                model.ends();
            }
        });
        self.figures.steps = self.servers.iter().map(|server| server.below.end.steps()).sum();
        self.figures.reads = self.world.model(|model| model.reads());
        self.figures.lines = self.world.log(Log::lines);
        let broken = self.world.model(|model| model.broken().map(str::to_owned));
        let last = self.world.log(Log::last);
        let broken = broken.map(|what| format!("{}\n\n{what}", last.join("\n")));
        let hash = self.world.log(Log::hash);
        Outcome { broken, figures: self.figures, hash }
    }
}
