"""Approval templates: presets for one kind of tool, as YAML files. They ask about every tool that they don't know.

A word after ``&`` in a file is one of the texts below, which several of its rules share: documents have no anchors.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

NAMES: Final = ("payments", "email", "database")

#: Words before a parenthesis in a statement that only reads. Other functions may write, sleep or read files.
_FUNCTIONS: Final = (
    "count|sum|min|max|avg|coalesce|nullif|greatest|least|lower|upper|trim|length|round|abs|date|date_trunc|extract|"
    "year|month|day|in|exists|and|or|not|where|on|from|join|by|when|then|else|between|select|distinct"
)
#: Words of statements that write, lock, load or steer.
_WRITING: Final = (
    "into|insert|update|delete|merge|upsert|replace|drop|alter|create|truncate|rename|grant|revoke|call|exec|execute|"
    "do|copy|load|lock|set|vacuum|analy[sz]e|attach|detach|pragma|outfile|dumpfile|handler|for|nextval|setval|begin|"
    "commit|rollback|kill|shutdown|use|listen|notify|prepare|deallocate|waitfor|backup|restore|dbcc|bulk|deny|declare|"
    "disable|enable|reconfigure|xp_\\w+|sp_\\w+"
)
_THINGS: Final = (
    "table|database|schema|view|materialized|index|sequence|user|role|tablespace|column|owned|function|collection|"
    "keyspace"
)
_MAILBOXES: Final = (
    "gmail|googlemail|outlook|hotmail|live|msn|yahoo|ymail|icloud|me|mac|aol|proton|protonmail|gmx|web|mail|yandex|qq|"
    "163|126|naver|tuta|tutanota|fastmail|hey|zoho"
)
_LISTS: Final = "all|everyone|everybody|staff|team|customers|users|members|subscribers|news\\w*|announce\\w*"
_SHARED: Final = {
    "PAYING": """[pay, charge, refund, payout, transfer, "pay_*", "charge_*", "refund_*", "payout_*", "transfer_*",
      "send_money*", "send_payment*", "make_payment*", "make_transfer*", "create_payment*", "create_payout*",
      "create_refund*", "create_transfer*", "create_charge*", "issue_refund*", "process_payment*", "process_refund*",
      "capture_payment*", "wire_*", "*_pay", "*_charge", "*_refund", "*_payout", "*_transfer", "*_payment"]""",
    "PLAIN": r"'^[0-9]{1,15}(\.[0-9]{1,8})?$'",
    "SENDING": """[send, send_mail, send_email, send_message, send_draft, reply, reply_all, forward, "send_*mail*",
      "send_*message*", "send_*draft*", "reply_*", "forward_*", "*_send", "*_send_mail", "*_send_email",
      "*_send_message", "*_send_draft", "*_reply", "*_forward"]""",
    "SIX": "'(@[^@]+){6}'",
    "LISTS": rf"""'(?i)(^|[\s<,;"])({_LISTS})([-_.]\w+)*@'""",
    "OUTSIDE": rf"""'(?i)@({_MAILBOXES})\.[a-z.]+([\s>,;"]|$)'""",
    "QUERYING": """[query, sql, run_query, run_sql, execute, execute_sql, execute_query, exec_sql, db_query,
      query_database, read_query, read_sql, select, "*_query", "*_sql"]""",
    "CHANGES": r"""'(?i)\b(delete\s+from|update\s+[\w."`\[\]]+(\s+(as\s+)?\w+)?\s+set)\b'""",
    "DROPS": rf"""'(?i)(^|\W)(drop\s+({_THINGS})\b|truncate(\s+table)?\s+[\w"`\[])'""",
    "EVERY_ROW": (
        r"""'(?i)\bdelete\s+from\s+[\w."`\[\]]+(\s+(as\s+)?\w+)?\s*(;|$|returning\b|--|/\*|#)"""
        r"""|(?s:\b(delete|update)\b.*\bwhere)\s+\(*\s*(true|not\s+false|1|1\s*=\s*1|''\w*''\s*=\s*''\w*'')"""
        r"""\s*\)*\s*(;|$|returning\b|--|/\*|#|or\b)'"""
    ),
    # Every parenthesis follows an operator or one of the functions.
    "READS": (
        rf"""'(?i)^\s*(explain\s+)?select\b([^(]*(\b({_FUNCTIONS})|[,=<>+*/%|-])\s*\((\s*\()*)*[^(]*$"""
        r"""|^\s*show\s+[\w\s.]+;?\s*$|^\s*explain\s+\w+\s*;?\s*$'"""
    ),
    # Comments, backslashes and second statements hide what runs.
    "ACTS": rf"""'(?i)--|/\*|#|\\|;\s*\S|\b({_WRITING})\b'""",
}


@cache
def template(name: str) -> str:
    """The text of a template, without the rules that all presets share."""
    text = files(__name__).joinpath(f"{name}.yaml").read_text("utf-8")
    return re.sub(r"&([A-Z_]+)", lambda found: _SHARED[found.group(1)], text)
