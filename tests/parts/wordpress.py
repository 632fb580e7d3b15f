"""A real WordPress (Debian's package) on PHP's own server, with a private MariaDB.

Pretty permalinks are on, so /wp-json/ answers. The environment type is "local": that is what lets WordPress hand out
application passwords over plain http, and redirect a sign-in back to an http address. Three people: admin, author
and reader (a subscriber, who may not post), all with the same password.

A finished installation is kept under .cache/parts; the next start copies it.
"""

import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from counterpart import HOST, Counterpart, options
from needs import WORDPRESS

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "parts"

CONFIG = """<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:' . getenv('PART_SOCKET'));
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $name) {
    define($name . '_KEY', getenv('PART_SALT') . $name);
    define($name . '_SALT', getenv('PART_SALT') . strtolower($name));
}
define('WP_HOME', getenv('PART_URL'));
define('WP_SITEURL', getenv('PART_URL'));
define('WP_ENVIRONMENT_TYPE', 'local');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
define('WP_DEFAULT_THEME', 'twentytwentythree');
$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""

# What a web server's rewrite rules do: a file is sent as it is, everything else is WordPress' to answer.
ROUTER = """<?php
$root = $_SERVER['DOCUMENT_ROOT'];
$path = rawurldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
if (is_file($root . $path)) {
    return false;
}
if ($path !== '/' && is_file(rtrim($root . $path, '/') . '/index.php')) {
    if (substr($path, -1) === '/') {
        return false;
    }
    header('Location: ' . $path . '/', true, 301);
    return true;
}
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $root . '/index.php';
chdir($root);
require $root . '/index.php';
"""

INSTALL = """<?php
define('WP_INSTALLING', true);
$_SERVER['HTTP_HOST'] = parse_url(getenv('PART_URL'), PHP_URL_HOST);
$_SERVER['REQUEST_URI'] = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
require __DIR__ . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
$password = getenv('PART_PASSWORD');
wp_install('A real blog', 'admin', 'admin@example.test', true, '', $password);
foreach (['author' => 'author', 'reader' => 'subscriber'] as $login => $role) {
    wp_insert_user(['user_login' => $login, 'user_pass' => $password, 'user_email' => "$login@example.test",
        'role' => $role]);
}
$GLOBALS['wp_rewrite']->set_permalink_structure('/%postname%/');
$GLOBALS['wp_rewrite']->flush_rules(false);
echo 'installed';
"""

PHP = ("php", *(f"-d{setting}" for setting in (
    "sendmail_path=/bin/true", "memory_limit=256M", "upload_max_filesize=64M", "post_max_size=64M",
    "opcache.enable_cli=1", "display_errors=0", "log_errors=1",
)))  # fmt: skip

# MariaDB runs as root only when told to; as anybody else it takes no notice.
LOG_SIZE = "--innodb-log-file-size=8M"  # of 96 MB, which a copy would carry along
MARIADB = ("--no-defaults", *(("--user=root",) if os.geteuid() == 0 else ()))


def main() -> None:
    """Start WordPress and stay."""
    with Counterpart("wordpress", options("wordpress", __doc__).parse_args()) as part:
        site = _lay_out_site(part)
        finished = CACHE / f"wordpress-{_version()}"
        if not finished.exists():
            _install(part, site, finished)
        part.run("cp", "-r", finished / "db", part.data / "db")
        environment = _environment(part)
        _start_database(part)
        part.start(
            *(*PHP, "-S", f"{HOST}:{part.port}", "-t", site, part.data / "router.php"),
            env={**environment, "PHP_CLI_SERVER_WORKERS": "3"},  # without it, one request at a time
            folder=site,
        )
        part.until_answering("/wp-json/")
        part.stay(
            rest=f"{part.url}/wp-json/wp/v2",
            login=f"{part.url}/wp-login.php",
            authorize=f"{part.url}/wp-admin/authorize-application.php",
            people=["admin", "author", "reader"],
            password=(finished / "password").read_text(),
        )


def _version() -> str:
    """Return what a finished installation depends on, as a short hash."""
    wordpress = (WORDPRESS / "wp-includes" / "version.php").read_bytes()
    return hashlib.sha256(wordpress + Path(__file__).read_bytes()).hexdigest()[:12]


def _environment(part: Counterpart) -> dict[str, str]:
    return {"PART_SOCKET": str(part.data / "db.sock"), "PART_URL": part.url, "PART_SALT": secrets.token_hex(24)}


def _lay_out_site(part: Counterpart) -> Path:
    site = part.data / "site"
    site.mkdir()
    for entry in WORDPRESS.iterdir():
        if entry.name == "wp-includes":  # 47 MB that never ask where they lie
            (site / entry.name).symlink_to(entry)
        elif not entry.name.startswith("."):
            part.run("cp", "-rL", entry, site)  # -L: the package links to libraries that lie elsewhere
    (site / "wp-content" / "uploads").mkdir()
    (site / "wp-config.php").write_text(CONFIG)
    (part.data / "router.php").write_text(ROUTER)
    return site


def _start_database(part: Counterpart) -> subprocess.Popen[bytes]:
    socket = part.data / "db.sock"
    process = part.start(
        *("mariadbd", *MARIADB, f"--datadir={part.data}/db", f"--socket={socket}", "--skip-networking"),
        *(f"--pid-file={part.data}/db.pid", "--performance-schema=off", "--innodb-buffer-pool-size=32M"),
        *(LOG_SIZE, "--innodb-flush-log-at-trx-commit=0"),
    )
    part.until(socket.exists, "MariaDB's socket")
    return process


def _install(part: Counterpart, site: Path, finished: Path) -> None:
    """Install WordPress once, and keep its database and password as `finished`."""
    database, socket = part.data / "db", part.data / "db.sock"
    part.run(
        *("mariadb-install-db", *MARIADB, f"--datadir={database}", "--skip-test-db", "--skip-name-resolve"),
        *("--auth-root-authentication-method=normal", LOG_SIZE),
    )
    server = _start_database(part)
    client = ("--no-defaults", "-uroot", f"--socket={socket}")
    part.run("mariadb-admin", *client, "create", "wordpress")
    password = secrets.token_hex(12)
    (site / "install-once.php").write_text(INSTALL)
    said = part.run(*PHP, site / "install-once.php", env={**_environment(part), "PART_PASSWORD": password})
    (site / "install-once.php").unlink()
    if not said.endswith("installed"):
        part.fail(f"WordPress did not install: {said[-2000:]}")
    part.run("mariadb-admin", *client, "shutdown")
    part.forget(server)
    _keep(part, finished, password)
    shutil.rmtree(database)


def _keep(part: Counterpart, finished: Path, password: str) -> None:
    """Put the installation where the next start finds it, whole or not at all."""
    finished.parent.mkdir(parents=True, exist_ok=True)
    half = Path(tempfile.mkdtemp(dir=finished.parent, prefix="half-"))
    (half / "password").write_text(password)
    part.run("cp", "-r", part.data / "db", half / "db")
    try:
        half.rename(finished)
    except OSError:  # another run was quicker; its installation serves as well
        shutil.rmtree(half)


if __name__ == "__main__":
    sys.exit(main())
