#!/usr/bin/env bash
# All tests of the OpenClaw plugin: against a real server, and in the real gateway where
# one is installed.
#
#   OPENCLAW=folder   a folder in which openclaw@2026.9.6 and node@24 are installed with npm
#   INSTALL=1         install them into a temporary folder first (about two minutes, 840 MB)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${TIDEMARK:-}" ]; then
  (cd ../.. && go build -o "$work/tidemark" ./cmd/tidemark)
  export TIDEMARK=$work/tidemark
fi

node --test --test-timeout 120000 --test-reporter dot test/*.test.mjs

if [ -z "${OPENCLAW:-}" ] && [ "${INSTALL:-}" = 1 ]; then
  OPENCLAW=$work/openclaw
  mkdir "$OPENCLAW" "$work/node24"
  # Apart: OpenClaw's install wants the newer node to be there already, and a second install
  # into the same folder would remove it.
  npm install --prefix "$work/node24" --no-audit --no-fund --no-package-lock --loglevel error node@24
  PATH=$work/node24/node_modules/node/bin:$PATH \
    npm install --prefix "$OPENCLAW" --no-audit --no-fund --no-package-lock --loglevel error openclaw@2026.9.6
  ln -s "$work/node24/node_modules/node" "$OPENCLAW/node_modules/node"
fi
if [ -z "${OPENCLAW:-}" ]; then
  echo "-     the real gateway was not tested: set OPENCLAW to a folder with openclaw@2026.9.6 and node@24, or INSTALL=1"
  exit 0
fi
export OPENCLAW
PATH=$OPENCLAW/node_modules/node/bin:$PATH node --test --test-timeout 300000 test/gateway.mjs
