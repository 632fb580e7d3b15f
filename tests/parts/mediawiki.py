"""A real MediaWiki (Debian's package) on PHP's own server, its pages in SQLite.

Reading is for everybody; editing takes a sign-in. The one person, Admin, has a bot password that may read, edit and
create pages: a program signs in with it at the action API, by a token and a cookie that live as long as its session.
"""

import secrets
import sys

from counterpart import HOST, Counterpart, options
from needs import MEDIAWIKI

BOT = "tests"

PHP = ("php", "-dmemory_limit=256M", "-ddisplay_errors=0", "-dlog_errors=1", "-dopcache.enable_cli=1")

# Beside what the installer wrote. A page's after-work is nobody's concern here, and a test may sign in often.
SETTINGS = """
$wgGroupPermissions['*']['edit'] = false;
$wgEnableEmail = false;
$wgJobRunRate = 0;
$wgPasswordAttemptThrottle = [];
$wgMainCacheType = CACHE_DB;
"""


def main() -> None:
    """Start MediaWiki and stay."""
    with Counterpart("mediawiki", options("mediawiki", __doc__).parse_args()) as part:
        # The code stays where the package put it; settings and pages lie in the part's own folder.
        settings = part.data / "LocalSettings.php"
        environment = {"MW_INSTALL_PATH": str(MEDIAWIKI), "MW_CONFIG_FILE": str(settings)}
        part.run(
            *(*PHP, MEDIAWIKI / "maintenance" / "install.php", "--dbtype=sqlite", f"--dbpath={part.data}"),
            *("--dbname=pages", f"--server={part.url}", "--scriptpath=", "--lang=en", "--skins="),
            *(f"--confpath={part.data}", f"--pass={secrets.token_hex(12)}", "A real wiki", "Admin"),
        )
        with settings.open("a") as file:
            file.write(SETTINGS)
        password = secrets.token_hex(16)  # of 32 characters: MediaWiki takes no shorter one
        part.run(
            *(*PHP, MEDIAWIKI / "maintenance" / "createBotPassword.php", f"--appid={BOT}"),
            *("--grants=basic,editpage,createeditmovepage", "Admin", password),
            env=environment,
        )
        part.start(
            *(*PHP, "-S", f"{HOST}:{part.port}", "-t", MEDIAWIKI),
            env={**environment, "PHP_CLI_SERVER_WORKERS": "2"},
            folder=MEDIAWIKI,
        )
        part.until_answering("/api.php?action=query&meta=siteinfo&format=json")
        part.stay(api=f"{part.url}/api.php", user=f"Admin@{BOT}", password=password)


if __name__ == "__main__":
    sys.exit(main())
