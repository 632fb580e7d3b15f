"""What each real counterpart needs on the machine: the one list that tests, starters and CI read.

`python tests/parts/needs.py` prints every Debian package that the parts together need.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ABSENT = 69
"""Exit code of a starter that lacks a program. Source: sysexits.h, EX_UNAVAILABLE."""

WORDPRESS = Path("/usr/share/wordpress")
"""Where Debian's package `wordpress` puts the site."""

MEDIAWIKI = Path("/usr/share/mediawiki")
"""Where Debian's package `mediawiki` puts the wiki."""

MODULES = Path(__file__).resolve().parent / "node_modules"
"""Where `npm ci` puts what package.json beside this file lists."""

_NO_APACHE = ("nginx-light", "php-fpm")
"""Never started here; named first, they keep apt from choosing Apache for what wants a web server and PHP."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one part needs.

    Attributes:
        programs: Found by `program`.
        files: Patterns, below "/", of files that no program stands for.
        packages: Debian packages that bring them.
        modules: Packages of npm, in MODULES.
        root: Whether it has to be started by root.
        variable: The environment variable that names the folder into which a person installed it; "" where packages
            bring it all. A test that asks for such a part is left out where the variable is not set, in CI too.
    """

    programs: tuple[str, ...]
    files: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    root: bool = False
    variable: str = ""


NEEDS: Mapping[str, Need] = {
    "exim": Need(programs=("exim4", "openssl"), packages=("exim4-daemon-light", "openssl"), root=True),
    "ghost": Need(programs=("node",), variable="HABILIS_GHOST"),
    "git": Need(programs=("git",), packages=("git",)),
    "gitremote": Need(
        programs=("git", "nginx", "fcgiwrap", "openssl"),
        packages=("git", "nginx-light", "fcgiwrap", "openssl"),
    ),
    "mediawiki": Need(
        programs=("php",),
        files=(
            "usr/share/mediawiki/maintenance/install.php",
            *(f"usr/lib/php/*/{name}.so" for name in ("intl", "mbstring", "pdo_sqlite", "xml")),
        ),
        packages=(*_NO_APACHE, "php-cli", "php-sqlite3", "php-intl", "php-mbstring", "php-xml", "mediawiki"),
    ),
    "jwtbearer": Need(programs=()),
    "oidc": Need(programs=("node",), modules=("oidc-provider",)),
    "openssl": Need(programs=("openssl",), packages=("openssl",)),
    "strace": Need(programs=("strace",), packages=("strace",)),
    "wordpress": Need(
        programs=("php", "mariadbd", "mariadb-install-db", "mariadb-admin"),
        files=(
            "usr/share/wordpress/wp-load.php",
            "usr/lib/php/*/mysqli.so",
            "usr/lib/php/*/mbstring.so",
            "usr/lib/php/*/xml.so",
        ),
        packages=(
            *(*_NO_APACHE, "php", "php-cli", "php-mysql", "php-gd", "php-xml", "php-mbstring", "php-curl"),
            *("mariadb-server", "wordpress", "wordpress-theme-twentytwentythree"),
        ),
    ),
}


def program(name: str) -> str | None:
    """Return the path of a program, None when it is not installed.

    Each `bin` folder's `sbin` is looked through as well: servers lie there, and a plain user's PATH leaves it out.
    """
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    beside = [str(Path(place).with_name("sbin")) for place in places if Path(place).name == "bin"]
    return shutil.which(name, path=os.pathsep.join(places + beside))


def missing(part: str) -> list[str]:
    """Return what the part needs and the machine lacks; empty when the part can be started."""
    need = NEEDS[part]
    programs = [name for name in need.programs if not program(name)]
    rights = ["root"] if need.root and os.geteuid() != 0 else []
    rights += [need.variable] if need.variable and not os.environ.get(need.variable) else []
    modules = [name for name in need.modules if not (MODULES / name).is_dir()]
    return rights + programs + modules + [file for file in need.files if not any(Path("/").glob(file))]


def how_to_install(part: str) -> str:
    """Return the words that tell a person how to get the part, as `install: git nginx-light`."""
    if NEEDS[part].variable:
        return f"see tests/parts/{part}.py"
    if NEEDS[part].modules:
        return "run: npm ci --prefix tests/parts"
    return f"install: {' '.join(NEEDS[part].packages)}" + ("; run as root" if NEEDS[part].root else "")


if __name__ == "__main__":
    print(*dict.fromkeys(package for need in NEEDS.values() for package in need.packages))
