"""Loads an operator's own handlers of chat events: a Python file or module that the settings name.

The module has a function `register(app)`, which adds handlers to an application object of the platform's own library.
Our handlers are on another application object, which gets each event first. So an operator's handler can't stop our
handlers. An operator's handler gets neither the gate nor the store, so it can't decide a call.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from bot.errors import SettingsError, without_number
from bot.settings import refuse_foreign
from bot.wording import say

if TYPE_CHECKING:
    from types import ModuleType

    from hitl.platforms import Register


def register_of(section: str, named: str) -> Register | None:
    """Return the function `register` of a Python file or module, or None if the settings name no file or module.

    Raises SettingsError.
    """
    if not named:
        return None
    if named.endswith(".py"):
        refuse_foreign(Path(named).expanduser())
    try:
        found = _module(named)
    except Exception as error:
        why = without_number(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        raise SettingsError(say("setting.handlers", section=section, named=named, why=why)) from error
    register: Register | None = getattr(found, "register", None)
    if not callable(register):
        raise SettingsError(say("setting.handlers.none", section=section, named=named))
    return register


def _module(named: str) -> ModuleType:
    path = Path(named).expanduser()
    if path.suffix != ".py":
        return importlib.import_module(named)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(say("setting.handlers.file", path=path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
