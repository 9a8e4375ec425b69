"""`uacs-bridge translate`: translate rich messages from one format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import click

from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.translation.translate import Translation


@click.command("translate")
@click.argument("file", type=click.File("rb"), default="-")
@click.option("--from", "source", metavar="FORMAT",
              help="A platform, uacs (a Message or Conversation), card (the neutral tree), or an "
              "agent API: openai-chat, openai-responses, anthropic, gemini, acp, ailoy."
              )  # fmt: skip
@click.option("--to", "target", metavar="FORMAT", help="The same formats.")
@click.option("--copy", is_flag=True,
              help="To the same platform: as a copy in another channel, which mentions nobody; "
              "without it, the message stays unchanged.")  # fmt: skip
@click.option("--report", is_flag=True, help="Print a table of the losses instead of JSON.")
@click.option("--batch", is_flag=True,
              help='Take JSON lines {"id", "from", "to", "payload"}, answer each.')  # fmt: skip
def command(
    file: BinaryIO,
    source: str | None,
    target: str | None,
    copy: bool,
    report: bool,
    batch: bool,
) -> None:
    """Translate a rich message between platforms, UACS, the neutral card and agent APIs.

    FILE (or `-`, standard input) holds the message as the platform's API gives it, or its rich part
    alone: a list of blocks, a card. Printed are the messages as the other API takes them, and the
    losses. Nothing is sent. An agent API's request is a UACS Conversation, and a Conversation is a
    request; to a platform it goes message by message.

    \b
    Examples:
      uacs-bridge translate --from slack --to discord message.json
      uacs-bridge translate --from teams --to slack --report < card.json
      uacs-bridge translate --from openai-chat --to anthropic request.json
      uacs-bridge translate --batch < messages.jsonl > translated.jsonl
    """
    if batch:
        if copy:
            raise click.UsageError('With --batch, set "copy": true in the lines of copies')
        _batch(file)
        return
    if not source or not target:
        raise click.UsageError("Give --from and --to, or --batch")
    done = _translation(file, source, target, copy)
    click.echo(_report(done) if report else _output(done))


def _batch(file: BinaryIO) -> None:
    from bridge.app.translation.lines import translate_lines

    for line in translate_lines(file):
        click.echo(line)  # and flush: whoever writes a line may wait for its answer


def _translation(file: BinaryIO, source: str, target: str, copy: bool) -> Translation:
    from bridge.app.translation.json_text import read_json
    from bridge.app.translation.translate import formats, translate

    for name in (source, target):
        if name not in formats():
            raise ConfigError(f"Unknown format {name!r}; there are: {', '.join(formats())}")
    return translate(read_json(file.read()), source=source, target=target, copy=copy)


def _output(done: Translation) -> str:
    import json

    from bridge.app.translation.json_text import write_json
    from bridge.app.translation.lines import as_json

    value = as_json(done)
    try:
        return json.dumps(value, ensure_ascii=False, indent=2)
    except RecursionError:
        return write_json(value).decode()


def _report(done: Translation) -> str:
    from bridge.app.printing import heading, many, table

    rows = [
        (loss.path or "/", loss.kind, _short(loss.what), _short(loss.shown_as))
        for loss in done.losses
    ]
    head = f"{many(len(done.messages), 'message')}, {len(rows) or 'no'} lost or shown otherwise"
    heads = ("where", "kind", "what", "shown as")
    return f"{heading(head)}\n{table(heads, rows)}" if rows else heading(head)


def _short(text: str, limit: int = 60) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= limit else f"{one_line[: limit - 1]}…"
