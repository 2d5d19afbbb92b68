#!/bin/sh
# Installs tidemark and tidemark-hook from a release, after checking them against its checksums.
#
#   install.sh [VERSION]              the latest where none is named
#   PREFIX=/usr/local install.sh      where to; $HOME/.local by default
#   TIDEMARK_RELEASES=URL             another place that holds releases, as https://…/download
set -eu

version=${1:-latest}
prefix=${PREFIX:-$HOME/.local}
releases=${TIDEMARK_RELEASES:-https://github.com/tidemark/tidemark/releases}

fail() { echo "install: $*" >&2; exit 1; }
command -v curl >/dev/null || fail "curl is needed"

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "no release for $(uname -s); see the documentation" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "no release for $(uname -m)" ;;
esac
if [ "$version" = latest ]; then
  from=$releases/latest/download
else
  from=$releases/download/$version
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
get() { curl -fsSL --proto '=https,http,file' "$from/$1" -o "$work/$1" || fail "cannot get $from/$1"; }

get checksums.txt
archive=$(awk -v end="_${os}_${arch}.tar.gz" 'substr($2, length($2) - length(end) + 1) == end { print $2 }' "$work/checksums.txt")
[ -n "$archive" ] || fail "the release has nothing for $os on $arch"
get "$archive"
wanted=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/checksums.txt")
if command -v sha256sum >/dev/null; then
  found=$(sha256sum "$work/$archive" | cut -d' ' -f1)
else
  found=$(shasum -a 256 "$work/$archive" | cut -d' ' -f1)
fi
[ "$wanted" = "$found" ] || fail "$archive is not what the release says it is; nothing was installed"

tar -xzf "$work/$archive" -C "$work"
mkdir -p "$prefix/bin"
for program in tidemark tidemark-hook; do # a running program is replaced, not written over
  cp "$work/$program" "$prefix/bin/.$program.new"
  chmod 755 "$prefix/bin/.$program.new"
  mv -f "$prefix/bin/.$program.new" "$prefix/bin/$program"
done
"$prefix/bin/tidemark" version
case ":$PATH:" in
  *":$prefix/bin:"*) echo "next: tidemark init" ;;
  *) echo "add $prefix/bin to your PATH, then: tidemark init" ;;
esac
