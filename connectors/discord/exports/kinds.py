"""The words of DiscordChatExporter for Discord's numbers. Data only.

Source: its `MessageKind`, `ChannelKind` and `StickerFormat`; kinds without a word are numbers.
"""

from __future__ import annotations

from typing import Final

DEFAULT: Final = "Default"
REPLY: Final = "Reply"
FORWARD: Final = "Forward"

MESSAGES = {
    DEFAULT: 0, "RecipientAdd": 1, "RecipientRemove": 2, "Call": 3, "ChannelNameChange": 4,
    "ChannelIconChange": 5, "ChannelPinnedMessage": 6, "GuildMemberJoin": 7, "ThreadCreated": 18,
    REPLY: 19,
}  # fmt: skip
MESSAGE_WORDS = {number: word for word, number in MESSAGES.items()}

# What a message of Discord itself says; the exporter writes its own sentence for most.
SENTENCES = {
    1: "Added somebody to the group.",
    2: "Removed somebody from the group.",
    3: "Started a call.",
    4: "Changed the channel's name.",
    5: "Changed the channel's icon.",
    6: "Pinned a message to this channel.",
    7: "Joined the server.",
    8: "Boosted the server.",
    9: "Boosted the server, which reached level 1.",
    10: "Boosted the server, which reached level 2.",
    11: "Boosted the server, which reached level 3.",
    12: "Added a followed channel to this channel.",
    14: "This server was removed from Server Discovery.",
    15: "This server is in Server Discovery again.",
    16: "This server has failed the requirements of Server Discovery for a week.",
    17: "This server has failed the requirements of Server Discovery for three weeks.",
    18: "Started a thread.",
    21: "Started this thread from a message of the channel.",
    22: "Wondering who to invite to this server?",
    24: "AutoMod took an action.",
    25: "Bought a role subscription.",
    26: "Was offered a premium feature of an app.",
    27: "Started a stage.",
    28: "Ended the stage.",
    29: "Became a speaker of the stage.",
    31: "Changed the topic of the stage.",
    32: "Bought an app subscription for the server.",
    36: "Turned on security actions.",
    37: "Turned off security actions.",
    38: "Reported a raid.",
    39: "Reported a false alarm.",
    44: "Made a purchase.",
    46: "A poll has ended.",
}
UNNAMED_SENTENCE = "Did something that the export does not describe."

CHANNELS = {
    0: "GuildTextChat", 1: "DirectTextChat", 2: "GuildVoiceChat", 3: "DirectGroupTextChat",
    4: "GuildCategory", 5: "GuildNews", 10: "GuildNewsThread", 11: "GuildPublicThread",
    12: "GuildPrivateThread", 13: "GuildStageVoice", 14: "GuildDirectory", 15: "GuildForum",
}  # fmt: skip
TEXT_CHANNEL: Final = "GuildTextChat"
DIRECT_CHANNEL: Final = "DirectTextChat"
GROUP_CHANNEL: Final = "DirectGroupTextChat"
PUBLIC_THREAD: Final = "GuildPublicThread"
THREADS = frozenset(("GuildNewsThread", PUBLIC_THREAD, "GuildPrivateThread", "10", "11", "12"))

STICKERS = {"Png": 1, "Apng": 2, "PngAnimated": 2, "Lottie": 3, "Gif": 4}
STICKER_WORDS = {1: "Png", 2: "Apng", 3: "Lottie", 4: "Gif"}

NO_GUILD = "0"  # the guild of direct messages
NO_DISCRIMINATOR = "0000"  # of webhooks, and of users since 2023
