"""Emoji as Teams names them <-> Unicode: reactions (`like`, `1f44b_wavinghand-tone4`) and the
pictures in its HTML. Pure.

Source: msteams-docs "Teams reactions reference" (2026-02). Most names begin with their code points;
the table has the faces, hands and hearts among the others, which people mostly react with.
"""

from __future__ import annotations

import re
from functools import cache

_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_KEYCAP = 0x20E3
_TONED = re.compile(r"(.+)-tone([1-5])")
_POINTS = re.compile(r"(?=[0-9])[0-9a-f]{4,6}(?:[-_][0-9a-f]{4,6})*(?=_|$)")
# `emoji_to_reaction` returns the first name of an emoji.
_WORDS = """
👍 like yes, ❤️ heart, 😆 laugh, 😮 surprised, 😢 sad cry, 😡 angry angryface, 😃 happyface,
😄 grinningfacewithsmilingeyes, 😅 sweatgrinning whew, 🤣 rofl, 😂 cwl, 🙂 smile rainbowsmile nod,
🙃 upsidedownface, 🫠 meltingface, 😉 wink, 😊 smileeyes blush, 😇 angel, 🥰 inlove, 😍 hearteyes,
🤩 stareyes, 😗 kiss, ☺️ mmm, 🥲 smilingfacewithtear, 😋 tongueout, 😜 winktongueout,
😝 squintingfacewithtongue, 🤭 giggle, 🫢 handovermouth, 🫣 peekingeye, 🤫 lipssealed tmi, 🤔 think,
🫡 salute, 🤨 wonder, 😐 speechless, 😑 expressionless emo, 😶 blankface, 🫥 dottedlineface,
😶‍🌫️ faceinclouds, 😏 smirk, 😒 unamused ttm, 🙄 dull wasntme, 😮‍💨 faceexhaling, 🫨 shaking,
🙂‍↕️ headshakingvertically2, 🙂‍↔️ headshakinghorizontally2, 😌 relieved dream, 😔 pensive,
😪 sleepy, 😴 sleepingface, 🤒 ill, 🤮 puke, 🥶 shivering, 🥱 hungover, 😵‍💫 facewithspiraleyes,
🥳 party holidayspirit, 🥸 disguisedface, 😎 cool coolcat, 🤓 nerdy, 🧐 movember, 😕 confused,
🫤 diagonalmouth, 😧 worry, 🙁 shake, 🥹 faceholdingbacktears, 😨 fearful, 😭 loudlycrying,
😱 screamingfear, 😖 veryconfused, 😫 doh, 😞 disappointed, 😓 sweat, 😩 weary, 😤 headbang,
🤬 swear, 😈 devil, 💀 skull, 💩 poop, 👻 ghost, 🤖 smilerobot coolrobot, 😺 smilecat laughcat,
😻 hearteyescat, 😿 sadcat, 🙉 hearnoevil, 🙈 seenoevil, 🙊 speaknoevil, 💋 lips, 💌 loveletter,
💖 sparklingheart, 💗 growingheart, 💕 twohearts, 💔 brokenheart, ❤️‍🔥 heartonfire,
❤️‍🩹 mendingheart, 🩷 heartpink, 🧡 heartorange, 💛 heartyellow, 💚 heartgreen, 💙 heartblue,
🩵 heartlightblue, 💜 heartpurple, 🤎 heartbrown, 🖤 heartblack, 🩶 heartgrey, 🤍 heartwhite,
💣 bomb, 💬 speechbubble, 👁️‍🗨️ eyeinspeechbubble, 🐶 cooldog, 🐨 coolkoala, 🎧 headphones,
💡 idea, 🥊 punch, 🤙 call, ✋ highfive wait, 👋 1f44b_wavinghand hi, 🤘 rock, 👏 clap clappinghands
sarcastic, 🤳 selfie selfiehand, 🤦 facepalm, 🤞 fingerscrossed crossedfingers, 🙌 handsinair,
🖖 vulcansalute, 🫱 rightwardshand, 🫲 leftwardshand, 🫳 palmdownhand, 🫴 palmuphand, 🫸 pushright,
🫷 pushleft, 👌 ok, 🤌 pinchedfingers, ✌️ victory, 🫰 fingerheart, 👈 pointleftindex,
👉 pointrightindex, 👇 pointdownindex, ☝️ pointupindex, 🫵 poke, 👎 no, ✊ raisedfist,
🫶 hearthands, 🤝 handshake, 🙏 praying, 💪 muscle, 🫀 anatomicalheart, 🫁 lungs, 🫦 bitinglip,
🎤 dropthemic, 🤷 shrug, 🙇 bowing, 🚀 launch, 🙀 1f640_wearycat, 👽 1f47d_extraterrestrialalien,
👀 1f440_eyes, ✅ 2705_whiteheavycheckmark, ❌ 274c_crossmark, ✔️ 2714_heavycheckmark,
☑️ 2611_ballotboxwithcheck, 📌 1f4cc_pushpin, 🎉 1f389_partypopper, 💯 1f4af_hundredpointssymbol,
💥 1f4a5_collisionsymbol, 🤗 1f917_huggingface, 🤪 1f92a_zanyface, 🤯 1f92f_explodinghead,
🥺 1f97a_pleadingface, 😁 1f601_beamingfacewithsmilingeyes, 😘 1f618_facethrowingakiss,
😛 1f61b_facewithtongue, 😬 1f62c_grimacingface, 😲 1f632_astonishedface, 👊 1f44a_oncomingfist,
👆 1f446_backhandindexpointingup, 🧠 1f9e0_brain, 💤 1f4a4_zzz, 🤡 1f921_clownface
"""


def reaction_to_emoji(name: str) -> str:
    """Return the emoji: `like` -> 👍, `1f44b_wavinghand-tone4` -> 👋🏾, unknown -> `:name:`."""
    toned = _TONED.fullmatch(name)
    base = toned[1] if toned else name
    emoji = _by_name().get(base) or _characters(base)
    if not emoji:
        return f":{name}:"
    return (
        emoji[0] + _TONES[int(toned[2]) - 1] + emoji[1:].removeprefix("\ufe0f") if toned else emoji
    )


def emoji_to_reaction(emoji: str) -> str | None:
    """Return the name of an emoji: 👍 -> `like`, 👍🏽 -> `like-tone3`; None if it has none here."""
    bare = emoji.replace("\ufe0f", "")
    if name := _by_emoji().get(bare):
        return name
    tone = _TONES.find(bare[1:2]) + 1 if len(bare) > 1 else 0
    name = _by_emoji().get(bare[0] + bare[2:]) if tone else None
    return f"{name}-tone{tone}" if name else None


def _characters(name: str) -> str | None:
    """Return the characters of the code points at the start of a name; None if there are none."""
    match = _POINTS.match(name)
    try:
        points = [int(point, 16) for point in re.split("[-_]", match[0])] if match else []
        keycap = points[-1:] == [_KEYCAP]  # around a digit, `#` or `*`
        return "".join(map(chr, points)) if points and (keycap or min(points) > 0xFF) else None
    except (ValueError, OverflowError):
        return None


@cache
def _by_name() -> dict[str, str]:
    emoji_by_name: dict[str, str] = {}
    for entry in _WORDS.split(","):
        emoji, *names = entry.split()
        emoji_by_name |= dict.fromkeys(names, emoji)
    return emoji_by_name


@cache
def _by_emoji() -> dict[str, str]:
    name_by_emoji: dict[str, str] = {}
    for name, emoji in _by_name().items():
        name_by_emoji.setdefault(emoji.replace("\ufe0f", ""), name)
    return name_by_emoji
