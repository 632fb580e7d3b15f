"""The records of a home, as data: what project.yaml, connection.yaml and asset.md say, and how they are written back.

A record is checked when it is read: people edit these files by hand, and a wrong one must say where it is wrong and
leave the others alone. Fields that Habilis does not know are a person's own, or another version's: they are kept in
`extra` and written back behind the known ones.

Source: docs/home.md "Files".
"""

from habilis.records.accounts import (
    Account,
    Project,
    Publication,
    account_folder,
    read_account,
    read_project,
    write_account,
    write_project,
)
from habilis.records.assets import RECORD_NAME, Asset, AssetFile, read_asset, write_asset
from habilis.records.reading import stamp

__all__ = [
    "RECORD_NAME",
    "Account",
    "Asset",
    "AssetFile",
    "Project",
    "Publication",
    "account_folder",
    "read_account",
    "read_asset",
    "read_project",
    "stamp",
    "write_account",
    "write_asset",
    "write_project",
]
