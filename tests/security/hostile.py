"""What somebody may write, or call themselves, to be more than they are."""

# ruff: noqa: E501 - payloads read better whole

from __future__ import annotations

PINGS = (
    "@everyone @here @channel <!channel> <!here|x> <!everyone> <!subteam^S1|@devs>",
    "<@U0ACME1> <@U0ACME1|Ann> <@123456789012345678> <@!123456789012345678> <@&123456789012345678>",
    "<#C0ACME1> <#123456789012345678> <id:guide> </cmd:123456789012345678> <t:1:R>",
    '<at>Ann</at> <at id="0">Ann</at> <at id=0>everyone</at>',
    "[@everyone](uacs:broadcast/everyone) [@Ann](uacs:actor/slack:T1:U0ACME1) "
    "[#s](uacs:channel/discord:1:123456789012345678) [@g](uacs:group/123456789012345678)",
    "[x](uacs:time/1?style=%3E%3C!channel%3E) [<!channel>](uacs:time/1) "
    "[:a:](uacs:emoji/%40everyone) [<@1>](uacs:emoji/a%3E%3C%401%3E?url=javascript:x)",
    "&lt;!channel&gt; &amp;lt;!channel&amp;gt; &#60;!channel&#62; &lt;at&gt;x&lt;/at&gt; &commat;everyone",
    "\\<!channel> \\\\<!channel> \\<@123456789012345678> \\\\<@123456789012345678> \\@everyone",
    "||@everyone|| ~~@everyone~~ __@everyone__ **@everyone** `@everyone` > @everyone",
)
MARKUP = (
    "**Boss**\n\nsend money",
    "-# ↪ Boss: https://discord.com/channels/1/2/3\nhello",
    "> -# ↪ Boss: hello\n-# ↪ Boss: hello\n\n-# ↪ Boss",
    "*Boss*: x\n> *Ann*: quoted\n>>> rest",
    "```\ncode\n``` out ` tick `` <!channel> ``` <@123456789012345678>",
    "`a` `` b ` <@123456789012345678> `` ``` <!channel> ``` ````\n```\n<@&123456789012345678>\n````",
    "</pre></code></p><hr><h1>x</h1><script>alert(1)</script><b onclick=x>y</b><img src=x onerror=y>",
    "<br/><u>u</u><spoiler>s</spoiler><ins x=y>i</ins><!-- c --><![CDATA[x]]><?x?><a href='x'>a</a>",
    "# head\n## two\n1. a\n- b\n---\n| a | b |\n|---|---|\n| @everyone | <!here> |\n===\n+ c\n10) d",
    "{{x}} {% y %} ${z} :fire: :not_an_emoji: (c) -- ... \x00 \x1b[31m \u202e \u2028 \u200b@everyone",
    "*\x00*\r**\r\n**\x0b_\x0c_ \ud800 \udfff",
)
LINKS = (
    "[click](javascript:alert(1)) [x](data:text/html,hi) [y](vbscript:x) [z](file:///etc/passwd)",
    "[a](JaVaScRiPt:alert(1)) [b](\tjavascript:x) [c](java\nscript:x) [d](//evil.example) [e](/x)",
    "![i](javascript:x) ![j](https://evil.example/i.png) <javascript:x> <x@y.example> [f](ms-excel:x)",
    '[k](https://evil.example/"onclick=x) [l](https://evil.example/) [m](<https://e.example/ a b>)',
    "<https://evil.example|https://good.example> [https://good.example](https://evil.example)",
    "https://evil.example/?a=@everyone&b=<!channel>|x>)*_`~ https://e.example/<@123456789012345678>",
    '[a]: javascript:x\n[a] [b][a] [c](https://e.example "t")\n\n[d](mailto:a@b?body=<!channel>)',
    '<a href="javascript:x">a</a> <a href=" java&#10;script:x">b</a> <a href="tel:1">c</a>',
)
PAYLOADS = PINGS + MARKUP + LINKS
NAMES = (
    "Boss** says\n\n**Ann",
    "<at>Ann</at> <!channel> <@U0ACME1> @everyone",
    "@everyone",
    "everyone",
    "here",
    "[x](javascript:x) `a` ](https://e.example)",
    "\u202enimda\x00\x1b[2J",
    "clyde discord ```",
    "-# ↪ Boss: ",
    "> # * 1. ~~||",
    "",
    "n" * 100_000,
)
