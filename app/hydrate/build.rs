//! The module is split after it is linked: what is loaded later is found by the linker's relocations.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--emit-relocs");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
