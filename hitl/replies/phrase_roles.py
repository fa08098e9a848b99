"""The roles that a phrase can have in a reply, one bit each, and the roles for each section of the language files."""

YES = 1
POLITE = 2
NO = 4
NO_OPEN = 8
BEFORE_NO = 16
REASON_START = 32
BECAUSE = 64
UNCLEAR = 128
CONDITION = 256
QUESTION = 512
LATER = 1024
HEDGE = 2048
ALL_OF_THEM = 4096
BEFORE_TARGET = 8192
AND = 16384
FAULT = 32768
TURN = 65536
#: The phrase takes back a yes before it. It is a greeting ("yes, hello"), a filler ("yes, well") or "I see" ("ok, ah
#: okay").
OPENS = 131072
#: The phrase says that nothing is wrong: "no es peligroso". With a comma, the same words may be a rejection: "no, es
#: peligroso".
DENIES = 262144
#: The phrase addresses somebody. The word right after it may be a name ("Hi Jo").
ADDRESSES = 524288
#: The phrase describes a state or confirms a statement, even if the same words can also mean yes: "all good", "it is".
REMARK = 1048576

#: The phrase asks for a confirmation at the end of a reply, without a question mark: "ok, vero".
TAG = 2097152
#: The phrase says that the words before it are the reason for the no after it: "it is live, so no".
THEREFORE = 4194304
#: If a no follows the phrase, the phrase takes back the yes before it: "yes - wait, no".
TAKES_BACK = 8388608
#: The phrase is a no that the person corrects immediately: "no wait, yes, do it". The yes after it must be said twice.
CORRECTS = 16777216
#: The phrase gives the reason for the yes next to it: "they are all merged". After a no, the same words are the reason
#: for the no.
STATES = 33554432
#: The phrase is a yes that names the action: "delete it".
ORDERS = 67108864
REFUSES = NO | NO_OPEN | FAULT

SECTIONS = {
    "yes": YES,
    "an order": YES | ORDERS,
    "beside yes": POLITE,
    "a reason for yes": STATES,
    "a remark": POLITE | REMARK,
    "filler": POLITE | OPENS,
    "greeting": POLITE | OPENS | ADDRESSES,
    "before a name": POLITE | ADDRESSES,
    "taking note": POLITE | UNCLEAR | OPENS,
    "no": NO,
    "no, and more follows": NO_OPEN,
    "a fault": FAULT,
    "before no": BEFORE_NO,
    "reason starts with": REASON_START,
    "because": BECAUSE,
    "no answer": UNCLEAR,
    "no fault": UNCLEAR | DENIES,
    "condition": CONDITION,
    "question": QUESTION,
    "later": LATER,
    "unsure": HEDGE,
    "all of them": ALL_OF_THEM,
    "before a ref": BEFORE_TARGET,
    "and": AND,
    "a change of mind": TURN,
    "a tag": TAG,
    "a correction": CORRECTS,
    "so": THEREFORE,
    "takes back": TAKES_BACK,
}
