"""The policy: a document of rules that allows a call, denies it, or asks a person.

    load(text, name=...)          check and compile a document; PolicyInvalid lists every problem
    Policy.judge(call)            a Verdict: allow, approve (ask a person) or deny, with risk and reason
    Policy.explain(call)          each rule that was tried, and why it did or did not hold
    Policy.lint()                 probable mistakes in a document that loads
    presets()                     documents to start from
    import_foreign(text, format)  convert another system's document, and list where the verdicts differ on purpose
    run_expectations(policy, ..)  judge a file of calls and compare with the expected verdicts
    json_schema()                 the documents' JSON Schema
    resolved_programs(command)    the programs that a command line or argument list would run

The package does no input or output itself: the protocols in ``ports`` give it files, symbolic links and host names.
"""

from hitl.policy.batch import evaluate_row
from hitl.policy.dialects.importing import Imported, import_foreign
from hitl.policy.dialects.ours import json_schema
from hitl.policy.engine import Policy, digest, load
from hitl.policy.expectations import ExpectationResult, Report, run_expectations, written_call
from hitl.policy.model import (
    Action,
    Explanation,
    PolicyCall,
    PolicyInvalid,
    Problem,
    Reason,
    Risk,
    Tried,
    Verdict,
)
from hitl.policy.presets import presets
from hitl.policy.shell import resolved_programs

__all__ = [
    "Action",
    "ExpectationResult",
    "Explanation",
    "Imported",
    "Policy",
    "PolicyCall",
    "PolicyInvalid",
    "Problem",
    "Reason",
    "Report",
    "Risk",
    "Tried",
    "Verdict",
    "digest",
    "evaluate_row",
    "import_foreign",
    "json_schema",
    "load",
    "presets",
    "resolved_programs",
    "run_expectations",
    "written_call",
]
