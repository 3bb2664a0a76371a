//! Third-party client generators, and the clients that they generate from the API's document.
//!
//! They are not part of this project. pip and npm fetch them once into the target folder, in the versions pinned
//! beside this file, from whatever registry the machine is configured for.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use sha2::{Digest, Sha256};
use tokio::{process::Command, time::timeout};

use crate::wait::WAIT_MAX;

const PYTHON_PINS: &str = include_str!("generators/requirements.txt");
const NODE_PACKAGES: &str = include_str!("generators/package.json");
const NODE_PINS: &str = include_str!("generators/package-lock.json");

const SERVER_PACKAGES: &str = include_str!("generators/mcp/package.json");
const SERVER_PINS: &str = include_str!("generators/mcp/package-lock.json");

/// Fetching has its own time limit, because networks are slower than machines.
const FETCH_WAIT_MAX: Duration = Duration::from_secs(600);

/// The package name of the Python client.
const PYTHON_PACKAGE: &str = "yoi_client";
/// The Python client is not for reading, so it is not formatted.
const PYTHON_OPTIONS: &str = "post_hooks: []\n";

/// As strict as the compiler can be without style rules.
const TYPESCRIPT_OPTIONS: &str = r#"{
  "compilerOptions": {
    "strict": true, "noUnusedLocals": true, "noFallthroughCasesInSwitch": true, "skipLibCheck": true,
    "target": "es2022", "lib": ["es2022", "dom"], "types": [], "module": "nodenext", "outDir": "out"
  },
  "files": ["client.ts", "node.d.ts"]
}
"#;
/// The parts of Node's API that the programs use.
const NODE_TYPES: &str = "declare const process: { argv: string[] };\n";

/// Both generators, fetched.
#[derive(Debug)]
pub struct Generators {
    python: PathBuf,
    node: PathBuf,
}

impl Generators {
    /// Finds the generators in the target folder, fetching them first if they are not there yet.
    ///
    /// # Panics
    /// If they cannot be obtained; the message says what was tried and how to provide them.
    pub async fn load() -> Self {
        let folder = crate::target().join("generators");
        let python = kept(&folder, "python", &[PYTHON_PINS], fetch_python).await;
        let node = kept(&folder, "node", &[NODE_PACKAGES, NODE_PINS], fetch_node).await;
        Self { python, node }
    }

    /// Generates a Python client in `folder`, and returns the command that runs this program against it.
    pub async fn python_client(&self, document: &Path, folder: &Path, program: &Path) -> Command {
        let options = folder.join("options.yaml");
        fs::write(&options, PYTHON_OPTIONS).expect("the folder can be written");
        let mut generate = self.python();
        generate.args(["-m", "openapi_python_client", "generate", "--meta", "none", "--overwrite", "--path"]);
        generate.arg(document).arg("--config").arg(&options).arg("--output-path").arg(folder.join(PYTHON_PACKAGE));
        let said = run(&mut generate).await;
        assert!(!said.contains("Unable to parse schema"), "a shape is missing from the client:\n{said}");
        let mut command = self.python();
        command.arg(program).env("PYTHONPATH", folder);
        command
    }

    /// Generates TypeScript types in `folder`, compiles this program with them, and returns the command that runs it.
    pub async fn typescript_client(&self, document: &Path, folder: &Path, program: &Path) -> Command {
        let written =
            [("tsconfig.json", TYPESCRIPT_OPTIONS), ("node.d.ts", NODE_TYPES), ("package.json", NODE_PACKAGES)];
        for (name, text) in written {
            fs::write(folder.join(name), text).expect("the folder can be written");
        }
        fs::copy(program, folder.join("client.ts")).expect("the program can be copied");
        let modules = self.node.join("node_modules");
        std::os::unix::fs::symlink(&modules, folder.join("node_modules")).expect("a link can be made there");
        let mut generate = Command::new("node");
        run(generate
            .arg(modules.join("openapi-typescript/bin/cli.js"))
            .arg(document)
            .arg("-o")
            .arg(folder.join("api.ts")))
        .await;
        let mut compile = Command::new("node");
        run(compile.arg(modules.join("typescript/bin/tsc")).arg("-p").arg(folder)).await;
        let mut command = Command::new("node");
        command.arg(folder.join("out/client.js"));
        command
    }

    fn python(&self) -> Command {
        Command::new(self.python.join("bin/python"))
    }
}

/// Returns the folder of the official test server of the Model Context Protocol, which implements everything in the
/// protocol. Its program is `dist/index.js` in that folder, to be run by `node`.
///
/// # Panics
/// As [`Generators::load`].
pub async fn server_everything() -> PathBuf {
    let folder = crate::target().join("generators");
    let whole = kept(&folder, "mcp", &[SERVER_PACKAGES, SERVER_PINS], fetch_servers).await;
    whole.join("node_modules/@modelcontextprotocol/server-everything")
}

/// Runs a program to its end and returns its output.
///
/// # Panics
/// If it fails or takes too long; the message contains its output.
pub async fn run(command: &mut Command) -> String {
    within(WAIT_MAX, command).await.unwrap_or_else(|sentence| panic!("{sentence}"))
}

async fn within(wait: Duration, command: &mut Command) -> Result<String, String> {
    command.stdin(Stdio::null()).kill_on_drop(true);
    let line = format!("{:?}", command.as_std());
    let output = match timeout(wait, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(format!("{line} could not be started: {error}")),
        Err(_) => return Err(format!("{line} did not end within {wait:?}")),
    };
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(said) } else { Err(format!("{line} failed ({}):\n{said}", output.status)) }
}

/// The folder with what these pins fetch. It gets its final name only when it is complete, because several tests may
/// fetch it at once.
async fn kept(folder: &Path, name: &str, pins: &[&str], fetch: impl AsyncFn(&Path) -> Result<(), String>) -> PathBuf {
    let digest: String = Sha256::digest(pins.concat()).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let whole = folder.join(format!("{name}-{digest}"));
    if whole.is_dir() {
        return whole;
    }
    fs::create_dir_all(folder).expect("the target folder can be written");
    let part = tempfile::Builder::new().prefix(".part-").tempdir_in(folder).expect("a folder can be made there");
    if let Err(sentence) = fetch(part.path()).await {
        panic!(
            "the generators of clients could not be fetched for the tests ({sentence})\nThey need python3 with its venv, \
             node with npm, and a registry that both can ask; on Debian: apt-get install python3-venv nodejs npm"
        );
    }
    // If two were made at once, the first stays.
    if fs::rename(part.keep(), &whole).is_err() {
        assert!(whole.is_dir(), "{} could not be made", whole.display());
    }
    whole
}

/// Such a folder can be moved anywhere, as long as its own python is run and none of its scripts.
async fn fetch_python(folder: &Path) -> Result<(), String> {
    within(FETCH_WAIT_MAX, Command::new("python3").args(["-m", "venv"]).arg(folder)).await?;
    let pins = folder.join("requirements.txt");
    fs::write(&pins, PYTHON_PINS).map_err(|error| error.to_string())?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"]).arg(&pins);
    within(FETCH_WAIT_MAX, &mut pip).await.map(drop)
}

async fn fetch_node(folder: &Path) -> Result<(), String> {
    fetch_by(folder, NODE_PACKAGES, NODE_PINS).await
}

async fn fetch_servers(folder: &Path) -> Result<(), String> {
    fetch_by(folder, SERVER_PACKAGES, SERVER_PINS).await
}

async fn fetch_by(folder: &Path, packages: &str, pins: &str) -> Result<(), String> {
    for (name, text) in [("package.json", packages), ("package-lock.json", pins)] {
        fs::write(folder.join(name), text).map_err(|error| error.to_string())?;
    }
    let words: [&OsStr; 5] = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"].map(OsStr::new);
    within(FETCH_WAIT_MAX, Command::new("npm").args(words).current_dir(folder)).await.map(drop)
}
