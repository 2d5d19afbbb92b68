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

node --test --test-reporter dot test/*.test.mjs

if [ -z "${OPENCLAW:-}" ] && [ "${INSTALL:-}" = 1 ]; then
  OPENCLAW=$work/openclaw
  mkdir "$OPENCLAW"
  # In one command: a second one would remove what the first put there.
  npm install --prefix "$OPENCLAW" --no-audit --no-fund --no-package-lock --loglevel error node@24 openclaw@2026.9.6
fi
if [ -z "${OPENCLAW:-}" ]; then
  echo "-     the real gateway was not tested: set OPENCLAW to a folder with openclaw@2026.9.6 and node@24, or INSTALL=1"
  exit 0
fi
export OPENCLAW
PATH=$OPENCLAW/node_modules/node/bin:$PATH node --test --test-timeout 300000 test/gateway.mjs
