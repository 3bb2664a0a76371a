//! The keeper: it runs outside the sandbox and controls the command's life. It has the sandbox built, ends everything
//! when its standard input closes (at the latest when yoi dies), and reports how the command ended.

use std::{
    fs::File,
    io::{self, BufReader, PipeReader, Read, Write},
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    path::Path,
    process::{self, Command, ExitCode, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::sync_channel,
    },
    thread,
    time::Duration,
};

use rustix::{
    fs::{MemfdFlags, SeekFrom, memfd_create, seek},
    io::{FdFlags, fcntl_setfd},
    process::{Pid, getpid, set_child_subreaper},
    stdio::dup2_stderr,
};

use super::{
    ahead::Ahead,
    channel::{Channel, Message},
    descendants,
    first::{self, Inside, Streams},
    groups::Group,
    helper,
    kernel::{self, Namespaces},
    limits,
    order::{Hold, Order, Report},
    room::{Plan, Private, bubblewrap, own},
    seccomp,
    system::System,
    way_in, way_out,
};
use crate::Network;

/// The most bytes of bubblewrap's error message.
const WORDS_BYTES_MAX: u64 = 2 * 1024;
/// How long a command that was told to end may take before it is killed.
const END_WAIT: Duration = Duration::from_secs(2);
/// What a person can check if the kernel refuses.
const NAMESPACE_SETTINGS: &str =
    "user.max_user_namespaces, kernel.unprivileged_userns_clone and the container's filter";

/// Runs the keeper from start to end.
pub(super) fn keep() -> ExitCode {
    let mut left = Left::default();
    let report = work(&mut left).unwrap_or_else(|report| report);
    // If this fails, nobody is listening any more.
    if let Ok(mut line) = serde_json::to_vec(&report) {
        line.push(b'\n');
        // Standard output belongs to a served program itself.
        let _ = match left.is_talked_to {
            true => rustix::io::write(io::stdin(), &line).map(drop).map_err(io::Error::from),
            false => io::stdout().write_all(&line).and_then(|()| io::stdout().flush()),
        };
    }
    // Nothing of the command is running any more. yoi need not wait for the cleanup and for the end of this process.
    let_go();
    left.remove();
    ExitCode::SUCCESS
}

/// What has to be removed after a command, and where its report goes.
#[derive(Default)]
struct Left {
    private: Option<Private>,
    group: Option<Arc<Group>>,
    /// The order is for a served program.
    is_talked_to: bool,
}

impl Left {
    fn remove(self) {
        // The first process of a sandbox, and all that the kernel keeps of it.
        descendants::await_all();
        if let Some(group) = self.group {
            group.end();
        }
        if let Some(private) = self.private {
            private.remove();
        }
    }
}

/// Closes its copy of the command's output.
fn let_go() {
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        let _ = dup2_stderr(&nothing);
    }
}

/// Runs a command to its end. Notes in `left` what the caller has to take care of.
fn work(left: &mut Left) -> Result<Report, Report> {
    let failed = |what: &'static str| move |error: io::Error| Report::NotStarted(format!("{what}: {error}"));
    // What is the same for every order is done before the order arrives, which may take a while (see `standby`).
    set_child_subreaper(Some(getpid()))
        .map_err(|error| failed("what the command starts could not be watched")(error.into()))?;
    limits::go_first_when_memory_is_short();
    seccomp::prepare();
    let private = left.private.insert(Private::make().map_err(failed("there is no temporary folder for it"))?);
    let ahead = Ahead::start(private);
    let mut input = BufReader::new(io::stdin());
    let order: Order = helper::read_line(&mut input).map_err(failed("the helper got no order"))?;
    left.is_talked_to = order.program.is_some();
    let group = order.group.as_ref().map(|wanted| Group::make(wanted, &order.limits)).transpose();
    let group = group.map(|group| group.map(Arc::new)).map_err(failed("it could not have a group of its own"))?;
    left.group.clone_from(&group);
    let is_over = Arc::new(AtomicBool::new(false));
    let report = start(&order, private, group.as_deref(), ahead).map(|started| {
        let (group, is_over) = (group.clone(), is_over.clone());
        let (asking, first) = (started.channel.again(), started.first);
        let is_room = matches!(order.hold, Hold::Room { .. });
        thread::spawn(move || {
            let (told, end) = sync_channel(1);
            thread::spawn(move || {
                if is_told_to_end(&mut input) {
                    let _ = told.send(());
                    until_end_of(input);
                }
            });
            // Its sender is gone once yoi has closed its end.
            if end.recv().is_ok() {
                match asking {
                    Ok(channel) if is_room => channel.ask_to_end(),
                    _ => descendants::tell_to_end(first),
                }
                let _ = end.recv_timeout(END_WAIT);
            }
            if !is_over.load(Ordering::Acquire) {
                descendants::kill_forever(|| group.iter().for_each(|group| group.kill()))
            }
        });
        started.report(&order)
    });
    if let Some(group) = &group {
        group.kill();
    }
    match (&order.hold, &report) {
        (_, Ok((_, Others::Gone))) => (),
        (Hold::Room { .. }, Ok((_, Others::Going))) => descendants::await_all(),
        _ => descendants::end_all(),
    }
    is_over.store(true, Ordering::Release);
    report.map(|(report, _)| report)
}

/// What the command started besides the first process and the shell.
#[derive(Debug, Clone, Copy)]
enum Others {
    Gone,
    /// The kernel ends it with the first process of a sandbox.
    Going,
}

/// Waits for a word of yoi. Returns false if yoi has closed its end or is gone: then nothing is given time to end.
fn is_told_to_end(input: &mut impl Read) -> bool {
    let mut bytes = [0; 64];
    loop {
        match input.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            read => return read.is_ok_and(|count| count > 0),
        }
    }
}

/// Returns when yoi has closed its end or is gone.
fn until_end_of(mut input: impl Read) {
    while is_told_to_end(&mut input) {}
}

/// Everything that was started, and how it can be heard.
struct Started {
    channel: Channel,
    /// The first process, if this one started it directly.
    first: Option<Pid>,
    /// The builder's error output, if that is another program.
    words: Option<PipeReader>,
}

fn start(order: &Order, private: &Private, group: Option<&Group>, ahead: Option<Ahead>) -> Result<Started, Report> {
    let system = System::of(&order.scope(), order.closed.clone());
    let plan = match order.hold {
        Hold::Room { .. } => {
            Some(Plan::of(&order.scope(), &order.fixed, &system, private).map_err(Report::Unconfined)?)
        }
        Hold::Nothing | Hold::Landlock => None,
    };
    let temp = plan.as_ref().map_or_else(|| private.temp(), |plan| plan.temp.clone());
    let inside = Inside { order: order.clone(), system, plan, temp };
    // Otherwise it is dropped here, which ends it.
    let ahead = ahead.filter(|ahead| ahead.fits(&inside));
    if let Some((channel, first)) = ahead.and_then(|ahead| ahead.told(&inside)) {
        return Ok(Started { channel, first: Some(first), words: None });
    }
    let started = match &order.hold {
        Hold::Room { bubblewrap: Some(program) } => start_by(program, &inside, group),
        Hold::Room { .. } | Hold::Landlock | Hold::Nothing => start_here(&inside, private, group),
    };
    started.map_err(|error| Report::NotStarted(format!("the helper could not start itself: {error}")))
}

/// Starts the first process by forking this one. Nothing has started a thread here before.
fn start_here(inside: &Inside, private: &Private, group: Option<&Group>) -> io::Result<Started> {
    let (channel, inner) = Channel::pair()?;
    let namespaces = match (&inside.plan, inside.order.network.is_own()) {
        (None, _) => Namespaces::NONE,
        (Some(_), true) => Namespaces::BUT_NETWORK.with_network(),
        (Some(_), false) => Namespaces::BUT_NETWORK,
    };
    let account = own::Account::of_this_process();
    match kernel::split(namespaces, group.map(Group::as_fd)) {
        Ok(None) => (),
        Ok(Some(first)) => return Ok(Started { channel, first: Some(first), words: None }),
        Err(error) if inside.plan.is_some() => {
            let reason = format!("its kernel refuses it namespaces of its own ({error}): see {NAMESPACE_SETTINGS}");
            inner.report(&Report::Unconfined(reason));
            return Ok(Started { channel, first: None, words: None });
        }
        Err(error) => return Err(error),
    }
    drop(channel);
    let parted = if inside.plan.is_some() { own::part(account) } else { Ok(()) };
    become_first(inside, private, parted, &inner)
}

/// Builds the sandbox around this process, if it was `parted` for one, and runs the command in it.
pub(super) fn become_first(inside: &Inside, private: &Private, parted: Result<(), String>, inner: &Channel) -> ! {
    let build = |()| inside.plan.as_ref().map_or(Ok(()), |plan| own::build(plan, private, &inside.order.limits));
    if let Err(reason) = parted.and_then(build) {
        inner.report(&Report::Unconfined(format!("its sandbox could not be built: {reason}")));
        process::exit(1)
    }
    match streams(&inside.order) {
        Ok(streams) => drop(first::be_first(inside, inner, streams)),
        Err(error) => inner.report(&Report::NotStarted(format!("its streams could not be taken along: {error}"))),
    }
    process::exit(0)
}

/// Has bubblewrap build the sandbox and start this program in it.
fn start_by(program: &Path, inside: &Inside, group: Option<&Group>) -> io::Result<Started> {
    let plan = inside.plan.as_ref().ok_or_else(|| io::Error::other("there is no sandbox to build"))?;
    let arguments = file_of(&bubblewrap::arguments(plan, &inside.order.network))?;
    let (channel, inner) = Channel::pair()?;
    let own_program: OwnedFd = File::open(helper::OWN_PROGRAM)?.into();
    let Streams { output, talk } = streams(&inside.order)?;
    let inherited = [&arguments, &own_program, inner.descriptor(), &output];
    for descriptor in inherited.into_iter().chain(&talk) {
        fcntl_setfd(descriptor, FdFlags::empty())?;
    }
    let [arguments, own_program, inner, output] = inherited.map(AsRawFd::as_raw_fd);
    let (order, mut input) = io::pipe()?;
    let (words, mut told) = io::pipe()?;
    let mut builder = Command::new(program);
    builder
        .arg0("bwrap")
        .arg("--args")
        .arg(arguments.to_string())
        .arg("--")
        .arg(format!("/proc/self/fd/{own_program}"))
        .args([helper::FIRST, &inner.to_string(), &output.to_string()])
        .args(talk.as_ref().map(|talk| talk.as_raw_fd().to_string()))
        .stdin(order)
        .stdout(Stdio::null())
        .stderr(told.try_clone()?);
    if kernel::split(Namespaces::NONE, group.map(Group::as_fd))?.is_none() {
        let error = builder.exec();
        let _ = writeln!(told, "{}: {error}", program.display());
        process::exit(1)
    }
    drop((builder, told));
    let mut line = serde_json::to_vec(inside)?;
    line.push(b'\n');
    // It may have ended by now; its error output tells.
    let _ = input.write_all(&line);
    Ok(Started { channel, first: None, words: Some(words) })
}

/// Returns the command's streams, which are the keeper's own.
fn streams(order: &Order) -> io::Result<Streams> {
    let talk = order.program.as_ref().map(|_| io::stdout().as_fd().try_clone_to_owned()).transpose()?;
    Ok(Streams { output: io::stderr().as_fd().try_clone_to_owned()?, talk })
}

/// A file in memory, positioned at its beginning.
fn file_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    let file = memfd_create("arguments", MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(bytes)?;
    seek(&file, SeekFrom::Start(0))?;
    Ok(file.into())
}

impl Started {
    /// Waits for the end of the first process, or until it is alone. Returns its report, or that of the shell if that
    /// was not started.
    fn report(self, order: &Order) -> (Report, Others) {
        let (mut is_here, mut report) = (false, None);
        let inner = order.way_in.as_ref().and_then(|socket| way_in::open(socket, &self.channel));
        let others = loop {
            match self.channel.next() {
                Message::Here => is_here = true,
                Message::Report(first) => report = report.or(Some(first)),
                Message::Alone if report.is_some() => break Others::Gone,
                Message::Alone => (),
                Message::Door(door) => {
                    if let Network::Through { socket } = &order.network {
                        way_out::forward(door, socket.clone());
                    }
                }
                Message::Inner(connection) => {
                    if let Some(inner) = &inner {
                        // The requester may have gone away.
                        let _ = inner.send(connection);
                    }
                }
                Message::End => break Others::Going,
            }
        };
        let report = report.unwrap_or_else(|| match is_here {
            true => Report::Signalled(rustix::process::Signal::KILL.as_raw()),
            false => Report::Unconfined(format!("its sandbox could not be built{}", self.words())),
        });
        (report, others)
    }

    fn words(self) -> String {
        let mut words = String::new();
        if let Some(from) = self.words {
            let _ = from.take(WORDS_BYTES_MAX).read_to_string(&mut words);
        }
        let line = words.lines().next_back().unwrap_or_default();
        if line.is_empty() { String::new() } else { format!(": {line}") }
    }
}
