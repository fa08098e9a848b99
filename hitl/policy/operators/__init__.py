"""The operators of conditions: which values they take, and how they test a call. There is a module for each family."""

from collections.abc import Mapping

from hitl.policy.operators import command, equality, hosts, numbers, paths, text, tool
from hitl.policy.operators.base import Operator

OPERATORS: Mapping[str, Operator] = {
    **equality.OPERATORS,
    **text.OPERATORS,
    **numbers.OPERATORS,
    **paths.OPERATORS,
    **hosts.OPERATORS,
    **command.OPERATORS,
    **tool.OPERATORS,
}

__all__ = ["OPERATORS"]
