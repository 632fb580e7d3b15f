"""Accounts of a project: added, given keys, chosen as default, removed. A channel is an account with a kind."""

from habilis.engine.accounts.adding import AccountOrder, add_account, order_notices
from habilis.engine.accounts.changing import allow_private, remove_account, set_default, set_key
from habilis.engine.accounts.typed import check_keys, key_notices
from habilis.engine.accounts.views import AccountView, KeyState, WayState, list_accounts, show_account

__all__ = [
    "AccountOrder",
    "AccountView",
    "KeyState",
    "WayState",
    "add_account",
    "allow_private",
    "check_keys",
    "key_notices",
    "list_accounts",
    "order_notices",
    "remove_account",
    "set_default",
    "set_key",
    "show_account",
]
