"""The sentences about the state folder, the keys and the database. They are added to the catalogue of all sentences for
people (`hitl.cards.wording`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitl.cards.wording import IN_ENGLISH

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # messages about the key file
    "database.keys.open": "{path} can be used by other users. Make new keys, or run: chmod 600 {path}",
    "database.keys.malformed": "The keys in {path} can't be read: it isn't a key file. Restore it from a backup; without it, open calls can't be decided.",
    "database.keys.twice": "it has no key, or two with one id",
    "database.keys.lost": "The keys {path} are missing, and they made the MACs of everything in {database}. Put the file back from a backup. If there is none, move the state folder away and start again: nothing in it can be verified or decided.",
    "database.keys.unreadable": "The keys in {path} can't be read: {why}.",
    "database.keys.unwritable": "The keys in {path} can't be replaced: {why}. The old file is unchanged.",
    "database.keys.missing": "The MACs of open calls were made with keys that are missing: {ids}. Put them back into keys.json, after the first; they can go when those calls are over.",
    # messages about the state folder
    "database.folder.unusable": "The state folder {path} can't be used: {why}. Make it writable for the user that runs sayso, or name another folder: `state` in sayso.toml, --state for the demo.",
    "database.folder.unseen": "{path} can't be looked at: {why}",
    "database.folder.exposed": "other users may have read {path} (mode {found}). Find out who opened it, then run: chmod {mode} {path}",
    "database.folder.foreign": "{path} belongs to another user (uid {uid}). Run sayso as that user: sudo -u {user} sayso ...",
    "database.folder.writable": "{path} can be written by other users (mode {found}). Check what it holds, then run: chmod {mode} {path}",
    "database.folder.file": "{path} can't be used: {why}. Check who owns it, and the folder.",
    "database.folder.used": "Another sayso service (pid {pid}) uses {path}. Stop it first, or name another folder: `state` in sayso.toml, --state for the demo.",
    # messages about the database
    "database.unusable": "The database {path} can't be used: {reason} ({error}). Nothing was changed.",
    "database.full": "the disk is full. Free some space, then try again",
    "database.readonly": "it is read-only. Make it and its folder writable, then try again",
    "database.disk": "the disk reports an error. Check the disk and its space, then try again",
    "database.locked": "another program holds it locked. End that program's transaction, then try again",
    "database.damaged": "it is damaged. Stop the service and restore the file from a backup",
    "database.other": "it isn't a database. Stop the service and restore the file from a backup",
    "database.unopened": "it can't be opened. Check that the folder exists and who owns it",
    "database.memory": "there is no memory left. Free some, then try again",
    "database.refused": "SQLite refuses it",
    "database.newer": "The database {path} has schema {schema}, and this version of sayso knows schemas up to {newest}. Start the sayso that wrote it, or a newer one. Nothing was changed.",
    "database.foreign": "The database {path} has tables, indexes, triggers or views that differ from those of Sayso: {names}. Somebody changed the file, and may have changed what it holds. Nothing runs from it. Restore it from a backup; to look into it, copy it and use sqlite3.",
    "database.downgraded": "The database {path} says that it has schema {schema}, but it has data that only a later version writes. Somebody changed the file. Nothing was changed. Restore it from a backup.",
    "database.planted": "a trigger or a view in it is not of Sayso. Stop the service and restore the file from a backup",
    "database.older": "{path} has an older schema than this version of Sayso reads. Nothing was changed. Start the service once, which brings the database up to date, or use the version that wrote it.",
    "database.migration": "The database {path} can't be brought up to date ({why}). Nothing was changed; restore it from a backup, or name another folder with --state.",
    "database.log": "The database {path} can't keep a write-ahead log (its journal mode is {mode}), as on most network file systems. Put the state folder on a local disk.",
    # messages about copies of the database
    "database.copy.there": "{path} exists already. Name a file that doesn't, or move that one away.",
    "database.copy.flawed": "{path} isn't as it was written; no copy was kept. Run: sayso audit verify",
    "database.copy.none": "{path} isn't there. Nothing was changed.",
    "database.copy.unreadable": "{path} isn't there, or this user (uid {uid}) can't read it. Nothing was changed. As root, put it in a folder that this user can enter, and run: chown {uid} {path}",
    "database.copy.older": "{path} has the schema {schema}, and this version of Sayso restores the schema {known}. Nothing was changed. Restore it with the version that made it, and then install this version: its first start brings the database up to date.",
    "database.copy.tokens": "{path} has tokens that work: {names}. No database here tells which of them were revoked since. Nothing was changed. Add --tokens end to revoke them all, or --tokens keep to let them work.",
    "database.copy.changed": "{path} isn't as it was written, or its keys are others. Nothing was changed.",
    "database.copy.unplaced": "{path} can't be replaced: {why}. What it held is kept.",
    # the check of the SQLite library
    "database.sqlite.fault": "{version} can lose commits when two programs write to one database. The service writes alone: no harm. Don't write to {path} with another program while it runs",
}
IN_ENGLISH.join(ENGLISH)
say = IN_ENGLISH.say
