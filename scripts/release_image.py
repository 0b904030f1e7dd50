"""The `Containerfile` that `scripts/release` writes: an image that is built from the archive."""

import re

from release_run import PROGRAM, Problem

# The program trusts the certificates of the system (rustls-native-certs). Neither `scratch` nor Debian's image has any,
# and without certificates every `https` URL fails. They are installed when the image is built, because certificates in
# the archive would be as old as the release.
INSTALL = "RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


def containerfile(name, target):
    """The text of the `Containerfile` for the archive `name`. A program for musl needs no files but certificates."""
    if "musl" in target:
        base = f"FROM debian:stable-slim AS certificates\n{INSTALL}\n\nFROM scratch\nCOPY --from=certificates {BUNDLE} {BUNDLE}\n"
    else:
        base = f"FROM debian:stable-slim\n{INSTALL}\n"
    return (
        "# Built from the archive, and the certificates of Debian: `docker build -f Containerfile .` in this folder.\n"
        f"{base}ADD {name}.tar.gz /\nUSER 65534:65534\nEXPOSE 7250\n"
        f'ENTRYPOINT ["/{name}/{PROGRAM}"]\nCMD ["serve", "--listen", "0.0.0.0:7250", "--no-page"]\n'
    )


def check_containerfile(path):
    """Checks that the files which it adds exist, and that the image has certificates."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    image = lines[max(at for at, line in enumerate(lines) if line.startswith("FROM ")) :]
    if not any(re.match(r"(RUN|COPY) .*\bca-certificates\b", line) for line in image):
        raise Problem(f"the image of {path} has no certificates, so the program could not use https")
    for line in image:
        added = re.match(r"ADD (\S+) ", line)
        if added and not (path.parent / added[1]).is_file():
            raise Problem(f"{path} adds {added[1]}, which is not beside it")
