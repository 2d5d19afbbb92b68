#!/bin/sh
# Takes the profile out of the kernel when the package goes for good: Debian says remove, RPM says that none is left (0).
set -e
[ -z "${DPKG_ROOT:-}" ] || exit 0
case ${1:-} in
  remove | 0)
    if [ -d /sys/kernel/security/apparmor ] && command -v apparmor_parser >/dev/null 2>&1; then
      apparmor_parser -R /etc/apparmor.d/tidemark 2>/dev/null || true
    fi
    ;;
esac
exit 0
