# What the scripts have in common. Sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tools that are built from crates.io live below the target folder; they are made again when it is gone.
tools="$PWD/target/tools"

say() { printf '\n== %s\n' "$*"; }

need_node() {
  local version
  version=$(node --version 2>/dev/null) || { echo "Node 20 or newer is needed: https://nodejs.org" >&2; exit 1; }
  [ "$(echo "$version" | sed 's/v\([0-9]*\).*/\1/')" -ge 20 ] || { echo "Node 20 or newer is needed, this is $version" >&2; exit 1; }
}

# npm packages as package-lock.json has them.
need_packages() {
  need_node
  if [ ! -f node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
    say "npm packages"
    npm ci --no-audit --no-fund
  fi
}

# The agents of tests/agents, which are large; with a Node of their own, since some of them want a newer one.
need_agents() {
  need_node
  if [ ! -f tests/agents/node_modules/.package-lock.json ] || [ tests/agents/package-lock.json -nt tests/agents/node_modules/.package-lock.json ]; then
    say "npm packages of the agents"
    npm ci --prefix tests/agents --no-audit --no-fund
  fi
}

need_wasm_target() {
  rustup target list --installed | grep -qx wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
}

# A command of a crate: need_tool CRATE VERSION COMMAND
need_tool() {
  local stamp="$tools/.$1-$2"
  if [ ! -f "$stamp" ] || [ ! -x "$tools/bin/$3" ]; then
    say "$1 $2"
    cargo install "$1" --version "$2" --root "$tools" --force --target-dir target/tools-build
    touch "$stamp"
  fi
}

# The version of a package in Cargo.lock.
locked() { awk -v name="$1" '$1 == "name" && $3 == "\"" name "\"" { found = 1 } found && $1 == "version" { gsub("\"", "", $3); print $3; exit }' Cargo.lock; }

# Everything that a build of the Worker needs, so that worker-build downloads nothing by itself.
need_worker_tools() {
  need_packages
  need_wasm_target
  need_tool wasm-bindgen-cli "$(locked wasm-bindgen)" wasm-bindgen
  need_tool worker-build "$(locked worker)" worker-build
  export WASM_BINDGEN_BIN="$tools/bin/wasm-bindgen"
  export ESBUILD_BIN="$PWD/scripts/esbuild"
  export WASM_OPT_BIN="$PWD/node_modules/binaryen/bin/wasm-opt"
}
