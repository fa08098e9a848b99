"""The Bot API's objects: state to JSON, in the shapes of the documentation.

A field that would be empty is left out, as the official server does.
"""

from __future__ import annotations

from typing import Any

from simulators.telegram.errors import Json
from simulators.telegram.html import Entity
from simulators.telegram.state import (
    GENERAL_TOPIC,
    REACTIONS,
    Bot,
    Chat,
    File,
    Member,
    Message,
    User,
    World,
    plain_emoji,
)

# What a bot may do as an administrator (ChatMemberAdministrator); the rest is false.
ADMIN_FLAGS = (
    "can_manage_chat can_delete_messages can_manage_video_chats can_restrict_members can_promote_members"
    " can_change_info can_invite_users can_post_stories can_edit_stories can_delete_stories"
    " can_send_welcome_messages"
).split()
GRANTED_FLAGS = frozenset({"can_manage_chat", "can_delete_messages"})
# What a restricted member may or may not do (ChatMemberRestricted).
MEMBER_FLAGS = (
    "can_send_messages can_send_audios can_send_documents can_send_photos can_send_videos can_send_video_notes"
    " can_send_voice_notes can_send_polls can_send_other_messages can_add_web_page_previews"
    " can_react_to_messages can_edit_tag can_change_info can_invite_users can_pin_messages can_manage_topics"
).split()
GIFTS = ["unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"]


def _filled(**fields: Any) -> Json:
    """Return the fields that say something."""
    return {name: value for name, value in fields.items() if value not in ("", None, (), [])}


def user(one: User) -> Json:
    """Return a User."""
    return {
        "id": one.id,
        "is_bot": one.is_bot,
        "first_name": one.first_name,
        **_filled(last_name=one.last_name, username=one.username, language_code=one.language_code),
    }


def me(bot: Bot) -> Json:
    """Return what getMe tells a bot of itself."""
    return {
        **user(bot.user),
        "can_join_groups": True,
        "can_read_all_group_messages": not bot.privacy,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


def chat(one: Chat) -> Json:
    """Return a Chat; a private one bears the person's names."""
    if one.kind == "private":
        person = one.members[one.id].user
        names = _filled(last_name=person.last_name, username=person.username)
        return {"id": one.id, "first_name": person.first_name, **names, "type": "private"}
    forum = {"is_forum": True} if one.forum else {}
    return {"id": one.id, "title": one.title, **_filled(username=one.username), "type": one.kind, **forum}


def full_chat(one: Chat) -> Json:
    """Return a ChatFullInfo with what a chat of ours has."""
    return {
        **chat(one),
        "accent_color_id": abs(one.id) % 7,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(GIFTS, False),
    }


def member(one: Member) -> Json:
    """Return a ChatMember of the class that its status names."""
    base = {"status": one.status, "user": user(one.user)}
    return {**base, **_STATUS_FIELDS[one.status](one)}


def _admin_fields(one: Member) -> Json:
    flags = {name: name in GRANTED_FLAGS for name in ADMIN_FLAGS}
    return {"can_be_edited": False, "is_anonymous": one.anonymous, **flags, **_filled(custom_title=one.title)}


def _owner_fields(one: Member) -> Json:
    return {"is_anonymous": one.anonymous, **_filled(custom_title=one.title)}


def _restricted_fields(one: Member) -> Json:
    return {"is_member": True, **dict.fromkeys(MEMBER_FLAGS, not one.silent), "until_date": 0}


def _no_fields(_one: Member) -> Json:
    return {}


def _until_ever(_one: Member) -> Json:
    return {"until_date": 0}


_STATUS_FIELDS = {
    "creator": _owner_fields,
    "administrator": _admin_fields,
    "member": _no_fields,
    "restricted": _restricted_fields,
    "left": _no_fields,
    "kicked": _until_ever,
}


def entity(one: Entity, world: World) -> Json:
    """Return a MessageEntity; a text mention bears the person."""
    found = one.as_json()
    user_id = found.pop("user_id", None)
    mentioned = world.users.get(user_id) if user_id is not None else None
    return {**found, "user": user(mentioned)} if mentioned else found


def document(file: File) -> Json:
    """Return a Document."""
    return {
        "file_name": file.name,
        "mime_type": file.mime,
        "file_id": file.id,
        "file_unique_id": file.id[-10:],
        "file_size": len(file.content),
    }


def message(one: Message, world: World, *, with_reply: bool = True) -> Json:
    """Return a Message with the message it answers, one level deep."""
    room = world.chats[one.bot_id, one.chat_id]
    return {
        "message_id": one.id,
        **_sender(one, world),
        "chat": chat(room),
        "date": one.date,
        **_place(one, room),
        **(_reply(one, room, world) if with_reply else {}),
        **_marks(one),
        **_content(one, world),
        **one.service,
        **_markup(one),
    }


def inaccessible(one: Message, world: World) -> Json:
    """Return an InaccessibleMessage: what is left of a message that is deleted or too old."""
    return {"chat": chat(world.chats[one.bot_id, one.chat_id]), "message_id": one.id, "date": 0}


def _sender(one: Message, world: World) -> Json:
    found: Json = {"from": user(one.sender)} if one.sender else {}
    if one.sender_chat is not None:
        found["sender_chat"] = chat(world.chats[0, one.sender_chat])
    return found | _filled(author_signature=one.signature)


def _place(one: Message, room: Chat) -> Json:
    """In a plain supergroup a reply has a thread too, which nobody can write to by its id."""
    if room.kind == "supergroup" and not room.forum and one.reply_to:
        return {"message_thread_id": _root(one, room)}
    if not room.forum or one.thread_id in (None, GENERAL_TOPIC):
        return {}
    return {"message_thread_id": one.thread_id, "is_topic_message": True}


def _root(one: Message, room: Chat) -> int:
    """Return the message at the beginning of a chain of replies."""
    known = room.deleted | room.messages
    while one.reply_to:
        one = known[one.reply_to]
    return one.id


def _reply(one: Message, room: Chat, world: World) -> Json:
    """In a topic, a message that answers nothing answers the service message that opened it."""
    in_topic = room.forum and one.thread_id not in (None, GENERAL_TOPIC, one.id)
    target = room.messages.get(one.reply_to or (one.thread_id if in_topic and one.thread_id else 0))
    return {"reply_to_message": message(target, world, with_reply=False)} if target else {}


def _marks(one: Message) -> Json:
    protected = {"has_protected_content": True} if one.protected else {}
    origin = {"forward_origin": one.origin} if one.origin else {}
    return origin | protected | _filled(edit_date=one.edited_at)


def _content(one: Message, world: World) -> Json:
    marked = [entity(each, world) for each in one.entities]
    if one.document:
        return {
            "document": document(one.document),
            **_filled(caption=one.text, caption_entities=marked),
        }
    preview = {"link_preview_options": {"is_disabled": True}} if one.no_preview else {}
    return _filled(text=one.text, entities=marked) | preview


def _markup(one: Message) -> Json:
    if not one.keyboard:
        return {}
    return {"reply_markup": {"inline_keyboard": [list(row) for row in one.keyboard]}}


def origin(one: Message, world: World) -> Json:
    """Return the MessageOrigin that a forward of this message bears."""
    if one.origin:
        return one.origin
    if one.sender_chat is None and one.sender:
        return {"type": "user", "date": one.date, "sender_user": user(one.sender)}
    room = world.chats[one.bot_id, one.sender_chat or one.chat_id]
    signature = _filled(author_signature=one.signature)
    if room.kind == "channel":
        return {"type": "channel", "date": one.date, "chat": chat(room), "message_id": one.id, **signature}
    return {"type": "chat", "date": one.date, "sender_chat": chat(room), **signature}


def reaction_types(emojis: tuple[str, ...]) -> list[Json]:
    """Return ReactionType objects."""
    return [{"type": "emoji", "emoji": REACTIONS.get(plain_emoji(emoji), emoji)} for emoji in emojis]


def seen(one: Message, world: World) -> Json:
    """Return a message as people see it: what it shows, its buttons, and what edits replaced."""
    return {
        "chat_id": one.chat_id,
        "message_id": one.id,
        "from": one.sender.first_name if one.sender else None,
        "date": one.date,
        "thread_id": one.thread_id,
        "reply_to": one.reply_to,
        "text": one.text,
        "entities": [entity(each, world) for each in one.entities],
        "buttons": [list(row) for row in one.keyboard],
        "force_reply": one.force_reply,
        "document": document(one.document) if one.document else None,
        "service": one.service,
        "forwarded": one.origin,
        "reactions": {str(actor): list(emojis) for actor, emojis in one.reactions},
        "edits": one.edits,
        "history": [
            {"text": old.text, "buttons": [list(row) for row in old.keyboard], "at": old.at} for old in one.history
        ],
    }
