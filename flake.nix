{
  description = "yoi: a console for durable LLM agents, served by one binary";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      lib = nixpkgs.lib;
      forAllSystems = make:
        lib.genAttrs [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ]
          (system: make nixpkgs.legacyPackages.${system});

      # nixpkgs' compiler has the standard library for wasm32, but no linker of its own for it.
      wasmLinker = { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER = "lld"; };

      # `withConsole = false` is `YOI_WEB=skip`: server, API and terminal client without the browser's half.
      yoiFor = pkgs: { withConsole ? true }:
        pkgs.rustPlatform.buildRustPackage {
          pname = if withConsole then "yoi" else "yoi-without-console";
          version = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package.version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "yoi" ];
          # SQLite and the TLS library bring small parts in C; the compiler for them is in the standard environment.
          nativeBuildInputs = lib.optional withConsole pkgs.lld;
          env = if withConsole then wasmLinker else { YOI_WEB = "skip"; };
          # The tests want a browser, a PostgreSQL and free ports: `nix develop`, then `cargo xtask test`.
          doCheck = false;
          meta = {
            description = "A console for durable LLM agents, served by one binary";
            license = [ lib.licenses.mit lib.licenses.asl20 ];
            mainProgram = "yoi";
          };
        };
    in
    {
      packages = forAllSystems (pkgs: rec {
        yoi = yoiFor pkgs { };
        yoi-without-console = yoiFor pkgs { withConsole = false; };
        default = yoi;
      });

      devShells = forAllSystems (pkgs: {
        default = pkgs.mkShell {
          packages = [
            pkgs.cargo
            pkgs.rustc
            pkgs.clippy
            pkgs.rustfmt
            pkgs.rust-analyzer
            pkgs.lld
            pkgs.postgresql
          ] ++ lib.optionals pkgs.stdenv.hostPlatform.isLinux [
            pkgs.chromium
            pkgs.chromedriver
          ];
          env = wasmLinker;
        };
      });
    };
}
